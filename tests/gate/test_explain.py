"""Explain: the rules that decided, their values, the checks and the findings, as plain data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gate.controller import decide
from gate.explain import explain
from gate.findings import Findings, from_core
from gate.records import (
    Abstain,
    Confirmed,
    Direction,
    Earlier,
    Equal,
    OutOfScope,
    Switches,
    TierAnswer,
    Unparsed,
    Write,
)
from gate.slots import SlotFound
from tests.gate.engine import blocking, default
from tests.gate.small import (
    ACTIONS,
    ALARM,
    BARE,
    BUY_F1,
    PAY,
    PERMISSION,
    findings,
    institution,
    proposal,
    situation,
)

SMALL = institution()
BUYING = findings("F1", direction=Direction.WRITE, asked=["BUY"])


def explained(
    answer: TierAnswer,
    read: Findings = BUYING,
    *,
    configuration: Any = SMALL,
    earlier: Earlier = BUY_F1,
    **state: object,
) -> Any:
    told = explain(configuration, situation(BARE, None, earlier, **state), read, answer)
    return json.loads(json.dumps(told))


def rules(told: Any) -> list[tuple[str, str]]:
    return [(r["rule"], r["outcome"]) for r in told["rules"]]


def test_a_dispatch_shows_every_lock_open() -> None:
    told = explained(proposal("BUY"))
    assert told["verdict"] == {
        "terminal": "DISPATCH",
        "boundary": "ALLOW",
        "decided_by": "R-999",
        "reasons": [],
        "action": "BUY",
        "object": "F1",
        "slots": {},
        "options": [],
        "inert": [],
        "first_failed_contract": None,
    }
    assert told["proposed"] == "BUY"
    assert rules(told) == [("R-010", "FALSE"), ("R-020", "FALSE"), ("R-999", "TRUE")]
    assert told["rules"][0]["read"] == {"alarm": False}
    assert told["object"] == {"id": "F1", "reason": ""}
    assert [c["check"] for c in told["checks"]] == [
        "G-MULTI", "G-DIRECTION", "G-ACTION", "G-OBJECT", "G-SLOT", "G-CONFIDENCE", "G-CONFIRM",
        "G-STATE", "G-DUPLICATE",
    ]  # fmt: skip
    assert all(c["open"] and c["reasons"] == [] for c in told["checks"])
    assert from_core(told["findings"]) == BUYING


def test_a_closed_check_is_shown_with_its_reasons_and_those_behind_it() -> None:
    told = explained(proposal("BUY", confidence=None), findings(direction=Direction.READ))
    closed = [(c["check"], c["reasons"]) for c in told["checks"] if not c["open"]]
    assert closed == [
        ("G-DIRECTION", ["DIRECTION_READ"]),
        ("G-ACTION", ["NO_ACTION_EVIDENCE"]),
        ("G-OBJECT", ["NO_OBJECT"]),
        ("G-CONFIDENCE", ["NO_CONFIDENCE"]),
        ("G-CONFIRM", ["WRITE_CHANGED"]),
    ]
    assert told["verdict"]["decided_by"] == "G-DIRECTION"
    assert told["object"] == {"id": "UNRESOLVED", "reason": "NO_OBJECT"}


def test_the_rule_that_decides_is_the_last_one_shown() -> None:
    told = explained(proposal("BUY"), buying_permitted=False)
    assert told["verdict"]["decided_by"] == "R-020"
    assert rules(told) == [("R-010", "FALSE"), ("R-020", "TRUE")]


def test_a_broken_value_is_shown_as_what_broke() -> None:
    told = explained(proposal("BUY"), alarm="no")
    assert told["rules"] == [
        {"rule": "R-010", "outcome": "ERROR", "read": {"alarm": "broken: MISTYPED"}}
    ]
    assert told["verdict"]["reasons"] == ["R-010:alarm:MISTYPED"]


def test_values_other_than_booleans_are_shown_as_text() -> None:
    rule = blocking(30, {"predicate": "direction", "is": "MIXED"})
    told = explained(proposal("BUY"), configuration=institution([ALARM, rule, default()]))
    assert told["rules"][1]["read"] == {"direction": "WRITE"}


def test_a_pending_slot_is_shown() -> None:
    rule = blocking(30, {"predicate": "slot.amount", "gt": 10})
    configured = institution([ALARM, rule, default()])
    told = explained(proposal("BUY"), configuration=configured)
    assert ("R-030", "PENDING") in rules(told)
    closed = [c for c in told["checks"] if not c["open"]]
    assert closed == [{"check": "G-SLOT", "open": False, "reasons": ["R-030:slot.amount:ABSENT"]}]
    assert told["verdict"]["decided_by"] == "G-SLOT"


def test_nothing_earlier_is_shown_as_nothing() -> None:
    told = explained(proposal("BUY"), earlier=Earlier())
    assert told["earlier"] == {
        "clarifications": {"asked": 0, "most": 3},
        "refused": "",
        "unfit": "",
        "confirmed": None,
        "equal": None,
    }
    assert told["verdict"]["reasons"] == ["CONFIRMATION_NEEDED"]


def test_what_was_earlier_is_shown() -> None:
    earlier = Earlier(
        asked=2,
        refused="EXPIRED",
        unfit="NO_CONNECTOR",
        confirmed=Confirmed("d-0", Write("BUY", "F1", (("amount", "5 EUR"),)), {"fee": "1"}),
        equal=Equal("d-1", False, "2026-12-01T08:59:00Z"),
    )
    told = explained(proposal("BUY"), earlier=earlier)
    assert told["earlier"] == {
        "clarifications": {"asked": 2, "most": 3},
        "refused": "EXPIRED",
        "unfit": "NO_CONNECTOR",
        "confirmed": {
            "decision": "d-0",
            "write": {"action": "BUY", "object": "F1", "slots": {"amount": "5 EUR"}},
            "pins": {"fee": "1"},
        },
        "equal": {"decision": "d-1", "open": False, "done_at": "2026-12-01T08:59:00Z"},
    }


def test_the_limit_of_clarifications_names_what_it_took_over() -> None:
    told = explained(proposal("BUY", confidence=None), earlier=Earlier(asked=3))
    assert told["verdict"]["decided_by"] == "G-DIALOGUE"
    assert told["verdict"]["reasons"] == ["CLARIFICATIONS_USED_UP", "G-CONFIDENCE"]
    assert told["earlier"]["clarifications"] == {"asked": 3, "most": 3}


def test_slots_are_shown_as_they_are_compared() -> None:
    configured = institution(actions=[*ACTIONS, PAY])
    slots = (SlotFound("amount", 0, 6, "500.50 USD", ""), SlotFound("due", 8, 9, "2026-12-24", ""))
    read = findings("F1", direction=Direction.WRITE, asked=["PAY"], slots=slots)
    told = explained(proposal("PAY"), read, configuration=configured)
    assert told["verdict"]["slots"] == {"amount": "500.5 USD", "due": "2026-12-24"}
    assert told["verdict"]["reasons"] == ["WRITE_CHANGED"]


@pytest.mark.parametrize(
    ("answer", "decided", "failed"),
    [
        (OutOfScope("fast"), "G-SCOPE", None),
        (Abstain("low", "fast"), "G-ABSTAIN", None),
        (Unparsed("{", "proposer"), "G-CONTRACT", "C-SYNTAX:json"),
    ],
)
def test_without_a_commitment_there_is_no_object_and_no_check(
    answer: TierAnswer, decided: str, failed: str | None
) -> None:
    told = explained(answer)
    assert told["verdict"]["decided_by"] == decided
    assert told["verdict"]["first_failed_contract"] == failed
    assert (told["object"], told["checks"], told["proposed"]) == (None, [], None)
    assert rules(told) == [("R-010", "FALSE"), ("R-999", "TRUE")]


def test_an_unusable_proposal_shows_the_rules_of_its_action() -> None:
    told = explained(proposal("BUY", "F9"), buying_permitted=False)
    assert told["verdict"]["decided_by"] == "R-020"
    assert rules(told) == [("R-010", "FALSE"), ("R-020", "TRUE")]
    assert told["proposed"] == "BUY"


def test_switches_change_what_is_explained() -> None:
    where = situation(BARE, earlier=BUY_F1, alarm=True)
    told = explain(SMALL, where, BUYING, proposal("BUY"), Switches(no_state=True))
    assert (told["verdict"]["terminal"], told["rules"]) == ("DISPATCH", [])


@pytest.mark.parametrize("alarm", [False, True, None, "x"])
@pytest.mark.parametrize("confidence", ["0.9", "0.1", None])
@pytest.mark.parametrize("action", ["BUY", "PRICE", "NO_SUCH"])
def test_the_verdict_explained_is_the_verdict(
    alarm: object, confidence: str | None, action: str
) -> None:
    answer = proposal(action, confidence=confidence)
    verdict = decide(SMALL, situation(BARE, earlier=BUY_F1, alarm=alarm), BUYING, answer)
    told = explained(answer, alarm=alarm)
    assert told["verdict"]["decided_by"] == verdict.rule_id
    if verdict.rule_id.startswith("R-"):
        assert told["rules"][-1]["rule"] == verdict.rule_id
    assert PERMISSION["id"] == "R-020"
