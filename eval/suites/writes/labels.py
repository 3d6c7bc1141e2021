"""Adaptor of the sentences about writes: pairs that ask or do not, genuine messages, slots.

They were labelled before anything was tuned on them; `SHA256SUMS` was committed first. README.md
says what each column and label means. They are changed by nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval import table
from eval.errors import SuiteError
from eval.table import Row
from gate.records import NONE

FOLDER = Path(__file__).parent
SUMS = FOLDER / "SHA256SUMS"
ASKED = {"en": FOLDER / "asked.en.csv", "zh": FOLDER / "asked.zh.csv"}
GENUINE = FOLDER / "genuine.csv"
SLOTS = FOLDER / "slots.csv"

LANGUAGES = ("en", "zh")
SHAPES: Mapping[str, int] = {
    "direct": 1, "polite": 1, "via_clarification": 3, "slot_in_second_turn": 2,
}  # fmt: skip
"""Each shape of a genuine message with its number of user turns."""
SLOT_TYPES = ("amount", "date", "counterparty", "email", "own_object")
UNFILLED = ("UNRESOLVED", "AMBIGUOUS")
"""What is right where no value may fill the slot."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One member of a pair: a text, and whether it asks for `action_id`; `why` is a kind."""

    pair_id: str
    text: str
    action_id: str
    asked: bool
    why: str


@dataclass(frozen=True, slots=True)
class Genuine:
    """A member's turns that want a write, and the confirmation that they must reach.

    `session` names an example session of the demo. `slots` holds `amount` as `{value, currency}`,
    `email` and `address` as text.
    """

    message_id: str
    language: str
    shape: str
    turns: tuple[str, ...]
    session: str
    action_id: str
    object_id: str
    slots: Mapping[str, object]
    note: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A text and the value of one slot in it.

    `expected` is `{value, currency}` of an amount, a text of the other types, or one of UNFILLED.
    `clock` is an ISO day where the value depends on it, `session` names an example session.
    """

    slot_id: str
    text: str
    language: str
    slot: str
    session: str
    clock: str
    expected: str | Mapping[str, str | None]
    why: str


def asked(language: str, actions: Collection[str]) -> tuple[Asked, ...]:
    """The pairs of one language, in file order; SuiteError on an unknown action or a repeated text."""
    rows = table.read(ASKED[language], ("pair_id", "text", "action_id", "asked", "why"))
    table.unique(rows, "text")
    known = tuple(actions)
    return tuple(
        Asked(
            row["pair_id"],
            row["text"],
            row.one_of("action_id", known),
            row.one_of("asked", ("yes", "no")) == "yes",
            row["why"],
        )
        for row in rows
    )


def genuine(
    actions: Collection[str], objects: Collection[str], sessions: Collection[str]
) -> tuple[Genuine, ...]:
    """The genuine messages, in file order; SuiteError on an unknown id or a malformed cell."""
    columns = ("id", "language", "shape", "turns_json", "session", "action_id", "object_id",
               "slots_json", "note")  # fmt: skip
    rows = table.read(GENUINE, columns)
    table.unique(rows, "id")
    known = (tuple(actions), (NONE, *objects), tuple(sessions))
    return tuple(_genuine(row, *known) for row in rows)


def _genuine(
    row: Row, actions: Sequence[str], objects: Sequence[str], sessions: Sequence[str]
) -> Genuine:
    shape = row.one_of("shape", tuple(SHAPES))
    slots = row.json("slots_json")
    if not isinstance(slots, dict):
        raise row.wrong("column `slots_json` is no object", "write `{}` where there is no slot")
    return Genuine(
        message_id=row["id"],
        language=row.one_of("language", LANGUAGES),
        shape=shape,
        turns=_turns(row, SHAPES[shape]),
        session=row.one_of("session", sessions),
        action_id=row.one_of("action_id", actions),
        object_id=row.one_of("object_id", objects),
        slots=slots,
        note=row["note"],
    )


def _turns(row: Row, number: int) -> tuple[str, ...]:
    turns = row.json("turns_json")
    texts = [t.get("text") for t in turns] if isinstance(turns, list) else []
    if len(texts) != number or not all(isinstance(t, str) and t for t in texts):
        raise row.wrong(
            f"column `turns_json` does not hold {number} turns", "write a list of `{role, text}`"
        )
    return tuple(str(t) for t in texts)


def slots(objects: Collection[str], sessions: Collection[str]) -> tuple[Slot, ...]:
    """The slot rows, in file order; SuiteError on an unknown id or a malformed cell."""
    columns = ("slot_id", "text", "language", "slot", "session", "clock", "expected", "why")
    rows = table.read(SLOTS, columns)
    table.unique(rows, "slot_id")
    known = (*UNFILLED, *objects)
    return tuple(_slot(row, known, ("", *sessions)) for row in rows)


def _slot(row: Row, objects: Sequence[str], sessions: Sequence[str]) -> Slot:
    kind = row.one_of("slot", SLOT_TYPES)
    if kind == "own_object":
        row.one_of("expected", objects)
    return Slot(
        slot_id=row["slot_id"],
        text=row["text"],
        language=row.one_of("language", LANGUAGES),
        slot=kind,
        session=row.one_of("session", sessions),
        clock=row["clock"],
        expected=_expected(row, kind),
        why=row["why"],
    )


def _expected(row: Row, kind: str) -> str | Mapping[str, str | None]:
    text = row["expected"]
    if kind != "amount" or text in UNFILLED:
        return text
    value = row.json("expected")
    if not isinstance(value, dict) or set(value) != {"value", "currency"}:
        raise row.wrong("column `expected` is no amount", "write `{value, currency}`")
    return value


def stated_digests() -> Mapping[str, str]:
    """The SHA-256 of every sealed file, by name, as committed first; SuiteError if malformed."""
    return dict(_sums(table.read_text(SUMS)))


def _sums(text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        digest, _, name = line.partition("  ")
        if len(digest) != 64 or not name:
            raise SuiteError(
                "line is no checksum line",
                file=str(SUMS),
                line=number,
                fix="write `<sha256>  <file name>`",
            )
        yield name, digest
