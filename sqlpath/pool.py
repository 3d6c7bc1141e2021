"""A pool of confined processes; each question has one of them to itself until it is answered.

A process that does not answer until its deadline and `GRACE` more seconds is killed and replaced.
Nothing is started before the first question, and at most `size` processes run.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlpath.errors import ConfinementError, QueryError, RecordsError, SnapshotError
from sqlpath.wire import LENGTH, frame

GRACE: Final = 1.0
"""Seconds between a query's deadline and the end of its process."""
START: Final = 30.0
"""Seconds that a process may take to start."""
SLACK: Final = 64 * 1024
"""Bytes of a reply beyond its rows."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one answer and the process behind it may take.

    `rows` and `bytes` of an answer, `seconds` until a running query is interrupted,
    `address_space` of a process in bytes, `processes` at once, `waiting` seconds for a free one.
    """

    rows: int = 50
    seconds: float = 2.0
    bytes: int = 1024 * 1024
    address_space: int = 2 * 1024**3
    processes: int = 2
    waiting: float = 30.0


@dataclass(frozen=True, slots=True)
class Pinned:
    """A file by its path and by what tells whether another one lies there now."""

    path: Path
    identity: str

    @classmethod
    def of(cls, path: Path, status: os.stat_result) -> Pinned:
        """The file at `path`, known by device, number, size and time of change."""
        parts = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        return cls(path.resolve(), "-".join(map(str, parts)))


class Worker:
    """One confined process."""

    def __init__(self, file: Pinned, limits: Limits) -> None:
        where = [str(file.path), file.identity, str(limits.address_space)]
        command = [sys.executable, "-m", "sqlpath.worker", *where]
        self._limits = limits
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter and our own module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).resolve().parents[1],
            env={"OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2", "PYTHONNOUSERSITE": "1"},
            start_new_session=True,
            bufsize=0,
        )
        self._started = False

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it was not ended here."""
        return self._process.returncode is None

    def start(self) -> None:
        """Wait until the process is confined and ready."""
        if self._started:
            return
        reply = self._reply(time.monotonic() + START)
        if reply is None:
            raise ConfinementError(
                "the process for queries cannot be confined on this machine; "
                "run on Linux (x86-64 or AArch64) with seccomp"
            )
        if "reason" in reply:
            raise SnapshotError("the database cannot be opened, or is another one by now")
        self._started = True

    def ask(self, message: Mapping[str, Any]) -> Any:
        """The reply to one message; None if there was none until deadline and grace."""
        self.start()
        until = time.monotonic() + self._limits.seconds + GRACE
        try:
            self._send(frame(message), until)
            return self._reply(until)
        except (BrokenPipeError, ValueError, RecursionError):
            return None

    def _send(self, data: bytes, until: float) -> None:
        stream = self._process.stdin
        assert stream is not None  # noqa: S101 - opened above
        view = memoryview(data)
        while view:
            if not select.select([], [stream], [], max(0.0, until - time.monotonic()))[1]:
                return
            view = view[os.write(stream.fileno(), view[: select.PIPE_BUF]) :]

    def _reply(self, until: float) -> Any:
        head = self._read(LENGTH, until)
        size = int.from_bytes(head, "big")
        if len(head) < LENGTH or size > 16 * self._limits.bytes + SLACK:
            return None
        body = self._read(size, until)
        return _parsed(body) if len(body) == size else None

    def _read(self, size: int, until: float) -> bytes:
        """So many bytes, or fewer if the time is over or the process gone."""
        stream = self._process.stdout
        assert stream is not None  # noqa: S101 - opened above
        parts: list[bytes] = []
        missing = size
        while missing:
            if not select.select([stream], [], [], max(0.0, until - time.monotonic()))[0]:
                break
            part = os.read(stream.fileno(), missing)
            if not part:
                break
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def kill(self) -> None:
        """End the process at once and take its resources back."""
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait()


def _parsed(body: bytes) -> Any:
    reply = json.loads(body.decode("utf-8", "surrogatepass"))
    return reply if isinstance(reply, dict) else None


def _end(workers: list[Worker]) -> None:
    for worker in workers:
        worker.kill()


class Pool:
    """Confined processes on one database; safe for threads."""

    def __init__(self, file: Pinned, limits: Limits) -> None:
        self._file = file
        self._limits = limits
        self._changed = threading.Condition()
        self._free: list[Worker] = []
        weakref.finalize(self, _end, self._free)  # a pool that nobody closed leaves no process
        self._running = 0
        self._closed = False

    def ask(self, query_id: str, message: Mapping[str, Any]) -> Any:
        """What is under `ok` in the reply; QueryError for any other end.

        `busy`: no process was free in time; `deadline`: killed, or interrupted at its deadline;
        `worker_lost`: the process ended by itself, for example at its limit of processor time.
        """
        limits = {
            "rows": self._limits.rows,
            "bytes": self._limits.bytes,
            "seconds": self._limits.seconds,
        }
        worker = self._take(query_id)
        began = time.monotonic()
        reply = None
        try:
            reply = worker.ask({**message, "limits": limits})
        except RecordsError as error:
            raise QueryError("worker_lost", query_id) from error
        finally:
            self._give_back(worker, whole=reply is not None)
        if reply is None:
            late = time.monotonic() - began >= self._limits.seconds
            raise QueryError("deadline" if late else "worker_lost", query_id)
        if "ok" not in reply:
            raise QueryError(
                str(reply.get("reason", "query_failed")), query_id, str(reply.get("kind", ""))
            )
        return reply["ok"]

    def start(self) -> None:
        """Have one process ready; SnapshotError or ConfinementError if none can be."""
        with self._changed:
            self._running += 1
        self._give_back(self._fresh(), whole=True)

    def _take(self, query_id: str) -> Worker:
        with self._changed:
            free = self._changed.wait_for(
                lambda: self._closed or self._free or self._running < self._limits.processes,
                self._limits.waiting,
            )
            if not free or self._closed:
                raise QueryError("busy", query_id)
            if self._free:
                return self._free.pop()
            self._running += 1
        try:
            return self._fresh()
        except RecordsError as error:
            raise QueryError("worker_lost", query_id) from error

    def _fresh(self) -> Worker:
        """A new process, counted already; the count is corrected if none comes up."""
        try:
            worker = Worker(self._file, self._limits)
        except OSError as error:
            self._lost()
            raise ConfinementError(f"no process for queries can be started: {error}") from error
        try:
            worker.start()
        except BaseException:
            worker.kill()
            self._lost()
            raise
        return worker

    def _give_back(self, worker: Worker, *, whole: bool) -> None:
        """Keep a process that answered; put a new one, which starts meanwhile, in another's place."""
        if not whole:
            worker.kill()
            worker = self._replacement() or worker
        with self._changed:
            if not self._closed and worker.alive:
                self._free.append(worker)
                self._changed.notify()
                return
        worker.kill()
        self._lost()

    def _replacement(self) -> Worker | None:
        if self._closed:
            return None
        with suppress(OSError):
            return Worker(self._file, self._limits)
        return None

    def _lost(self) -> None:
        with self._changed:
            self._running -= 1
            self._changed.notify()

    def close(self) -> None:
        """End every free process now, every busy one when it has answered."""
        with self._changed:
            self._closed = True
            free = list(self._free)
            self._free.clear()
            self._running -= len(free)
            self._changed.notify_all()
        for worker in free:
            worker.kill()
