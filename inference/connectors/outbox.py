"""The transactional outbox: an order is on our disk before anything is sent, and stays until settled.

QUEUED ──claim──► SENDING ──► DONE | FAILED
   ▲                 │
   │                 ▼
   └──never began── IN_DOUBT ──asked by key──► DONE | FAILED

One row per key. A sender claims a row in a durable transaction, then sends, then writes what came
of it; whoever finds a claim that has run out asks the service by key. Every attempt is valid for
its own lease only, and the service takes no order on after that, so once the lease and the time to
settle are over UNKNOWN means that the attempt never happened. Only then, or where nothing was taken
on in the first place, is an order sent again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection

from gate.errors import LedgerError
from gate.ledger.database import File, open_file
from inference.connectors import orders
from inference.connectors.protocol import (
    UNKNOWN,
    Clock,
    Connector,
    Order,
    Outcome,
    Prepared,
    Reason,
    Refused,
    Status,
    failed,
    in_doubt,
)

APPLICATION_ID: Final = 0x524C_4F42
"""`application_id` of an outbox file: RLOB."""

SCHEMA: Final = (
    """CREATE TABLE orders (
    key TEXT NOT NULL PRIMARY KEY,
    content TEXT,
    body BLOB,
    valid_until INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('QUEUED', 'SENDING', 'IN_DOUBT', 'DONE', 'FAILED')),
    attempts INTEGER NOT NULL,
    lease INTEGER NOT NULL,
    due INTEGER NOT NULL,
    reference TEXT NOT NULL,
    reason TEXT NOT NULL
) STRICT""",
    "CREATE INDEX orders_due ON orders (due) WHERE state NOT IN ('DONE', 'FAILED')",
)
"""Times are microseconds since 1970; `lease` ends the current attempt, `due` is the next look."""

QUEUED, SENDING, IN_DOUBT = "QUEUED", "SENDING", "IN_DOUBT"
OPEN: Final = (QUEUED, SENDING, IN_DOUBT)

BUSY_SECONDS: Final = 1.0
LONGEST_PAUSE_S: Final = 30.0
BATCH: Final = 100
"""Most orders that one run of the relay looks at."""


@dataclass(frozen=True, slots=True)
class Outbox:
    """Keeps orders in `file` and delivers them through `inner`.

    `lease_s` bounds one attempt, `pause_s` is doubled with every attempt; both in seconds.
    """

    name: str
    file: File
    inner: Connector
    clock: Clock
    lease_s: float = 10.0
    pause_s: float = 0.5
    settle_s: float = 1.0
    may_repeat: bool = True

    def prepare(self, order: Order) -> Prepared | Refused:
        """What the inner connector would send."""
        prepared = self.inner.prepare(order)
        return (
            replace(prepared, connector=self.name) if isinstance(prepared, Prepared) else prepared
        )

    def execute(self, order: Order, key: str, deadline_s: float) -> Outcome:
        """Keep the order, try to deliver it at once; QUEUED or SENDING if that has to wait."""
        prepared = self.prepare(order)
        if isinstance(prepared, Refused):
            return failed(prepared.reason)
        if not orders.KEY.fullmatch(key):
            return failed(Reason.MALFORMED_ORDER)
        try:
            refusal = _keep(self, order, key)
            if refusal is not None:
                return refusal
            _step(self, key, deadline_s)
        except LedgerError:
            return in_doubt(Reason.STORE)
        return self.status(key)

    def status(self, key: str) -> Outcome:
        """What the outbox knows of the key; the service is not asked."""
        try:
            row = _row(self, key)
        except LedgerError:
            return in_doubt(Reason.STORE)
        return UNKNOWN if row is None else row.outcome

    def close(self) -> None:
        """Close the file."""
        self.file.close()


@dataclass(frozen=True, slots=True)
class Relayed:
    """What one run of the relay left behind: orders looked at, settled by it, and still open."""

    seen: int
    settled: int
    open: int


def open_outbox(name: str, path: Path, inner: Connector, clock: Clock) -> Outbox:
    """Open the outbox in `path`, made on first use; LedgerError if the file is unsound."""
    file = open_file(path, "rw", SCHEMA, APPLICATION_ID, BUSY_SECONDS)
    return Outbox(name, file, inner, clock)


def relay(outbox: Outbox, deadline_s: float) -> Relayed:
    """Take every order that is due one step further; LedgerError where the file cannot be used.

    Several relays may run at once, in one process or in several.
    """
    keys = _due(outbox)
    for key in keys:
        _step(outbox, key, deadline_s)
    return Relayed(len(keys), sum(outbox.status(key).settled for key in keys), _count_open(outbox))


def forget(outbox: Outbox, key: str) -> bool:
    """Erase what a settled order asked for; True if there is such an order. Its outcome stays."""
    with outbox.file.writing() as connection:
        sql = (
            "UPDATE orders SET body = NULL, content = NULL "
            "WHERE key = ? AND state IN ('DONE', 'FAILED')"
        )
        return connection.exec_driver_sql(sql, (key,)).rowcount == 1


class _Row(NamedTuple):
    key: str
    content: str | None
    body: bytes | None
    valid_until: int
    state: str
    attempts: int
    lease: int
    due: int
    reference: str
    reason: str

    @property
    def outcome(self) -> Outcome:
        """The row for whoever asks; what waits is in doubt for the reason that it waits."""
        if self.state in (QUEUED, SENDING):
            return in_doubt(self.state)
        return Outcome(Status(self.state), self.reference, self.reason)


_COLUMNS: Final = ", ".join(_Row._fields)


def _keep(outbox: Outbox, order: Order, key: str) -> Outcome | None:
    """Make the order durable, or find it there; a failure if neither may be."""
    now, content = outbox.clock(), orders.content_digest(order)
    with outbox.file.writing() as connection:
        row = _find(connection, key)
        if row is not None:
            return failed(Reason.KEY_REUSED) if row.content not in (None, content) else None
        if now >= order.valid_until:
            return failed(Reason.EXPIRED)
        end = _micros(order.valid_until)
        new = _Row(key, content, orders.body(order), end, QUEUED, 0, 0, _micros(now), "", "")
        marks = ", ".join("?" * len(new))
        connection.exec_driver_sql(f"INSERT INTO orders ({_COLUMNS}) VALUES ({marks})", tuple(new))  # noqa: S608
    return None


def _step(outbox: Outbox, key: str, deadline_s: float) -> None:
    """Take one order a step further, if it is anybody's turn."""
    row, now = _row(outbox, key), _micros(outbox.clock())
    if row is None or row.due > now:
        return
    if row.state == QUEUED:
        _deliver(outbox, row, now, deadline_s)
    elif row.state in (SENDING, IN_DOUBT):
        _ask(outbox, row)


