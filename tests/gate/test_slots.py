"""Slots: what a text gives, what fills a slot, what stays open, and that no text breaks the reading."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gate.catalog import Action, SlotSpec
from gate.configuration import Configuration
from gate.findings import Findings, find, find_alone, from_core, to_core
from gate.load import language
from gate.records import NONE, Entry, Money, Request, Session, SlotValue
from gate.slots import Fault, Filled, SlotFound, fill, merge
from gate.state import Broken
from tests.gate.texts import cases, demo, request

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
CURRENCIES = ("USD", "EUR", "GBP", "CNY", "JPY", "CAD", "AUD")
SPECS: Mapping[str, SlotSpec] = {
    "amount": SlotSpec("amount", "amount", currencies=CURRENCIES),
    "date": SlotSpec("date", "date"),
    "counterparty": SlotSpec("counterparty", "counterparty"),
    "email": SlotSpec("email", "email"),
    "address": SlotSpec("address", "address"),
    "object": SlotSpec("object", "object", object_types=("ACCOUNT", "CARD")),
}


@cache
def configuration(*names: str) -> Configuration:
    """The demo in English and Chinese, with the slots of these names alone."""
    packs = {tag: language.load(None, tag)[0] for tag in ("en", "zh")}
    slots = {name: SPECS[name] for name in names}
    catalog = replace(demo().catalog, slots=slots)
    return replace(demo(), packs=packs, languages=("en", "zh"), catalog=catalog)


def action(*names: str) -> Action:
    return Action("A", "A", "", None, "none", (NONE,), slots=names)


def read(
    slot: str, text: str, session: str | None = None, *, alone: bool = False
) -> tuple[SlotFound, ...]:
    loaded, asked = configuration(slot), request(text, session=session)
    return find_alone(loaded, asked, SPECS[slot]) if alone else find(loaded, asked).slots


def filled(slot: str, found: Sequence[SlotFound], spec: SlotSpec | None = None) -> Filled:
    return fill(action(slot), {slot: spec or SPECS[slot]}, found, NOW)


def shown(value: SlotValue | None) -> str | None:
    if isinstance(value, Money):
        return f"{value.value.normalize():f} {value.currency}"
    return value.isoformat() if isinstance(value, date) else value


# Sentences

CASES = [(tag, case) for tag in ("en", "zh") for case in cases("slots", tag)]


@pytest.mark.parametrize(("tag", "case"), CASES, ids=[f"{t}-{c['text']}" for t, c in CASES])
def test_sentence_gives_its_value_or_stays_open(tag: str, case: dict[str, Any]) -> None:
    slot, alone = case["slot"], case.get("alone", False)
    found = read(slot, case["text"], case.get("session"), alone=alone)
    result = filled(slot, found)
    if "value" in case:
        assert (shown(result.values.get(slot)), result.open) == (str(case["value"]), ())
    else:
        assert (result.values, result.open) == ({}, (f"SLOT_{case['open']}:{slot}",))


@pytest.mark.parametrize(("tag", "case"), CASES, ids=[f"{t}-{c['text']}" for t, c in CASES])
def test_spans_point_at_what_was_read(tag: str, case: dict[str, Any]) -> None:
    for one in read(case["slot"], case["text"], case.get("session"), alone=True):
        assert 0 <= one.start < one.end <= len(case["text"])
        assert bool(one.value) != bool(one.fault)
        if case["slot"] == "email" and one.value:
            assert one.value.isascii()
            assert "@" in one.value


def test_every_fault_is_seen_in_a_sentence() -> None:
    seen = {case["open"] for _, case in CASES if "open" in case}
    assert {fault.value for fault in Fault} <= seen


def test_nothing_is_read_for_slots_that_are_not_declared() -> None:
    text = "Buy $500 of HLGRX, write to a@b.example"
    assert find(configuration(), request(text)).slots == ()
    assert {f.slot for f in find(configuration("email"), request(text)).slots} == {"email"}


def test_two_slots_of_a_type_get_the_same_candidates() -> None:
    twice = {n: replace(SPECS["amount"], name=n) for n in ("price", "fee")}
    loaded = replace(configuration(), catalog=replace(demo().catalog, slots=twice))
    found = find(loaded, request("Buy $500 of HLGRX")).slots
    assert [(f.slot, f.value) for f in found] == [("price", "500 USD"), ("fee", "500 USD")]


# Filling


def one(slot: str, value: str, fault: str = "", turn: int = 0) -> SlotFound:
    return SlotFound(slot, 0, 1, value, fault, turn)


def test_a_filled_amount_is_money_and_a_number_for_rules() -> None:
    result = filled("amount", [one("amount", "500"), one("amount", "500 USD")])
    assert result.values == {"amount": Money(Decimal(500), "USD")}
    assert result.for_rules == {"amount": Decimal(500)}
    assert result.open == ()


def test_a_filled_date_is_the_beginning_of_its_day_for_rules() -> None:
    zone = timezone(timedelta(hours=2))
    result = fill(action("date"), SPECS, [one("date", "D+1")], NOW.astimezone(zone))
    assert result.values == {"date": date(2026, 12, 2)}
    assert result.for_rules == {"date": datetime(2026, 12, 2, tzinfo=zone)}


def test_the_day_is_that_of_the_clock_s_zone() -> None:
    late = datetime(2026, 12, 1, 23, tzinfo=UTC).astimezone(timezone(timedelta(hours=8)))
    assert fill(action("date"), SPECS, [one("date", "D+0")], late).values["date"] == date(
        2026, 12, 2
    )


@pytest.mark.parametrize(
    ("found", "reason", "for_rules"),
    [
        ([one("amount", "5"), one("amount", "6")], "SLOT_AMBIGUOUS:amount", Broken.AMBIGUOUS),
        (
            [one("amount", "5 USD"), one("amount", "5 EUR")],
            "SLOT_AMBIGUOUS:amount",
            Broken.AMBIGUOUS,
        ),
        ([one("amount", "", "SHARE")], "SLOT_SHARE:amount", Broken.AMBIGUOUS),
        ([one("amount", "5"), one("amount", "", "BOUND")], "SLOT_BOUND:amount", Broken.AMBIGUOUS),
        ([one("amount", "5 CHF")], "SLOT_CURRENCY:amount", Broken.AMBIGUOUS),
        ([one("amount", "0")], "SLOT_NOT_POSITIVE:amount", Broken.AMBIGUOUS),
        ([one("amount", "5.001")], "SLOT_DECIMALS:amount", Broken.AMBIGUOUS),
        ([one("amount", "0.5")], "SLOT_RANGE:amount", Broken.AMBIGUOUS),
        ([one("amount", "1000.01")], "SLOT_RANGE:amount", Broken.AMBIGUOUS),
    ],
)
def test_an_open_slot_has_a_reason(
    found: Sequence[SlotFound], reason: str, for_rules: Broken
) -> None:
    spec = replace(SPECS["amount"], minimum=Decimal(1), maximum=Decimal(1000))
    result = filled("amount", found, spec)
    assert result.values == {}
    assert result.open == (reason,)
    assert result.for_rules == {"amount": for_rules}


@pytest.mark.parametrize("value", ["1", "1000"])
def test_bounds_are_permitted_values(value: str) -> None:
    spec = replace(SPECS["amount"], minimum=Decimal(1), maximum=Decimal(1000))
    assert filled("amount", [one("amount", value)], spec).open == ()


def test_a_slot_that_nothing_was_said_about_is_missing() -> None:
    result = filled("amount", [])
    assert (result.values, result.open) == ({}, ("SLOT_MISSING:amount",))


def test_an_optional_slot_may_be_missing_but_not_unusable() -> None:
    spec = replace(SPECS["amount"], optional=True)
    missing = filled("amount", [], spec)
    assert (missing.open, missing.for_rules) == ((), {})
    share = filled("amount", [one("amount", "", "SHARE")], spec)
    assert (share.open, share.for_rules) == (("SLOT_SHARE:amount",), {"amount": Broken.AMBIGUOUS})


def test_other_slots_do_not_fill_a_slot() -> None:
    assert filled("amount", [one("fee", "5")]).open == ("SLOT_MISSING:amount",)


def test_slots_are_filled_in_the_order_of_the_action() -> None:
    result = fill(action("email", "amount"), SPECS, [], NOW)
    assert result.open == ("SLOT_MISSING:email", "SLOT_MISSING:amount")


# Turns of a dialogue


def test_a_later_clean_reading_takes_the_place_of_a_fault() -> None:
    found = merge(read("amount", "buy about $500"), read("amount", "500", alone=True))
    assert filled("amount", found).values == {"amount": Money(Decimal(500), "USD")}
    assert [f.turn for f in found] == [1]


def test_a_later_value_beside_another_one_is_ambiguous() -> None:
    found = merge(read("amount", "buy $500"), read("amount", "$600", alone=True))
    assert filled("amount", found).open == ("SLOT_AMBIGUOUS:amount",)
    assert [f.turn for f in found] == [0, 1]


def test_a_later_fault_leaves_the_slot_open() -> None:
    found = merge(read("amount", "buy $500"), read("amount", "or half of it", alone=True))
    assert filled("amount", found).open == ("SLOT_SHARE:amount",)


def test_a_turn_without_candidates_changes_nothing() -> None:
    found = read("amount", "buy $500")
    assert merge(found, ()) == found
    assert [f.turn for f in merge(merge((), found), found)] == [1, 2]


# The record


def test_candidates_survive_the_record_and_personal_values_are_marked() -> None:
    text = "Send $50 to Anna Becker on Friday, change my email to anna@new.example"
    loaded = configuration("amount", "date", "counterparty", "email", "address")
    found = find(loaded, request(text))
    found = found._replace(slots=merge(found.slots, (one("address", "12 Gull Street"),)))
    core = json.loads(json.dumps(to_core(found)))
    for _, _, _, value, _, *_ in core["slots"]:
        assert not isinstance(value, str) or not re.search("anna|gull", value.casefold())
    opened = json.loads(json.dumps(core), object_hook=lambda d: d.get("$private", d))
    assert from_core(opened).slots == found.slots
    assert {f.value for f in found.slots} >= {"50 USD", "W5", "Anna Becker", "anna@new.example"}


def test_a_sealed_value_stays_as_it_is() -> None:
    core = to_core(find(configuration("email"), request("change it to a@b.example")))
    core = {**core, "slots": [[*one[:3], "hmac:00", one[4]] for one in core["slots"]]}
    assert [f.value for f in from_core(core).slots] == ["hmac:00"]


def test_records_without_slots_have_none() -> None:
    core = to_core(find(configuration(), request("Buy $500 of HLGRX")))
    assert "slots" not in core
    assert from_core(core).slots == ()


# Any text

PIECES = (
    "$|500|1,000.50|1.000| |-|/|usd|dollars|half|of it|about |two |hundred |and |a |k|@|a@b.example|"
    "to |12 Gull Street|, |Port Ellery|五|百|万|元|块|半|几|大约|改成|海湾路|号|周五|下|月|日|Friday|"
    "next |in |days|12/24|2026|Anna |not |\uff14|\u00bd|\u00b2|\u200b|\n|.|\u0130|\u00df|转给|王芳|4411|"
    "my card|%"
).split("|")
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.text(max_size=60)


@given(TEXTS, st.booleans(), st.sampled_from(["dana", "marcus", None]))
@example("@", True, None)
@example("a@", True, None)
@example("12 Gull Street,", True, None)
@example("把地址改成", True, None)
def test_any_text_is_read_and_filled(text: str, alone: bool, session: str | None) -> None:
    loaded = configuration(*SPECS)
    asked = request(text, session=session)
    found: Sequence[SlotFound] = find(loaded, asked).slots
    if alone:
        found = [f for spec in SPECS.values() for f in find_alone(loaded, asked, spec)]
    for candidate in found:
        assert 0 <= candidate.start <= candidate.end <= len(text)
        assert bool(candidate.value) != bool(candidate.fault)
    result = fill(action(*SPECS), SPECS, found, NOW)
    assert set(result.values) | {code.partition(":")[2] for code in result.open} == set(SPECS)
    assert not set(result.values) & {code.partition(":")[2] for code in result.open}


@given(TEXTS)
def test_reading_is_a_function_of_the_text(text: str) -> None:
    first = find(configuration(*SPECS), request(text, session="dana"))
    again: Findings = find(configuration(*SPECS), request(text, session="dana"))
    assert first.slots == again.slots


# Amounts as they are written somewhere

CENTS = st.integers(1, 10**9)


def grouped(whole: int, mark: str) -> str:
    return f"{whole:,}".replace(",", mark)


@given(
    CENTS,
    st.sampled_from(["", ",", ".", " ", "'", "\u00a0", "\u202f"]),
    st.sampled_from([".", ","]),
    st.sampled_from(["{} USD", "USD {}", "{} dollars", "${}", "{}$", "{}", "€{}", "{} EUR"]),
    st.sampled_from(["buy {} of HLGRX", "{}", "put {} into HLGRX please"]),
    st.booleans(),
)
def test_an_amount_reads_back_or_stays_open(
    cents: int, group: str, point: str, money: str, sentence: str, wide: bool
) -> None:
    """Whatever country wrote it: never another value."""
    if group == point:
        return
    whole, part = divmod(cents, 100)
    number = grouped(whole, group) + (f"{point}{part:02}" if part else "")
    if wide:
        number = number.translate({ord(c): ord(c) + 0xFEE0 for c in "0123456789"})
    result = filled("amount", read("amount", sentence.format(money.format(number))))
    if result.values:
        code = "EUR" if "EUR" in money or "€" in money else "USD"
        assert result.values == {"amount": Money(Decimal(cents) / 100, code)}
    else:
        assert result.open


UNITS = ("", "十", "百", "千")


def numeral(value: int) -> str:
    """A whole number in Chinese numerals, in full."""
    parts, position = [], 0
    while value:
        value, section = divmod(value, 10_000)
        if section:
            parts.append(_section(section) + ("", "万", "亿")[position])
        position += 1
        if section < 1000 and value:
            parts.append("零" if section else "")
    return re.sub("零+$", "", re.sub("零+", "零", "".join(reversed(parts))))


def _section(value: int) -> str:
    text = ""
    for position, digit in enumerate(reversed(str(value))):
        text = (
            "零" if digit == "0" else "零一二三四五六七八九"[int(digit)] + UNITS[position]
        ) + text
    return re.sub("零+$", "", re.sub("零+", "零", text))


@given(
    st.integers(1, 10**9 - 1), st.sampled_from(["{}元", "买入{}元HLGRX", "人民币{}元整", "{}块钱"])
)
def test_a_numeral_reads_back_or_stays_open(value: int, sentence: str) -> None:
    result = filled("amount", read("amount", sentence.format(numeral(value))))
    if result.values:
        assert result.values == {"amount": Money(Decimal(value), "CNY")}
    else:
        assert result.open


@pytest.mark.parametrize("value", [5, 15, 20, 105, 110, 350, 2003, 2300, 10500, 150000, 1000001])
def test_a_numeral_in_full_reads_back(value: int) -> None:
    result = filled("amount", read("amount", f"买入{numeral(value)}元"))
    assert result.values == {"amount": Money(Decimal(value), "CNY")}


@given(st.dates(date(2026, 1, 1), date(2035, 12, 31)), st.integers(0, 6))
def test_a_date_reads_back_or_stays_open(day: date, form: int) -> None:
    forms = (
        f"{day:%Y-%m-%d}", f"{day:%d/%m/%Y}", f"{day:%m/%d/%Y}", f"{day.day} {day:%B %Y}",
        f"{day:%B} {day.day}, {day.year}", f"{day.year}年{day.month}月{day.day}日", f"{day:%d.%m.%y}",
    )  # fmt: skip
    result = filled("date", read("date", f"on {forms[form]}"))
    if result.values:
        assert result.values == {"date": day}
    else:
        assert result.open == ("SLOT_TWO_READINGS:date",)


def test_one_name_of_two_own_objects_is_no_slot() -> None:
    own = tuple(
        Entry(f"CARD-{n}", "CARD", "Travel card", ("travel card",), own=True) for n in (1, 2)
    )
    asked = Request("r-1", "web", "use my travel card", session=Session("C-1", (), own))
    found = find(configuration("object"), asked).slots
    assert [(one.value, one.fault) for one in found] == [("", "SEVERAL")]
