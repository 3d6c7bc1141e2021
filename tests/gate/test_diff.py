"""Diff: the same inputs under two configurations, and every path that changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

import pytest

from gate.configuration import Configuration
from gate.diff import Change, diff
from gate.records import (
    Abstain,
    Direction,
    Money,
    Request,
    Reserved,
    Terminal,
    TierAnswer,
)
from gate.slots import SlotFound
from tests.gate.engine import blocking, default
from tests.gate.small import (
    ACTIONS,
    ALARM,
    BARE,
    CALM,
    PAY,
    PERMISSION,
    RULES,
    SLOTS,
    findings,
    institution,
    proposal,
)
from tests.gate.texts import NOW

OLD = institution()
STRICTER = institution(
    [ALARM, PERMISSION, blocking(30, {"predicate": "alarm", "is": False}), default()]
)
LOOSER = institution([ALARM, default()])
ASKED = (
    (
        Request("r-1", "counter", "please buy Alpha Fund", state=CALM, session=BARE),
        proposal("BUY"),
    ),
    (Request("r-2", "counter", "Alpha Fund", state=CALM), proposal("PRICE")),
    (Request("r-3", "counter", "hello", state=CALM), Abstain("low", "fast")),
    (
        Request(
            "r-4",
            "counter",
            "please buy Alpha Fund",
            state={**CALM, "buying_permitted": False},
            session=BARE,
        ),
        proposal("BUY"),
    ),
    (Request("r-5", "counter", "which fund", state=CALM, candidates=()), proposal("PRICE")),
)


def changes(
    new: Configuration, asked: Iterable[tuple[Request, TierAnswer]] = ASKED
) -> list[Change]:
    return list(diff(OLD, new, [(request, answer, NOW) for request, answer in asked]))


def paths(found: list[Change]) -> list[tuple[str, str, str]]:
    return [(c.request_id, c.old.rule_id, c.new.rule_id) for c in found]


def test_equal_configurations_change_nothing() -> None:
    assert changes(institution(RULES)) == []


def test_a_rule_that_is_added_closes() -> None:
    found = changes(STRICTER)
    assert paths(found) == [
        ("r-1", "R-999", "R-030"),
        ("r-2", "R-999", "R-030"),
        ("r-3", "G-ABSTAIN", "R-030"),
        ("r-5", "G-OBJECT", "R-030"),
    ]
    assert not any(c.opens for c in found)


def test_a_rule_that_is_taken_out_opens() -> None:
    (change,) = changes(LOOSER)
    assert (change.request_id, change.old.rule_id, change.new.rule_id) == ("r-4", "R-020", "R-999")
    assert change.opens
    assert change.new.terminal is Terminal.DISPATCH


def test_a_write_that_nobody_can_confirm_opens_nothing() -> None:
    request, answer = ASKED[3]
    (change,) = changes(LOOSER, [(replace(request, session=None), answer)])
    assert (change.new.rule_id, change.new.reason_codes) == ("G-CONFIRM", ("NO_SUBJECT",))
    assert not change.opens


def test_a_write_is_confirmed_under_its_own_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is paid, and under which pinned fact, may differ; each is confirmed as it would be."""
    fee = blocking(30, {"predicate": "fee", "gt": 9})
    euros = institution([*RULES[:-1], fee, default()], actions=[*ACTIONS, PAY])
    spec = replace(SLOTS["amount"], currencies=("USD", "EUR"))
    catalog = replace(euros.catalog, slots={**SLOTS, "amount": spec})
    dollars = replace(euros, catalog=catalog)
    paying = findings(
        "F1",
        direction=Direction.WRITE,
        asked=["PAY"],
        slots=(SlotFound("amount", 0, 3, "500", ""),),
    )
    monkeypatch.setattr("gate.diff.find", lambda *_: paying)
    request = Request("r-1", "counter", "", state={**CALM, "fee": 1}, session=BARE)
    inputs = [(request, proposal("PAY"), NOW)]
    assert list(diff(euros, euros, inputs)) == []
    (change,) = diff(euros, dollars, inputs)
    assert change.old.terminal is change.new.terminal is Terminal.DISPATCH
    assert [v.slots["amount"] for v in change[1:]] == [
        Money(Decimal(500), "EUR"),
        Money(Decimal(500), "USD"),
    ]
    assert not change.opens


def test_another_terminal_under_the_same_id_is_a_change() -> None:
    found = changes(institution(terminals={Reserved.ABSTAIN: Terminal.HANDOFF}))
    assert [(c.request_id, c.old.terminal, c.new.terminal) for c in found] == [
        ("r-3", Terminal.CLARIFY, Terminal.HANDOFF)
    ]


def test_another_name_of_the_same_rule_is_a_change() -> None:
    renamed = institution([{**ALARM, "id": "R-011"}, PERMISSION, default()])
    alarmed = [(Request("r-1", "counter", "x", state={**CALM, "alarm": True}), proposal("HELP"))]
    assert paths(changes(renamed, alarmed)) == [("r-1", "R-010", "R-011")]


def test_inputs_are_read_one_by_one() -> None:
    def endless() -> Iterable[tuple[Request, TierAnswer]]:
        while True:
            yield ASKED[3]

    stream = diff(OLD, LOOSER, ((r, a, NOW) for r, a in endless()))
    assert next(iter(stream)).request_id == "r-4"
