"""The ledger: an append-only chain of records in one SQLite file.

A record is durable when `append` returns. Every failure is a LedgerError, and whoever gets one
dispatches nothing (G-STORE).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    Row,
    String,
    Table,
    bindparam,
    insert,
    select,
)
from sqlalchemy.types import NullType

from gate.errors import LedgerError
from gate.ledger import database
from gate.ledger.encode import Json, parse
from gate.ledger.group import Group
from gate.ledger.pseudonym import digest
from gate.ledger.record import GENESIS, halves, key_of, kind_of

APPLICATION_ID = 0x524C4B31
"""`RLK1`: what the file calls itself."""

SCHEMA = (
    """CREATE TABLE ledger (
    sequence INTEGER PRIMARY KEY CHECK (sequence > 0),
    kind TEXT NOT NULL,
    key TEXT UNIQUE,
    bytes BLOB NOT NULL,
    digest TEXT NOT NULL,
    previous TEXT NOT NULL
) STRICT""",
    """CREATE TRIGGER ledger_extends BEFORE INSERT ON ledger
WHEN NEW.sequence IS NOT (SELECT coalesce(max(sequence), 0) + 1 FROM ledger)
    OR NEW.previous IS NOT coalesce(
        (SELECT digest FROM ledger ORDER BY sequence DESC LIMIT 1), hex(zeroblob(32)))
    OR EXISTS (SELECT 1 FROM ledger WHERE key = NEW.key)
BEGIN SELECT RAISE(ABORT, 'a record must extend the chain'); END""",
    """CREATE TRIGGER ledger_keeps BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'records are never changed'); END""",
    """CREATE TRIGGER ledger_holds BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'records are never deleted'); END""",
)
"""Compared word for word when a ledger is opened or verified."""

TABLE = Table(
    "ledger",
    MetaData(),
    Column("sequence", Integer, primary_key=True),
    Column("kind", String, nullable=False),
    Column("key", String),
    Column(
        "bytes", NullType, nullable=False
    ),  # as it lies there: a damaged file may hold another type
    Column("digest", String, nullable=False),
    Column("previous", String, nullable=False),
)

HEAD = select(TABLE.c.sequence, TABLE.c.digest).order_by(TABLE.c.sequence.desc()).limit(1)
KEYED = select(TABLE).where(TABLE.c.key.in_(bindparam("keys", expanding=True)))
INSERT = insert(TABLE)


@dataclass(frozen=True, slots=True)
class Head:
    """Where the chain ends; sequence 0 and `GENESIS` for an empty ledger."""

    sequence: int = 0
    digest: str = GENESIS


@dataclass(frozen=True, slots=True)
class Appended:
    """A record that is durable now."""

    sequence: int
    digest: str
    record: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Stored:
    """One row as it lies in the ledger; `data` are the hashed bytes."""

    sequence: int
    kind: str
    key: str | None
    data: bytes
    digest: str
    previous: str

    @property
    def record(self) -> dict[str, Json]:
        """The record in `data`."""
        return parse(self.data)


class DuplicateRequest(LedgerError):
    """The key of a record is taken; `stored` is the record that has it."""

    def __init__(self, problem: str, stored: Stored) -> None:
        self.stored = stored
        super().__init__(problem)


@dataclass(frozen=True, slots=True)
class Draft:
    """A record that lacks its link: all the bytes before and after the digest of `previous`."""

    record: Mapping[str, Json]
    kind: str
    key: str | None
    before: bytes
    after: bytes


def draft(record: Mapping[str, Json]) -> Draft:
    """A record with all its fields but `previous`; LedgerError if its fields or values are odd."""
    kind = kind_of({**record, "previous": GENESIS})
    return Draft(record, kind.value, key_of(record), *halves(record))


class Ledger:
    """An open ledger; safe for threads and for other processes that append to the same file.

    Appends that arrive together share one durable transaction.
    """

    def __init__(self, file: database.File) -> None:
        self._file = file
        self._group: Group[Draft, Appended] = Group(
            self._append_all, file.busy_seconds, file.busy_message
        )

    @classmethod
    def open(cls, path: Path, busy_seconds: float = database.BUSY_SECONDS) -> Ledger:
        """Open for appending, and make the file if there is none; LedgerError if it is unsound."""
        return cls(database.open_file(path, "rw", SCHEMA, APPLICATION_ID, busy_seconds))

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """Open an existing file for reading only; LedgerError if it is missing or unsound."""
        return cls(database.open_file(path, "ro", SCHEMA, APPLICATION_ID))

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def append(self, record: Mapping[str, Json]) -> Appended:
        """Chain `record` (all its fields but `previous`) to the head; durable on return.

        DuplicateRequest if its key is taken, LedgerError for everything else that goes wrong.
        """
        return self._group.put(draft(record))

    def _append_all(self, drafts: Sequence[Draft]) -> list[Appended | LedgerError]:
        """One transaction for all; a record whose key is taken is refused alone."""
        with self._file.writing() as connection:
            taken = _find_all(connection, [one.key for one in drafts if one.key is not None])
            head, rows, answers = _head(connection), list[Stored](), list[Appended | LedgerError]()
            for one in drafts:
                if one.key is not None and one.key in taken:
                    answers.append(_refused(one.key, taken[one.key]))
                    continue
                row = _linked(one, head)
                rows.append(row)
                answers.append(Appended(row.sequence, row.digest, _complete(one, head)))
                head = Head(row.sequence, row.digest)
                if one.key is not None:
                    taken[one.key] = row
            if rows:
                connection.execute(INSERT, [_values(row) for row in rows])
        return answers

    def head(self) -> Head:
        """The last record's sequence and digest."""
        with self._file.reading() as connection:
            return _head(connection)

    def get(self, decision_id: str) -> Stored | None:
        """The decision record of that id."""
        return self.find(decision_id)

    def find(self, key: str) -> Stored | None:
        """The record with that key: a decision id, or `erasure:` and a decision id."""
        with self._file.reading() as connection:
            return _find(connection, key)

    def iterate(self, start: int = 1) -> Iterator[Stored]:
        """The records from `start` in order, as they were when the iteration began."""
        query = select(TABLE).where(TABLE.c.sequence >= start).order_by(TABLE.c.sequence)
        with self._file.reading() as connection:
            for row in connection.execution_options(yield_per=1000).execute(query):
                yield _stored(row)

    def faults(self) -> list[str]:
        """What is wrong with the file's locks, pages and indexes, in words; empty if nothing is."""
        with self._file.reading() as connection:
            rows = [*connection.exec_driver_sql("PRAGMA integrity_check").scalars()]
        return database.faults(self._file, SCHEMA) + [row for row in rows if row != "ok"]

    def close(self) -> None:
        """Close every connection."""
        self._file.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _head(connection: Connection) -> Head:
    row = connection.execute(HEAD).first()
    return Head() if row is None else Head(*row)


