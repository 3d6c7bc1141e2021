"""The controller on writes: slots, confirmation, pinned facts, equal writes, choices, and the limit of
clarifications."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from gate.configuration import DialogueLimits
from gate.controller import decide, malformed
from gate.direction import Asked
from gate.findings import Findings
from gate.objects import Mention, Status
from gate.records import (
    NONE,
    NOTHING_EARLIER,
    UNRESOLVED,
    Abstain,
    Boundary,
    Confirmed,
    Direction,
    Earlier,
    Equal,
    Money,
    Option,
    OutOfScope,
    Reserved,
    Session,
    Situation,
    Terminal,
    TierAnswer,
    Verdict,
    Write,
)
from gate.slots import Fault, SlotFound
from tests.gate.engine import blocking, default
from tests.gate.small import (
    ACTIONS,
    ALARM,
    BARE,
    BUY_F1,
    CARD,
    ONE,
    PAY,
    PERMISSION,
    SECOND,
    TWO,
    findings,
    institution,
    proposal,
    situation,
)

FEE = blocking(30, {"predicate": "fee", "gt": 9}, applies_to=["PAY"], then="DEFER")
LARGE = blocking(40, {"predicate": "slot.amount", "gt": 5000}, applies_to=["PAY"], then="HANDOFF")
EARLY = blocking(
    50,
    {"if_present": "slot.due", "then": {"predicate": "slot.due", "older_than": "30d"}},
    applies_to=["PAY"],
)
SMALL = institution(
    [ALARM, PERMISSION, FEE, LARGE, EARLY, default()], actions=[*ACTIONS, PAY]
)  # fmt: skip
AMOUNT = SlotFound("amount", 0, 7, "500 EUR", "")
DUE = SlotFound("due", 8, 9, "2026-11-24", "")
PAYING = findings("F1", direction=Direction.WRITE, asked=["PAY"], slots=(AMOUNT,))
WRITE = Write("PAY", "F1", (("amount", "500 EUR"),))
PINS = {"fee": "1"}
EQUAL_OPEN, EQUAL_DONE = Equal("d-9", True), Equal("d-9", False, "2026-12-01T08:59:00Z")


def confirmed(write: Write = WRITE, pins: Mapping[str, str] = PINS, **more: Any) -> Earlier:
    return Earlier(confirmed=Confirmed("d-0", write, pins), **more)


def pay(
    earlier: Earlier = NOTHING_EARLIER,
    read: Findings = PAYING,
    answer: TierAnswer | None = None,
    *,
    session: Session | None = BARE,
    configuration: Any = SMALL,
    **state: Any,
) -> Verdict:
    where = situation(session, None, earlier, **{"fee": 1, **state})
    return decide(configuration, where, read, answer or proposal("PAY"))


def end(verdict: Verdict) -> tuple[str, str, tuple[str, ...]]:
    return verdict.terminal.value, verdict.rule_id, verdict.reason_codes


ASKED = ("CLARIFY", "G-CONFIRM", ("CONFIRMATION_NEEDED",))
CHANGED = ("CLARIFY", "G-CONFIRM", ("WRITE_CHANGED",))
SENT: tuple[str, str, tuple[str, ...]] = ("DISPATCH", "R-999", ())
OPEN = ("HANDOFF", "G-DUPLICATE", ("EQUAL_WRITE_OPEN",))


# Confirmation.


def test_a_write_is_asked_about_and_then_sent() -> None:
    asked = pay()
    assert end(asked) == ASKED
    assert (asked.boundary, asked.action_id, asked.object_id) == (Boundary.ALLOW, "PAY", "F1")
    assert asked.slots == {"amount": Money(Decimal(500), "EUR")}
    assert asked.options == ()
    sent = pay(confirmed())
    assert (end(sent), sent.slots) == (SENT, asked.slots)


@pytest.mark.parametrize(
    "write",
    [
        replace(WRITE, action_id="BUY"),
        replace(WRITE, object_id="F2"),
        replace(WRITE, object_id=NONE),
        replace(WRITE, object_id=UNRESOLVED),
        replace(WRITE, slots=()),
        replace(WRITE, slots=(("amount", "500.01 EUR"),)),
        replace(WRITE, slots=(("amount", "500 USD"),)),
        replace(WRITE, slots=(("amount", "500.00 EUR"),)),  # a record holds the canonical text
        replace(WRITE, slots=(("amount", "500 EUR"), ("due", "2026-11-24"))),
        replace(WRITE, slots=(("due", "500 EUR"),)),
        Write("", ""),
    ],
    ids=repr,
)
def test_another_write_than_the_confirmed_one_is_asked_about_again(write: Write) -> None:
    assert end(pay(confirmed(write))) == CHANGED
    assert end(pay(confirmed(write, {}))) == CHANGED  # before any pin is looked at


@pytest.mark.parametrize(
    "read",
    [
        PAYING._replace(mentions=(Mention(9, 11, ("F2",), Status.OK),)),
        PAYING._replace(chosen="F2"),
        PAYING._replace(slots=(SlotFound("amount", 0, 7, "501 EUR", ""),)),
        PAYING._replace(slots=(SlotFound("amount", 0, 7, "500 USD", ""),)),
        PAYING._replace(slots=(AMOUNT, DUE)),
    ],
)
def test_a_write_that_is_another_one_now_is_asked_about_again(read: Findings) -> None:
    assert end(pay(confirmed(), read)) == CHANGED


@pytest.mark.parametrize("text", ["500 EUR", "500", "500.00 EUR", "500.0"])
def test_the_same_amount_in_other_words_is_the_same_write(text: str) -> None:
    read = PAYING._replace(slots=(AMOUNT._replace(value=text),))
    assert end(pay(confirmed(), read)) == SENT


def test_all_slots_are_confirmed() -> None:
    write = replace(WRITE, slots=(("amount", "500 EUR"), ("due", "2026-11-24")))
    verdict = pay(confirmed(write), PAYING._replace(slots=(AMOUNT, DUE)))
    assert end(verdict) == SENT
    assert verdict.slots == {"amount": Money(Decimal(500), "EUR"), "due": date(2026, 11, 24)}


def test_nobody_is_asked_where_nobody_can_confirm() -> None:
    for earlier in (NOTHING_EARLIER, confirmed(), Earlier(equal=EQUAL_OPEN)):
        verdict = pay(earlier, session=None)
        assert end(verdict) == ("CLARIFY", "G-CONFIRM", ("NO_SUBJECT",))


def test_an_order_that_cannot_be_sent_is_not_asked_about() -> None:
    for earlier in (Earlier(unfit="NO_CONNECTOR"), confirmed(unfit="NO_CONNECTOR")):
        assert end(pay(earlier)) == ("CLARIFY", "G-CONFIRM", ("NO_CONNECTOR",))


def test_a_read_needs_no_confirmation_and_takes_none() -> None:
    for earlier in (
        NOTHING_EARLIER,
        confirmed(),
        confirmed(Write("PRICE", "F1")),
        Earlier(unfit="X"),
    ):
        for session in (None, BARE):
            where = situation(session, None, earlier)
            assert end(decide(SMALL, where, findings("F1"), proposal("PRICE"))) == SENT


# Pinned facts.


def test_a_pinned_fact_that_changed_stops_a_confirmed_write() -> None:
    verdict = pay(confirmed(), fee=2)
    assert end(verdict) == ("DEFER", "G-STATE", ("PIN_CHANGED:fee",))
    assert verdict.boundary is Boundary.ALLOW
    assert end(pay(confirmed(pins={}))) == ("DEFER", "G-STATE", ("PIN_CHANGED:fee",))
    assert end(pay(confirmed(pins={"fee": ""}))) == ("DEFER", "G-STATE", ("PIN_CHANGED:fee",))
    assert end(pay(fee=2)) == ASKED


def test_the_same_value_in_another_form_is_no_change() -> None:
    for fee in (1, 1.0, "1", "1.00", Decimal("1.000")):
        assert end(pay(confirmed(), fee=fee)) == SENT


def test_a_fact_that_is_not_pinned_or_that_the_action_does_not_read_may_change() -> None:
    other: tuple[dict[str, Any], ...] = ({"mood": "bad"}, {"terms": "v2"}, {"priced_at": "x"})
    for changed in other:
        assert end(pay(confirmed(pins={**PINS, "terms": "v1", "ghost": "1"}), **changed)) == SENT
    where = situation(BARE, None, BUY_F1, fee=7)  # FEE is no rule of BUY
    buying = findings("F1", direction=Direction.WRITE, asked=["BUY"])
    assert end(decide(SMALL, where, buying, proposal("BUY"))) == SENT


def test_every_changed_pin_is_named() -> None:
    rule = blocking(30, {"all": [{"predicate": "fee", "gt": 9}, {"predicate": "terms", "is": "x"}]})
    configured = institution([rule, default()], actions=[*ACTIONS, PAY])
    verdict = pay(confirmed(pins={"fee": "2", "terms": "v1"}), configuration=configured, terms="v2")
    assert verdict.reason_codes == ("PIN_CHANGED:fee", "PIN_CHANGED:terms")


def test_a_rule_that_a_change_makes_true_speaks_first() -> None:
    assert end(pay(confirmed(), fee=10)) == ("DEFER", "R-030", ())
    assert end(pay(confirmed(), fee=None)) == ("HANDOFF", "R-030", ("R-030:fee:ABSENT",))


# Equal writes.


def test_while_an_equal_write_is_open_nothing_is_asked_and_nothing_sent() -> None:
    for earlier in (Earlier(equal=EQUAL_OPEN), confirmed(equal=EQUAL_OPEN)):
        assert end(pay(earlier)) == OPEN
    assert end(pay(confirmed(replace(WRITE, object_id="F2"), equal=EQUAL_OPEN))) == OPEN


def test_an_equal_write_done_meanwhile_is_asked_about_again() -> None:
    assert end(pay(confirmed(equal=EQUAL_DONE))) == ("CLARIFY", "G-CONFIRM", ("EQUAL_WRITE_DONE",))
    assert end(pay(Earlier(equal=EQUAL_DONE))) == ASKED
    assert end(pay(confirmed(replace(WRITE, object_id="F2"), equal=EQUAL_DONE))) == CHANGED


def test_what_changed_is_said_before_what_is_open() -> None:
    verdict = pay(confirmed(equal=EQUAL_OPEN), fee=2)
    assert verdict.rule_id == "G-STATE"


# A token that confirms nothing.


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        (Abstain("token_refused", "way"), findings()),
        (OutOfScope("fast"), findings()),
        (proposal("NO_SUCH"), findings()),
        (proposal("PAY"), PAYING._replace(language=None)),
    ],
)
def test_a_refused_token_is_named_behind_the_rules(answer: TierAnswer, read: Findings) -> None:
    earlier = Earlier(refused="EXPIRED")
    assert end(pay(earlier, read, answer)) == ("CLARIFY", "G-CONFIRM", ("EXPIRED",))
    assert pay(earlier, read, answer, alarm=True).rule_id == "R-010"
    assert end(pay(earlier, read, answer, alarm=None)) == (
        "HANDOFF", "R-010", ("R-010:alarm:ABSENT",),
    )  # fmt: skip


def test_a_refused_token_meets_the_rules_of_a_named_action() -> None:
    earlier = Earlier(refused="EXPIRED")
    unusable = proposal("PAY", "F9")
    assert end(pay(earlier, findings(), unusable, fee=10)) == ("DEFER", "R-030", ())
    verdict = pay(earlier, findings(), unusable)
    assert (verdict.rule_id, verdict.first_failed_contract) == ("G-CONFIRM", "C-CLOSED:object_id")


def test_a_refused_token_confirms_nothing() -> None:
    assert end(pay(Earlier(refused="EXPIRED"))) == ASKED


# The limit of clarifications.

UNCLEAR: tuple[tuple[str, Findings, TierAnswer, dict[str, Any]], ...] = (
    ("G-ABSTAIN", findings(), Abstain("low", "fast"), {}),
    ("G-CONTRACT", findings(), proposal("NO_SUCH"), {}),
    ("G-MULTI", PAYING._replace(several_requests=True), proposal("PAY"), {}),
    ("G-DIRECTION", PAYING._replace(direction=Direction.READ), proposal("PAY"), {}),
    ("G-ACTION", PAYING._replace(asked=()), proposal("PAY"), {}),
    ("G-OBJECT", PAYING._replace(mentions=()), proposal("PAY"), {}),
    ("G-SLOT", PAYING._replace(slots=()), proposal("PAY"), {}),
    ("G-CONFIDENCE", PAYING, proposal("PAY", confidence=None), {}),
    ("G-CONFIRM", PAYING, proposal("PAY"), {"session": None}),
    ("G-CONFIRM", PAYING, proposal("PAY"), {"unfit": "NO_CONNECTOR"}),
    ("G-CONFIRM", findings(), Abstain("token_refused", "way"), {"refused": "EXPIRED"}),
)


def unclear(asked: int, read: Findings, answer: TierAnswer, more: dict[str, Any]) -> Verdict:
    rest = dict(more)
    session = rest.pop("session", BARE)
    return pay(Earlier(asked=asked, **rest), read, answer, session=session)


@pytest.mark.parametrize("case", UNCLEAR, ids=range(len(UNCLEAR)))
def test_a_clarification_too_many_is_handed_over(
    case: tuple[str, Findings, TierAnswer, dict[str, Any]],
) -> None:
    rule_id, read, answer, more = case
    for asked in (0, 1, 2):
        verdict = unclear(asked, read, answer, more)
        assert (verdict.terminal, verdict.rule_id) == (Terminal.CLARIFY, rule_id)
    last = unclear(2, read, answer, more)
    for asked in (3, 4, 1000):
        verdict = unclear(asked, read, answer, more)
        assert end(verdict) == ("HANDOFF", "G-DIALOGUE", ("CLARIFICATIONS_USED_UP", rule_id))
        assert verdict.options == ()
        kept = ("boundary", "action_id", "object_id", "slots", "first_failed_contract", "supplied")
        assert all(getattr(verdict, name) == getattr(last, name) for name in kept)


def test_a_rule_that_clarifies_is_limited_too() -> None:
    rules = [{**ALARM, "then": "CLARIFY"}, default()]
    configured = institution(rules, actions=[*ACTIONS, PAY])
    for asked, expected in ((2, "R-010"), (3, "G-DIALOGUE")):
        verdict = pay(Earlier(asked=asked), configuration=configured, alarm=True)
        assert verdict.rule_id == expected
        assert verdict.boundary is Boundary.CLARIFY


@pytest.mark.parametrize("asked", [0, 3, 1000])
def test_asking_for_a_confirmation_is_no_clarification(asked: int) -> None:
    assert end(pay(Earlier(asked=asked))) == ASKED
    assert end(pay(confirmed(replace(WRITE, slots=()), asked=asked))) == CHANGED
    again = pay(confirmed(equal=EQUAL_DONE, asked=asked))
    assert again.reason_codes == ("EQUAL_WRITE_DONE",)


@pytest.mark.parametrize("terminal", [Terminal.HANDOFF, Terminal.REJECT, Terminal.DEFER])
def test_the_limit_opens_nothing_and_changes_no_other_terminal(terminal: Terminal) -> None:
    """Whatever is decided without a limit: only a clarification becomes something else."""
    configured = replace(SMALL, terminals={**SMALL.terminals, Reserved.DIALOGUE: terminal})
    free = replace(configured, dialogue=DialogueLimits(clarifications=10**6))
    answers: tuple[TierAnswer, ...] = (proposal("PAY"), proposal("PRICE"), OutOfScope("fast"))
    reads = (PAYING, findings("F1"), findings())
    for answer, read, alarm, was in product(
        answers,
        reads,
        (True, False, None),
        (NOTHING_EARLIER, confirmed(), confirmed(equal=EQUAL_OPEN)),
    ):
        where = situation(BARE, None, replace(was, asked=3), alarm=alarm, fee=1)
        limited, without = (decide(c, where, read, answer) for c in (configured, free))
        if without.terminal is not Terminal.CLARIFY or without.reason_codes == (
            "CONFIRMATION_NEEDED",
        ):
            assert limited == without
        elif without.reason_codes == ("WRITE_CHANGED",):
            assert limited == without
        else:
            assert (limited.terminal, limited.rule_id) == (terminal, "G-DIALOGUE")


def test_an_institution_says_how_often_it_asks() -> None:
    for most in (1, 2, 7):
        configured = replace(SMALL, dialogue=DialogueLimits(clarifications=most))
        for asked in range(9):
            verdict = pay(
                Earlier(asked=asked), answer=Abstain("low", "fast"), configuration=configured
            )
            assert verdict.rule_id == ("G-ABSTAIN" if asked < most else "G-DIALOGUE")


def test_a_request_that_cannot_be_read_is_no_clarification() -> None:
    configured = institution(terminals={Reserved.REQUEST: Terminal.CLARIFY})
    assert malformed(configured, "x").terminal is Terminal.CLARIFY


# A chosen object.


def choose(action: str, object_id: str, where: Situation, read: Findings | None = None) -> Verdict:
    """What choosing an object comes to, before it is confirmed."""
    writes = action in ("FREEZE", "BUY", "PAY")
    base = read or findings(
        direction=Direction.WRITE if writes else Direction.READ, asked=[action] if writes else ()
    )
    return decide(SMALL, where, base._replace(chosen=object_id), proposal(action))


@pytest.mark.parametrize(
    ("action", "object_id", "where", "expected"),
    [
        ("FREEZE", "C1", situation(TWO), ("C1", ASKED)),
        ("FREEZE", "C2", situation(TWO), ("C2", ASKED)),
        # No longer in the session.
        ("FREEZE", "C2", situation(ONE), (UNRESOLVED, "TYPE_NOT_PERMITTED")),
        ("FREEZE", "C1", situation(), (UNRESOLVED, "TYPE_NOT_PERMITTED")),
        # Not a candidate.
        ("FREEZE", "C1", situation(TWO, ("C2",)), (UNRESOLVED, "NOT_A_CANDIDATE")),
        ("FREEZE", "C1", situation(TWO, ()), (UNRESOLVED, "NOT_A_CANDIDATE")),
        ("FREEZE", "C1", situation(TWO, ("C1",)), ("C1", ASKED)),
        # Of a type that the action does not permit, or of no list.
        ("FREEZE", "F1", situation(TWO), (UNRESOLVED, "TYPE_NOT_PERMITTED")),
        ("PRICE", "L1", situation(), (UNRESOLVED, "TYPE_NOT_PERMITTED")),
        ("PRICE", "F9", situation(), (UNRESOLVED, "TYPE_NOT_PERMITTED")),
        ("PRICE", UNRESOLVED, situation(), (UNRESOLVED, "TYPE_NOT_PERMITTED")),
        ("HELP", "F1", situation(), (UNRESOLVED, "TYPE_NOT_PERMITTED")),
        # No object.
        ("FREEZE", NONE, situation(TWO), (UNRESOLVED, "NO_OBJECT")),
        ("LOANS", NONE, situation(), (NONE, SENT)),
        ("HELP", NONE, situation(), (NONE, SENT)),
        ("PRICE", "F2", situation(), ("F2", SENT)),
    ],
)  # fmt: skip
def test_a_chosen_object_stands_as_long_as_the_closed_lists_hold_it(
    action: str, object_id: str, where: Situation, expected: tuple[str, Any]
) -> None:
    verdict = choose(action, object_id, where)
    if isinstance(expected[1], str):
        assert end(verdict) == ("CLARIFY", "G-OBJECT", (expected[1],))
        assert verdict.options == ()
    else:
        assert end(verdict) == expected[1]
    assert verdict.object_id == expected[0]


def test_a_choice_wins_over_what_the_opening_turn_named() -> None:
    unclear = findings(
        Mention(0, 2, ("F1", "F2"), Status.SHARED),
        unmatched=((3, 5),),
        third_person=((3, 5),),
        set_aside=((0, 2),),
        kinds=((0, 2),),
    )
    verdict = choose("PRICE", "F2", situation(), unclear)
    assert (end(verdict), verdict.object_id) == (SENT, "F2")


def test_a_choice_is_no_action_evidence() -> None:
    read = findings(direction=Direction.WRITE)
    assert choose("FREEZE", "C1", situation(ONE), read).rule_id == "G-ACTION"
    other = findings(direction=Direction.WRITE, asked=[Asked(0, 3, ("SELL",))])
    assert choose("FREEZE", "C1", situation(ONE), other).rule_id == "G-ACTION"
    assert choose("FREEZE", "C1", situation(ONE), findings()).rule_id == "G-DIRECTION"


def test_a_tier_may_not_disagree_with_a_choice() -> None:
    read = findings("F1", chosen="F2")
    verdict = decide(SMALL, situation(), read, proposal("PRICE", "F1"))
    assert end(verdict) == ("CLARIFY", "G-OBJECT", ("PROPOSAL_DISAGREES",))
    assert verdict.options == (Option("PRICE", "F2"),)


def test_a_chosen_object_is_confirmed_like_any_other() -> None:
    where = situation(TWO, None, Earlier(confirmed=Confirmed("d-0", Write("FREEZE", "C2"))))
    assert end(choose("FREEZE", "C2", where)) == SENT
    assert end(choose("FREEZE", "C1", where)) == CHANGED
    assert {CARD.object_id, SECOND.object_id} == {"C1", "C2"}


# Slots.


def slots(*found: SlotFound) -> Verdict:
    return pay(confirmed(), PAYING._replace(slots=found))


@pytest.mark.parametrize(
    ("found", "reasons"),
    [
        ((), ("SLOT_MISSING:amount", "R-040:slot.amount:ABSENT")),
        ((DUE,), ("SLOT_MISSING:amount", "R-040:slot.amount:ABSENT")),
        ((AMOUNT, AMOUNT._replace(value="600 EUR")),
         ("SLOT_AMBIGUOUS:amount", "R-040:slot.amount:AMBIGUOUS")),
        ((AMOUNT._replace(value="", fault=Fault.APPROXIMATE),),
         ("SLOT_APPROXIMATE:amount", "R-040:slot.amount:AMBIGUOUS")),
        ((AMOUNT._replace(value="500 GBP"),),
         ("SLOT_CURRENCY:amount", "R-040:slot.amount:AMBIGUOUS")),
        ((AMOUNT._replace(value="10001 EUR"),),
         ("SLOT_RANGE:amount", "R-040:slot.amount:AMBIGUOUS")),
        ((AMOUNT, DUE._replace(value="", fault=Fault.NO_DAY)),
         ("SLOT_NO_DAY:due", "R-050:slot.due:AMBIGUOUS")),
        ((AMOUNT, DUE, DUE._replace(value="2026-11-25")),
         ("SLOT_AMBIGUOUS:due", "R-050:slot.due:AMBIGUOUS")),
    ],
)  # fmt: skip
def test_a_slot_without_one_usable_value_is_asked_for(
    found: tuple[SlotFound, ...], reasons: tuple[str, ...]
) -> None:
    """No confirmation helps, and the rules that wait for it are named behind it."""
    verdict = slots(*found)
    assert end(verdict) == ("CLARIFY", "G-SLOT", reasons)
    assert verdict.options == (Option("PAY", "F1"),)


def test_an_open_slot_without_a_rule_that_waits_is_asked_for() -> None:
    configured = institution(actions=[*ACTIONS, PAY])
    verdict = pay(confirmed(), PAYING._replace(slots=()), configuration=configured)
    assert end(verdict) == ("CLARIFY", "G-SLOT", ("SLOT_MISSING:amount",))
    assert verdict.boundary is Boundary.ALLOW
    assert slots().boundary is Boundary.CLARIFY


def test_a_rule_that_waits_leaves_the_word_to_a_later_one() -> None:
    """An earlier PENDING rule, then one that is TRUE or errs on something else."""
    for then, state, expected in (
        (FEE | {"priority": 45}, {"fee": 10}, ("DEFER", "R-030", ())),
        (FEE | {"priority": 45}, {"fee": "x"}, ("HANDOFF", "R-030", ("R-030:fee:MISTYPED",))),
    ):
        configured = institution([ALARM, LARGE, then, default()], actions=[*ACTIONS, PAY])
        read = PAYING._replace(slots=())
        assert end(pay(confirmed(), read, configuration=configured, **state)) == expected


def test_rules_read_the_slots() -> None:
    large = SlotFound("amount", 0, 7, "5000.01 EUR", "")
    assert end(slots(large)) == ("HANDOFF", "R-040", ())
    assert slots(large).slots == {"amount": Money(Decimal("5000.01"), "EUR")}
    assert end(slots(large._replace(value="5000 EUR"))) == CHANGED
    early = DUE._replace(value="2026-10-24")
    assert end(slots(AMOUNT, early)) == ("REJECT", "R-050", ())
    assert end(slots(AMOUNT, DUE)) == CHANGED


def test_an_optional_slot_that_nothing_was_said_about_is_no_error() -> None:
    assert end(slots(AMOUNT)) == SENT


def test_slots_of_other_actions_are_none_of_an_action() -> None:
    buying = findings("F1", direction=Direction.WRITE, asked=["BUY"], slots=(AMOUNT, AMOUNT, DUE))
    verdict = decide(SMALL, situation(BARE, None, BUY_F1), buying, proposal("BUY"))
    assert (end(verdict), verdict.slots) == (SENT, {})


def test_a_bounded_verdict_keeps_what_was_said() -> None:
    verdict = pay(NOTHING_EARLIER, PAYING, proposal("PAY", confidence=None))
    assert verdict.slots == {"amount": Money(Decimal(500), "EUR")}
    assert pay(answer=OutOfScope("fast")).slots == {}
