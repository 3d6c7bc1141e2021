"""The controller: one terminal with one id, the order of precedence, ablations."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from gate.controller import CHECKS, NO_SWITCHES, course, decide, gate_values, malformed
from gate.direction import Asked
from gate.errors import ConfigError
from gate.findings import Findings
from gate.objects import Mention, Status
from gate.records import (
    NONE,
    UNRESOLVED,
    Abstain,
    Boundary,
    Direction,
    Earlier,
    Equal,
    Option,
    OutOfScope,
    Proposal,
    Reserved,
    Situation,
    Switches,
    Terminal,
    TierAnswer,
    Unparsed,
    Verdict,
)
from gate.resolution import Resolution
from tests.gate.engine import blocking, default
from tests.gate.small import (
    ACTIONS,
    ALARM,
    BARE,
    BUY_F1,
    ONE,
    PERMISSION,
    RULES,
    TWO,
    confirming,
    findings,
    institution,
    proposal,
    situation,
    without_modes,
)

SMALL = institution()
READ = (situation(), findings("F1"), proposal("PRICE"))
CONFIRMED = situation(BARE, earlier=BUY_F1)
BUYING = findings("F1", direction=Direction.WRITE, asked=["BUY"])
WRITE = (CONFIRMED, BUYING, proposal("BUY"))
SLOT_RULE = blocking(30, {"predicate": "slot.amount", "gt": 10})
GATE_RULE = blocking(30, {"predicate": "entity_resolved", "is": False}, then="CLARIFY")


def said(
    where: Situation,
    read: Findings,
    answer: TierAnswer,
    switches: Switches = NO_SWITCHES,
    **more: Any,
) -> Verdict:
    return decide(more.get("configuration", SMALL), where, read, answer, switches)


def short(verdict: Verdict) -> tuple[str, str]:
    return verdict.terminal.value, verdict.rule_id


# Dispatch.


def test_a_read_whose_every_lock_is_open_is_dispatched() -> None:
    assert said(*READ) == Verdict(Terminal.DISPATCH, Boundary.ALLOW, "R-999", (), "PRICE", "F1")


def test_a_write_whose_every_lock_is_open_is_dispatched() -> None:
    assert said(*WRITE) == Verdict(Terminal.DISPATCH, Boundary.ALLOW, "R-999", (), "BUY", "F1")


def test_an_unconfirmed_write_is_asked_about() -> None:
    assert said(situation(BARE), *WRITE[1:]) == Verdict(
        Terminal.CLARIFY, Boundary.ALLOW, "G-CONFIRM", ("CONFIRMATION_NEEDED",), "BUY", "F1"
    )


def test_a_question_beside_a_write_does_not_close_it() -> None:
    where, read, answer = WRITE
    mixed = read._replace(direction=Direction.MIXED)
    assert said(situation(BARE), mixed, answer).reason_codes == ("CONFIRMATION_NEEDED",)
    assert said(where, mixed, answer).terminal is Terminal.DISPATCH


def test_an_undeclared_direction_reads() -> None:
    where, read, answer = READ
    undeclared = read._replace(direction=Direction.UNDECLARED)
    assert said(where, undeclared, answer).terminal is Terminal.DISPATCH


def test_an_object_free_action_is_dispatched_without_one() -> None:
    assert said(situation(), findings(), proposal("HELP")).object_id == NONE
    assert said(situation(), findings(), proposal("LOANS", NONE)).object_id == NONE


# Every reserved id that a single decision can end in.

NO_OBJECT = findings()
REACHED: dict[Reserved, tuple[Situation, Findings, TierAnswer]] = {
    Reserved.LANGUAGE: (situation(), findings("F1", language=None), proposal("PRICE")),
    Reserved.CONTRACT: (situation(), findings("F1"), proposal("NO_SUCH")),
    Reserved.SCOPE: (situation(), findings(), OutOfScope("fast")),
    Reserved.ABSTAIN: (situation(), findings(), Abstain("low_confidence", "fast")),
    Reserved.MULTI: (situation(), findings("F1", several_requests=True), proposal("PRICE")),
    Reserved.DIRECTION: (
        situation(),
        findings("F1", direction=Direction.WRITE, asked=["BUY"]),
        proposal("PRICE"),
    ),
    Reserved.ACTION: (situation(), findings("F1", direction=Direction.WRITE), proposal("BUY")),
    Reserved.OBJECT: (situation(), NO_OBJECT, proposal("PRICE")),
    Reserved.CONFIDENCE: (situation(), findings("F1"), proposal("PRICE", confidence="0.4999")),
    Reserved.CONFIRM: (situation(BARE), BUYING, proposal("BUY")),
    Reserved.DUPLICATE: (
        situation(BARE, earlier=Earlier(equal=Equal("d-1", True))),
        BUYING,
        proposal("BUY"),
    ),
}


@pytest.mark.parametrize("reserved", REACHED, ids=str)
def test_reserved_id_is_reached_with_its_terminal(reserved: Reserved) -> None:
    verdict = said(*REACHED[reserved])
    assert verdict.rule_id == reserved.value
    assert verdict.terminal is SMALL.terminals[reserved]
    assert len(verdict.reason_codes) == 1


@pytest.mark.parametrize("reserved", REACHED, ids=str)
@pytest.mark.parametrize("terminal", [t for t in Terminal if t is not Terminal.DISPATCH], ids=str)
def test_an_institution_chooses_the_terminal(reserved: Reserved, terminal: Terminal) -> None:
    configured = institution(terminals={reserved: terminal})
    verdict = said(*REACHED[reserved], configuration=configured)
    assert short(verdict) == (terminal.value, reserved.value)


def test_no_reserved_id_may_dispatch() -> None:
    for reserved in Reserved:
        with pytest.raises(ConfigError, match=f"`{reserved}` has no bounded terminal"):
            institution(terminals={reserved: Terminal.DISPATCH})


def test_every_reserved_id_needs_a_terminal() -> None:
    with pytest.raises(ConfigError, match="`G-REQUEST` has no bounded terminal"):
        institution(terminals={Reserved.REQUEST: None})  # type: ignore[dict-item]


def test_a_malformed_request_has_an_id_too() -> None:
    assert malformed(SMALL, "field utterance") == Verdict(
        Terminal.REJECT, Boundary.REJECT, "G-REQUEST", ("field utterance",), None, UNRESOLVED
    )


def test_a_pending_rule_ends_in_slot() -> None:
    configured = institution([*RULES[:-1], SLOT_RULE, default()])
    verdict = said(*READ, configuration=configured)
    assert short(verdict) == ("CLARIFY", "G-SLOT")
    assert verdict.boundary is Boundary.CLARIFY
    assert verdict.reason_codes == ("R-030:slot.amount:ABSENT",)
    handed = institution(
        [*RULES[:-1], SLOT_RULE, default()], terminals={Reserved.SLOT: Terminal.HANDOFF}
    )
    assert short(said(*READ, configuration=handed)) == ("HANDOFF", "G-SLOT")


# Order of precedence.


PINNED = institution([*RULES[:-1], blocking(40, {"predicate": "fee", "gt": 9}), default()])
"""As SMALL, with a pinned predicate that every action's rules read."""

