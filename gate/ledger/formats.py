"""The kinds and fields of records, in every format there has been, and what may stand once.

A record is written in the newest format and stays as it was written for ever. A reader lifts an old
one, step by step, to the newest format; replay decides in the newest format and lowers what comes out
to the format of the record, so that old records still replay to the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gate.errors import LedgerError
from gate.ledger.encode import Json

Record = Mapping[str, Json]
Change = Callable[[Record], Record]
"""A record with other fields; `format` is set by who calls it."""


class Kind(StrEnum):
    """What a record is about."""

    DECISION = "DECISION"
    OUTCOME = "OUTCOME"
    ERASURE = "ERASURE"
    CHECKPOINT = "CHECKPOINT"
    CONFIG = "CONFIG"
    CONSUMED = "CONSUMED"
    VOIDED = "VOIDED"
    SWEPT = "SWEPT"
    SEALED = "SEALED"
    SEGMENT = "SEGMENT"


_KINDS: Mapping[str, Kind] = Kind.__members__

COMMON = frozenset({"format", "kind", "previous"})

FIELDS: Mapping[Kind, frozenset[str]] = {
    Kind.DECISION: COMMON
    | {
        "decision_id", "decided_at", "terminal", "action_id", "object_id", "slots", "boundary",
        "rule_id", "reason_codes", "state", "findings", "candidates", "tier_result",
        "first_failed_contract", "repair", "fallback", "reported_model", "subject", "entitlements",
        "dialogue", "confirm", "switches", "text_commitment", "versions",
    },
    Kind.OUTCOME: COMMON | {"decision_id", "at", "status", "detail"},
    Kind.ERASURE: COMMON | {"decision_id", "at", "reason"},
    Kind.CHECKPOINT: COMMON | {"at", "sequence", "digest"},
    Kind.CONFIG: COMMON | {"at", "versions", "detail"},
    Kind.CONSUMED: COMMON | {"decision_id", "at", "token"},
    Kind.VOIDED: COMMON | {"decision_id", "at", "token"},
    Kind.SWEPT: COMMON | {"decision_id", "at", "receipt"},
    Kind.SEALED: COMMON | {"at", "segment"},
    Kind.SEGMENT: COMMON | {"at", "segment", "sequence", "digest"},
}  # fmt: skip
"""Exactly the fields that a record of each kind has."""


@dataclass(frozen=True, slots=True)
class Format:
    """One number of the record format: the fields of each kind, and what differs from the one before.

    `lift` gives a record of the format before the fields of this one; `lower` takes them away again.
    What `lift` makes of a missing value is what the earlier release meant by not having it. For
    every record of the format before, `lower(lift(record))` is that record.
    """

    number: int
    fields: Mapping[Kind, frozenset[str]]
    lift: Change = dict
    lower: Change = dict


FORMATS: tuple[Format, ...] = (Format(1, FIELDS),)
"""Every format that can be read, from number 1 on; the last one is written."""


def newest() -> int:
    """The number of the format that is written."""
    return FORMATS[-1].number


def kind_of(record: Record) -> Kind:
    """The kind of a complete record; LedgerError for unknown formats, kinds and field names."""
    fields = _format_of(record).fields
    name = record.get("kind")
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise LedgerError(f"record kind `{name}` is unknown; use one of {', '.join(Kind)}")
    if fields[kind] != record.keys():
        names = "`, `".join(sorted(fields[kind].symmetric_difference(record)))
        raise LedgerError(f"a {kind} record must have exactly its own fields; check `{names}`")
    return kind


def _format_of(record: Record) -> Format:
    found = record.get("format")
    if type(found) is int and 0 < found <= len(FORMATS):
        return FORMATS[found - 1]
    raise LedgerError(f"record format `{found}` is not {newest()}; upgrade to read it")


def current(record: Record) -> Record:
    """A record as the newest format has it."""
    number = _format_of(record).number
    for one in FORMATS:
        if one.number > number:
            record = {**one.lift(record), "format": one.number}
    return record


def as_written(record: Record, number: int) -> Record:
    """A record of the newest format as the format `number` has it."""
    for one in reversed(FORMATS):
        if one.number > number:
            record = {**one.lower(record), "format": one.number - 1}
    return record


# ---- what may stand once -------------------------------------------------------------------------

TOKEN, ERASED, SWEPT = "token:", "erasure:", "swept:"
EXECUTED, IN_DOUBT, RESOLVED = "executed:", "in_doubt:", "resolved:"
"""First parts of keys; what follows is an id or a digest."""

ONCE: Mapping[str, str] = {
    "COMPLETED": EXECUTED,
    "FAILED": EXECUTED,
    "RECORDED_ONLY": EXECUTED,
    "IN_DOUBT": IN_DOUBT,
    "RESOLVED_BY_HUMAN": RESOLVED,
}
"""Outcomes of a write that may stand once; those with one first part exclude each other."""


def key_of(record: Mapping[str, Json]) -> str | None:
    """What may stand in a ledger once; None for a record that may be repeated."""
    match record["kind"]:
        case Kind.DECISION:
            return str(record["decision_id"])
        case Kind.CONSUMED | Kind.VOIDED:
            return f"{TOKEN}{record['token']}"
        case Kind.SWEPT:
            return f"{SWEPT}{record['receipt']}"
        case Kind.ERASURE:
            return f"{ERASED}{record['decision_id']}"
        case Kind.OUTCOME if isinstance(status := record.get("status"), str) and status in ONCE:
            return f"{ONCE[status]}{record['decision_id']}"
        case _:
            return None


def bars_of(record: Mapping[str, Json]) -> tuple[str, ...]:
    """Keys that keep a record out if they are taken: its receipt was swept, its end is known."""
    match record["kind"]:
        case Kind.DECISION:
            return (f"{SWEPT}{record['text_commitment']}",)
        case Kind.OUTCOME if record["status"] == "IN_DOUBT":
            return tuple(f"{end}{record['decision_id']}" for end in (EXECUTED, RESOLVED))
        case _:
            return ()
