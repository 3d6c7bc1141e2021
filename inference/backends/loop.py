"""One event loop thread for all backends, asked from the threads of the synchronous way through.

A caller that leaves (`Caller.leave`, from any thread) cancels what it waits for, down to the
connection to the backend.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from contextvars import ContextVar
from typing import Any, TypeVar

from inference.errors import BackendError

T = TypeVar("T")

LEFT = "caller_left"
"""Reason of a call that was cancelled because nobody waits for it any more."""


class Caller:
    """Whoever waits for a request's answer; leaving is final."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: set[Future[Any]] = set()
        self._left = False

    def leave(self) -> None:
        """Cancel every call that this caller waits for, and every one that it would still make."""
        with self._lock:
            self._left = True
            waiting = tuple(self._waiting)
        for future in waiting:
            future.cancel()

    def _joins(self, future: Future[Any]) -> None:
        with self._lock:
            self._waiting.add(future)
            left = self._left
        if left:
            future.cancel()

    def _done(self, future: Future[Any]) -> None:
        with self._lock:
            self._waiting.discard(future)


_CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)


@contextlib.contextmanager
def waiting(caller: Caller) -> Iterator[None]:
    """Within it, calls of this thread are those of `caller`."""
    token = _CALLER.set(caller)
    try:
        yield
    finally:
        _CALLER.reset(token)


class _Loop:
    """The thread, started by the first call; a forked child starts its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                thread = threading.Thread(
                    target=self._loop.run_forever, name="backends", daemon=True
                )
                thread.start()
            return self._loop


_running = _Loop()


def _anew() -> None:
    global _running
    _running = _Loop()


os.register_at_fork(after_in_child=_anew)


def call(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on the loop and wait for it; BackendError `caller_left` where the caller left.

    How long it may take is the backend's own matter (`bounded`).
    """
    future = asyncio.run_coroutine_threadsafe(work, _running.running())
    caller = _CALLER.get()
    if caller is not None:
        caller._joins(future)
    try:
        return future.result()
    except CancelledError as error:
        raise BackendError(LEFT, "the caller left before the backend answered") from error
    except BaseException:
        future.cancel()
        raise
    finally:
        if caller is not None:
            caller._done(future)
