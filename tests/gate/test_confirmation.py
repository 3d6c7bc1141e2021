"""Confirmation: what is read back, what two equal writes are, what may not have changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.catalog import Action, SlotSpec
from gate.configuration import Configuration
from gate.confirmation import (
    AGAIN,
    ASKING,
    DONE_MEANWHILE,
    NEEDED,
    UNANSWERED,
    as_json,
    asks,
    canonical,
    pins,
    places,
    shown,
    text,
    wanted,
    write,
    write_of,
)
from gate.load.language import TEMPLATE_IDS
from gate.records import (
    NONE,
    Boundary,
    Direction,
    Entry,
    Mode,
    Money,
    Reserved,
    SlotValue,
    Terminal,
    Verdict,
    Write,
)
from gate.rules import EVERY_ACTION
from tests.gate.engine import blocking, default
from tests.gate.small import (
    ACTIONS,
    ALARM,
    ENTRIES,
    PACK,
    PAY,
    PERMISSION,
    institution,
    situation,
)
from tests.gate.texts import INSTITUTIONS

ALPHA = ENTRIES[0]
ACCOUNT = Entry("A1", "ACCOUNT", "Savings 1234 5678 90", own=True)
REMARKS = {UNANSWERED: "Your question was not answered.", AGAIN: "It was done a moment ago."}
FIVE = Money(Decimal("1250.5"), "EUR")
CHRISTMAS = date(2026, 12, 24)


def asking(action: Action = PAY) -> Configuration:
    """The small institution with one action, and remarks in its pack."""
    configured = institution(actions=[*ACTIONS, action])
    return replace(configured, packs={**configured.packs, "en": replace(PACK, templates=REMARKS)})


def verdict(
    action_id: str = "PAY",
    object_id: str = "F1",
    reasons: tuple[str, ...] = (NEEDED,),
    rule_id: str = "G-CONFIRM",
    **slots: Any,
) -> Verdict:
    return Verdict(
        Terminal.CLARIFY, Boundary.ALLOW, rule_id, reasons, action_id, object_id, slots=slots
    )


def read_back(
    template: str | None = None,
    entry: Entry | None = ALPHA,
    *,
    direction: Direction = Direction.WRITE,
    language: str = "en",
    reasons: tuple[str, ...] = (NEEDED,),
    **slots: Any,
) -> str | None:
    action = PAY if template is None else replace(PAY, confirm={"en": template})
    return text(asking(action), verdict(reasons=reasons, **slots), entry, language, direction)


# What is read back.


def test_all_of_a_write_is_read_back() -> None:
    assert read_back(amount=FIVE) == "Pay 1,250.50 EUR into Alpha Fund?"
    assert read_back(amount=FIVE, due=CHRISTMAS) == (
        "Pay 1,250.50 EUR into Alpha Fund on 2026-12-24?"
    )


@pytest.mark.parametrize(
    ("template", "slots"),
    [
        ("Pay into {object}?", {"amount": FIVE}),  # a filled slot has no place
        ("Pay {amount}?", {"amount": FIVE}),  # neither has the object
        ("Pay?", {}),
        ("Pay {amount} into {object}?", {}),  # a place has no value
        ("Pay {amount} into {object} on {due}?", {"amount": FIVE}),
        ("Pay {amount} into {object} by {whom}?", {"amount": FIVE}),
        ("Pay {amount} into {object}?", {"amount": FIVE, "due": CHRISTMAS}),
        ("Pay [{amount} on {due}] into {object}?", {"amount": FIVE}),  # left out with the other one
        ("Pay {amount} into {object}[ for {whom}]?", {"amount": FIVE, "due": CHRISTMAS}),
        ("Pay {Amount} into {object}?", {"amount": FIVE}),  # no place at all
    ],
)
def test_a_text_that_does_not_read_all_back_is_none(
    template: str, slots: Mapping[str, Any]
) -> None:
    assert read_back(template, **slots) is None


def test_an_object_that_is_not_there_has_no_place() -> None:
    assert read_back("Pay {amount}?", None, amount=FIVE) == "Pay 1,250.50 EUR?"
    assert read_back("Pay {amount} into {object}?", None, amount=FIVE) is None
    assert read_back("Pay {amount}[ into {object}]?", None, amount=FIVE) == "Pay 1,250.50 EUR?"
    assert read_back("Pay {amount}[ into {object}]?", ALPHA, amount=FIVE) == (
        "Pay 1,250.50 EUR into Alpha Fund?"
    )


def test_an_optional_part_is_left_out_whole() -> None:
    template = "[Please: ]Pay {amount}[, and {amount} again,] into {object}[ on {due}][ by {due}]?"
    assert read_back(template, amount=FIVE) == (
        "Please: Pay 1,250.50 EUR, and 1,250.50 EUR again, into Alpha Fund?"
    )
    assert read_back(template, amount=FIVE, due=CHRISTMAS) == (
        "Please: Pay 1,250.50 EUR, and 1,250.50 EUR again, into Alpha Fund on 2026-12-24"
        " by 2026-12-24?"
    )


def test_what_a_value_holds_is_no_place() -> None:
    """Braces and brackets in a name are text, and are not read again."""
    assert read_back("Pay {amount} into {object}?", amount="{object}[{due}]") == (
        "Pay {object}[{due}] into Alpha Fund?"
    )
    strange = Entry("F9", "FUND", "[{amount}]")
    assert read_back("Pay {amount} into {object}?", strange, amount="1") == "Pay 1 into [{amount}]?"


def test_in_a_language_without_a_text_nothing_is_read_back() -> None:
    assert read_back(language="xx", amount=FIVE) is None


def test_the_number_of_an_own_object_is_masked_and_no_other_one() -> None:
    assert read_back("Pay {amount} into {object}?", ACCOUNT, amount="12345678") == (
        "Pay 12345678 into Savings ••••7890?"
    )
    public = Entry("F8", "FUND", "Fund 1234567")
    assert read_back("{amount}{object}", public, amount="1") == "1Fund 1234567"


def test_a_question_beside_the_order_is_named_as_unanswered() -> None:
    for direction in Direction:
        told = read_back(amount=FIVE, direction=direction)
        assert told is not None
        unanswered = direction is Direction.MIXED
        assert told.endswith("Fund? Your question was not answered.") is unanswered
        assert told.endswith("Fund?") is not unanswered


def test_an_equal_write_done_meanwhile_is_named() -> None:
    said = read_back(amount=FIVE, reasons=(DONE_MEANWHILE,))
    assert said == "Pay 1,250.50 EUR into Alpha Fund? It was done a moment ago."
    both = read_back(amount=FIVE, reasons=(DONE_MEANWHILE,), direction=Direction.MIXED)
    assert both is not None
    assert both.endswith("? Your question was not answered. It was done a moment ago.")


VALUES = st.text(min_size=1, max_size=6)


@given(
    st.lists(st.sampled_from(["{object}", "{a}", "{b}", "[ {b} ]", "[{c}]", " x "]), max_size=6),
    st.dictionaries(st.sampled_from("abc"), VALUES),
    st.booleans(),
)
def test_either_everything_is_read_back_or_nothing(
    parts: list[str], slots: dict[str, Any], named: bool
) -> None:
    action = replace(PAY, confirm={"en": "".join(parts)})
    entry = ALPHA if named else None
    said = text(asking(action), verdict(**slots), entry, "en", Direction.WRITE)
    values = {**slots, **({"object": "Alpha Fund"} if named else {})}
    shown_parts = {
        name
        for part in parts
        for name in places(part)
        if not part.startswith("[") or name in values
    }
    assert (said is not None) is (shown_parts == values.keys())
    if said is not None:
        assert all(value in said for value in values.values())


def test_every_write_of_every_institution_is_read_back_in_every_language() -> None:
    for load in INSTITUTIONS.values():
        configuration = load()
        for action in configuration.catalog.actions.values():
            if action.mode is not Mode.WRITE:
                continue
            slots: dict[str, Any] = {name: f"<{name}>" for name in action.slots}
            entry = ALPHA if action.types else None
            required = {
                n: v for n, v in slots.items() if not configuration.catalog.slots[n].optional
            }
            for language in configuration.languages:
                for filled in (slots, required):
                    what = verdict(action.action_id, "F1" if entry else NONE, **filled)
                    said = text(configuration, what, entry, language, Direction.MIXED)
                    assert said is not None, (action.action_id, language)
                    assert all(value in said for value in filled.values())
                    assert configuration.packs[language].templates[UNANSWERED] in said


def test_the_remarks_are_templates_that_a_complete_pack_has() -> None:
    assert {UNANSWERED, AGAIN} <= set(TEMPLATE_IDS)


# What is asked for.


@pytest.mark.parametrize("reason", [*ASKING, "NO_SUBJECT", "NO_CONNECTOR", "EXPIRED"])
@pytest.mark.parametrize("reserved", list(Reserved), ids=str)
def test_only_three_reasons_of_one_id_ask(reserved: Reserved, reason: str) -> None:
    expected = reserved is Reserved.CONFIRM and reason in (
        "CONFIRMATION_NEEDED", "WRITE_CHANGED", "EQUAL_WRITE_DONE",
    )  # fmt: skip
    assert asks(verdict(rule_id=reserved.value, reasons=(reason, NEEDED))) is expected


@pytest.mark.parametrize("terminal", list(Terminal), ids=str)
@pytest.mark.parametrize("reason", ASKING)
def test_nothing_but_a_clarification_asks(terminal: Terminal, reason: str) -> None:
    """An institution that hands over instead lets nobody confirm by themselves."""
    what = replace(verdict(reasons=(reason,)), terminal=terminal)
    assert asks(what) is (terminal is Terminal.CLARIFY)


def test_a_rule_never_asks_for_a_confirmation() -> None:
    assert not asks(verdict(rule_id="R-999", reasons=()))
    assert not asks(verdict(rule_id="R-010", reasons=(NEEDED,)))


def test_a_text_has_the_places_of_object_and_slots() -> None:
    assert wanted(PAY) == {"object", "amount", "due"}
    assert wanted(replace(PAY, slots=())) == {"object"}
    assert wanted(replace(PAY, objects=(NONE,))) == {"amount", "due"}
    assert wanted(replace(PAY, objects=("FUND", NONE), slots=())) == {"object"}
    assert places("{a} [{b}] {a} {B} {9} {} {a_1}") == {"a", "b", "a_1"}


# Equal writes.


@pytest.mark.parametrize(
    ("value", "compared", "read"),
    [
        (Money(Decimal("500"), "USD"), "500 USD", "500.00 USD"),
        (Money(Decimal("500.00"), "USD"), "500 USD", "500.00 USD"),
        (Money(Decimal("5E+2"), "USD"), "500 USD", "500.00 USD"),
        (Money(Decimal("0.10"), "EUR"), "0.1 EUR", "0.10 EUR"),
        (Money(Decimal("1234567.005"), "EUR"), "1234567.005 EUR", "1,234,567.005 EUR"),
        (Money(Decimal("1234567.500"), "EUR"), "1234567.5 EUR", "1,234,567.50 EUR"),
        (Money(Decimal(10) ** 40, "JPY"), "1" + "0" * 40 + " JPY", "10" + ",000" * 13 + ".00 JPY"),
        (CHRISTMAS, "2026-12-24", "2026-12-24"),
        ("Anna Smith", "Anna Smith", "Anna Smith"),
        ("500.00", "500.00", "500.00"),
    ],
    ids=repr,
)
def test_a_value_has_one_text_to_compare_and_one_to_read(
    value: SlotValue, compared: str, read: str
) -> None:
    assert canonical(value) == compared
    assert shown(value) == read


def test_a_value_in_a_record_keeps_its_decimals_and_its_parts() -> None:
    assert as_json(Money(Decimal("500.00"), "USD")) == {"value": "500.00", "currency": "USD"}
    assert as_json(CHRISTMAS) == "2026-12-24"
    assert as_json("Anna Smith") == "Anna Smith"


def test_equal_writes_are_equal_records() -> None:
    first = write_of("PAY", "F1", {"amount": Money(Decimal("500"), "USD"), "due": CHRISTMAS})
    again = write_of("PAY", "F1", {"due": CHRISTMAS, "amount": Money(Decimal("500.00"), "USD")})
    assert first == again == Write("PAY", "F1", (("amount", "500 USD"), ("due", "2026-12-24")))
    others = [
        write_of("BUY", "F1", {"amount": Money(Decimal("500"), "USD"), "due": CHRISTMAS}),
        write_of("PAY", "F2", {"amount": Money(Decimal("500"), "USD"), "due": CHRISTMAS}),
        write_of("PAY", NONE, {"amount": Money(Decimal("500"), "USD"), "due": CHRISTMAS}),
        write_of("PAY", "F1", {"amount": Money(Decimal("501"), "USD"), "due": CHRISTMAS}),
        write_of("PAY", "F1", {"amount": Money(Decimal("500"), "EUR"), "due": CHRISTMAS}),
        write_of("PAY", "F1", {"amount": Money(Decimal("500"), "USD"), "due": date(2026, 12, 25)}),
        write_of("PAY", "F1", {"amount": Money(Decimal("500"), "USD")}),
        write_of("PAY", "F1", {}),
    ]
    assert len({first, *others}) == 1 + len(others)


def test_the_write_of_a_verdict() -> None:
    assert write(verdict(amount=FIVE)) == Write("PAY", "F1", (("amount", "1250.5 EUR"),))
    assert write(verdict("FREEZE", "C1")) == Write("FREEZE", "C1")


AMOUNTS = st.decimals(min_value="0.001", max_value=10**20, allow_nan=False, places=3)


@given(AMOUNTS, AMOUNTS, st.sampled_from(["EUR", "USD"]), st.sampled_from(["EUR", "USD"]))
def test_amounts_are_compared_by_value_and_currency(
    one: Decimal, other: Decimal, currency: str, another: str
) -> None:
    equal = canonical(Money(one, currency)) == canonical(Money(other, another))
    assert equal is (one == other and currency == another)
    same = Money(one.scaleb(3).scaleb(-3), currency)
    assert canonical(same) == canonical(Money(one, currency))
    assert Decimal(canonical(same).split()[0]) == one
    assert Decimal(shown(same).split()[0].replace(",", "")) == one


# Pins.

FEE = {"predicate": "fee", "gt": 9}
TERMS = {"predicate": "terms", "is": "old"}
PRICED = {"predicate": "priced_at", "older_than": "30d"}
MOOD = {"predicate": "mood", "is": "bad"}
PINNED = institution(
    [
        ALARM,
        PERMISSION,
        blocking(30, {"all": [FEE, MOOD]}, applies_to=["BUY"]),
        blocking(40, {"not": TERMS}, applies_to=["SELL", "BUY"]),
        blocking(50, PRICED, applies_to=[EVERY_ACTION]),
        default(),
    ]
)


def pinned(action: str, **state: Any) -> dict[str, str]:
    return pins(PINNED, PINNED.catalog.actions[action], situation(**state))


def test_pins_are_the_pinned_predicates_of_the_actions_own_rules() -> None:
    assert list(pinned("BUY")) == ["fee", "priced_at", "terms"]
    assert list(pinned("SELL")) == ["priced_at", "terms"]
    assert list(pinned("PRICE")) == ["priced_at"]
    assert pins(institution(), ACTIONS[0], situation()) == {}


def test_a_predicate_that_nobody_declared_is_no_pin() -> None:
    """Loading refuses such a rule; the core reads it as an error."""
    configured = institution([blocking(30, {"predicate": "ghost", "is": True}), default()])
    assert pins(configured, ACTIONS[0], situation(ghost=True)) == {}


def test_equal_values_are_one_text() -> None:
    assert pinned("BUY", fee="2.50", terms="v1", priced_at="2026-12-01T08:00:00Z") == {
        "fee": "2.5",
        "terms": "v1",
        "priced_at": "2026-12-01T08:00:00+00:00",
    }
    assert pinned("BUY", fee=2.5)["fee"] == pinned("BUY", fee=Decimal("2.500"))["fee"] == "2.5"
    assert pinned("BUY", fee=100)["fee"] == pinned("BUY", fee="100.0")["fee"] == "100"


def test_a_value_that_cannot_be_read_is_the_name_of_its_fault() -> None:
    assert pinned("BUY", fee="x", priced_at="soon") == {
        "fee": "MISTYPED",
        "terms": "ABSENT",
        "priced_at": "MISTYPED",
    }


def test_a_boolean_is_a_pin_too() -> None:
    rules = [blocking(30, {"predicate": "alarm", "is": True}), default()]
    configured = institution(rules)
    declared = {**configured.predicates, "alarm": replace(configured.predicates["alarm"], pin=True)}
    pinning = replace(configured, predicates=declared)
    found = [pins(pinning, ACTIONS[0], situation(alarm=a)) for a in (True, False)]
    assert found == [{"alarm": "True"}, {"alarm": "False"}]


def test_an_own_object_in_a_slot_is_read_back_by_its_masked_name() -> None:
    action = replace(PAY, slots=("source",), confirm={"en": "Pay from {source}?"})
    configured = asking(action)
    spec = SlotSpec("source", "object", object_types=("ACCOUNT",))
    configured = replace(configured, catalog=replace(configured.catalog, slots={"source": spec}))
    asked, write = verdict(source="A1"), Direction.WRITE
    assert text(configured, asked, None, "en", write, (ACCOUNT,)) == (
        "Pay from Savings \u2022\u2022\u2022\u20227890?"
    )
    assert text(configured, asked, None, "en", write) == "Pay from A1?"