Inputs = tuple[Situation, Findings, Proposal]


def with_fault(fault: Reserved, where: Situation, read: Findings, answer: Proposal) -> Inputs:
    """The same inputs with something that the check of that id closes on."""
    earlier = where.earlier
    match fault:
        case Reserved.MULTI:
            return where, read._replace(several_requests=True), answer
        case Reserved.DIRECTION:
            return where, read._replace(direction=Direction.READ), answer
        case Reserved.ACTION:
            return where, read._replace(asked=()), answer
        case Reserved.OBJECT:
            return where, read._replace(mentions=()), answer
        case Reserved.CONFIDENCE:
            return where, read, proposal(answer.action_id, confidence=None)
        case Reserved.CONFIRM:
            return replace(where, earlier=replace(earlier, unfit="UNFIT")), read, answer
        case Reserved.STATE:
            return replace(where, state={**where.state, "fee": 2}), read, answer
        case _:
            return replace(where, earlier=replace(earlier, equal=Equal("d-1", True))), read, answer


def pinned_write(*faults: Reserved) -> Inputs:
    """A confirmed write under a pinned fee, with faults."""
    where = situation(BARE, fee=1)
    case: Inputs = (
        confirming(PINNED, where, said(where, *WRITE[1:], configuration=PINNED)),
        *WRITE[1:],
    )
    for fault in faults:
        case = with_fault(fault, *case)
    return case


