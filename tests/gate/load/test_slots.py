"""slots.yaml: what it becomes, and every way in which it contradicts itself or another file."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from gate.catalog import SlotSpec
from gate.load import load
from tests.gate.load.folders import GOOD, line_of, refused, write

SLOTS, CATALOG, STATE, QUERIES = (f"{n}.yaml" for n in ("slots", "catalog", "state", "queries"))
AMOUNT = "{name: amount, type: amount, currencies: [USD]"
CARD = "type: object, object_types: [CARD]"


def edited(tmp_path: Path, file: str, old: str, new: str) -> Path:
    text = GOOD[file]
    assert old in text
    return write(tmp_path, {**GOOD, file: text.replace(old, new, 1)})


def test_slots_are_typed(tmp_path: Path) -> None:
    slots = load(write(tmp_path, GOOD)).catalog.slots
    assert slots["amount"] == SlotSpec(
        "amount",
        "amount",
        currencies=("USD",),
        minimum=Decimal("0.01"),
        maximum=Decimal(1000000),
    )
    assert slots["day"] == SlotSpec("day", "date", optional=True)
    assert slots["card"] == SlotSpec("card", "object", optional=True, object_types=("CARD",))


def test_without_the_file_no_action_may_name_a_slot(tmp_path: Path) -> None:
    files = {k: v for k, v in GOOD.items() if k != SLOTS}
    error = refused(write(tmp_path, files))
    assert error.problem == "action `FREEZE` names the slot `amount`, which slots.yaml lacks"
    assert error.fix == "declare it in slots.yaml"


@pytest.mark.parametrize(
    ("file", "old", "new", "problem", "fix"),
    [
        (SLOTS, "type: date", "type: day", "`type` is `day`", "date"),
        (SLOTS, "optional: true", "optinal: true", "unknown key `optinal`", "`optional`"),
        (SLOTS, "name: day", "name: amount", "slot `amount` is listed twice", "rename"),
        (SLOTS, "name: day", "name: Day", "`name` is `Day`", "correct"),
        (SLOTS, "[USD]", "[usd]", "is `usd`", "correct"),
        (SLOTS, "[USD]", "[]", "`currencies`", "correct"),
        (SLOTS, ", currencies: [USD]", "", "amount without currencies", "add `currencies: [USD]`"),
        (SLOTS, "type: date", "type: date, minimum: 1", "has `minimum`", "remove `minimum:`"),
        (SLOTS, "type: date", "type: date, maximum: 1", "has `maximum`", "remove `maximum:`"),
        (SLOTS, "type: date", "type: date, decimals: 2", "`decimals`", "remove `decimals:`"),
        (SLOTS, "type: date", "type: date, currencies: [USD]", "`currencies`", "remove"),
        (SLOTS, "type: date", "type: date, object_types: [CARD]", "`object_types`", "remove"),
        (SLOTS, ", object_types: [CARD]", "", "object without types", "add `object_types:`"),
        (SLOTS, "maximum: 1000000", 'maximum: "0.001"', "below its minimum `0.01`", "swap"),
        (SLOTS, "maximum: 1000000", "maximum: 0", "has the maximum `0`", "positive"),
        (SLOTS, '"0.01"', '"-1"', "has the minimum `-1`", "0 or more"),
        (SLOTS, "[CARD]", "[CARDS]", "`CARDS`, which is not declared", "did you mean `CARD`?"),
        (SLOTS, "[CARD]", "[FUND]", "not one of the session's", "`CARD`"),
        (CATALOG, "slots: [amount]", "slots: [amont]", "slot `amont`", "did you mean `amount`?"),
        (CATALOG, "slots: [amount]", "slots: [card]", "so does its slot `card`", "remove one"),
        (STATE, "name: slot.amount", "name: slot.amont", "no slot", "did you mean `slot.amount`"),
        (
            STATE,
            "slot.amount, type: number, unit: USD",
            "slot.amount, type: text",
            "`text`",
            "number",
        ),
        (
            STATE,
            "slot.amount, type: number, unit: USD",
            "slot.day, type: number",
            "`date`",
            "timestamp",
        ),
        (
            STATE,
            "slot.amount, type: number, unit: USD",
            "slot.card, type: number",
            "`object`",
            "text",
        ),
        (
            STATE,
            "number, unit: USD, source: gate",
            "number, unit: EUR, source: gate",
            "in `USD`",
            "USD",
        ),
        (SLOTS, "[USD]", "[USD, EUR]", "in 2 currencies", "one currency"),
        (
            QUERIES,
            "{object: object}",
            "{object: slot.amont}",
            "`slot.amont`",
            "did you mean `amount`?",
        ),
    ],
)
def test_contradictions_name_file_line_and_fix(
    tmp_path: Path, file: str, old: str, new: str, problem: str, fix: str
) -> None:
    error = refused(edited(tmp_path, file, old, new))
    assert problem in error.problem
    assert fix in error.fix
    where = STATE if "currencies" in error.problem and "in 2" in error.problem else file
    assert error.file == str(tmp_path / where)
    assert error.line is not None


def test_the_line_is_that_of_the_slot(tmp_path: Path) -> None:
    folder = edited(tmp_path, SLOTS, "type: date", "type: date, minimum: 1")
    assert refused(folder).line == line_of(folder, SLOTS, "minimum: 1")


def test_two_slots_of_one_type_in_one_action_are_refused(tmp_path: Path) -> None:
    more = GOOD[SLOTS] + "  - {name: fee, type: amount, currencies: [USD]}\n"
    catalog = GOOD[CATALOG].replace("slots: [amount]", "slots: [amount, fee]")
    error = refused(write(tmp_path, {**GOOD, SLOTS: more, CATALOG: catalog}))
    assert "needs the slots `amount` and `fee`, both of type `amount`" in error.problem
    assert error.file.endswith(CATALOG)


def test_objects_of_several_types_may_stand_together(tmp_path: Path) -> None:
    types = GOOD[CATALOG].replace("object_types:", "object_types:\n  LOAN:\n    own: true", 1)
    catalog = types.replace("slots: [amount]", "slots: [amount, loan]")
    catalog = catalog.replace("{amount} left", "{amount} left and {loan}")
    more = GOOD[SLOTS] + "  - {name: loan, type: object, object_types: [LOAN]}\n"
    files = {**GOOD, SLOTS: more, CATALOG: catalog}
    assert load(write(tmp_path, files)).catalog.actions["FREEZE"].slots == ("amount", "loan")
