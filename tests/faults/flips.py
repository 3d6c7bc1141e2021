"""Bytes of a ledger's files that are flipped: found, or nothing that anybody reads was changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gate.errors import LedgerError
from gate.ledger.formats import Kind
from gate.ledger.record import event
from gate.ledger.store import Ledger, Stored
from gate.ledger.verify import verify
from tests.faults.shim import scratch

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Flips:
    """How many bytes were flipped, how many of those flips nobody could see, and what went wrong.

    A breach is a flip that `verify` lets pass although a record reads otherwise, or on which it
    fails in any way but by a LedgerError.
    """

    tried: int
    quiet: int
    breaches: tuple[str, ...]


def small(path: Path) -> list[Stored]:
    """A closed ledger of a few small records in two files, and its records."""
    with Ledger.open(path) as ledger:
        for number in range(3):
            ledger.append(event(Kind.ERASURE, NOW, decision_id=f"d-{number}", reason="asked"))
        ledger.rotate()
        ledger.append(event(Kind.CONFIG, NOW, versions={"rules.yaml": "ab" * 32}, detail={}))
        return list(ledger.iterate())


def flip(path: Path, file: Path, rows: Sequence[Stored], at: Iterable[int], mask: int) -> Flips:
    """Flip bytes of one file of a ledger, one at a time, in a copy of it."""
    tried = quiet = 0
    breaches = []
    whole = {p.name: p.read_bytes() for p in path.parent.glob("*.sqlite")}
    with scratch() as folder:
        for name, data in whole.items():
            (folder / name).write_bytes(data)
        assert not _found(folder / path.name, rows, -1), "the copy itself is not sound"
        for place in at:
            data = bytearray(whole[file.name])
            data[place] ^= mask
            (folder / file.name).write_bytes(data)
            tried += 1
            try:
                quiet += not _found(folder / path.name, rows, place)
            except Exception as error:
                breaches.append(f"byte {place}, mask {mask}: {type(error).__name__}: {error}")
            for extra in folder.glob("*-*"):
                extra.unlink()
    return Flips(tried, quiet, tuple(breaches))


def _found(path: Path, rows: Sequence[Stored], place: int) -> bool:
    try:
        if not verify(path).ok:
            return True
        with Ledger.read(path) as ledger:
            assert list(ledger.iterate()) == rows, f"byte {place} changes a record unseen"
    except LedgerError:
        return True
    return False
