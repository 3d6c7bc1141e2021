"""The ledger: an append-only chain of records in one SQLite file.

A record is durable when `append` returns. Every failure is a LedgerError, and whoever gets one
dispatches nothing (G-STORE).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sqlalchemy import select

from gate.errors import LedgerError
from gate.ledger import database, segment
from gate.ledger.encode import Json
from gate.ledger.group import Group
from gate.ledger.record import Kind, consumption
from gate.ledger.segment import (
    APPLICATION_ID,
    SCHEMA,
    TABLE,
    Appended,
    Draft,
    Drafts,
    DuplicateRequest,
    Head,
    Stored,
    TokenUsed,
    draft,
)

__all__ = [
    "APPLICATION_ID",
    "SCHEMA",
    "Appended",
    "Draft",
    "DuplicateRequest",
    "Head",
    "Ledger",
    "Stored",
    "TokenUsed",
    "draft",
]


class Ledger:
    """An open ledger; safe for threads and for other processes that append to the same file.

    Appends that arrive together share one durable transaction.
    """

    def __init__(self, file: database.File) -> None:
        self._file = file
        self._group: Group[Drafts, Appended] = Group(
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

    def append(
        self,
        record: Mapping[str, Json],
        *,
        consume: str | None = None,
        unless: Sequence[str] = (),
    ) -> Appended:
        """Chain `record` (all its fields but `previous`) to the head; durable on return.

        `consume` is the digest of the confirmation token that this decision uses up, in the same
        transaction; `unless` are keys that must not be taken. TokenUsed if the token is used up
        already, DuplicateRequest if a key is taken, LedgerError for everything else that goes
        wrong.
        """
        asked = (draft(record, unless),)
        return self._group.put(
            asked if consume is None else (*asked, draft(consumption(record, consume)))
        )

    def _append_all(self, items: Sequence[Drafts]) -> list[Appended | LedgerError]:
        with self._file.writing() as connection:
            return segment.chain(connection, items)

    def head(self) -> Head:
        """The last record's sequence and digest."""
        with self._file.reading() as connection:
            return segment.head(connection)

    def get(self, decision_id: str) -> Stored | None:
        """The decision record of that id."""
        stored = self.find(decision_id)
        return stored if stored is not None and stored.kind == Kind.DECISION else None

    def find(self, key: str) -> Stored | None:
        """The record with that key: a decision id, or what `record.key_of` made of others."""
        with self._file.reading() as connection:
            return segment.find_all(connection, [key]).get(key)

    def find_all(self, keys: Sequence[str]) -> dict[str, Stored]:
        """The records that have one of the keys, by key."""
        with self._file.reading() as connection:
            return segment.find_all(connection, keys)

    def with_prefix(self, prefix: str) -> Iterator[Stored]:
        """The records whose key begins with `prefix`, one of those in `record` that end in `:`."""
        with self._file.reading() as connection:
            yield from segment.with_prefix(connection, prefix)

    def keys(self, prefix: str) -> Iterator[str]:
        """The keys that begin with `prefix`."""
        with self._file.reading() as connection:
            yield from segment.keys(connection, prefix)

    def iterate(self, start: int = 1) -> Iterator[Stored]:
        """The records from `start` in order, as they were when the iteration began."""
        query = select(TABLE).where(TABLE.c.sequence >= start).order_by(TABLE.c.sequence)
        with self._file.reading() as connection:
            for row in connection.execution_options(yield_per=1000).execute(query):
                yield segment.stored(row)

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
