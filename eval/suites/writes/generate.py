"""Generates messages for the write lock from hand-written patterns, the same ones every time.

A frame says something about a phrase ("don't {do}"), a phrase does something to a target ("freeze
{it}"), and a target is the member's own or somebody else's. Every message comes with what its
text itself asks for. The patterns are data beside this file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from eval import table
from eval.table import Row
from gate.records import UNRESOLVED, Entry, Session, Turn

FOLDER = Path(__file__).parent
MATERIAL = ("frames.csv", "phrases.csv", "targets.csv", "lookalikes.csv")
SEED = "write-lock-1"
PER_FRAME: Mapping[str, int] = {"en": 8, "zh": 6}
"""How many messages of each frame are kept, by language; look-alikes are all kept."""
PER_OTHER_OBJECT = 30
"""As PER_FRAME, of the few frames that are put around somebody else's object."""
ASKED, ALIAS, OTHER_OBJECT, LOOK_ALIKE = "asked", "alias", "other_object", "look_alike"
ROLES = ("user", "assistant", "system")
ALIAS_ID = "ACC-ALIAS"

_ADDRESSES = {"en": ("12 Elm Street", "8 Oak Lane, Salem"), "zh": ("榆树街12号", "橡树巷8号")}
_AMOUNTS = {"en": ("$500", "250 dollars"), "zh": ("500美元", "两百美元")}
_EMAILS = ("dana@example.com", "m.lee@example.org")
_FUNDS = ("HLGRX", "BYFIX", "NQTEX")


@dataclass(frozen=True, slots=True)
class Message:
    """One message and its gold: the write that the text asks for ('' none), and its object.

    `object_id` is a closed-list id, NONE for an action without an object, or UNRESOLVED where no
    write is asked for.
    """

    message_id: str
    kind: str
    language: str
    utterance: str
    history: tuple[Turn, ...]
    session: Session
    asked: str
    object_id: str


@dataclass(frozen=True, slots=True)
class Patterns:
    """The hand-written material: rows of `frames.csv` and so on, in file order."""

    frames: tuple[Row, ...]
    phrases: tuple[Row, ...]
    targets: tuple[Row, ...]
    lookalikes: tuple[Row, ...]


def patterns(folder: Path = FOLDER) -> Patterns:
    """Read the hand-written material; SuiteError names file and line."""
    return Patterns(
        table.read(folder / "frames.csv", ("kind", "language", "text", "history")),
        table.read(folder / "phrases.csv", ("action_id", "language", "do", "doing", "done")),
        table.read(
            folder / "targets.csv",
            ("session", "language", "action_id", "whose", "object_id", "text"),
        ),
        table.read(folder / "lookalikes.csv", ("language", "text")),
    )


def generate(
    sessions: Mapping[str, Session], material: Patterns, seed: str = SEED
) -> tuple[Message, ...]:
    """Messages of every kind and language, without two that say the same, in a fixed order."""
    framed = [m for f in material.frames for m in _framed(sessions, material, f, seed)]
    made = [*framed, *_lookalikes(sessions, material.lookalikes)]
    distinct = {_said(m): m for m in made}.values()
    return tuple(replace(m, message_id=f"W-{n:04}") for n, m in enumerate(distinct, 1))


def _said(message: Message) -> tuple[object, ...]:
    return message.utterance, message.history, message.session, message.kind


def _framed(
    sessions: Mapping[str, Session], material: Patterns, frame: Row, seed: str
) -> Sequence[Message]:
    """The frame around a sample of the phrases and fitting targets of its language.

    The sample depends on the seed and the messages alone, not on a library's generator.
    """
    other = frame["kind"] == OTHER_OBJECT
    made = [
        _message(sessions[target["session"]], frame, phrase, target)
        for phrase, target in product(material.phrases, material.targets)
        if frame["language"] == phrase["language"] == target["language"]
        and phrase["action_id"] == target["action_id"]
        and target["whose"] == ("other" if other else "own")
    ]

    def place(message: Message) -> bytes:
        return hashlib.sha256(repr((seed, *_said(message))).encode()).digest()

    number = PER_OTHER_OBJECT if other else PER_FRAME[frame["language"]]
    return sorted(made, key=place)[:number]


def _message(session: Session, frame: Row, phrase: Row, target: Row) -> Message:
    which = _number(frame["text"], phrase["do"], target["text"])
    common = _common(frame["language"], which) | {"it": target["text"]}
    forms = {form: fill(phrase[form], common) for form in ("do", "doing", "done")}
    forms["Do"] = forms["do"][:1].upper() + forms["do"][1:]
    asked = frame["kind"] == ASKED
    return Message(
        message_id="",
        kind=frame["kind"],
        language=frame["language"],
        utterance=fill(frame["text"], forms),
        history=tuple(_turn(frame, part, forms) for part in frame["history"].split("|") if part),
        session=_with_alias(session, forms["do"]) if frame["kind"] == ALIAS else session,
        asked=phrase["action_id"] if asked else "",
        object_id=target["object_id"] if asked else UNRESOLVED,
    )


def _turn(frame: Row, part: str, forms: Mapping[str, str]) -> Turn:
    role, _, text = part.partition(": ")
    if role not in ROLES or not text:
        raise frame.wrong(f"turn `{part}` has no role", "begin it with `user: `, for example")
    return Turn(role, fill(text, forms))


def _with_alias(session: Session, name: str) -> Session:
    """The session with one more own account, whose name reads like an order."""
    entry = Entry(ALIAS_ID, "ACCOUNT", name, (), own=True)
    return replace(session, objects=(*session.objects, entry))


def _lookalikes(sessions: Mapping[str, Session], rows: Sequence[Row]) -> Iterator[Message]:
    """Texts that only look like a write that this institution has; three fillings each."""
    names = [n for n, s in sessions.items() if s.objects]
    for row, which in product(rows, range(3)):
        session = sessions[names[which % len(names)]]
        own = {
            "card": _digits(session, "CARD", which),
            "account": _digits(session, "ACCOUNT", which),
        }
        text = fill(row["text"], _common(row["language"], which) | own)
        yield Message(
            "", LOOK_ALIKE, row["language"], text, (), session, asked="", object_id=UNRESOLVED
        )


def _common(language: str, which: int) -> dict[str, str]:
    choices = {
        "email": _EMAILS,
        "address": _ADDRESSES[language],
        "amount": _AMOUNTS[language],
        "fund": _FUNDS,
    }
    return {name: values[which % len(values)] for name, values in choices.items()}


def _digits(session: Session, object_type: str, which: int) -> str:
    """The digits by which one of the session's objects is known."""
    found = [
        alias
        for entry in session.objects
        if entry.object_type == object_type
        for alias in entry.aliases
        if alias.isdigit()
    ]
    return found[which % len(found)]


def _number(*texts: str) -> int:
    return hashlib.sha256("\n".join(texts).encode()).digest()[0]


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with every `{name}` replaced; braces of unknown names stay."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text
