"""Slots read from sealed sentences: right, wrong, and left open though there is a value.

`python -m eval.slots` prints the three figures per type of slot. A wrong value is the one that may
not happen: one where another stands, or where none may fill the slot. Exit code 1 if there is any.
"""

from __future__ import annotations

import argparse
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Final

from eval.suites.writes import labels
from eval.suites.writes.labels import UNFILLED, Slot
from eval.writes import DEMO, sessions
from gate.catalog import Action, SlotSpec
from gate.configuration import Configuration
from gate.findings import find
from gate.load import language, load
from gate.records import NONE, Money, Request, Session, SlotValue
from gate.slots import fill
from inference import ending, sinks

TYPES: Final[Mapping[str, str]] = {"own_object": "object"}
"""Types of slots by their name in the labels, where they differ."""
CLOCK: Final = date(2026, 12, 1)


class Mark(StrEnum):
    """How one sentence was read."""

    RIGHT = "right"
    """The value that stands there, or rightly none."""
    WRONG = "wrong"
    OPEN = "open"
    """No value, though there is one."""


@dataclass(frozen=True, slots=True)
class Read:
    """One label, what was read, and how that is counted; `reasons` are those of an open slot."""

    label: Slot
    value: SlotValue | None
    reasons: tuple[str, ...]
    mark: Mark

    @property
    def valued(self) -> bool:
        """True if a value stands in the sentence."""
        return self.label.expected not in UNFILLED


def bilingual(configuration: Configuration) -> Configuration:
    """The institution in every language of the labels."""
    packs = {tag: language.load(None, tag)[0] for tag in labels.LANGUAGES}
    return replace(configuration, packs=packs, languages=labels.LANGUAGES)


def specs(rows: Sequence[Slot], configuration: Configuration) -> Mapping[str, SlotSpec]:
    """One slot per type; amounts in every currency that the labels name, own objects of every own type."""
    codes = [r.expected["currency"] for r in rows if isinstance(r.expected, Mapping)]
    currencies = tuple(dict.fromkeys(("USD", *(c for c in codes if c))))
    own = tuple(name for name, kind in configuration.catalog.object_types.items() if kind.own)
    names = dict.fromkeys(r.slot for r in rows)
    kinds = {name: TYPES.get(name, name) for name in names}
    return {
        name: SlotSpec(
            name,
            kind,
            currencies=currencies if kind == "amount" else (),
            object_types=own if kind == "object" else (),
        )
        for name, kind in kinds.items()
    }


def run(
    rows: Sequence[Slot], configuration: Configuration, known: Mapping[str, Session]
) -> tuple[Read, ...]:
    """Every sentence read for its slot."""
    declared = specs(rows, configuration)
    return tuple(_read(row, declared[row.slot], configuration, known) for row in rows)


def _read(
    row: Slot, spec: SlotSpec, configuration: Configuration, known: Mapping[str, Session]
) -> Read:
    catalog = replace(configuration.catalog, slots={spec.name: spec})
    request = Request(row.slot_id, "bench", row.text, session=known.get(row.session))
    findings = find(replace(configuration, catalog=catalog), request)
    action = Action("SLOT", "Slot", "", None, "none", (NONE,), slots=(spec.name,))
    day = date.fromisoformat(row.clock) if row.clock else CLOCK
    now = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    filled = fill(action, catalog.slots, findings.slots, now)
    value = filled.values.get(spec.name)
    return Read(row, value, filled.open, mark(row.expected, value))


def mark(expected: str | Mapping[str, str | None], value: SlotValue | None) -> Mark:
    """How a value, or none, is counted against what is expected."""
    if value is None:
        return Mark.RIGHT if expected in UNFILLED else Mark.OPEN
    return Mark.RIGHT if expected not in UNFILLED and _equal(expected, value) else Mark.WRONG


def _equal(expected: str | Mapping[str, str | None], value: SlotValue) -> bool:
    if isinstance(expected, Mapping):
        named = expected["currency"]
        return (
            isinstance(value, Money)
            and value.value == Decimal(str(expected["value"]))
            and (named is None or value.currency == named)
        )
    text = value.isoformat() if isinstance(value, date) else str(value)
    if "@" in expected:
        return text.casefold() == expected.casefold()
    return text == unicodedata.normalize("NFKC", expected)


def table(read: Sequence[Read]) -> str:
    """The figures for people: per type of slot, right of those without and with a value, wrong, open."""
    lines = ["slot            rows  none-kept  values-found  wrong  open"]
    for name in (*dict.fromkeys(r.label.slot for r in read), ""):
        rows = [r for r in read if name in ("", r.label.slot)]
        marks = Counter((r.valued, r.mark) for r in rows)
        with_value = sum(r.valued for r in rows)
        found, kept = marks[True, Mark.RIGHT], marks[False, Mark.RIGHT]
        wrong = marks[True, Mark.WRONG] + marks[False, Mark.WRONG]
        lines.append(
            f"{name or 'all':14}  {len(rows):4}  {kept:4}/{len(rows) - with_value:<4}"
            f"  {found:7}/{with_value:<4}  {wrong:5}  {marks[True, Mark.OPEN]:4}"
        )
    return "\n".join(lines)


def missed(read: Sequence[Read]) -> str:
    """The kinds of the sentences that were not read right, without their texts."""
    kinds = Counter(
        (r.mark, r.label.slot, r.label.language, r.label.why, *r.reasons)
        for r in read
        if r.mark is not Mark.RIGHT
    )
    return "\n".join(" | ".join((*kind, str(count))) for kind, count in sorted(kinds.items()))


def main(arguments: Sequence[str] | None = None, folder: Path = DEMO) -> int:
    """Read every sentence and print the figures; 1 if any value is wrong."""
    parser = argparse.ArgumentParser(prog="python -m eval.slots", description=main.__doc__)
    parser.add_argument("--missed", action="store_true", help="also print the kinds that failed")
    options = parser.parse_args(arguments)
    configuration, known = bilingual(load(folder)), sessions(folder)
    own = [e.object_id for s in known.values() for e in s.objects]
    read = run(labels.slots(own, tuple(known)), configuration, known)
    print(sinks.lines(table(read)))
    if options.missed:
        print(sinks.lines(missed(read)))
    return 1 if any(r.mark is Mark.WRONG for r in read) else 0


if __name__ == "__main__":
    ending.run(main)
