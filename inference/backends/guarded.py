"""A server that is asked only after its hand-shake, which is made anew in time and after a reconnect.

What an answer itself gives away (prose although constrained, another model's name) stops all use
until a hand-shake passes again. An identity that is accepted but not the one that was let through
last waits for its regression run (`approvals`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from inference.backends import Choice, Form, reading
from inference.backends.approvals import UNPROVEN, Approvals
from inference.backends.bounded import Bounded
from inference.backends.handshake import Health, Status, shake
from inference.backends.server import ServerBackend
from inference.errors import AssemblyError, BackendError
from inference.prompts import Prompt

AGAIN_S: Final = 5.0
"""Seconds after a failed hand-shake before the next one."""
MARKS: Final = {
    reading.UNCONSTRAINED: Health.UNCONSTRAINED,
    reading.IDENTITY: Health.UNHEALTHY,
    reading.CONFIGURATION: Health.UNHEALTHY,
}
"""What an answer may give away, and the health that follows."""


class GuardedBackend:
    """A bounded server behind its hand-shake; `status` is the last one's, or what an answer gave away."""

    def __init__(
        self,
        server: ServerBackend,
        clock: Callable[[], float] = time.monotonic,
        approvals: Approvals | None = None,
    ) -> None:
        self._server = server
        self._bounded = Bounded(server, server.entry.bounds, clock)
        self._clock = clock
        self._approvals = approvals
        self._at = 0.0
        self._shaking: asyncio.Task[Status] | None = None
        self.status: Status | None = None

    @property
    def name(self) -> str:
        """The server's."""
        return self._server.name

    @property
    def digest(self) -> str:
        """The server's."""
        return self._server.digest

    @property
    def form(self) -> Form:
        """The server's."""
        return self._server.form

    async def choose(self, prompt: Prompt, codes: Sequence[str]) -> Choice:
        """The server's choice; BackendError with the health's name where it may not be asked."""
        status = await self._fresh()
        if not status.usable(self._server.entry.require_constrained):
            raise BackendError(f"backend_{status.health.value}", status.reason)
        try:
            return await self._bounded.choose(prompt, codes)
        except BackendError as error:
            if error.reason in MARKS:
                reason = f"{error.reason}: {error}"
                self._set(Status(MARKS[error.reason], reason, status.identity, status.version))
            raise

    async def handshake(self) -> Status:
        """Make the hand-shake now, or wait for the one being made."""
        if self._shaking is None or self._shaking.done():
            self._shaking = asyncio.create_task(self._shake())
        return await asyncio.shield(self._shaking)

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _fresh(self) -> Status:
        """The status to go by: waits for the first hand-shake and for one after a reconnect."""
        status, age = self.status, self._clock() - self._at
        if status is None or self._bounded.reconnected:
            return await self.handshake()
        good = status.usable(self._server.entry.require_constrained)
        if age > (self._server.entry.bounds.handshake_s if good else AGAIN_S):
            if not good:
                return await self.handshake()
            if self._shaking is None or self._shaking.done():
                self._shaking = asyncio.create_task(self._shake())
        return status

    async def _shake(self) -> Status:
        self._bounded.reconnected = False
        return self._set(self._approved(await shake(self._server)))

    def _approved(self, status: Status) -> Status:
        """The status, unhealthy where another identity was let through before."""
        if self._approvals is None or not status.identity or status.health is Health.UNHEALTHY:
            return status
        identity = f"{status.identity} {status.version}".strip()
        try:
            reason = self._approvals.blocks(self.name, identity)
        except (AssemblyError, OSError) as error:
            reason = f"{UNPROVEN}: {error}"
        return replace(status, health=Health.UNHEALTHY, reason=reason) if reason else status

    def _set(self, status: Status) -> Status:
        self.status, self._at = status, self._clock()
        return status
