"""Recompute a ledger's chain: every digest, link, number and column, and the locks on the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gate.errors import LedgerError
from gate.ledger.encode import parse
from gate.ledger.pseudonym import digest
from gate.ledger.record import key_of, kind_of
from gate.ledger.store import Head, Ledger, Stored


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and at which record; sequence 0 is the file as a whole."""

    sequence: int
    what: str

    def __str__(self) -> str:
        return f"record {self.sequence}: {self.what}" if self.sequence else self.what


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """How many records were read, and the first problem among them; `head` is where it stopped."""

    records: int
    first_problem: Problem | None
    head: Head

    @property
    def ok(self) -> bool:
        """True if nothing is wrong."""
        return self.first_problem is None


def verify(path: Path, checkpoint: Head | None = None) -> VerifyReport:
    """Check a whole ledger, and with an exported `checkpoint` that it still continues from there.

    Edits, swaps, insertions and deletions inside are found by the chain. A cut tail or a rewrite of
    everything is found against a checkpoint only. LedgerError if the file cannot be read at all.
    """
    with Ledger.read(path) as ledger:
        for fault in ledger.faults():
            return VerifyReport(0, Problem(0, f"the file was changed: {fault}"), Head())
        return check_chain(ledger.iterate(), checkpoint)


def check_chain(rows: Iterable[Stored], checkpoint: Head | None = None) -> VerifyReport:
    """Check records in the order given, from the first one on."""
    head, records = Head(), 0
    for row in rows:
        what = next(differences(row, head), None) or _departure(row, checkpoint)
        if what:
            return VerifyReport(records, Problem(row.sequence, what), head)
        head, records = Head(row.sequence, row.digest), records + 1
    if checkpoint and head.sequence < checkpoint.sequence:
        what = f"the ledger ends at {head.sequence}; the checkpoint saw {checkpoint.sequence}"
        return VerifyReport(records, Problem(head.sequence + 1, what), head)
    return VerifyReport(records, None, head)


def differences(row: Stored, head: Head) -> Iterator[str]:
    """What is wrong with the record after `head`, in words."""
    if row.sequence != head.sequence + 1:
        yield f"sequence `{row.sequence}` follows `{head.sequence}`"
    if (found := digest(row.data)) != row.digest:
        yield f"bytes have digest `{found}`, the ledger says `{row.digest}`"
    try:
        record = parse(row.data)
        kind, key = kind_of(record), key_of(record)
    except LedgerError as error:
        yield str(error)
        return
    if record["previous"] != head.digest:
        yield f"previous is `{record['previous']}`, the record before has `{head.digest}`"
    for name, is_, should in (
        ("previous", row.previous, record["previous"]),
        ("kind", row.kind, kind.value),
        ("key", row.key, key),
    ):
        if is_ != should:
            yield f"column {name} is `{is_}`, the record says `{should}`"


def _departure(row: Stored, checkpoint: Head | None) -> str | None:
    if checkpoint is None or row.sequence != checkpoint.sequence or row.digest == checkpoint.digest:
        return None
    return f"digest `{row.digest}` is not the checkpoint's `{checkpoint.digest}`"
