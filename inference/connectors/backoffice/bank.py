"""The stand-in's database: members and what they own, orders by key, and a journal of effects.

An order and its effect are one transaction, and a key has one order, so one key has one effect.
The journal of effects has no such rule on purpose: a second effect would show in it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from inference.connectors.backoffice import writes

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS members (
    subject TEXT NOT NULL PRIMARY KEY, entitlements TEXT NOT NULL, email TEXT NOT NULL,
    address TEXT NOT NULL, contact_changed_at TEXT NOT NULL, address_changes INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS objects (
    object_id TEXT NOT NULL PRIMARY KEY, subject TEXT NOT NULL REFERENCES members,
    object_type TEXT NOT NULL, display_name TEXT NOT NULL, aliases TEXT NOT NULL,
    status TEXT NOT NULL, cents INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS order_book (
    number INTEGER PRIMARY KEY, subject TEXT NOT NULL REFERENCES members, fund_id TEXT NOT NULL,
    amount TEXT NOT NULL, currency TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS orders (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, content TEXT NOT NULL,
    status TEXT NOT NULL, told TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS effects (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, action_id TEXT NOT NULL, object_id TEXT,
    at TEXT NOT NULL
) STRICT;
"""

FIRST_BALANCE: Final = 184_025
"""Cents on a member's first account; the others are empty."""

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered: an HTTP status code and a JSON value.

    An answer to whoever did not prove who they are is not signed: it could be shown to somebody
    else as the answer to a request that did take effect.
    """

    code: int
    value: Mapping[str, Any]
    signed: bool = True


def failure(code: int, reason: str) -> Reply:
    """An order that had no effect."""
    return Reply(code, {"status": "FAILED", "reason": reason})


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None, timeout=10.0)) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        yield connection


@contextmanager
def _writing(path: Path) -> Iterator[sqlite3.Connection]:
    with _open(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")


def create(path: Path, sessions: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Make the database with the members of `sessions`, who may be there already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _open(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(SCHEMA)
    with _writing(path) as connection:
        for session in sessions:
            _add_member(connection, session, now)


def _add_member(connection: sqlite3.Connection, session: Mapping[str, Any], now: datetime) -> None:
    subject = session["subject"]
    email = f"{subject.lower()}@example.org"
    entitlements = json.dumps(session["entitlements"])
    joined = now.replace(year=now.year - 3, day=1).isoformat()
    member = (subject, entitlements, email, "12 Gull Street, Port Ellery", joined, 0)
    connection.execute("INSERT OR IGNORE INTO members VALUES (?, ?, ?, ?, ?, ?)", member)
    for thing in session["objects"]:
        account = thing["object_type"] == "ACCOUNT"
        first = account and thing["object_id"].endswith("-1")
        row = (
            thing["object_id"],
            subject,
            thing["object_type"],
            thing["display_name"],
            json.dumps(thing["aliases"]),
            "open" if account else "active",
            FIRST_BALANCE if first else 0,
        )
        connection.execute("INSERT OR IGNORE INTO objects VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def content_of(order: Mapping[str, Any]) -> str:
    """A digest of what an order asks for; when and by which decision it comes may differ."""
    asked = {name: order[name] for name in ("action_id", "object_id", "slots", "subject")}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def place(
    path: Path, key: str, order: Mapping[str, Any], clock: Clock, inside: Callable[[], None]
) -> Reply:
    """Carry out an order, once for its key. `inside` runs before the transaction is committed.

    The order's end of validity is checked inside the transaction that has the effect.
    """
    content = content_of(order)
    with _writing(path) as connection:
        known = connection.execute("SELECT * FROM orders WHERE key = ?", (key,)).fetchone()
        if known is not None:
            same = known["content"] == content
            return _told(known, 422) if same else failure(409, "KEY_REUSED")
        now = clock()
        if now >= datetime.fromisoformat(order["valid_until"]):
            return failure(410, "EXPIRED")
        effect = writes.EFFECTS.get(order["action_id"])
        if effect is None:
            return failure(422, "UNKNOWN_ACTION")
        refusal = effect(connection, order, now)
        _note(connection, key, content, order, refusal, now)
        inside()
    return look_up(path, key, 422)


def _note(
    connection: sqlite3.Connection,
    key: str,
    content: str,
    order: Mapping[str, Any],
    refusal: str | None,
    now: datetime,
) -> None:
    """Keep the order under its key, and journal the effect if there was one."""
    at = now.astimezone(UTC).isoformat()
    if refusal is None:
        effect = (key, order["action_id"], order["object_id"], at)
        sql = "INSERT INTO effects (key, action_id, object_id, at) VALUES (?, ?, ?, ?)"
        number = connection.execute(sql, effect).lastrowid
        row = (key, content, "DONE", f"HL-{number:06d}", at)
    else:
        row = (key, content, "FAILED", refusal, at)
    sql = "INSERT INTO orders (key, content, status, told, at) VALUES (?, ?, ?, ?, ?)"
    connection.execute(sql, row)


def look_up(path: Path, key: str, failed_code: int = 200) -> Reply:
    """What became of the order of that key; a failure is told with `failed_code`."""
    with _open(path) as connection:
        row = connection.execute("SELECT * FROM orders WHERE key = ?", (key,)).fetchone()
    return Reply(404, {"status": "UNKNOWN"}) if row is None else _told(row, failed_code)


def _told(row: sqlite3.Row, failed_code: int) -> Reply:
    if row["status"] == "DONE":
        return Reply(200, {"status": "DONE", "reference": row["told"]})
    return failure(failed_code, row["told"])


def tables(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Every row that an effect may change, and the journal of effects."""
    names = ("effects", "members", "objects", "order_book")
    with _open(path) as connection:
        return {name: _rows(connection, f"SELECT * FROM {name}") for name in names}  # noqa: S608


def select(path: Path, sql: str, *values: str) -> list[dict[str, Any]]:
    """The rows of one query."""
    with _open(path) as connection:
        return _rows(connection, sql, values)


def _rows(
    connection: sqlite3.Connection, sql: str, values: Sequence[str] = ()
) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(sql, values)]
