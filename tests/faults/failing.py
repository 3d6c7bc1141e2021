"""A ledger whose disk fails on demand: `python -m tests.faults.failing FOLDER PLANS`, under the shim.

PLANS is a file with a JSON list of plans, each in a folder of its own. Prints one JSON line per plan: what was
acknowledged and refused while the plan held, and how often it struck. The outside is told in the
file `acks` of that folder, at last that the plan was lifted.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from gate.errors import LedgerError
from gate.ledger import database
from gate.ledger.book import Book
from gate.ledger.pseudonym import read_key
from gate.ledger.receipts import Receipts
from gate.ledger.store import Ledger
from tests.faults.scripted import Tell, decide, open_acks
from tests.faults.shim import Faults
from tests.gate.ledger.samples import book_in

BEFORE = 3
"""Decisions before the plan holds; a plan says how many are tried during it."""


def impatient(folder: Path, segment_bytes: int) -> Book:
    """The book of a folder, which waits for locks a moment only."""
    receipts = Receipts.open(folder / "receipts.sqlite", busy_seconds=0.1)
    path = folder / "ledger.sqlite"
    ledger = Ledger.open(path, busy_seconds=0.1, segment_bytes=segment_bytes)
    return Book(ledger, receipts, read_key(folder / "ledger.key"))


def attempt(book: Book, tell: Tell, number: int) -> str | None:
    """One decision: None if it was acknowledged, the message if it was refused."""
    try:
        decide(book, tell, number, consume=number % 3 == 0)
    except LedgerError as error:
        return str(error)
    return None


def suffer(folder: Path, faults: Faults, plan: Mapping[str, Any]) -> dict[str, Any]:
    """Decide before, while and after things fail."""
    folder.mkdir()
    tell, together = open_acks(folder), plan["together"]
    book_in(folder).close()
    with impatient(folder, plan["segment_bytes"]) as book, ThreadPoolExecutor(together) as pool:
        for number in range(BEFORE):
            decide(book, tell, number)
        faults.fail(
            plan["ops"], plan["where"], plan["after"], plan["error"], plan["times"], plan["partial"]
        )
        numbers = range(100, 100 + plan["during"])
        ends = list(pool.map(lambda n: attempt(book, tell, n), numbers))
        struck = faults.seen() > plan["after"]
        tell(lifted=True)
        faults.clear()
        refused = [number for number, end in zip(numbers, ends, strict=True) if end]
        again = [attempt(book, tell, number) for number in refused]
    with suppress(LedgerError), book_in(folder) as book:
        decide(book, tell, 999)
    return {
        **plan,
        "folder": folder.name,
        "struck": struck,
        "acknowledged": len(ends) - len(refused),
        "refused": [end for end in ends if end],
        "again": [end for end in again if end],
    }


def main() -> None:
    """Suffer every plan."""
    database.PRAGMAS = (*database.PRAGMAS, "PRAGMA wal_autocheckpoint = 6")
    root, faults = Path(sys.argv[1]), Faults()
    for number, plan in enumerate(json.loads(Path(sys.argv[2]).read_text())):
        print(json.dumps(suffer(root / f"{number:04}", faults, plan)), flush=True)


if __name__ == "__main__":
    main()
