"""What a proposer under test gives for one case, and the shape that all of them share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from eval.case import Ask
from gate.records import Abstain, Switches, TierAnswer
from inference.tiers import scores

CHOSEN: Final = frozenset(
    {scores.LOW_CONFIDENCE, scores.CLARIFY, "no_text", "no_phrase", "language_not_served"}
)
"""Reasons of an abstention that a tier chose; every other one is a failure of its interface."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A tier's answer with what it took.

    `latency_ms` is None where it was not recorded (an in-process proposer is then timed from
    outside), `cost_usd` and the token counts where the backend gives none. `published_path` is the
    final path that a recording states, for comparison only.
    """

    given: TierAnswer
    valid_first_pass: bool = True
    repairs: int = 0
    fallback: bool = False
    calls: int = 1
    tokens_in: int | None = None
    tokens_out: int | None = None
    latency_ms: float | None = None
    cost_usd: float | None = None
    published_path: str | None = None

    @property
    def failed(self) -> bool:
        """True if the backend gave nothing to judge: it was down, late, or broke its form."""
        return isinstance(self.given, Abstain) and self.given.reason not in CHOSEN


@dataclass(frozen=True, slots=True)
class Backing:
    """Where a proposer's answers come from: digests of its files and the seeds that it used."""

    digests: Mapping[str, str] = field(default_factory=dict)
    seeds: Mapping[str, int] = field(default_factory=dict)


class Proposer(Protocol):
    """A proposer under test.

    `name` is the backend's name in results; `switches` are the ablations without which its answers
    cannot be replayed as they are.
    """

    @property
    def name(self) -> str: ...

    @property
    def switches(self) -> Switches: ...

    @property
    def backing(self) -> Backing: ...

    def propose(self, ask: Ask) -> Answer:
        """The answer for one case; SuiteError if it has none."""
        ...
