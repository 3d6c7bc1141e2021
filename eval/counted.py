"""A backend whose calls and tokens are counted for whoever asks through it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from inference.backends import Backend, Choice, Form, Usage
from inference.errors import BackendError
from inference.prompts import Prompt

_USED: ContextVar[list[Usage] | None] = ContextVar("used", default=None)


@contextlib.contextmanager
def counting() -> Iterator[list[Usage]]:
    """Within it, every call through a counted backend in this context is added to the list."""
    used: list[Usage] = []
    token = _USED.set(used)
    try:
        yield used
    finally:
        _USED.reset(token)


@dataclass(frozen=True, slots=True)
class Counted:
    """A backend, counted; a call that fails counts as one."""

    backend: Backend

    @property
    def name(self) -> str:
        """The backend's."""
        return self.backend.name

    @property
    def digest(self) -> str:
        """The backend's."""
        return self.backend.digest

    @property
    def form(self) -> Form:
        """The backend's."""
        return self.backend.form

    async def choose(self, prompt: Prompt, codes: Sequence[str]) -> Choice:
        """The backend's choice."""
        used = _USED.get()
        try:
            choice = await self.backend.choose(prompt, codes)
        except BackendError:
            if used is not None:
                used.append(Usage())
            raise
        if used is not None:
            used.append(choice.usage)
        return choice
