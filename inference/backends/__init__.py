"""Proposer backends: each chooses among legal codes for a prompt and can produce nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from inference.prompts import Prompt


@dataclass(frozen=True, slots=True)
class Choice:
    """Probability of each legal code in the order given, summing to 1, and what the model said.

    `raw` is kept beside the ledger as the receipt; it may hold the user's text.
    """

    probabilities: tuple[float, ...]
    raw: str = ""


class Backend(Protocol):
    """One way to run a proposer model."""

    @property
    def name(self) -> str:
        """Its name in decisions."""
        ...

    @property
    def digest(self) -> str:
        """SHA-256 that names the model."""
        ...

    def choose(self, prompt: Prompt, codes: Sequence[str]) -> Choice:
        """Weigh the legal codes; raises BackendError with a reason code where it cannot."""
        ...
