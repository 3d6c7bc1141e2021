"""Tiers: each turns a question into a proposal, out-of-scope or an abstention; none may decide.

A tier sees a `Question` only and returns one of the gate's records, so whatever it says still has
to pass the gate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from gate.records import TierAnswer
from inference.question import Question


@dataclass(frozen=True, slots=True)
class Reply:
    """A tier's answer; `sent` and `raw` are what a model got and gave, kept as the receipt.

    `flags` say what was odd about reading the text, such as `long_text`; `model` is the identity
    that a backend reported.
    """

    answer: TierAnswer
    sent: str = ""
    raw: str = ""
    flags: tuple[str, ...] = ()
    model: str = ""


class Tier(Protocol):
    """One step of the cascade."""

    @property
    def name(self) -> str:
        """Its name in appliance.yaml, which is also its name in decisions."""
        ...

    @property
    def versions(self) -> Mapping[str, str]:
        """Digests of everything it decides with: model, prompt (P-20)."""
        ...

    def propose(self, question: Question) -> Reply:
        """Answer one question; never raises for what the text holds."""
        ...
