"""Receipts: the text behind a decision, kept beside the ledger so that it can be erased.

A receipt is written before its decision record and found by the record's `text_commitment`. What
the chain says stays true without it; only replay of what was read from the text needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    LargeBinary,
    MetaData,
    String,
    Table,
    bindparam,
    delete,
    select,
    text,
    update,
)

from gate.errors import LedgerError
from gate.ledger import database
from gate.ledger.encode import (
    Json,
    canonical_plain,
    instant,
    parse,
    plain,
    request_body,
    request_of,
)
from gate.ledger.group import Group, Ticket
from gate.ledger.record import body_commitment
from gate.ledger.tiers import tier_answer_of, tier_body
from gate.records import Request, TierAnswer

APPLICATION_ID = 0x524C4B32
"""`RLK2`: what the file calls itself."""

SCHEMA = (
    """CREATE TABLE receipts (
    receipt_id TEXT PRIMARY KEY,
    decision_id TEXT NOT NULL,
    salt BLOB,
    content BLOB,
    erased_at TEXT,
    CHECK ((erased_at IS NULL) = (salt IS NOT NULL)),
    CHECK ((salt IS NULL) = (content IS NULL))
) STRICT""",
    "CREATE INDEX receipts_of_decision ON receipts (decision_id)",
)

TABLE = Table(
    "receipts",
    MetaData(),
    Column("receipt_id", String, primary_key=True),
    Column("decision_id", String, nullable=False),
    Column("salt", LargeBinary),
    Column("content", LargeBinary),
    Column("erased_at", String),
)

Row = tuple[str, str, bytes, bytes]
"""Receipt id, decision id, salt and content."""

OnItsWay = Ticket[Row, str]
"""A receipt that stands in line."""

INSERT = "INSERT INTO receipts (receipt_id, decision_id, salt, content) VALUES (?, ?, ?, ?)"
NAMES = (
    select(TABLE.c.receipt_id, TABLE.c.decision_id)
    .where(TABLE.c.erased_at.is_(None))
    .order_by(text("rowid"))
)
DROP = delete(TABLE).where(TABLE.c.receipt_id == bindparam("name"))


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a decision was made from, in the clear.

    `request` holds every request field but `state`; `outputs` the raw text of each tier that ran,
    `prompts` what was sent to it, both as the tiers give them. `at` is when it was decided, None
    in receipts of the first release.
    """

    receipt_id: str
    decision_id: str
    salt: bytes
    request: Mapping[str, Json]
    tier_answer: Mapping[str, Json] | None
    outputs: Json = ()
    prompts: Json = ()
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """The name of a receipt whose text is there, and of the decision that it is for."""

    receipt_id: str
    decision_id: str


@dataclass(frozen=True, slots=True)
class Erased:
    """What is left of a receipt: its name, and when it was emptied."""

    receipt_id: str
    decision_id: str
    erased_at: str


def receipt(
    *,
    request: Request,
    tier_answer: TierAnswer | None,
    decision_id: str,
    salt: bytes,
    outputs: Sequence[Any] = (),
    prompts: Sequence[Any] = (),
    at: str | None = None,
) -> Receipt:
    """The receipt of a request and the tier answer that was decided on."""
    body = request_body(request)
    return Receipt(
        receipt_id=body_commitment(salt, body, plain(dict(request.state))),
        decision_id=decision_id,
        salt=salt,
        request=body,
        tier_answer=None if tier_answer is None else tier_body(tier_answer),
        outputs=plain(outputs),
        prompts=plain(prompts),
        at=at,
    )


def request_from_receipt(record: Mapping[str, Json], receipt: Receipt) -> Request:
    """The request that was decided: its text from the receipt, its state from the record."""
    return request_of(receipt.request, record["state"])


def tier_answer_from_receipt(receipt: Receipt) -> TierAnswer | None:
    """The tier answer that was decided on; None if no tier was asked."""
    return None if receipt.tier_answer is None else tier_answer_of(receipt.tier_answer)


def _row(receipt: Receipt) -> Row:
    content = {
        "request": receipt.request,
        "tier_answer": receipt.tier_answer,
        "outputs": receipt.outputs,
        "prompts": receipt.prompts,
        "at": receipt.at,
    }
    return receipt.receipt_id, receipt.decision_id, receipt.salt, canonical_plain(content)


