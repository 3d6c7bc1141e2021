"""The cascade: the first tier that knows answers; a tier that fails has abstained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

import pytest

from gate.records import Abstain, OutOfScope, Proposal, TierAnswer
from inference.errors import ArtefactError
from inference.question import Question
from inference.tiers import Reply, cascade

QUESTION = Question("text")
KNOWN = Proposal("A", None, ("A",), Decimal("0.9"), "known")
UNSURE = Abstain("low_confidence", "unsure", ("A", "B"))


@dataclass
class Told:
    """A tier that says what it is told and counts how often it was asked."""

    name: str
    says: Callable[[], TierAnswer]
    versions: dict[str, str] = field(default_factory=dict)
    asked: int = 0

    def propose(self, question: Question) -> Reply:
        assert question is QUESTION
        self.asked += 1
        return Reply(self.says(), "sent", "raw")


@dataclass
class InEnglish:
    """A tier that knows, and counts how often it was asked."""

    name: str = "fast"
    versions: dict[str, str] = field(default_factory=lambda: {"model:fast": "1"})
    asked: int = 0

    def propose(self, question: Question) -> Reply:
        assert question.language == "en"
        self.asked += 1
        return Reply(KNOWN)


@dataclass
class KnowsOne:
    """A tier that knows one question."""

    question: Question
    name: str = "last"
    versions: dict[str, str] = field(default_factory=dict)

    def propose(self, question: Question) -> Reply:
        assert question is self.question
        return Reply(KNOWN)


def says(answer: TierAnswer) -> Told:
    return Told(answer.tier, lambda: answer)


def failing(error: BaseException) -> Told:
    def fail() -> TierAnswer:
        raise error

    return Told("broken", fail)


def ticks() -> Callable[[], float]:
    times = iter(range(1000))
    return lambda: next(times) / 1000


@pytest.mark.parametrize("answer", [KNOWN, OutOfScope("out")])
def test_first_tier_that_knows_ends_the_cascade(answer: TierAnswer) -> None:
    last = says(KNOWN)
    tried = cascade.run([says(UNSURE), says(answer), last], QUESTION, ticks())
    assert [one.reply.answer for one in tried] == [UNSURE, answer]
    assert last.asked == 0


def test_last_abstention_stands() -> None:
    last = Abstain("backend_down", "last")
    tried = cascade.run([says(UNSURE), says(last)], QUESTION, ticks())
    assert tried[-1].reply.answer == last


def test_each_tier_is_timed_by_the_timer_given() -> None:
    tried = cascade.run([says(UNSURE), says(KNOWN)], QUESTION, ticks())
    assert [round(one.milliseconds, 6) for one in tried] == [1.0, 1.0]


@pytest.mark.parametrize(
    "error",
    [ArtefactError("changed"), RuntimeError("out of memory"), MemoryError(), ValueError("shape")],
)
def test_failing_tier_has_abstained_and_the_next_is_asked(error: Exception) -> None:
    tried = cascade.run([failing(error), says(KNOWN)], QUESTION, ticks())
    assert tried[0].reply.answer == Abstain("tier_failed", "broken")
    assert type(error).__name__ in str(tried[0].problem)
    assert tried[1].reply.answer == KNOWN


def test_interrupt_is_no_abstention() -> None:
    with pytest.raises(KeyboardInterrupt):
        cascade.run([failing(KeyboardInterrupt())], QUESTION, ticks())


def test_no_tier_at_all_abstains() -> None:
    assert cascade.run([], QUESTION)[-1].reply.answer == Abstain("no_tier", "")


@pytest.mark.parametrize(("language", "asked"), [("en", 1), ("zh", 0), (None, 0)])
def test_tier_is_asked_in_its_own_languages_only(language: str | None, asked: int) -> None:
    question = Question("text", language=language)
    inner = InEnglish()
    tried = cascade.run([cascade.InLanguages(inner, ("en",)), KnowsOne(question)], question)
    assert inner.asked == asked
    assert tried[0].tier == "fast"
    if not asked:
        assert tried[0].reply == Reply(Abstain("language_not_served", "fast"))
        assert tried[1].reply.answer == KNOWN


def test_tier_in_some_languages_keeps_name_and_digests() -> None:
    tier = cascade.InLanguages(InEnglish(), ("en",))
    assert (tier.name, tier.versions) == ("fast", {"model:fast": "1"})
