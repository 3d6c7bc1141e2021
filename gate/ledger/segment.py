"""One SQLite file of the chain: its tables, and what is read and chained in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from gate.errors import LedgerError
from gate.ledger.encode import Json, parse
from gate.ledger.formats import SWEPT, TOKEN, bars_of, current, key_of, kind_of, newest
from gate.ledger.pseudonym import digest
from gate.ledger.record import GENESIS, halves

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

COLUMNS = "sequence, kind, key, bytes, digest, previous"
INSERT = f"INSERT INTO ledger ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608
SELECT = f"SELECT {COLUMNS} FROM ledger"  # noqa: S608
LAST = f"{SELECT} ORDER BY sequence DESC LIMIT 1"
LAST_KIND = "SELECT kind FROM ledger ORDER BY sequence DESC LIMIT 1"
HEAD = "SELECT sequence, digest FROM ledger ORDER BY sequence DESC LIMIT 1"
BETWEEN = "WHERE key >= ? AND key < ?"
SIZE = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
LARGEST = 2**63 - 1
"""The last sequence there can be."""


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
        """The record in `data`, in the format in which it was written."""
        return parse(self.data)

    @property
    def current(self) -> Mapping[str, Json]:
        """The record as the newest format has it; LedgerError if its format is not known."""
        return current(self.record)


class DuplicateRequest(LedgerError):
    """The key of a record is taken; `stored` is the record that has it."""

    def __init__(self, problem: str, stored: Stored) -> None:
        self.stored = stored
        super().__init__(problem)


class TokenUsed(LedgerError):
    """A confirmation token was used up before; `stored` is the record that says by which decision.

    Its kind is CONSUMED if that decision confirmed with the token, VOIDED if it made it void.
    """

    def __init__(self, problem: str, stored: Stored) -> None:
        self.stored = stored
        super().__init__(problem)

    @property
    def token(self) -> str:
        """The digest of the token."""
        return str(self.stored.record["token"])

    @property
    def decision_id(self) -> str:
        """The decision that used it up."""
        return str(self.stored.record["decision_id"])


@dataclass(frozen=True, slots=True)
class Draft:
    """A record that lacks its link: all the bytes before and after the digest of `previous`.

    `bars` are the keys that must not be taken, apart from its own.
    """

    record: Mapping[str, Json]
    kind: str
    key: str | None
    before: bytes
    after: bytes
    bars: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key that must be free."""
        return self.bars if self.key is None else (self.key, *self.bars)

    def after_head(self, end: Head) -> Stored:
        """The row that this is after `end`."""
        data = self.before + end.digest.encode() + self.after
        return Stored(end.sequence + 1, self.kind, self.key, data, digest(data), end.digest)


Drafts = tuple[Draft, ...]
"""Records that are chained together or not at all; the first is the one that was asked for."""


@dataclass(slots=True)
class Growth:
    """A chain that grows within one transaction: its end, its new rows, and the keys it met."""

    head: Head
    taken: dict[str, Stored]
    rows: list[Stored] = field(default_factory=list)


def draft(record: Mapping[str, Json], unless: Sequence[str] = ()) -> Draft:
    """A record with all its fields but `previous`; LedgerError if its fields or values are odd."""
    kind = kind_of({**record, "previous": GENESIS})
    if record["format"] != newest():
        raise LedgerError(f"records of format `{record['format']}` are only read; write {newest()}")
    bars = (*bars_of(record), *unless)
    return Draft(record, kind.value, key_of(record), *halves(record), bars)


def keys_of(items: Iterable[Drafts]) -> list[str]:
    """Every key that must be free for some of the items."""
    return sorted({key for drafts in items for one in drafts for key in one.keys})


def chain(
    connection: Connection, items: Sequence[Drafts], elsewhere: Mapping[str, Stored]
) -> list[Appended | LedgerError]:
    """Chain what may be chained to the head; an item of which a key is taken is refused alone.

    `elsewhere` are the records of other segments that have one of the keys.
    """
    taken = {**elsewhere, **find_all(connection, keys_of(items))}
    growth = Growth(head(connection), taken)
    answers = [_refusal(drafts, growth.taken) or _grow(growth, drafts) for drafts in items]
    write(connection, growth.rows)
    return answers


