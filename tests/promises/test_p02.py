"""P-02: dispatch happens only after the final rule ALLOWs and every later check passes."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate import controller
from gate.controller import CHECKS, decide
from gate.direction import Asked
from gate.findings import Findings
from gate.objects import Mention, Status
from gate.records import (
    NONE,
    Abstain,
    Boundary,
    Direction,
    Mode,
    OutOfScope,
    Proposal,
    Reserved,
    Terminal,
    TierAnswer,
    Unparsed,
    Verdict,
)
from gate.resolution import resolve
from gate.rules import evaluate
from tests.gate.engine import blocking, default
from tests.gate.small import (
    ALARM,
    ONE,
    PERMISSION,
    RULES,
    TWO,
    findings,
    institution,
    proposal,
    situation,
)

SMALL = institution()
BUYING = findings("F1", direction=Direction.WRITE, asked=["BUY"])
BOUNDED = [b for b in Boundary if b is not Boundary.ALLOW]


def test_p02_with_every_lock_open_there_is_a_dispatch() -> None:
    assert decide(SMALL, situation(), BUYING, proposal("BUY")).terminal is Terminal.DISPATCH


@pytest.mark.parametrize("reserved", [r for r, _ in CHECKS], ids=str)
@pytest.mark.parametrize("terminal", [t for t in Terminal if t is not Terminal.DISPATCH], ids=str)
def test_p02_each_check_alone_closes(
    reserved: Reserved, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced = tuple((r, (lambda _: ("FORCED",)) if r is reserved else c) for r, c in CHECKS)
    monkeypatch.setattr(controller, "CHECKS", forced)
    configured = institution(terminals={reserved: terminal})
    verdict = decide(configured, situation(), BUYING, proposal("BUY"))
    assert (verdict.terminal, verdict.rule_id) == (terminal, reserved.value)
    assert verdict.reason_codes == ("FORCED",)


@pytest.mark.parametrize("outcome", [*BOUNDED, "ERROR", "PENDING", "ALLOW"], ids=str)
def test_p02_every_combination_of_rules_and_checks(
    outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dispatch for one row alone: the final rule allows, and no check has a reason."""
    then = outcome if outcome in BOUNDED else "REJECT"
    rules = [blocking(30, {"predicate": "alarm", "is": True}, then=then), default()]
    pending = blocking(40, {"predicate": "slot.amount", "gt": 1})
    configured = institution([*rules[:1], pending, default()] if outcome == "PENDING" else rules)
    where = situation(alarm=None if outcome == "ERROR" else outcome in BOUNDED)
    for closed in product((False, True), repeat=len(CHECKS)):
        forced = tuple(
            (
                reserved,
                (lambda _, no=no: ("FORCED",) if no else ()) if reserved != Reserved.SLOT else c,
            )
            for (reserved, c), no in zip(CHECKS, closed, strict=True)
        )
        monkeypatch.setattr(controller, "CHECKS", forced)
        verdict = decide(configured, where, BUYING, proposal("BUY"))
        slot = [r for r, _ in CHECKS].index(Reserved.SLOT)
        open_all = not any(no for i, no in enumerate(closed) if i != slot)
        assert (verdict.terminal is Terminal.DISPATCH) is (outcome == "ALLOW" and open_all)
        if outcome in BOUNDED:
            assert (verdict.rule_id, verdict.terminal.value) == ("R-030", outcome)


UNUSABLE: tuple[TierAnswer | None, ...] = (
    OutOfScope("fast", Decimal(1)),
    Abstain("low", "fast", ("BUY", "SELL")),
    Unparsed("", "proposer", Decimal(1)),
    Unparsed('{"action_id": "BUY"}', "proposer", Decimal(1)),
    proposal("NO_SUCH"),
    proposal("BUY", "L1"),
    proposal("BUY", NONE),
    None,
)


@pytest.mark.parametrize("answer", UNUSABLE, ids=repr)
def test_p02_without_a_commitment_nothing_is_dispatched(answer: TierAnswer) -> None:
    verdict = decide(SMALL, situation(), BUYING, answer)
    assert verdict.terminal is not Terminal.DISPATCH
    assert verdict.action_id is None