CLOSING: list[Reserved] = [reserved for reserved, _ in CHECKS if reserved is not Reserved.SLOT]


@pytest.mark.parametrize("faults", [*combinations(CLOSING, 1), *combinations(CLOSING, 2)], ids=str)
def test_of_two_failing_checks_the_earlier_names_the_verdict(faults: tuple[Reserved, ...]) -> None:
    assert short(said(*pinned_write(), configuration=PINNED)) == ("DISPATCH", "R-999")
    if faults == (Reserved.CONFIRM, Reserved.DUPLICATE):
        faults = (
            Reserved.DUPLICATE,
            Reserved.CONFIRM,
        )  # while an equal write is open, nothing is asked
    verdict = said(*pinned_write(*faults), configuration=PINNED)
    assert (verdict.rule_id, len(verdict.reason_codes)) == (faults[0].value, 1)


@pytest.mark.parametrize("fault", CLOSING, ids=str)
def test_a_pending_slot_stands_between_object_and_confidence(fault: Reserved) -> None:
    slots = institution(
        [*RULES[:-1], SLOT_RULE, blocking(40, {"predicate": "fee", "gt": 9}), default()]
    )
    earlier = CLOSING.index(fault) < CLOSING.index(Reserved.CONFIDENCE)
    expected = fault if earlier else Reserved.SLOT
    assert said(*pinned_write(fault), configuration=slots).rule_id == expected.value


def test_checks_stand_in_the_order_of_the_reserved_ids() -> None:
    order = list(Reserved)
    positions = [order.index(reserved) for reserved, _ in CHECKS]
    assert positions == sorted(positions)


@pytest.mark.parametrize("fault", CLOSING, ids=str)
def test_a_rule_speaks_before_every_check(fault: Reserved) -> None:
    where, read, answer = pinned_write(fault)
    for changed, expected in (
        ({"alarm": True}, ("HANDOFF", "R-010")),
        ({"buying_permitted": False}, ("REJECT", "R-020")),
        ({"alarm": None}, ("HANDOFF", "R-010")),
    ):
        other = replace(where, state={**where.state, **changed})
        assert short(said(other, read, answer, configuration=PINNED)) == expected


@pytest.mark.parametrize(
    "answer",
    [
        proposal("NO_SUCH"),
        proposal("BUY", "F9"),
        Unparsed("not json", "proposer"),
        OutOfScope("fast"),
        Abstain("low_confidence", "fast"),
        None,
    ],
    ids=repr,
)
def test_a_safety_hand_off_hides_behind_no_unclear_request(answer: Any) -> None:
    for read in (findings(), findings(several_requests=True), findings(language=None)):
        assert short(said(situation(alarm=True), read, answer)) == ("HANDOFF", "R-010")
        assert said(situation(alarm="yes"), read, answer).reason_codes == ("R-010:alarm:MISTYPED",)


def test_an_unusable_proposal_of_a_known_action_meets_that_actions_rules() -> None:
    forbidden = situation(buying_permitted=False)
    assert short(said(forbidden, findings(), proposal("BUY", "F9"))) == ("REJECT", "R-020")
    assert short(said(forbidden, findings(), proposal("BUY", topk=("SELL",)))) == (
        "REJECT", "R-020",
    )  # fmt: skip
    assert short(said(forbidden, findings(language=None), proposal("BUY"))) == ("REJECT", "R-020")
    assert short(said(forbidden, findings(), proposal("SELL", "F9"))) == ("CLARIFY", "G-CONTRACT")
    assert short(said(forbidden, findings(), proposal("NO_SUCH"))) == ("CLARIFY", "G-CONTRACT")
    assert short(said(forbidden, findings(), Abstain("x", "fast", ("BUY",)))) == (
        "CLARIFY", "G-ABSTAIN",
    )  # fmt: skip


def test_a_pending_rule_leaves_the_tiers_own_terminal() -> None:
    configured = institution([*RULES[:-1], SLOT_RULE, default()])
    for answer, reserved in (
        (proposal("NO_SUCH"), "G-CONTRACT"),
        (OutOfScope("fast"), "G-SCOPE"),
        (Abstain("x", "fast"), "G-ABSTAIN"),
    ):
        verdict = said(situation(), findings(), answer, configuration=configured)
        assert verdict.rule_id == reserved


