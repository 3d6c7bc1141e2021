"""The README names every module, every record field and every departure from the design's list."""

from __future__ import annotations

import re
from pathlib import Path

from gate.ledger import encode
from gate.ledger.formats import COMMON, FIELDS, Kind

FOLDER = Path(__file__).parents[3] / "gate" / "ledger"
README = (FOLDER / "README.md").read_text(encoding="utf-8")


def first_cells(title: str) -> list[str]:
    """The names in the first column of the table under `| title |`."""
    table = README.split(f"| {title} |", 1)[1].split("\n\n", 1)[0]
    return [
        n for row in table.splitlines()[2:] for n in re.findall(r"`([^`]+)`", row.split("|")[1])
    ]


def test_every_module_is_in_the_reading_order() -> None:
    modules = {path.name for path in FOLDER.glob("*.py")} - {"__init__.py"}
    assert set(first_cells("file")) == modules


def test_every_field_of_a_decision_is_described() -> None:
    described = first_cells("field of a decision")
    assert len(described) == len(set(described))
    assert set(described) == FIELDS[Kind.DECISION] - COMMON


def test_every_kind_and_its_fields_are_listed() -> None:
    for kind, fields in FIELDS.items():
        row = next(line for line in README.splitlines() if line.startswith(f"| `{kind}` |"))
        if kind is not Kind.DECISION:
            named = set(re.findall(r"`([a-z_]+)`", row.split("|")[2]))
            assert named == fields - COMMON


def test_every_special_value_is_listed() -> None:
    for tag in encode._READ:
        assert f"`{tag}`" in README