def _deliver(outbox: Outbox, row: _Row, now: int, deadline_s: float) -> None:
    """Claim the row, send it, write what came of it."""
    if now >= row.valid_until or row.body is None:
        _write(outbox, row, "FAILED", reason=Reason.EXPIRED)
        return
    lease = min(row.valid_until, now + _span(max(outbox.lease_s, deadline_s)))
    claimed = row._replace(state=SENDING, attempts=row.attempts + 1, lease=lease)
    if not _write(outbox, row, SENDING, attempts=claimed.attempts, lease=lease, due=lease):
        return
    order = orders.until(orders.parse(row.body), _time(lease))
    outcome = outbox.inner.execute(order, row.key, deadline_s)
    expired = outcome.status is Status.FAILED and outcome.reason == Reason.EXPIRED
    _settle(outbox, claimed, outcome, never_began=outcome.may_retry or expired)


def _ask(outbox: Outbox, row: _Row) -> None:
    """Ask the service by key; UNKNOWN is final once the attempt can no longer arrive."""
    outcome = outbox.inner.status(row.key)
    gone = _micros(outbox.clock()) >= row.lease + _span(outbox.inner.settle_s)
    _settle(outbox, row, outcome, never_began=outcome.status is Status.UNKNOWN and gone)


def _settle(outbox: Outbox, row: _Row, outcome: Outcome, *, never_began: bool) -> None:
    """Write what an attempt came to: settled, to be sent again, or in doubt and asked again later."""
    now = _micros(outbox.clock())
    pause = now + _span(min(outbox.pause_s * 2 ** min(row.attempts, 10), LONGEST_PAUSE_S))
    if never_began and now < row.valid_until:
        _write(outbox, row, QUEUED, due=pause, reason=outcome.reason)
    elif never_began:
        _write(outbox, row, "FAILED", reason=outcome.reason or Reason.NOT_DONE)
    elif outcome.status in (Status.DONE, Status.FAILED):
        state, reference = outcome.status.value, outcome.reference
        _write(outbox, row, state, reference=reference, reason=outcome.reason)
    else:
        reason = outcome.reason or Reason.NOT_YET_KNOWN
        _write(outbox, row, IN_DOUBT, due=pause, reason=reason)


def _write(outbox: Outbox, row: _Row, state: str, **changes: Any) -> bool:
    """Change the row durably, unless somebody else has changed it since; True if it was changed."""
    values = {"state": state, **{name: _bare(value) for name, value in changes.items()}}
    sets = ", ".join(f"{name} = ?" for name in values)
    sql = f"UPDATE orders SET {sets} WHERE key = ? AND state = ? AND attempts = ?"  # noqa: S608
    with outbox.file.writing() as connection:
        found = connection.exec_driver_sql(
            sql, (*values.values(), row.key, row.state, row.attempts)
        )
        return found.rowcount == 1


def _bare(value: Any) -> Any:
    return str(value) if isinstance(value, str) else value


def _row(outbox: Outbox, key: str) -> _Row | None:
    with outbox.file.reading() as connection:
        return _find(connection, key)


def _find(connection: Connection, key: str) -> _Row | None:
    sql = f"SELECT {_COLUMNS} FROM orders WHERE key = ?"  # noqa: S608
    found = connection.exec_driver_sql(sql, (key,)).fetchone()
    return None if found is None else _Row(*found)


def _due(outbox: Outbox) -> list[str]:
    sql = (
        "SELECT key FROM orders WHERE state NOT IN ('DONE', 'FAILED') AND due <= ? "
        "ORDER BY due LIMIT ?"
    )
    with outbox.file.reading() as connection:
        rows = connection.exec_driver_sql(sql, (_micros(outbox.clock()), BATCH))
        return [str(key) for (key,) in rows]


def _count_open(outbox: Outbox) -> int:
    sql = "SELECT count(*) FROM orders WHERE state NOT IN ('DONE', 'FAILED')"
    with outbox.file.reading() as connection:
        return int(connection.exec_driver_sql(sql).scalar_one())


def _micros(time: datetime) -> int:
    return (time - _EPOCH) // timedelta(microseconds=1)


def _time(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def _span(seconds: float) -> int:
    return round(seconds * 1_000_000)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
