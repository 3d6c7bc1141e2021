"""The cascade: tiers in order; the first that does not abstain, or asks back, ends it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gate.records import Abstain
from inference.question import Question
from inference.tiers import Reply, Tier, scores


@dataclass(frozen=True, slots=True)
class Tried:
    """What one tier said, and how long it took; `problem` tells why a failed tier failed."""

    tier: str
    reply: Reply
    milliseconds: float
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class InLanguages:
    """A tier that is asked about texts of its own languages only."""

    tier: Tier
    languages: tuple[str, ...]

    @property
    def name(self) -> str:
        """The tier's own name."""
        return self.tier.name

    @property
    def versions(self) -> Mapping[str, str]:
        """The tier's own digests."""
        return self.tier.versions

    def propose(self, question: Question) -> Reply:
        """The tier's answer; `language_not_served` for a text of another language."""
        if question.language not in self.languages:
            return Reply(Abstain("language_not_served", self.name))
        return self.tier.propose(question)


def run(
    tiers: Sequence[Tier], question: Question, timer: Callable[[], float] = time.perf_counter
) -> tuple[Tried, ...]:
    """Ask tier after tier; the last entry holds the answer, the ones before it are abstentions.

    A tier that would rather ask the customer than be answered for ends the cascade too.

    A tier that fails, whatever its model library raises, counts as an abstention `tier_failed`, so
    that every request still gets its verdict (P-01). `timer` returns seconds.
    """
    tried: list[Tried] = []
    for tier in tiers:
        tried.append(_ask(tier, question, timer))
        answer = tried[-1].reply.answer
        if not isinstance(answer, Abstain) or answer.reason == scores.CLARIFY:
            break
    return tuple(tried) or (Tried("", Reply(Abstain("no_tier", "")), 0.0),)


def _ask(tier: Tier, question: Question, timer: Callable[[], float]) -> Tried:
    started = timer()
    problem = None
    try:
        reply = tier.propose(question)
    except Exception as error:
        reply = Reply(Abstain("tier_failed", tier.name))
        problem = f"{type(error).__name__}: {error}"
    return Tried(tier.name, reply, (timer() - started) * 1000, problem)