class Receipts:
    """An open receipts file; safe for threads and processes. Receipts of many share a transaction."""

    def __init__(self, file: database.File) -> None:
        self._file = file
        self._group: Group[Row, str] = Group(self._put_all, file.busy_seconds, file.busy_message)

    @classmethod
    def open(cls, path: Path, busy_seconds: float = database.BUSY_SECONDS) -> Receipts:
        """Open for writing, and make the file if there is none; LedgerError if it is unsound."""
        return cls(database.open_file(path, "rw", SCHEMA, APPLICATION_ID, busy_seconds))

    @classmethod
    def read(cls, path: Path) -> Receipts:
        """Open an existing file for reading only; LedgerError if it is missing or unsound."""
        return cls(database.open_file(path, "ro", SCHEMA, APPLICATION_ID))

    def put(self, receipt: Receipt) -> None:
        """Keep a receipt; durable on return, LedgerError if it is not."""
        self._group.put(_row(receipt))

    def start(self, receipt: Receipt) -> OnItsWay | None:
        """Keep a receipt at once if nobody else is writing; otherwise stand in line for `finish`."""
        if not self._group.alone:
            return self._group.enter(_row(receipt))
        self.put(receipt)
        return None

    def finish(self, started: OnItsWay) -> None:
        """Make a receipt durable with all that stand in line; LedgerError if it is not."""
        self._group.finish(started, gather=False)

    def leave(self, started: OnItsWay) -> None:
        """Forget a receipt that stands in line and that nobody will come to finish."""
        self._group.leave(started)

    def _put_all(self, rows: Sequence[Row]) -> list[str | LedgerError]:
        """One transaction for all; a receipt that is there already is refused alone."""
        query = (
            f"SELECT receipt_id FROM receipts WHERE receipt_id IN ({', '.join('?' * len(rows))})"  # noqa: S608
        )
        with self._file.writing() as connection:
            names = tuple(row[0] for row in rows)
            kept = set(connection.exec_driver_sql(query, names).scalars())
            fresh = {row[0]: row for row in reversed(rows) if row[0] not in kept}
            if fresh:
                connection.exec_driver_sql(INSERT, list(fresh.values()))
        return [row[0] if fresh.get(row[0]) is row else self._refused(row) for row in rows]

    def _refused(self, row: Row) -> LedgerError:
        return LedgerError(
            f"`{self._file.path}` refused the record: receipt `{row[0]}` is there already"
        )

    def get(self, receipt_id: str) -> Receipt | Erased:
        """The receipt named by a record's `text_commitment`; LedgerError if it was never kept."""
        with self._file.reading() as connection:
            query = select(TABLE).where(TABLE.c.receipt_id == receipt_id)
            row = connection.execute(query).first()
        if row is None:
            raise LedgerError(
                f"`{self._file.path}` has no receipt `{receipt_id}`; restore its copy"
            )
        if row.erased_at is not None:
            return Erased(row.receipt_id, row.decision_id, row.erased_at)
        return Receipt(row.receipt_id, row.decision_id, row.salt, **parse(row.content))

    def names(self) -> Iterator[Kept]:
        """The receipts whose text is there, in the order in which they came."""
        with self._file.reading() as connection:
            rows = connection.execution_options(yield_per=1000).execute(NAMES)
            yield from (Kept(*row) for row in rows)

    def since(self, receipt_id: str) -> str | None:
        """When what a receipt is for was decided; None if it does not say, or is empty."""
        kept = self.get(receipt_id)
        return kept.at if isinstance(kept, Receipt) else None

    def drop(self, receipt_ids: Sequence[str]) -> None:
        """Delete receipts that no record names; `sweep` finds them and records that they went.

        The bytes leave the file and its write-ahead log.
        """
        if receipt_ids:
            with self._file.writing() as connection:
                connection.execute(DROP, [{"name": name} for name in receipt_ids])
            self._fold()

    def erase(self, decision_id: str, at: datetime) -> int:
        """Delete text and salt of a decision, orphans included, and count the receipts emptied.

        The bytes leave the file and its write-ahead log. `book.erase` also records the event.
        """
        empty = {"salt": None, "content": None, "erased_at": instant(at)}
        kept = TABLE.c.erased_at.is_(None)
        with self._file.writing() as connection:
            done = connection.execute(
                update(TABLE).where(TABLE.c.decision_id == decision_id, kept).values(empty)
            )
            count: int = done.rowcount
        self._fold()
        return count

    def _fold(self) -> None:
        if not self._file.fold():
            raise LedgerError(f"`{self._file.path}` still has erased text in its log; erase again")

    def close(self) -> None:
        """Close every connection."""
        self._file.close()

    def __enter__(self) -> Receipts:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
