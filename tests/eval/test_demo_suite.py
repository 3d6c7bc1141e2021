"""Figures of the demo suite by hand: what is routed, what of it is wrong, what is required."""

from __future__ import annotations

from decimal import Decimal

import pytest

from eval.demo_suite import measure
from eval.ended import Ended
from eval.suites.demo.labels import OUT_OF_SCOPE, Label
from gate.confirmation import NEEDED
from gate.records import (
    Abstain,
    Boundary,
    Mode,
    OutOfScope,
    Proposal,
    Terminal,
    TierAnswer,
    Verdict,
)

READ, WRITE = "FEE_INFO", "FREEZE_CARD"


def ended(
    gold: str,
    given: str | None,
    terminal: Terminal = Terminal.DISPATCH,
    allowed: bool = True,
    objects: tuple[str, str] = ("NONE", "NONE"),
) -> Ended:
    answer: TierAnswer = Abstain("low_confidence", "fast")
    if given == OUT_OF_SCOPE:
        answer = OutOfScope("fast")
    elif given is not None:
        answer = Proposal(given, None, (given,), Decimal("0.9"), "fast")
    reasons = (NEEDED,) if given == WRITE and terminal is Terminal.CLARIFY else ()
    boundary = Boundary.ALLOW if terminal is Terminal.DISPATCH else Boundary(terminal.value)
    rule = "R-999" if terminal is Terminal.DISPATCH else "G-ABSTAIN"
    verdict = Verdict(terminal, boundary, rule, reasons, given, objects[1])
    label = Label("H", "text", gold, objects[0], "", allowed, "")
    return Ended(label, "fast", answer, verdict, Mode.WRITE if given == WRITE else Mode.READ)


def test_figures_by_hand() -> None:
    result = measure(
        [
            ended(READ, READ),
            ended(WRITE, WRITE, Terminal.CLARIFY),
            ended(READ, "LOAN_INFO"),
            ended(READ, None, Terminal.CLARIFY),
            ended(OUT_OF_SCOPE, OUT_OF_SCOPE, Terminal.REJECT, allowed=False),
        ]
    )
    assert (result.coverage.count, result.coverage.of) == (3, 4)
    assert (result.right_of_covered.count, result.reached.count) == (2, 2)
    assert (result.wrong_routes.count, result.wrong_routes.of) == (1, 3)
    assert result.wrong_upper == pytest.approx(0.8647, abs=1e-4)
    assert result.out_of_scope.rate == 1
    assert result.wrong_writes == 0
    assert result.wrong_by == {"FEE_INFO as LOAN_INFO": 1}
    assert len(result.missed) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        ended(READ, WRITE, Terminal.CLARIFY),
        ended(WRITE, WRITE, Terminal.CLARIFY, allowed=False),
        ended(WRITE, WRITE, Terminal.CLARIFY, objects=("CARD-1", "CARD-2")),
        ended(OUT_OF_SCOPE, WRITE, allowed=False),
    ],
)
def test_a_write_that_was_not_asked_for_is_a_wrong_one(wrong: Ended) -> None:
    result = measure([ended(READ, READ)] * 100 + [wrong])
    assert result.wrong_writes == 1
    assert result.missed == ("a write got through that was not asked for",)


def test_hundred_right_routes_meet_the_requirement() -> None:
    result = measure([ended(READ, READ)] * 100)
    assert result.missed == ()
    assert result.wrong_upper == pytest.approx(0.0295, abs=1e-4)
