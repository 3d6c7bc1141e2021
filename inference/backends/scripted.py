"""A backend that does as it is told: a test double for faults, in no product configuration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inference.backends import Choice, Form
from inference.prompts import Prompt

Script = Callable[[Prompt, Sequence[str]], Choice]


@dataclass(frozen=True, slots=True)
class ScriptedBackend:
    """Answers by calling `script`, which may return nonsense or raise."""

    script: Script
    name: str = "scripted"
    digest: str = "scripted"
    form: Form = "names"

    async def choose(self, prompt: Prompt, codes: Sequence[str]) -> Choice:
        """Whatever the script says."""
        return self.script(prompt, codes)
