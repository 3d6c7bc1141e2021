"""A life of a ledger, to be cut off anywhere: `python -m tests.faults.scripted FOLDER [SIZE [FLUSH]]`.

Whatever an append acknowledges is told to the outside at once, as a line of the file `acks`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

from gate.ledger import database
from gate.ledger.book import Book, Written, erase, write
from gate.ledger.encode import instant
from gate.ledger.outcome import Outcome, append_outcome
from gate.ledger.pseudonym import create_key, digest, key_path, new_salt
from gate.ledger.receipts import APPLICATION_ID, _row, receipt
from gate.ledger.record import identify, seal
from gate.ledger.store import Ledger
from gate.ledger.sweep import sweep
from tests.gate.ledger.samples import NOW, PROPOSAL, book_in, decided, numbered
from tests.gate.ledger.test_receipts import FIRST

SMALL = 60_000
"""Bytes of a segment, so that a life goes over several files."""

Tell = Callable[..., None]


def open_acks(folder: Path) -> Tell:
    """A function that tells the outside what is so from now on."""
    file = os.open(folder / "acks", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def tell(**what: Any) -> None:
        os.write(file, json.dumps(what).encode() + b"\n")

    return tell


def token(number: int) -> str:
    """The digest of the token of one request."""
    return digest(f"token-{number}".encode())


def decide(book: Book, tell: Tell, number: int, consume: bool = False) -> Written:
    """One decision, acknowledged; if it consumes a token, it makes another one void."""
    request = numbered(number)
    used = (token(number), token(-number)) if consume else ()
    written = write(
        book,
        request=request,
        tier_answer=PROPOSAL,
        clear=decided(request, PROPOSAL, NOW),
        salt=new_salt(),
        consume=used[:1],
        void=used[1:],
    )
    tell(sequence=written.sequence, digest=written.digest, tokens=used)
    return written


def confirmed(book: Book, tell: Tell, number: int, outcome: Outcome) -> None:
    """A write that is dispatched and ends."""
    written = decide(book, tell, number, consume=True)
    told = append_outcome(book.ledger, written.record["decision_id"], outcome, at=NOW)
    tell(sequence=told.sequence, digest=told.digest)


def forgotten(book: Book, tell: Tell, number: int) -> None:
    """A decision whose text is erased."""
    written = decide(book, tell, number)
    erase(book, written.record["decision_id"], at=NOW, reason="asked")
    tell(erased=written.record["text_commitment"])


def orphaned(book: Book, tell: Tell, number: int) -> None:
    """A receipt whose record never comes, and which is swept."""
    request = numbered(number)
    lost = receipt(
        request=request,
        tier_answer=PROPOSAL,
        decision_id=f"orphan-{number}",
        salt=new_salt(),
        at=instant(NOW),
    )
    book.receipts.put(lost)
    assert sweep(book, timedelta(hours=1), NOW + timedelta(hours=2)).decisions
    tell(swept=lost.receipt_id)


def inherited(folder: Path, tell: Tell) -> None:
    """A decision of the first release, whose receipts file is brought up to date by the next start."""
    path, request = folder / "ledger.sqlite", numbered(-1)
    identity, salt = identify(create_key(key_path(path)), request), new_salt()
    kept = receipt(
        request=request, tier_answer=PROPOSAL, decision_id=identity.decision_id, salt=salt
    )
    clear = decided(request, PROPOSAL, NOW)
    sealed = seal(clear, identity=identity, salt=salt, text_commitment=kept.receipt_id)
    with Ledger.open(path) as ledger:
        row = ("INSERT INTO receipts VALUES (?, ?, ?, ?, NULL)", _row(kept)[:4])
        database.replace(folder / "receipts.sqlite", FIRST, APPLICATION_ID, [row])
        told = ledger.append(sealed)
    tell(sequence=told.sequence, digest=told.digest)


def live(folder: Path, size: int) -> None:
    """Inherit, decide alone, confirm, erase, sweep, stop and start, decide in company over several files."""
    tell = open_acks(folder)
    inherited(folder, tell)
    for round_ in range(size):
        first = round_ * 1_000
        with book_in(folder) as book:
            for number in range(first, first + 3):
                decide(book, tell, number)
            confirmed(book, tell, first + 10, Outcome.COMPLETED)
            confirmed(book, tell, first + 11, Outcome.IN_DOUBT)
            forgotten(book, tell, first + 20)
            orphaned(book, tell, first + 30)
        with book_in(folder, segment_bytes=SMALL) as book, ThreadPoolExecutor(8) as pool:
            list(
                pool.map(
                    lambda n: decide(book, tell, n, n % 3 == 0), range(first + 100, first + 124)
                )
            )


def main() -> None:
    """Live with a write-ahead log that is folded often, so that this is cut off, too.

    FLUSH is SQLite's `synchronous`, to see that a ledger which flushes less is caught.
    """
    folder, size, flush = (sys.argv[1:] + ["1", "FULL"][len(sys.argv) - 2 :])[:3]
    settings = (f"synchronous = {flush}", "wal_autocheckpoint = 12")
    database.PRAGMAS = (*database.PRAGMAS, *(f"PRAGMA {setting}" for setting in settings))
    live(Path(folder), int(size))


if __name__ == "__main__":
    main()
