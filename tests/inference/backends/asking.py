"""A guarded backend before the fault server, asked once or often, closed again at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from gate.load.backends import BackendEntry, Bounds
from inference.backends import Choice
from inference.backends.guarded import GuardedBackend
from inference.backends.handshake import Status
from inference.backends.server import ServerBackend
from inference.errors import BackendError
from inference.prompts import Prompt
from tests.inference.backends.fault_server import MODEL, FaultServer

T = TypeVar("T")
ASKED = Prompt("Services:\nA. Cards\nB. Funds\nC. None", 'Request: "freeze it"\nService:')
CODES = ("A", "B", "C")
QUICK = Bounds(deadline_s=15, queue_s=5, concurrency=32, attempts=2, failures=3, open_s=60)
HASTY = replace(QUICK, deadline_s=1)


def entry(server: FaultServer, **changes: Any) -> BackendEntry:
    """A local vLLM's entry with the changes."""
    local = BackendEntry(
        "local", "vllm", server.url, model=MODEL, identities=(MODEL,), form="codes",
        constraint="structured_outputs", bounds=QUICK,
    )  # fmt: skip
    return replace(local, **changes)


def run(server: FaultServer, work: Callable[[GuardedBackend], Awaitable[T]], **changes: Any) -> T:
    """What `work` makes of a fresh backend before the server."""

    async def whole() -> T:
        backend = GuardedBackend(ServerBackend(entry(server, **changes)))
        try:
            return await work(backend)
        finally:
            await backend.close()
            await asyncio.sleep(0)

    return asyncio.run(whole())


def ask(server: FaultServer, codes: tuple[str, ...] = CODES, **changes: Any) -> Choice:
    """One choice."""
    return run(server, lambda backend: backend.choose(ASKED, codes), **changes)


def refused(
    server: FaultServer, codes: tuple[str, ...] = CODES, **changes: Any
) -> tuple[BackendError, Status]:
    """The error of one choice, and the backend's status after it."""

    async def work(backend: GuardedBackend) -> tuple[BackendError, Status]:
        with pytest.raises(BackendError) as caught:
            await backend.choose(ASKED, codes)
        assert backend.status is not None
        return caught.value, backend.status

    return run(server, work, **changes)