def test_a_failed_contract_is_kept_with_what_was_supplied() -> None:
    verdict = said(situation(), findings(), proposal("BUY", "F9"))
    assert (verdict.first_failed_contract, verdict.supplied) == ("C-CLOSED:object_id", "F9")
    assert (verdict.action_id, verdict.object_id) == (None, UNRESOLVED)
    repaired = Unparsed('```\n{"action_id": "X"}\n```', "proposer")
    assert said(situation(), findings(), repaired).repair == "fence"
    by_rule = said(situation(alarm=True), findings(), proposal("BUY", "F9"))
    assert by_rule.first_failed_contract == "C-CLOSED:object_id"


def test_a_repaired_proposal_says_so() -> None:
    text = '```\n{"action_id": "PRICE", "object_id": "F1", "topk": ["PRICE"]}\n```'
    verdict = said(*READ[:2], Unparsed(text, "proposer", proposal("PRICE").confidence))
    assert (verdict.terminal, verdict.repair) == (Terminal.DISPATCH, "fence")


# Direction and action evidence.


@pytest.mark.parametrize("direction", list(Direction), ids=str)
def test_a_read_accepts_no_write(direction: Direction) -> None:
    verdict = said(situation(), findings("F1", direction=direction), proposal("PRICE"))
    closed = direction in (Direction.WRITE, Direction.MIXED)
    assert verdict.rule_id == ("G-DIRECTION" if closed else "R-999")
    assert verdict.reason_codes == ((f"DIRECTION_{direction.value}",) if closed else ())


@pytest.mark.parametrize("direction", list(Direction), ids=str)
def test_a_write_accepts_nothing_else(direction: Direction) -> None:
    read = findings("F1", direction=direction, asked=["BUY"])
    closed = direction in (Direction.READ, Direction.UNDECLARED)
    for where, otherwise in ((CONFIRMED, "R-999"), (situation(BARE), "G-CONFIRM")):
        assert said(where, read, proposal("BUY")).rule_id == (
            "G-DIRECTION" if closed else otherwise
        )


@pytest.mark.parametrize(
    ("asked", "reasons"),
    [
        ((), ("NO_ACTION_EVIDENCE",)),
        ((Asked(0, 4, ("SELL",)),), ("NO_ACTION_EVIDENCE",)),
        ((Asked(0, 4, ("BUY",)),), ()),
        ((Asked(0, 4, ("BUY",)), Asked(9, 13, ("BUY",))), ()),
        ((Asked(0, 4, ("BUY",)), Asked(9, 13, ("SELL",))), ("ANOTHER_WRITE_ASKED",)),
        ((Asked(0, 4, ("BUY", "SELL")),), ("ANOTHER_WRITE_ASKED",)),
        ((Asked(0, 4, ("BUY",)), Asked(0, 4, ("SELL",))), ("ANOTHER_WRITE_ASKED",)),
        ((Asked(0, 9, ("BUY",)), Asked(0, 4, ("SELL",))), ()),
        ((Asked(0, 9, ("BUY",)), Asked(5, 9, ("SELL",))), ()),
        ((Asked(0, 4, ("BUY",)), Asked(0, 9, ("SELL",))), ("ANOTHER_WRITE_ASKED",)),
        ((Asked(0, 9, ("BUY",)), Asked(5, 12, ("SELL",))), ("ANOTHER_WRITE_ASKED",)),
        ((Asked(0, 9, ("BUY",)), Asked(5, 9, ("BUY", "SELL"))), ()),
    ],
    ids=repr,
)
def test_a_write_needs_its_own_verb_and_no_other_beside_it(
    asked: tuple[Asked, ...], reasons: tuple[str, ...]
) -> None:
    read = findings("F1", direction=Direction.WRITE, asked=asked)
    verdict = said(CONFIRMED, read, proposal("BUY"))
    assert verdict.rule_id == ("G-ACTION" if reasons else "R-999")
    assert verdict.reason_codes == reasons
    unasked = said(situation(BARE), read, proposal("BUY"))
    assert unasked.rule_id == ("G-ACTION" if reasons else "G-CONFIRM")


def test_without_modes_direction_and_evidence_are_inert() -> None:
    configured = without_modes()
    inert = ("G-DIRECTION", "G-ACTION", "G-CONFIRM")
    for read in (findings("F1"), findings("F1", direction=Direction.WRITE)):
        verdict = said(situation(), read, proposal("BUY"), configuration=configured)
        assert (verdict.terminal, verdict.inert) == (Terminal.DISPATCH, inert)
    out = said(situation(), findings(), OutOfScope("fast"), configuration=configured)
    assert out.inert == inert
    assert said(*READ).inert == ()


