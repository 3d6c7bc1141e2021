"""What a decision goes on from: nothing, or an earlier decision of this ledger.

The receipt keeps it in the clear, with what a later turn will need of this one, so that both the
next turn and a replay find it without reading another receipt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from gate.findings import Findings, from_core, to_core
from gate.ledger.encode import Json, instant
from gate.ledger.tiers import PRIVATE
from gate.records import (
    NOTHING_EARLIER,
    Confirmed,
    Earlier,
    Equal,
    Option,
    Write,
)

CONFIRMED, CHOSEN, FILLED, ANEW = "confirmed", "chosen", "filled", "anew"
"""How a turn goes on: it said yes, picked an option, gave a slot, or asks for something new."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """`of` is the earlier decision and `how` it is gone on from; `findings` are those of both turns.

    `findings` is None where the request is read by itself. `turns` are the decisions of the dialogue
    so far, `expires_at` is the dialogue's end, `valid_until` that of a confirmed order. `recognised`
    is the unconfigured language that the text was recognised as, or nothing.
    """

    of: str | None = None
    how: str = ""
    findings: Findings | None = None
    earlier: Earlier = NOTHING_EARLIER
    turns: tuple[str, ...] = ()
    expires_at: datetime | None = None
    valid_until: datetime | None = None
    recognised: str = ""


FRESH: Final = Continuation()


@dataclass(frozen=True, slots=True)
class Left:
    """What a decision leaves for the next turn: its options, the slots that it lacks, the action
    that lacks its object with none to offer, and what the customer was asked to confirm with the
    pinned facts of then."""

    action: str | None = None
    options: tuple[Option, ...] = ()
    awaits: tuple[str, ...] = ()
    write: Write | None = None
    pins: Mapping[str, str] | None = None


def context(goes_on: Continuation, left: Left) -> dict[str, Json] | None:
    """What the receipt keeps; None where there is nothing."""
    if goes_on == FRESH and left == Left():
        return None
    earlier = goes_on.earlier
    return {
        "of": goes_on.of,
        "how": goes_on.how,
        "findings": None if goes_on.findings is None else _clear(to_core(goes_on.findings)),
        "asked": earlier.asked,
        "refused": earlier.refused,
        "unfit": earlier.unfit,
        "confirmed": None if earlier.confirmed is None else _confirmed(earlier.confirmed),
        "equal": None if earlier.equal is None else _equal(earlier.equal),
        "turns": list(goes_on.turns),
        "expires_at": _time(goes_on.expires_at),
        "valid_until": _time(goes_on.valid_until),
        "action": left.action,
        "options": [[o.action_id, o.object_id] for o in left.options],
        "awaits": list(left.awaits),
        "write": None if left.write is None else _write(left.write),
        "pins": None if left.pins is None else dict(left.pins),
        **({"recognised": goes_on.recognised} if goes_on.recognised else {}),
    }


def continuation_of(kept: Mapping[str, Json] | None) -> Continuation:
    """What a decision with that context went on from."""
    if kept is None:
        return FRESH
    confirmed, equal = kept["confirmed"], kept["equal"]
    return Continuation(
        of=kept["of"],
        how=kept["how"],
        findings=None if kept["findings"] is None else from_core(kept["findings"]),
        earlier=Earlier(
            asked=kept["asked"],
            refused=kept["refused"],
            unfit=kept["unfit"],
            confirmed=None if confirmed is None else _confirmed_of(confirmed),
            equal=None if equal is None else Equal(**equal),
        ),
        turns=tuple(kept["turns"]),
        expires_at=_time_of(kept["expires_at"]),
        valid_until=_time_of(kept["valid_until"]),
        recognised=kept.get("recognised", ""),
    )


def left_of(kept: Mapping[str, Json] | None) -> Left:
    """What a decision with that context left for the next turn."""
    if kept is None:
        return Left()
    return Left(
        action=kept["action"],
        options=tuple(Option(a, o) for a, o in kept["options"]),
        awaits=tuple(kept["awaits"]),
        write=None if kept["write"] is None else _write_of(kept["write"]),
        pins=kept["pins"],
    )


def _clear(value: Any) -> Json:
    """A core without its marks of what is private: a receipt is private as a whole."""
    if isinstance(value, Mapping):
        if value.keys() == {PRIVATE}:
            return value[PRIVATE]
        return {key: _clear(item) for key, item in value.items()}
    return [_clear(item) for item in value] if isinstance(value, list) else value


def _confirmed(confirmed: Confirmed) -> dict[str, Json]:
    return {
        "decision_id": confirmed.decision_id,
        "write": _write(confirmed.write),
        "pins": dict(confirmed.pins),
    }


def _confirmed_of(kept: Mapping[str, Json]) -> Confirmed:
    return Confirmed(kept["decision_id"], _write_of(kept["write"]), kept["pins"])


def _equal(equal: Equal) -> dict[str, Json]:
    return {"decision_id": equal.decision_id, "open": equal.open, "done_at": equal.done_at}


def _write(write: Write) -> list[Json]:
    return [write.action_id, write.object_id, [list(slot) for slot in write.slots]]


def _write_of(kept: Sequence[Any]) -> Write:
    action_id, object_id, slots = kept
    return Write(action_id, object_id, tuple((name, text) for name, text in slots))


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else instant(moment)


def _time_of(kept: str | None) -> datetime | None:
    return None if kept is None else datetime.fromisoformat(kept)