def test_p02_in_an_unconfigured_language_nothing_is_dispatched() -> None:
    verdict = decide(SMALL, situation(), BUYING._replace(language=None), proposal("BUY"))
    assert verdict.rule_id == "G-LANGUAGE"


# Random findings, states and proposals; each dispatch is checked against what it needs.

MENTIONS = [Mention(0, 2, (i,), s) for i in ("F1", "F2", "L1", "C1") for s in Status]
CLEAN = [Mention(0, 2, (i,), Status.OK) for i in ("F1", "F1", "C1", "L1")] * 8
ASKED = [
    Asked(a, b, ids) for a, b in ((0, 3), (0, 9)) for ids in (("BUY",), ("SELL",), ("BUY", "SELL"))
]


def random_findings(random: Random) -> Findings:
    return findings(
        *random.choices([*MENTIONS, *CLEAN], k=random.choice((0, 1, 1, 1, 2))),
        direction=random.choice(list(Direction)),
        asked=random.choices(ASKED, k=random.choice((0, 1, 1, 2))),
        language=random.choice((*["en"] * 9, None)),
        several_requests=random.random() < 0.1,
        unmatched=((0, 2),) if random.random() < 0.1 else (),
        third_person=((0, 2),) if random.random() < 0.1 else (),
    )


def needed(where: object, read: Findings, answer: Proposal, verdict: Verdict) -> None:
    """Everything that a dispatch needs, written down a second time."""
    action = SMALL.catalog.actions[answer.action_id]
    found = resolve(action, read, where, SMALL.registry.entries)  # type: ignore[arg-type]
    rules = evaluate(
        SMALL.rules,
        action.action_id,
        SMALL.predicates,
        where.state,  # type: ignore[attr-defined]
        {"entity_resolved": found.resolved, "direction": read.direction.value},
        {},
        where.now,  # type: ignore[attr-defined]
    )
    assert (rules.boundary, rules.rule_id) == (Boundary.ALLOW, verdict.rule_id)
    assert read.language is not None and not read.several_requests
    write = action.mode is Mode.WRITE
    fits = {Direction.WRITE, Direction.MIXED} if write else {Direction.READ, Direction.UNDECLARED}
    assert read.direction in fits
    assert not write or any(action.action_id in a.actions for a in read.asked)
    assert verdict.object_id == found.object_id
    assert found.resolved or (found.object_id == NONE and NONE in action.objects)
    assert answer.object_id in (None, found.object_id)
    assert answer.confidence is not None and answer.confidence >= Decimal("0.5")


@pytest.mark.parametrize("seed", range(10))
def test_p02_every_random_dispatch_has_all_that_it_needs(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    dispatched = 0
    for _ in range(1000):
        read = random_findings(random)
        where = situation(
            random.choice((None, ONE, TWO)),
            random.choice((*[None] * 6, ("F1",), ())),
            alarm=random.choice((*[False] * 8, True, None)),
            buying_permitted=random.choice((*[True] * 4, False)),
        )
        answer = proposal(
            random.choice(list(SMALL.catalog.actions)),
            random.choice((*[None] * 5, "F1", "L1", NONE)),
            random.choice(("0.9", "0.9", "0.5", "0.4", None)),
        )
        verdict = decide(SMALL, where, read, answer)
        if verdict.terminal is Terminal.DISPATCH:
            dispatched += 1
            needed(where, read, answer, verdict)
    assert dispatched > 5


@given(st.permutations([ALARM, PERMISSION, default()]), st.booleans(), st.booleans())
def test_p02_no_order_of_the_rules_dispatches_past_one(
    rules: list[dict[str, object]], alarm: bool, permitted: bool
) -> None:
    where = situation(alarm=alarm, buying_permitted=permitted)
    verdict = decide(institution(rules), where, BUYING, proposal("BUY"))
    assert (verdict.terminal is Terminal.DISPATCH) is (permitted and not alarm)
    assert len(RULES) == len(rules)
