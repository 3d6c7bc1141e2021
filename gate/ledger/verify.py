"""Recompute a ledger's chain: every digest, link, number and column, and the locks on the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gate.errors import LedgerError
from gate.ledger.encode import parse
from gate.ledger.formats import Kind, key_of, kind_of
from gate.ledger.pseudonym import digest
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


def verify(
    path: Path, checkpoint: Head | None = None, witness: Sequence[Head] = ()
) -> VerifyReport:
    """Check a whole ledger, and that it still holds what exported checkpoints saw.

    Edits, swaps, insertions and deletions inside are found by the chain. A cut tail or a rewrite of
    everything is found against a `checkpoint`, or several of them from a `witness`, only. Whether
    those are ours is for `checkpoint.faults`. LedgerError if the file cannot be read at all.
    """
    with Ledger.read(path) as ledger:
        for fault in ledger.faults():
            return VerifyReport(0, Problem(0, f"the file was changed: {fault}"), Head())
        return check_chain(ledger.iterate(), checkpoint, witness)


def check_chain(
    rows: Iterable[Stored], checkpoint: Head | None = None, witness: Sequence[Head] = ()
) -> VerifyReport:
    """Check records in the order given, from the first one on."""
    seen = _seen([*witness] if checkpoint is None else [*witness, checkpoint])
    head, records, sealed = Head(), 0, 0
    for row in rows:
        what = (
            next(differences(row, head), None)
            or _departure(row, seen.get(row.sequence, ()))
            or _misplaced(row, head, sealed)
        )
        if what:
            return VerifyReport(records, Problem(row.sequence, what), head)
        head, records = Head(row.sequence, row.digest), records + 1
        sealed = row.record["segment"] if row.kind == Kind.SEALED else 0
    if head.sequence < (last := max(seen, default=0)):
        what = f"the ledger ends at {head.sequence}; the checkpoint saw {last}"
        return VerifyReport(records, Problem(head.sequence + 1, what), head)
    return VerifyReport(records, None, head)


def _seen(checkpoints: Iterable[Head]) -> dict[int, list[str]]:
    """The digests that checkpoints saw, by sequence."""
    seen: dict[int, list[str]] = {}
    for one in checkpoints:
        seen.setdefault(one.sequence, []).append(one.digest)
    return seen


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


def _departure(row: Stored, seen: Sequence[str]) -> str | None:
    other = next((digest for digest in seen if digest != row.digest), None)
    return other and f"digest `{row.digest}` is not the checkpoint's `{other}`"


def _misplaced(row: Stored, head: Head, sealed: int) -> str | None:
    """What is wrong with a record at the joint of two segments; `sealed` is the one just sealed."""
    if row.kind != Kind.SEGMENT:
        return f"segment {sealed} is sealed; the next one begins otherwise" if sealed else None
    wanted = {"segment": sealed + 1, "sequence": head.sequence, "digest": head.digest}
    found = {name: row.record[name] for name in wanted}
    return (
        None if sealed and found == wanted else "a segment begins that does not follow a sealed one"
    )