# Objects, candidates, options.


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        (None, ("DISPATCH", "R-999")),
        (("F1", "F2"), ("DISPATCH", "R-999")),
        (("F2",), ("CLARIFY", "G-OBJECT")),
        ((), ("CLARIFY", "G-OBJECT")),
    ],
)
def test_candidates_narrow_what_may_be_dispatched(
    candidates: tuple[str, ...] | None, expected: tuple[str, str]
) -> None:
    where = situation(candidates=candidates)
    assert short(said(where, findings("F1"), proposal("PRICE"))) == expected
    assert short(said(where, findings("F1"), proposal("PRICE", "F1"))) == expected
    assert said(where, findings(), proposal("HELP")).terminal is Terminal.DISPATCH


def test_a_proposed_object_may_only_agree() -> None:
    assert said(situation(), findings("F1"), proposal("PRICE", "F1")).object_id == "F1"
    for other in ("F2", UNRESOLVED):
        verdict = said(situation(), findings("F1"), proposal("PRICE", other))
        assert verdict.reason_codes == ("PROPOSAL_DISAGREES",)
        assert (verdict.rule_id, verdict.object_id) == ("G-OBJECT", UNRESOLVED)
        assert verdict.options == (Option("PRICE", "F1"),)
    verdict = said(situation(), findings(), proposal("PRICE", "F1"))
    assert verdict.reason_codes == ("NO_OBJECT",)
    verdict = said(situation(), findings(), proposal("LOANS", "L1"))
    assert (verdict.reason_codes, verdict.options) == (("PROPOSAL_DISAGREES",), ())


def test_an_unclear_object_is_offered() -> None:
    unclear = findings(Mention(0, 2, ("F1",), Status.AFFIX))
    verdict = said(situation(), unclear, proposal("PRICE"))
    assert verdict.options == (Option("PRICE", "F1"),)
    both = said(situation(), findings("F1", "F2", "L1"), proposal("PRICE"))
    assert both.options == (Option("PRICE", "F1"), Option("PRICE", "F2"))
    ask = said(
        situation(TWO), findings(direction=Direction.WRITE, asked=["FREEZE"]), proposal("FREEZE")
    )
    assert ask.options == (Option("FREEZE", "C1"), Option("FREEZE", "C2"))
    handed = institution(terminals={Reserved.OBJECT: Terminal.HANDOFF})
    assert said(situation(), unclear, proposal("PRICE"), configuration=handed).options == ()


def test_the_sole_own_object_is_taken() -> None:
    read = findings(direction=Direction.WRITE, asked=["FREEZE"])
    asked = said(situation(ONE), read, proposal("FREEZE"))
    assert (short(asked), asked.object_id) == (("CLARIFY", "G-CONFIRM"), "C1")
    agreed = confirming(SMALL, situation(ONE), asked)
    assert said(agreed, read, proposal("FREEZE", "C1")).terminal is Terminal.DISPATCH
    assert said(situation(), read, proposal("FREEZE")).rule_id == "G-OBJECT"


# Confidence.


@pytest.mark.parametrize(
    ("confidence", "tier", "reasons"),
    [
        ("0.5", "fast", ()),
        ("0.4999999", "fast", ("BELOW_THRESHOLD",)),
        (None, "fast", ("NO_CONFIDENCE",)),
        ("0", "phrases", ()),
        (None, "phrases", ("NO_CONFIDENCE",)),
    ],
)
def test_confidence_is_a_backstop(
    confidence: str | None, tier: str, reasons: tuple[str, ...]
) -> None:
    given = proposal("PRICE", confidence=confidence)
    answer = Proposal(given.action_id, None, given.topk, given.confidence, tier)
    verdict = said(situation(), findings("F1"), answer)
    assert verdict.reason_codes == reasons
    assert verdict.rule_id == ("G-CONFIDENCE" if reasons else "R-999")


# Ablations.


def test_no_state_skips_the_rules() -> None:
    for where in (situation(alarm=True), situation(alarm=None)):
        verdict = said(where, *READ[1:], Switches(no_state=True))
        assert (short(verdict), verdict.reason_codes) == (("DISPATCH", "R-999"), ("NO_STATE",))
        scope = said(where, findings(), OutOfScope("fast"), Switches(no_state=True))
        assert scope.rule_id == "G-SCOPE"


