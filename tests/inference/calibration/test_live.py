"""Live watch: shares and confidences of two periods, alarms at the stated rate and not above it."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from gate.records import Abstain, OutOfScope, Proposal, Unparsed
from inference.calibration.live import Answered, answered, compare


def period(seed: int, texts: int, routed: float = 0.8, sure: float = 0.9) -> list[Answered]:
    rng = np.random.default_rng(seed)
    return [
        Answered("routed", "A" if rng.random() < 0.5 else "B", float(rng.beta(20 * sure, 2)))
        if rng.random() < routed
        else Answered("escalation")
        for _ in range(texts)
    ]


def test_an_answer_is_counted_as_what_became_of_it() -> None:
    assert answered(Proposal("A", None, ("A",), Decimal("0.9"), "fast")) == ("routed", "A", 0.9)
    assert answered(OutOfScope("fast")).became == "out_of_scope"
    assert answered(Abstain("clarify", "fast")).became == "clarify"
    assert answered(Abstain("low_confidence", "fast")).became == "escalation"
    assert answered(Abstain("no_text", "fast")).became == "abstention"
    assert answered(Unparsed("{}", "fast")).became == "escalation"


def test_numbers_by_hand() -> None:
    before = [Answered("routed", "A", 0.5)] * 30 + [Answered("clarify")] * 10
    now = [Answered("routed", "A", 0.75)] * 30 + [Answered("clarify")] * 30
    found = compare(before, now)
    assert [(s.name, s.reference, s.today) for s in found.shares if s.today] == [
        ("routed", 0.75, 0.5),
        ("clarify", 0.25, 0.5),
    ]
    (drift,) = found.drifts
    assert drift[:3] == ("A", 0.5, 0.75)
    assert found.alarms == ("confidence of A: 0.500 before, 0.750 now",)


def test_false_alarms_stay_at_their_rate() -> None:
    alarmed = sum(
        bool(compare(period(2 * i, 400), period(2 * i + 1, 300)).alarms) for i in range(200)
    )
    assert alarmed <= 0.05 * 200 + 3 * (0.05 * 0.95 * 200) ** 0.5


def test_a_rise_of_escalations_and_a_fall_of_confidence_are_heard() -> None:
    before = period(1, 1000)
    assert any("escalation" in a for a in compare(before, period(2, 1000, routed=0.6)).alarms)
    drifted = compare(before, period(3, 1000, sure=0.5)).alarms
    assert {a.split(":")[0] for a in drifted} == {"confidence of A", "confidence of B"}


def test_few_answers_are_not_tested() -> None:
    assert compare([], []).alarms == ()
    assert compare(period(1, 20), period(2, 20)).drifts == ()
