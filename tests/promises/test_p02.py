"""P-02: dispatch happens only after the final rule ALLOWs and every later check passes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from itertools import product
from random import Random
from typing import Any, cast

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
    Confirmed,
    Direction,
    Earlier,
    Equal,
    Mode,
    OutOfScope,
    Proposal,
    Reserved,
    Situation,
    Terminal,
    TierAnswer,
    Unparsed,
    Verdict,
    Write,
)
from gate.resolution import resolve
from gate.rules import evaluate
from gate.slots import SlotFound
from tests.gate.engine import blocking, default
from tests.gate.small import (
    ACTIONS,
    ALARM,
    BARE,
    BUY_F1,
    ONE,
    PAY,
    PERMISSION,
    RULES,
    TWO,
    confirming,
    findings,
    institution,
    proposal,
    situation,
)

SMALL = institution()
BUYING = findings("F1", direction=Direction.WRITE, asked=["BUY"])
CONFIRMED = situation(BARE, None, BUY_F1)
BOUNDED = [b for b in Boundary if b is not Boundary.ALLOW]


def test_p02_with_every_lock_open_there_is_a_dispatch() -> None:
    assert decide(SMALL, CONFIRMED, BUYING, proposal("BUY")).terminal is Terminal.DISPATCH
    asked = decide(SMALL, situation(BARE), BUYING, proposal("BUY"))
    assert (asked.terminal, asked.rule_id) == (Terminal.CLARIFY, "G-CONFIRM")


@pytest.mark.parametrize("reserved", [r for r, _ in CHECKS], ids=str)
@pytest.mark.parametrize("terminal", [t for t in Terminal if t is not Terminal.DISPATCH], ids=str)
def test_p02_each_check_alone_closes(
    reserved: Reserved, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced = tuple((r, (lambda _: ("FORCED",)) if r is reserved else c) for r, c in CHECKS)
    monkeypatch.setattr(controller, "CHECKS", forced)
    configured = institution(terminals={reserved: terminal})
    verdict = decide(configured, CONFIRMED, BUYING, proposal("BUY"))
    assert (verdict.terminal, verdict.rule_id) == (terminal, reserved.value)
    assert verdict.reason_codes == ("FORCED",)


# Each check closes by itself: the last lock of an otherwise open write.

PINNED = institution(
    [*RULES[:-1], blocking(40, {"predicate": "fee", "gt": 9}), default()], actions=[*ACTIONS, PAY]
)
PAYING = findings(
    "F1",
    direction=Direction.WRITE,
    asked=["PAY"],
    slots=(SlotFound("amount", 0, 3, "500 EUR", ""),),
)
PAYS = proposal("PAY")


def paid(where: Situation, read: Findings = PAYING, answer: Proposal = PAYS) -> Verdict:
    return decide(PINNED, where, read, answer)


UNASKED = situation(BARE, fee=1)
AGREED = confirming(PINNED, UNASKED, paid(UNASKED))
GIVEN = cast(Confirmed, AGREED.earlier.confirmed)


def earlier(**changes: Any) -> Situation:
    return replace(AGREED, earlier=replace(AGREED.earlier, **changes))


def agreed(**changes: Any) -> Situation:
    """As agreed, but something else was confirmed."""
    return earlier(confirmed=replace(GIVEN, write=replace(GIVEN.write, **changes)))


ONE_LOCK: tuple[tuple[str, Situation, Findings, Proposal], ...] = (
    ("G-MULTI", AGREED, PAYING._replace(several_requests=True), PAYS),
    ("G-DIRECTION", AGREED, PAYING._replace(direction=Direction.READ), PAYS),
    ("G-DIRECTION", AGREED, PAYING._replace(direction=Direction.UNDECLARED), PAYS),
    ("G-ACTION", AGREED, PAYING._replace(asked=()), PAYS),
    ("G-ACTION", AGREED, PAYING._replace(asked=(Asked(0, 3, ("BUY",)),)), PAYS),
    ("G-OBJECT", AGREED, PAYING._replace(mentions=()), PAYS),
    ("G-OBJECT", AGREED, PAYING._replace(unmatched=((0, 2),)), PAYS),
    ("G-OBJECT", AGREED, PAYING._replace(chosen="F9"), PAYS),
    ("G-OBJECT", replace(AGREED, candidates=("F2",)), PAYING, PAYS),
    ("G-SLOT", AGREED, PAYING._replace(slots=()), PAYS),
    ("G-SLOT", AGREED, PAYING._replace(slots=(SlotFound("amount", 0, 3, "500 GBP", ""),)), PAYS),
    ("G-SLOT", AGREED, PAYING._replace(slots=(*PAYING.slots, SlotFound("due", 5, 9, "", "NO_DAY"))), PAYS),
    ("G-CONFIDENCE", AGREED, PAYING, proposal("PAY", confidence=None)),
    ("G-CONFIDENCE", AGREED, PAYING, proposal("PAY", confidence="0.49")),
    ("G-CONFIRM", UNASKED, PAYING, PAYS),
    ("G-CONFIRM", earlier(confirmed=None), PAYING, PAYS),
    ("G-CONFIRM", replace(AGREED, session=None), PAYING, PAYS),
    ("G-CONFIRM", earlier(unfit="NO_CONNECTOR"), PAYING, PAYS),
    ("G-CONFIRM", earlier(equal=Equal("d-1", False)), PAYING, PAYS),
    ("G-CONFIRM", agreed(action_id="BUY"), PAYING, PAYS),
    ("G-CONFIRM", agreed(object_id="F2"), PAYING, PAYS),
    ("G-CONFIRM", agreed(slots=(("amount", "501 EUR"),)), PAYING, PAYS),
    ("G-CONFIRM", agreed(slots=(("amount", "500 USD"),)), PAYING, PAYS),
    ("G-CONFIRM", agreed(slots=()), PAYING, PAYS),
    ("G-CONFIRM", AGREED, PAYING._replace(chosen="F2"), PAYS),
    ("G-CONFIRM", AGREED,
     PAYING._replace(slots=(*PAYING.slots, SlotFound("due", 5, 9, "2026-12-24", ""))), PAYS),
    ("G-STATE", replace(AGREED, state={**AGREED.state, "fee": 2}), PAYING, PAYS),
    ("G-STATE", earlier(confirmed=replace(GIVEN, pins={})), PAYING, PAYS),
    ("G-DUPLICATE", earlier(equal=Equal("d-1", True)), PAYING, PAYS),
)  # fmt: skip


def test_p02_the_last_lock_is_there_for_every_check() -> None:
    assert paid(AGREED).terminal is Terminal.DISPATCH
    assert {reserved for reserved, *_ in ONE_LOCK} == {r.value for r, _ in CHECKS}


@pytest.mark.parametrize("case", ONE_LOCK, ids=range(len(ONE_LOCK)))
def test_p02_one_lock_alone_keeps_a_write_closed(
    case: tuple[str, Situation, Findings, Proposal], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is the only one that does: without its check the same inputs are dispatched, or are another
    write than the confirmed one."""
    reserved, inputs = case[0], case[1:]
    verdict = paid(*inputs)
    assert verdict.rule_id == reserved
    assert verdict.terminal is PINNED.terminals[Reserved(reserved)]
    others = tuple((r, c) for r, c in CHECKS if r != reserved)
    monkeypatch.setattr(controller, "CHECKS", others)
    freed = paid(*inputs)
    other_write = reserved in ("G-OBJECT", "G-SLOT") and freed.rule_id == "G-CONFIRM"
    assert freed.rule_id == "R-999" or other_write


