"""The ledger: an append-only chain of records in one SQLite file.

A record is durable when `append` returns. Every failure is a LedgerError, and whoever gets one
dispatches nothing (G-STORE).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    insert,
    select,
)
from sqlalchemy.types import NullType

from gate.errors import LedgerError
from gate.ledger import database
from gate.ledger.encode import Json, canonical, parse
from gate.ledger.pseudonym import digest
from gate.ledger.record import GENESIS, key_of, kind_of

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


class Ledger:
    """An open ledger; safe for threads and for other processes that append to the same file."""

    def __init__(self, file: database.File) -> None:
        self._file = file

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
        with self._file.writing() as connection:
            head = _head(connection)
            complete = {**record, "previous": head.digest}
            kind, key, data = kind_of(complete), key_of(complete), canonical(complete)
            if key is not None and (taken := _find(connection, key)):
                raise DuplicateRequest(f"key `{key}` is taken; nothing was recorded", taken)
            appended = Appended(head.sequence + 1, digest(data), complete)
            connection.execute(
                insert(TABLE).values(
                    sequence=appended.sequence,
                    kind=kind.value,
                    key=key,
                    bytes=data,
                    digest=appended.digest,
                    previous=head.digest,
                )
            )
        return appended

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
    row: Row[Any] | None = connection.execute(select(TABLE).where(TABLE.c.key == key)).first()
    return None if row is None else _stored(row)


def _stored(row: Row[Any]) -> Stored:
    sequence, kind, key, data, value, previous = tuple[Any, ...](row)
    texts = (kind, value, previous, key or "")
    if not isinstance(data, bytes) or not all(isinstance(text, str) for text in texts):
        raise LedgerError(
            f"record {sequence} is damaged: a column has another type; restore a copy"
        )
    return Stored(sequence, kind, key, data, value, previous)
