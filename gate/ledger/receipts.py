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
    unplain,
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
    erased_at TEXT, intent TEXT
        CHECK (intent IS NULL OR salt IS NOT NULL), speaker TEXT
        CHECK (speaker IS NULL OR salt IS NOT NULL), decided_at TEXT,
    CHECK ((erased_at IS NULL) = (salt IS NOT NULL)),
    CHECK ((salt IS NULL) = (content IS NULL))
) STRICT""",
    "CREATE INDEX receipts_of_decision ON receipts (decision_id)",
    "CREATE INDEX receipts_of_intent ON receipts (intent) WHERE intent IS NOT NULL",
    """CREATE INDEX receipts_of_speaker ON receipts (speaker, decided_at)
    WHERE speaker IS NOT NULL""",
)
"""Compared word for word when a file is opened for writing."""

CHANGES: tuple[database.Change, ...] = (
    (
        """ALTER TABLE receipts ADD COLUMN intent TEXT
        CHECK (intent IS NULL OR salt IS NOT NULL)""",
        """ALTER TABLE receipts ADD COLUMN speaker TEXT
        CHECK (speaker IS NULL OR salt IS NOT NULL)""",
        "ALTER TABLE receipts ADD COLUMN decided_at TEXT",
        *SCHEMA[2:],
    ),
)
"""What made the file of the first release into this one; SQLite puts added columns into its text."""

TABLE = Table(
    "receipts",
    MetaData(),
    Column("receipt_id", String, primary_key=True),
    Column("decision_id", String, nullable=False),
    Column("salt", LargeBinary),
    Column("content", LargeBinary),
    Column("erased_at", String),
    Column("intent", String),
    Column("speaker", String),
    Column("decided_at", String),
)

Row = tuple[str, str, bytes, bytes, str | None, str | None, str | None]
"""Receipt id, decision id, salt and content; intent, speaker and when it was decided."""

OnItsWay = Ticket[Row, str]
"""A receipt that stands in line."""

COLUMNS = "receipt_id, decision_id, salt, content, intent, speaker, decided_at"
INSERT = f"INSERT INTO receipts ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
GET = "SELECT * FROM receipts WHERE receipt_id = ?"
OF_INTENT = "SELECT decision_id FROM receipts WHERE intent = ? ORDER BY rowid"
OF_SPEAKER = """SELECT decision_id FROM receipts WHERE speaker = ? AND decided_at >= ?
    ORDER BY decided_at DESC, rowid DESC"""
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
    in receipts of the first release. `context` is what else a decision stood on that is neither in
    the request nor in the configuration, for replay. `intent` and `speaker` are keyed digests by
    which receipts are found again: of what was asked for, and of who asked.
    """

    receipt_id: str
    decision_id: str
    salt: bytes
    request: Mapping[str, Json]
    tier_answer: Mapping[str, Json] | None
    outputs: Json = ()
    prompts: Json = ()
    at: str | None = None
    context: Mapping[str, Json] | None = None
    intent: str | None = None
    speaker: str | None = None


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
    context: Mapping[str, Any] | None = None,
    intent: str | None = None,
    speaker: str | None = None,
) -> Receipt:
    """The receipt of a request and the tier answer that was decided on.

    `intent` and `speaker` are digests under a key, never the values themselves.
    """
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
        context=None if context is None else plain(context),
        intent=intent,
        speaker=speaker,
    )


def request_from_receipt(record: Mapping[str, Json], receipt: Receipt) -> Request:
    """The request that was decided: its text from the receipt, its state from the record."""
    return request_of(receipt.request, record["state"])


def tier_answer_from_receipt(receipt: Receipt) -> TierAnswer | None:
    """The tier answer that was decided on; None if no tier was asked."""
    return None if receipt.tier_answer is None else tier_answer_of(receipt.tier_answer)


def context_from_receipt(receipt: Receipt) -> Mapping[str, Any] | None:
    """The context that was decided in, as it was given."""
    return None if receipt.context is None else dict(unplain(receipt.context))


def _row(receipt: Receipt) -> Row:
    content = {
        "request": receipt.request,
        "tier_answer": receipt.tier_answer,
        "outputs": receipt.outputs,
        "prompts": receipt.prompts,
        "at": receipt.at,
        **({} if receipt.context is None else {"context": receipt.context}),
    }
    data, named = canonical_plain(content), (receipt.intent, receipt.speaker, receipt.at)
    return receipt.receipt_id, receipt.decision_id, receipt.salt, data, *named


class Receipts:
    """An open receipts file; safe for threads and processes. Receipts of many share a transaction."""

    def __init__(self, file: database.File) -> None:
        self._file = file
        self._group: Group[Row, str] = Group(self._put_all, file.busy_seconds, file.busy_message)

    @classmethod
    def open(cls, path: Path, busy_seconds: float = database.BUSY_SECONDS) -> Receipts:
        """Open for writing; LedgerError if the file is unsound.

        It is made if there is none, and brought up to date if an earlier release made it.
        """
        file = database.open_file(path, "rw", SCHEMA, APPLICATION_ID, busy_seconds, changes=CHANGES)
        return cls(file)

    @classmethod
    def read(cls, path: Path) -> Receipts:
        """Open an existing file for reading only; LedgerError if it is missing or unsound."""
        return cls(database.open_file(path, "ro", SCHEMA, APPLICATION_ID, changes=CHANGES))

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
            row = connection.exec_driver_sql(GET, (receipt_id,)).mappings().first()
        if row is None:
            raise LedgerError(
                f"`{self._file.path}` has no receipt `{receipt_id}`; restore its copy"
            )
        decision_id, erased_at = row["decision_id"], row["erased_at"]
        if erased_at is not None:
            return Erased(receipt_id, decision_id, erased_at)
        named = {name: row[name] for name in ("intent", "speaker") if name in row}
        return Receipt(receipt_id, decision_id, row["salt"], **parse(row["content"]), **named)

    def by_intent(self, intent: str) -> list[str]:
        """The decisions whose receipt has this intent, in the order in which they were written.

        As every receipt, one of these may have no record in the ledger.
        """
        return self._found(OF_INTENT, (intent,))

    def by_speaker(self, speaker: str, since: datetime, limit: int) -> list[str]:
        """The latest decisions whose receipt has this speaker, newest first, at most `limit`.

        Those that were decided at `since` (aware) or later. As every receipt, one of these may have
        no record in the ledger.
        """
        return self._found(OF_SPEAKER, (speaker, instant(since)), limit)

    def _found(self, query: str, values: tuple[str, ...], limit: int = -1) -> list[str]:
        """Each decision once; none in a file that an earlier release made."""
        found: dict[str, None] = {}
        with self._file.reading() as connection:
            if database.pragma(connection, "user_version") == database.VERSION:
                return []
            for decision_id in connection.exec_driver_sql(query, values).scalars():
                if len(found) == limit:
                    break
                found[decision_id] = None
        return list(found)

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
        """Delete all but the names of a decision's receipts, orphans included, and count them.

        The bytes leave the file and its write-ahead log. `book.erase` also records the event.
        """
        empty = {"salt": None, "content": None, "intent": None, "speaker": None}
        kept = TABLE.c.erased_at.is_(None)
        with self._file.writing() as connection:
            done = connection.execute(
                update(TABLE)
                .where(TABLE.c.decision_id == decision_id, kept)
                .values(**empty, erased_at=instant(at))
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