def _find(connection: Connection, key: str) -> Stored | None:
    return _find_all(connection, [key]).get(key)


def _find_all(connection: Connection, keys: Sequence[str]) -> dict[str, Stored]:
    if not keys:
        return {}
    rows = [_stored(row) for row in connection.execute(KEYED, {"keys": keys})]
    return {row.key: row for row in rows if row.key is not None}


def _refused(key: str, taken: Stored) -> DuplicateRequest:
    return DuplicateRequest(f"key `{key}` is taken; nothing was recorded", taken)


def _linked(one: Draft, head: Head) -> Stored:
    data = one.before + head.digest.encode() + one.after
    return Stored(head.sequence + 1, one.kind, one.key, data, digest(data), head.digest)


def _complete(one: Draft, head: Head) -> dict[str, Json]:
    return {**one.record, "previous": head.digest}


def _values(row: Stored) -> dict[str, Any]:
    return {
        "sequence": row.sequence,
        "kind": row.kind,
        "key": row.key,
        "bytes": row.data,
        "digest": row.digest,
        "previous": row.previous,
    }


def _stored(row: Row[Any]) -> Stored:
    sequence, kind, key, data, value, previous = tuple[Any, ...](row)
    texts = (kind, value, previous, key or "")
    if not isinstance(data, bytes) or not all(isinstance(text, str) for text in texts):
        raise LedgerError(
            f"record {sequence} is damaged: a column has another type; restore a copy"
        )
    return Stored(sequence, kind, key, data, value, previous)