def write(connection: Connection, rows: Sequence[Stored]) -> None:
    """Insert rows that continue the chain."""
    if rows:
        connection.exec_driver_sql(INSERT, [values(row) for row in rows])


def _refusal(drafts: Drafts, taken: Mapping[str, Stored]) -> LedgerError | None:
    for one in drafts:
        for key in one.keys:
            if key in taken:
                return _taken(one, key, taken[key])
    return None


def _taken(one: Draft, key: str, by: Stored) -> LedgerError:
    if key.startswith(TOKEN):
        return TokenUsed("the confirmation token was used; ask for a new confirmation", by)
    if key.startswith(SWEPT) and key != one.key:
        return LedgerError("the receipt was swept before its record came; send the request again")
    return DuplicateRequest(f"key `{key}` is taken; nothing was recorded", by)


def _grow(growth: Growth, drafts: Drafts) -> Appended:
    first = growth.head
    for one in drafts:
        row = one.after_head(growth.head)
        growth.rows.append(row)
        growth.head = Head(row.sequence, row.digest)
        if row.key is not None:
            growth.taken[row.key] = row
    asked = growth.rows[-len(drafts)]
    record = {**drafts[0].record, "previous": first.digest}
    return Appended(asked.sequence, asked.digest, record)


def values(row: Stored) -> tuple[Any, ...]:
    """The columns of a row."""
    return row.sequence, row.kind, row.key, row.data, row.digest, row.previous


def head(connection: Connection) -> Head:
    """Where this file's records end."""
    row = connection.exec_driver_sql(HEAD).first()
    return Head() if row is None else Head(*row)


def last_kind(connection: Connection) -> str | None:
    """What the last record of this file is about."""
    return connection.exec_driver_sql(LAST_KIND).scalar()


def last(connection: Connection) -> Stored | None:
    """The last record of this file."""
    row = connection.exec_driver_sql(LAST).first()
    return None if row is None else stored(row)


def size(connection: Connection) -> int:
    """Bytes of the file once its log is folded into it."""
    return int(connection.exec_driver_sql(SIZE).scalar() or 0)


def rows(connection: Connection, start: int, end: int = LARGEST) -> Iterator[Stored]:
    """The records from `start` to `end` in order, as they are when the first is read."""
    query = f"{SELECT} WHERE sequence BETWEEN ? AND ? ORDER BY sequence"
    many = connection.execution_options(yield_per=1000)
    return (stored(row) for row in many.exec_driver_sql(query, (start, end)))


def find_all(connection: Connection, keys: Sequence[str]) -> dict[str, Stored]:
    """The records that have one of the keys, by key."""
    if not keys:
        return {}
    query = f"{SELECT} WHERE key IN ({', '.join('?' * len(keys))})"
    rows = [stored(row) for row in connection.exec_driver_sql(query, tuple(keys))]
    return {row.key: row for row in rows if row.key is not None}


def with_prefix(connection: Connection, prefix: str) -> Iterator[Stored]:
    """The records whose key begins with `prefix`, which ends in `:`."""
    rows = connection.exec_driver_sql(f"{SELECT} {BETWEEN}", _bounds(prefix))
    return (stored(row) for row in rows)


def keys(connection: Connection, prefix: str) -> Iterator[str]:
    """The keys that begin with `prefix`, from the index alone."""
    query = f"SELECT key FROM ledger {BETWEEN}"  # noqa: S608
    return iter(connection.exec_driver_sql(query, _bounds(prefix)).scalars())


def _bounds(prefix: str) -> tuple[str, str]:
    return prefix, prefix[:-1] + ";"


def stored(row: Sequence[Any]) -> Stored:
    """A row as it lies there; LedgerError if a column has another type."""
    sequence, kind, key, data, value, previous = row
    if (
        isinstance(data, bytes)
        and isinstance(kind, str)
        and isinstance(value, str)
        and isinstance(previous, str)
        and (key is None or isinstance(key, str))
    ):
        return Stored(sequence, kind, key, data, value, previous)
    raise LedgerError(f"record {sequence} is damaged: a column has another type; restore a copy")
