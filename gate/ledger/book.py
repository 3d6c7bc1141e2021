"""A ledger, its receipts and its key, opened together: what a caller records decisions with.

book = open_book(ledger_path, receipts_path)
stored = recall(book, request)            # this very request, answered before
written = write(book, request=..., tier_answer=..., clear=core(...), salt=new_salt())
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from gate.errors import LedgerError
from gate.ledger.encode import Json
from gate.ledger.formats import Kind
from gate.ledger.outcome import is_unfinished
from gate.ledger.pseudonym import create_key, key_path, read_key
from gate.ledger.receipts import Erased, Receipt, Receipts, receipt
from gate.ledger.record import commitment, event, identify, seal
from gate.ledger.store import SEGMENT_BYTES, Appended, DuplicateRequest, Ledger, Stored
from gate.records import Request, TierAnswer


@dataclass(frozen=True, slots=True)
class Book:
    """The open files of one appliance; `key` is None where the key did not travel with a copy."""

    ledger: Ledger
    receipts: Receipts
    key: bytes | None

    def close(self) -> None:
        """Close both files."""
        self.ledger.close()
        self.receipts.close()

    def __enter__(self) -> Book:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Written:
    """A durable decision; `replayed` if an earlier, equal request had made it."""

    sequence: int
    digest: str
    record: Mapping[str, Json]
    replayed: bool = False


def open_book(ledger: Path, receipts: Path, segment_bytes: int = SEGMENT_BYTES) -> Book:
    """Open for recording, making the files on first use; a ledger goes on in another file at a size.

    LedgerError if a file is unsound, or if the ledger or its key is gone while the rest is there.
    """
    if receipts.exists() and not ledger.exists():
        raise LedgerError(f"`{ledger}` is gone but `{receipts}` is there; restore the ledger")
    key = read_key(key_path(ledger)) if ledger.exists() else create_key(key_path(ledger))
    opened = Ledger.open(ledger, segment_bytes=segment_bytes)
    try:
        return Book(opened, Receipts.open(receipts), key)
    except LedgerError:
        opened.close()
        raise


def read_book(ledger: Path, receipts: Path) -> Book:
    """Open existing files for reading only; the key may be missing."""
    key = read_key(key_path(ledger)) if key_path(ledger).exists() else None
    opened = Ledger.read(ledger)
    try:
        return Book(opened, Receipts.read(receipts), key)
    except LedgerError:
        opened.close()
        raise


def recall(book: Book, request: Request) -> Written | None:
    """The stored decision of this very request, marked replayed; None if it is new.

    DuplicateRequest if its channel, subject and request id were used with another body, or with
    one that was erased and cannot be compared.
    """
    stored = book.ledger.get(identify(_key(book), request).decision_id)
    return None if stored is None else _again(book, request, stored)


def _key(book: Book) -> bytes:
    if book.key is None:
        raise LedgerError(f"`{key_path(book.ledger.path)}` is missing; restore it to record")
    return book.key


def _again(book: Book, request: Request, stored: Stored) -> Written:
    record = stored.current
    kept = book.receipts.get(record["text_commitment"])
    shown = request.request_id
    if isinstance(kept, Erased):
        raise DuplicateRequest(f"request id `{shown}` was used and erased; use a new one", stored)
    if commitment(kept.salt, request) != kept.receipt_id:
        raise DuplicateRequest(f"request id `{shown}` has another body; use a new one", stored)
    return Written(stored.sequence, stored.digest, record, replayed=True)


def write(
    book: Book,
    *,
    request: Request,
    tier_answer: TierAnswer | None,
    clear: Mapping[str, Json],
    salt: bytes,
    outputs: Sequence[Any] = (),
    prompts: Sequence[Any] = (),
    consume: Sequence[str] = (),
    void: Sequence[str] = (),
    context: Mapping[str, Any] | None = None,
    intent: str | None = None,
    speaker: str | None = None,
) -> Written:
    """Make a decision durable: receipt first, then the sealed record.

    The receipt keeps `outputs`, `prompts` and `context` (JSON values), and is found again by the
    keyed digests `intent` and `speaker`.
    `consume` are the digests of the confirmation tokens that the decision executes on, `void` of
    those that it makes void. An equal request that another thread or process recorded meanwhile
    wins and is returned, marked replayed. DuplicateRequest for another body, TokenUsed if a token
    is used up already, LedgerError if the record is not durable.
    """
    identity = identify(_key(book), request)
    kept = receipt(
        request=request,
        tier_answer=tier_answer,
        decision_id=identity.decision_id,
        salt=salt,
        outputs=outputs,
        prompts=prompts,
        at=clear["decided_at"],
        context=context,
        intent=intent,
        speaker=speaker,
    )
    sealed = seal(clear, identity=identity, salt=salt, text_commitment=kept.receipt_id)
    try:
        appended = keep(book, kept, sealed, consume, void)
    except DuplicateRequest as taken:
        return _again(book, request, taken.stored)
    return Written(appended.sequence, appended.digest, appended.record)


def keep(
    book: Book,
    kept: Receipt,
    sealed: Mapping[str, Json],
    consume: Sequence[str] = (),
    void: Sequence[str] = (),
) -> Appended:
    """Make a receipt durable, then its record; where others write, too, both wait only once.

    Raises what `Ledger.append` raises.
    """
    append = partial(book.ledger.append, sealed, consume=consume, void=void)
    on_its_way = book.receipts.start(kept)
    if on_its_way is None:
        return append()
    try:
        return append(after=partial(book.receipts.finish, on_its_way))
    finally:
        book.receipts.leave(on_its_way)


def erase(book: Book, decision_id: str, *, at: datetime, reason: str) -> int:
    """Record the erasure of a decision's text, then delete text and salt; count the receipts.

    Asked again it finishes what a crash left and adds no second record. LedgerError for a decision
    that was never recorded, and for a write without an end: its order could not be reconciled.
    """
    decision = book.ledger.get(decision_id)
    if decision is None:
        raise LedgerError(f"decision `{decision_id}` is not in the ledger; check the id")
    if is_unfinished(book.ledger, decision):
        raise LedgerError(f"decision `{decision_id}` is an unfinished write; reconcile it first")
    with suppress(DuplicateRequest):
        book.ledger.append(event(Kind.ERASURE, at, decision_id=decision_id, reason=reason))
    return book.receipts.erase(decision_id, at)