def test_no_objects_forces_unresolved() -> None:
    switches = Switches(no_objects=True)
    verdict = said(situation(), findings("F1"), proposal("PRICE", "F1"), switches)
    assert (verdict.rule_id, verdict.reason_codes) == ("G-OBJECT", ("NO_OBJECTS",))
    assert said(situation(), findings(), proposal("HELP"), switches).object_id == NONE
    optional = said(situation(), findings("L1"), proposal("LOANS"), switches)
    assert optional.rule_id == "G-OBJECT"


@pytest.mark.parametrize(
    ("proposed", "candidates", "expected"),
    [
        ("F2", None, ("F2", "R-999", ())),
        ("F2", ("F2",), ("F2", "R-999", ())),
        ("F2", ("F1",), (UNRESOLVED, "G-OBJECT", ("NOT_A_CANDIDATE",))),
        ("F2", (), (UNRESOLVED, "G-OBJECT", ("NOT_A_CANDIDATE",))),
        (UNRESOLVED, None, (UNRESOLVED, "G-OBJECT", ("NOT_PROPOSED",))),
        (None, None, (UNRESOLVED, "G-OBJECT", ("NOT_PROPOSED",))),
    ],
)
def test_no_object_evidence_takes_what_is_proposed(
    proposed: str | None, candidates: tuple[str, ...] | None, expected: tuple[object, ...]
) -> None:
    where, switches = situation(candidates=candidates), Switches(no_object_evidence=True)
    verdict = said(where, findings("F1"), proposal("PRICE", proposed), switches)
    assert (verdict.object_id, verdict.rule_id, verdict.reason_codes) == expected
    none = said(where, findings("L1"), proposal("LOANS", NONE), switches)
    assert none.object_id == NONE


def test_no_direction_leaves_action_evidence() -> None:
    switches = Switches(no_direction=True)
    asked = findings("F1", direction=Direction.WRITE, asked=["BUY"])
    assert said(situation(), asked, proposal("PRICE"), switches).terminal is Terminal.DISPATCH
    assert said(situation(), findings("F1"), proposal("BUY"), switches).rule_id == "G-ACTION"


def test_ignore_confidence_takes_any() -> None:
    switches = Switches(ignore_confidence=True)
    for confidence in (None, "0.1"):
        verdict = said(*READ[:2], proposal("PRICE", confidence=confidence), switches)
        assert verdict.terminal is Terminal.DISPATCH


def test_switches_have_names() -> None:
    assert NO_SWITCHES.names() == ()
    assert Switches(True, True, True, True, True).names() == (
        "no-state", "no-objects", "no-object-evidence", "no-direction", "ignore-confidence",
    )  # fmt: skip


# Gate predicates.


def test_rules_read_what_the_gate_found() -> None:
    configured = institution([ALARM, PERMISSION, GATE_RULE, default()])
    assert short(said(*READ, configuration=configured)) == ("DISPATCH", "R-999")
    unresolved = said(situation(), findings(), proposal("PRICE"), configuration=configured)
    assert short(unresolved) == ("CLARIFY", "R-030")
    without = said(situation(), findings(), OutOfScope("fast"), configuration=configured)
    assert short(without) == ("HANDOFF", "R-030")


def test_gate_values_are_those_that_rules_may_read() -> None:
    values = gate_values(findings("F1"), Resolution("F1", ""))
    assert values == {
        "direction": "READ",
        "several_requests": False,
        "request_clauses": 0,
        "language": "en",
        "alert": "none",
        "entity_resolved": True,
    }
    assert "entity_resolved" not in gate_values(findings("F1"), None)
    assert gate_values(findings(), Resolution(NONE, ""))["entity_resolved"] is False


def test_the_course_holds_what_stands_before_the_checks() -> None:
    found = course(SMALL, *READ, trace=True)
    assert found.case is not None and found.case.resolution.object_id == "F1"
    assert found.allowed and len(found.rules.trace) == len(RULES) - 1
    assert course(SMALL, situation(), findings(language=None), proposal("PRICE")).case is None
    assert not course(SMALL, situation(alarm=True), *READ[1:]).allowed
    assert len(ACTIONS) == len(SMALL.catalog.actions)
