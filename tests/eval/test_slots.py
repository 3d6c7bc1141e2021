"""The run over the sealed slot sentences: how each is counted, and that no value is wrong."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from eval import slots
from eval.slots import Mark, Read
from eval.suites.writes import labels
from eval.suites.writes.labels import Slot
from eval.writes import DEMO, sessions
from gate.load import load
from gate.records import Money, SlotValue

ROW = Slot("S-0", "Buy $5 of HLGRX", "en", "amount", "", "", {"value": "5", "currency": "USD"}, "x")
FIVE = {"value": "5.0", "currency": "USD"}
ANY = {"value": "5", "currency": None}


@pytest.fixture(scope="module")
def read() -> tuple[Read, ...]:
    known = sessions(DEMO)
    own = [e.object_id for s in known.values() for e in s.objects]
    rows = labels.slots(own, tuple(known))
    return slots.run(rows, slots.bilingual(load(DEMO)), known)


def test_no_value_is_wrong(read: tuple[Read, ...]) -> None:
    assert [r.label.slot_id for r in read if r.mark is Mark.WRONG] == []


def test_most_values_are_found(read: tuple[Read, ...]) -> None:
    valued = [r for r in read if r.valued]
    assert sum(r.mark is Mark.RIGHT for r in valued) >= 0.85 * len(valued)


def test_an_open_slot_has_reasons(read: tuple[Read, ...]) -> None:
    assert all(bool(r.reasons) == (r.value is None) for r in read)


@pytest.mark.parametrize(
    ("expected", "value", "mark"),
    [
        (FIVE, Money(Decimal(5), "USD"), Mark.RIGHT),
        (ANY, Money(Decimal(5), "USD"), Mark.RIGHT),
        (FIVE, Money(Decimal(5), "EUR"), Mark.WRONG),
        (FIVE, Money(Decimal(6), "USD"), Mark.WRONG),
        (FIVE, None, Mark.OPEN),
        ("UNRESOLVED", None, Mark.RIGHT),
        ("AMBIGUOUS", None, Mark.RIGHT),
        ("UNRESOLVED", Money(Decimal(5), "USD"), Mark.WRONG),
        ("AMBIGUOUS", "x", Mark.WRONG),
        ("2026-12-24", date(2026, 12, 24), Mark.RIGHT),
        ("2026-12-24", date(2026, 12, 25), Mark.WRONG),
        ("A@b.example", "a@B.example", Mark.RIGHT),
        ("Anna Becker", "anna becker", Mark.WRONG),
        ("ACC-1", "ACC-1", Mark.RIGHT),
    ],
)
def test_a_value_is_right_wrong_or_open(
    expected: str | dict[str, str | None], value: SlotValue | None, mark: Mark
) -> None:
    assert slots.mark(expected, value) is mark


def test_figures_are_printed_by_type_and_together() -> None:
    rows = (
        Read(ROW, Money(Decimal(5), "USD"), (), Mark.RIGHT),
        Read(ROW, None, ("SLOT_MISSING:amount",), Mark.OPEN),
        Read(replace(ROW, expected="UNRESOLVED"), Money(Decimal(5), "USD"), (), Mark.WRONG),
        Read(replace(ROW, slot="date", expected="UNRESOLVED"), None, ("x",), Mark.RIGHT),
    )
    lines = [line.split() for line in slots.table(rows).splitlines()[1:]]
    assert lines == [
        ["amount", "3", "0/1", "1/2", "1", "1"],
        ["date", "1", "1/1", "0/0", "0", "0"],
        ["all", "4", "1/2", "1/2", "1", "1"],
    ]
    assert slots.missed(rows).splitlines() == [
        "open | amount | en | x | SLOT_MISSING:amount | 1",
        "wrong | amount | en | x | 1",
    ]


def test_the_command_prints_and_says_how_it_went(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert slots.main(["--missed"]) == 0
    assert capsys.readouterr().out.startswith("slot ")
    monkeypatch.setattr(slots, "mark", lambda *_: Mark.WRONG)
    assert slots.main([]) == 1
