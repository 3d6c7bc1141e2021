"""Bounds around a backend: turns, deadline, retries of failed connections, circuit breaker.

Every bound ends in a BackendError with its reason code, which becomes an abstention and so the
configured terminal. Nothing is tried again but a connection that failed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from gate.load.backends import Bounds
from inference.backends import Backend, Choice, Form
from inference.backends.reading import SERVER
from inference.backends.server import TRANSPORT
from inference.errors import BackendError
from inference.prompts import Prompt

BUSY: Final = "backend_busy"
DEADLINE: Final = "backend_deadline"
OPEN: Final = "circuit_open"
FAILURES: Final = frozenset({TRANSPORT, SERVER, DEADLINE})
"""What counts towards opening the circuit; a wrong answer is an answer."""
BACKOFF_S: Final = 0.05

T = TypeVar("T")


class Circuit:
    """Closed until `failures` in a row; then open for `open_s`; then one call at a time tries."""

    def __init__(self, failures: int, open_s: float, clock: Callable[[], float]) -> None:
        self._failures, self._open_s, self._clock = failures, open_s, clock
        self._row, self._opened, self._trying = 0, 0.0, False

    def check(self) -> None:
        """BackendError `circuit_open` while the backend is being left alone."""
        waiting = self._clock() - self._opened < self._open_s
        if self._row >= self._failures and (self._trying or waiting):
            raise BackendError(OPEN, f"left alone after {self._row} failures in a row")

    def enter(self) -> bool:
        """As `check`; true for the one call that tries whether the backend is back."""
        self.check()
        trial = self._row >= self._failures
        self._trying = self._trying or trial
        return trial

    def leave(self, trial: bool, failed: bool | None) -> None:
        """What became of a call that entered; None if it says nothing about the backend."""
        if trial:
            self._trying = False
        if failed is not None:
            self._row = self._row + 1 if failed else 0
            if failed:
                self._opened = self._clock()


class Bounded:
    """A backend within `bounds`; `reconnected` is true after a failed connection, until asked."""

    def __init__(
        self, backend: Backend, bounds: Bounds, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._backend = backend
        self._bounds = bounds
        self._circuit = Circuit(bounds.failures, bounds.open_s, clock)
        self._turns: asyncio.Semaphore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.reconnected = False

    @property
    def name(self) -> str:
        """The backend's."""
        return self._backend.name

    @property
    def digest(self) -> str:
        """The backend's."""
        return self._backend.digest

    @property
    def form(self) -> Form:
        """The backend's."""
        return self._backend.form

    async def choose(self, prompt: Prompt, codes: Sequence[str]) -> Choice:
        """The backend's choice, in time or not at all."""
        return await self.run(lambda: self._backend.choose(prompt, codes))

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Any call to the backend, within the bounds."""
        self._circuit.check()
        turns = self._free()
        try:
            await asyncio.wait_for(turns.acquire(), self._bounds.queue_s)
        except TimeoutError as error:
            problem = f"no turn within {self._bounds.queue_s:g} s"
            raise BackendError(BUSY, problem) from error
        try:
            return await self._entered(call)
        finally:
            turns.release()

    async def _entered(self, call: Callable[[], Awaitable[T]]) -> T:
        trial, failed = self._circuit.enter(), None
        try:
            async with asyncio.timeout(self._bounds.deadline_s):
                done = await self._attempted(call)
            failed = False
            return done
        except TimeoutError as error:
            failed = True
            problem = f"no answer within {self._bounds.deadline_s:g} s"
            raise BackendError(DEADLINE, problem) from error
        except BackendError as error:
            failed = error.reason in FAILURES
            raise
        finally:
            self._circuit.leave(trial, failed)

    async def _attempted(self, call: Callable[[], Awaitable[T]]) -> T:
        for attempt in range(1, self._bounds.attempts + 1):
            try:
                return await call()
            except BackendError as error:
                if error.reason != TRANSPORT:
                    raise
                self.reconnected = True
                if attempt == self._bounds.attempts:
                    raise
                await asyncio.sleep(BACKOFF_S * attempt)
        raise AssertionError("attempts is at least 1")

    def _free(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        if self._turns is None or self._loop is not loop:
            self._turns, self._loop = asyncio.Semaphore(self._bounds.concurrency), loop
        return self._turns
