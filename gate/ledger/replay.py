"""Make a stored decision again, from its record and receipt, and compare the bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from gate.errors import ErasedError, ReplayError
from gate.ledger.book import Book
from gate.ledger.encode import Json, canonical, moment, parse, switches_of
from gate.ledger.formats import Kind, as_written, current, kind_of
from gate.ledger.receipts import (
    Erased,
    Receipt,
    context_from_receipt,
    request_from_receipt,
    tier_answer_from_receipt,
)
from gate.ledger.record import CARRIED, Identity, commitment, identify, seal
from gate.records import Request, Switches, TierAnswer

Context = Mapping[str, Any]
"""What a decision stood on besides request and configuration, as `book.write` was given it."""

Redecide = Callable[
    [Request, TierAnswer | None, datetime, Switches, Context | None], Mapping[str, Any]
]
"""Decide under today's configuration and return what `record.core` made of it.

ErasedError if the receipt of an earlier decision is needed and was erased.
"""

Rejudge = Callable[[Mapping[str, Json]], Mapping[str, Json]]
"""Give the fields of an erased record that follow today from what the record still holds."""

ABSENT = "(absent)"
"""Stands in a report for a field that one side does not have."""


class Status(StrEnum):
    """How a replay ended."""

    SAME = "same"
    DIFFERS = "differs"
    ERASED = "erased"
    VERSIONS_DIFFER = "versions_differ"


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """How one decision replayed.

    `differing_field` is the path of the first difference, for example `versions.rules.yaml` or
    `findings.objects[0].start`, with the value recorded and the value found today. `besides` is
    the first difference apart from versions, if versions differ: it says whether the decision
    itself would change. `reproduced` names the fields of an erased decision that were made again
    and compared.
    """

    decision_id: str
    status: Status
    differing_field: str | None = None
    recorded: Json = None
    today: Json = None
    besides: str | None = None
    reproduced: tuple[str, ...] = ()


def replay(
    data: bytes,
    receipt: Receipt | Erased,
    redecide: Redecide,
    *,
    key: bytes | None = None,
    rejudge: Rejudge | None = None,
) -> ReplayReport:
    """Decide the record in `data` again and compare byte for byte, in the format it was written in.

    Of an erased decision, or one that stands on an erased decision, only the fields that `rejudge`
    gives are compared. Without the appliance
    `key` the recorded pseudonym and id are taken as they stand. ReplayError if the record is no
    decision or the receipt is not the one it was made from.
    """
    record = parse(data)
    if kind_of(record) is not Kind.DECISION:
        raise ReplayError(f"a {record['kind']} record decides nothing; replay decisions only")
    read = current(record)
    try:
        again = None if isinstance(receipt, Erased) else _again(read, receipt, redecide, key)
    except ErasedError:
        again = None
    if again is None:
        return _compare_rest(read, rejudge(read) if rejudge else {})
    fresh = as_written(again, record["format"])
    if canonical(dict(fresh)) == data:
        return ReplayReport(record["decision_id"], Status.SAME)
    return _compare(record, fresh)


def _again(
    record: Mapping[str, Json], receipt: Receipt, redecide: Redecide, key: bytes | None
) -> dict[str, Json]:
    request = request_from_receipt(record, receipt)
    committed = commitment(receipt.salt, request)
    if committed != record["text_commitment"]:
        decision_id = record["decision_id"]
        raise ReplayError(f"the receipt of decision `{decision_id}` was changed; restore its copy")
    clear = redecide(
        request,
        tier_answer_from_receipt(receipt),
        moment(record["decided_at"]),
        switches_of(record["switches"]["set"]),
        context_from_receipt(receipt),
    )
    recorded = Identity(record["decision_id"], record["subject"])
    identity = recorded if key is None else identify(key, request)
    carried = {name: record[name] for name in CARRIED}
    sealed = seal(
        {**clear, **carried}, identity=identity, salt=receipt.salt, text_commitment=committed
    )
    return {**sealed, "previous": record["previous"]}


def _compare(record: Mapping[str, Json], fresh: Mapping[str, Json]) -> ReplayReport:
    decision_id = record["decision_id"]
    rest = difference(dict(record), {**fresh, "versions": record["versions"]})
    moved = difference(record["versions"], fresh["versions"], "versions")
    if moved:
        besides = rest[0] if rest else None
        return ReplayReport(decision_id, Status.VERSIONS_DIFFER, *moved, besides)
    return ReplayReport(decision_id, Status.DIFFERS, *(rest or ("bytes", None, None)))


def _compare_rest(record: Mapping[str, Json], fields: Mapping[str, Json]) -> ReplayReport:
    recorded = {name: record[name] for name in fields}
    path, old, new = difference(recorded, dict(fields)) or (None, None, None)
    names = tuple(sorted(fields))
    return ReplayReport(record["decision_id"], Status.ERASED, path, old, new, reproduced=names)


def difference(recorded: Json, today: Json, path: str = "") -> tuple[str, Json, Json] | None:
    """The path of the first difference between two plain values, and the two values there."""
    if isinstance(recorded, dict) and isinstance(today, dict):
        steps = [
            (f"{path}.{name}".lstrip("."), recorded.get(name, ABSENT), today.get(name, ABSENT))
            for name in sorted({*recorded, *today})
        ]
    elif isinstance(recorded, list) and isinstance(today, list) and len(recorded) == len(today):
        pairs = enumerate(zip(recorded, today, strict=True))
        steps = [(f"{path}[{place}]", old, new) for place, (old, new) in pairs]
    elif type(recorded) is type(today) and recorded == today:
        return None
    else:
        return path, recorded, today
    return next((found for at, old, new in steps if (found := difference(old, new, at))), None)


def replay_all(
    book: Book, redecide: Redecide, rejudge: Rejudge | None = None
) -> Iterator[ReplayReport]:
    """Replay every decision of a book, in order. LedgerError if a receipt is missing."""
    for stored in book.ledger.iterate():
        if stored.kind == Kind.DECISION:
            kept = book.receipts.get(stored.current["text_commitment"])
            yield replay(stored.data, kept, redecide, key=book.key, rejudge=rejudge)
