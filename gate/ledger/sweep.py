"""Receipts that a crash or a lost race left without a record: found, recorded as swept, deleted.

The deletion is an event of the chain, written first. A record that comes for its receipt later, from
a process that was held up for long, is refused by that event, so no record is left without receipt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from gate.errors import LedgerError
from gate.ledger.book import Book
from gate.ledger.encode import moment
from gate.ledger.formats import Kind
from gate.ledger.receipts import Kept
from gate.ledger.record import event
from gate.ledger.store import DuplicateRequest, Ledger

YOUNGEST = timedelta(minutes=1)
"""Least age of what may be swept: the record of a younger receipt may be on its way."""

BATCH = 500


@dataclass(frozen=True, slots=True)
class Swept:
    """How many receipts were looked at; the decision ids of the orphans deleted; orphans too young."""

    receipts: int
    decisions: tuple[str, ...]
    young: int


@dataclass(frozen=True, slots=True)
class _Seen:
    """A receipt without a record, and since when it has been there, as far as that is known."""

    receipt: Kept
    since: datetime | None


def sweep(book: Book, older_than: timedelta, now: datetime) -> Swept:
    """Delete every receipt that has had no record for `older_than`, and record that.

    A receipt without a date of its own (from the first release) is as old as the next receipt that
    has a record. LedgerError if the age is under a minute, or if something cannot be written;
    asked again it goes on where it stopped.
    """
    if older_than < YOUNGEST:
        raise LedgerError(f"age `{older_than}` is under {YOUNGEST}; records may be on their way")
    count, orphans = _orphans(book)
    old = [o.receipt for o in orphans if o.since is not None and o.since <= now - older_than]
    swept = [receipt for receipt in old if _recorded(book.ledger, receipt, now)]
    book.receipts.drop([receipt.receipt_id for receipt in swept])
    return Swept(count, tuple(receipt.decision_id for receipt in swept), len(orphans) - len(old))


def _orphans(book: Book) -> tuple[int, list[_Seen]]:
    """The number of receipts, and those without a record, in the order in which they came."""
    count, found = 0, list[_Seen]()
    undated = list[Kept]()
    names = book.receipts.names()
    while batch := list(islice(names, BATCH)):
        count += len(batch)
        decided = _decided(book.ledger, batch)
        for kept in batch:
            commitment, at = decided.get(kept.decision_id, ("", ""))
            if commitment == kept.receipt_id:
                found += [_Seen(earlier, moment(at)) for earlier in undated]
                undated.clear()
            elif (since := book.receipts.since(kept.receipt_id)) is None:
                undated.append(kept)
            else:
                found.append(_Seen(kept, moment(since)))
    return count, found + [_Seen(kept, None) for kept in undated]


def _decided(ledger: Ledger, batch: Sequence[Kept]) -> dict[str, tuple[str, str]]:
    """Commitment and time of the recorded decisions, by decision id."""
    stored = ledger.find_all([kept.decision_id for kept in batch])
    records = {key: one.current for key, one in stored.items()}
    return {key: (r["text_commitment"], r["decided_at"]) for key, r in records.items()}


def _recorded(ledger: Ledger, kept: Kept, now: datetime) -> bool:
    """Record that a receipt goes; False if its record has come meanwhile."""
    for barred in _bars(ledger, kept):
        record = event(Kind.SWEPT, now, decision_id=kept.decision_id, receipt=kept.receipt_id)
        try:
            ledger.append(record, unless=barred)
        except DuplicateRequest as taken:
            if taken.stored.kind == Kind.DECISION:
                continue  # it was recorded just now, perhaps with another receipt
        return True
    return False


def _bars(ledger: Ledger, kept: Kept) -> Iterator[Sequence[str]]:
    """What must not be recorded while the sweep is: the decision, as long as there is none."""
    if ledger.get(kept.decision_id) is None:
        yield (kept.decision_id,)
    stored = ledger.get(kept.decision_id)
    if stored is not None and stored.current["text_commitment"] != kept.receipt_id:
        yield ()