@pytest.mark.parametrize("outcome", [*BOUNDED, "ERROR", "PENDING", "ALLOW"], ids=str)
def test_p02_every_combination_of_rules_and_checks(
    outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dispatch for one row alone: the final rule allows, and no check has a reason."""
    then = outcome if outcome in BOUNDED else "REJECT"
    rules = [blocking(30, {"predicate": "alarm", "is": True}, then=then), default()]
    pending = blocking(40, {"predicate": "slot.amount", "gt": 1})
    configured = institution([*rules[:1], pending, default()] if outcome == "PENDING" else rules)
    broken = None if outcome == "ERROR" else outcome in BOUNDED
    where = situation(BARE, None, BUY_F1, alarm=broken)
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
    verdict = decide(SMALL, CONFIRMED, BUYING, answer)
    assert verdict.terminal is not Terminal.DISPATCH
    assert verdict.action_id is None


def test_p02_in_an_unconfigured_language_nothing_is_dispatched() -> None:
    verdict = decide(SMALL, CONFIRMED, BUYING._replace(language=None), proposal("BUY"))
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


def random_earlier(random: Random) -> Earlier:
    """Mostly a confirmation, and of the writes that the texts ask for."""
    write = Write(
        random.choice(("BUY", "BUY", "SELL", "FREEZE")), random.choice(("F1", "F1", "C1", "F2"))
    )
    return Earlier(
        asked=random.choice((0, 0, 2, 3)),
        refused=random.choice(("", "", "EXPIRED")),
        unfit=random.choice((*[""] * 9, "NO_CONNECTOR")),
        confirmed=random.choice((*[Confirmed("d-0", write)] * 4, None)),
        equal=random.choice((*[None] * 8, Equal("d-1", True), Equal("d-1", False))),
    )


def needed(where: Situation, read: Findings, answer: Proposal, verdict: Verdict) -> None:
    """Everything that a dispatch needs, written down a second time."""
    action = SMALL.catalog.actions[answer.action_id]
    found = resolve(action, read, where, SMALL.registry.entries)
    rules = evaluate(
        SMALL.rules,
        action.action_id,
        SMALL.predicates,
        where.state,
        {"entity_resolved": found.resolved, "direction": read.direction.value},
        {},
        where.now,
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
    if write:
        earlier = where.earlier
        assert where.session is not None and not earlier.unfit and earlier.equal is None
        assert earlier.confirmed is not None
        assert earlier.confirmed.write == Write(action.action_id, found.object_id)


@pytest.mark.parametrize("seed", range(10))
def test_p02_every_random_dispatch_has_all_that_it_needs(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    dispatched: Counter[Mode | None] = Counter()
    for _ in range(2000):
        read = random.choice((random_findings(random), BUYING))
        where = situation(
            random.choice((None, ONE, TWO)),
            random.choice((*[None] * 6, ("F1",), ())),
            random_earlier(random),
            alarm=random.choice((*[False] * 8, True, None)),
            buying_permitted=random.choice((*[True] * 4, False)),
        )
        answer = proposal(
            random.choice((*SMALL.catalog.actions, "BUY", "BUY")),
            random.choice((*[None] * 5, "F1", "L1", NONE)),
            random.choice(("0.9", "0.9", "0.5", "0.4", None)),
        )
        verdict = decide(SMALL, where, read, answer)
        if verdict.terminal is Terminal.DISPATCH:
            dispatched[SMALL.catalog.actions[answer.action_id].mode] += 1
            needed(where, read, answer, verdict)
    assert dispatched[Mode.READ] > 0 and dispatched[Mode.WRITE] > 0


@given(st.permutations([ALARM, PERMISSION, default()]), st.booleans(), st.booleans())
def test_p02_no_order_of_the_rules_dispatches_past_one(
    rules: list[dict[str, object]], alarm: bool, permitted: bool
) -> None:
    where = situation(BARE, None, BUY_F1, alarm=alarm, buying_permitted=permitted)
    verdict = decide(institution(rules), where, BUYING, proposal("BUY"))
    assert (verdict.terminal is Terminal.DISPATCH) is (permitted and not alarm)
    assert len(RULES) == len(rules)
