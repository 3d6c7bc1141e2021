"""What must hold of writes after a crash: settled by a new process, bank and ledger agree (P-10)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from gate.ledger.formats import Kind
from gate.ledger.outcome import unfinished
from gate.ledger.store import Stored
from inference import execution
from inference.appliance import Appliance, open_appliance
from tests.faults.disk import CRASHES, lay
from tests.faults.recovery import Crashed, Point, chain_of, check_receipts, check_tokens, check_told
from tests.faults.shim import Run, build, run, scratch
from tests.inference.branch import DEMO, Branch, opened_day
from tests.inference.connectors.offices import BackOffice
from tests.models import ROOT

LATER = 2_000
"""Seconds after which no order of the script is valid any more."""


@dataclass(frozen=True)
class Lived:
    """A life of writes that was not cut off: its files, its records, what happened in the bank."""

    run: Run
    whole: Sequence[Stored]
    orders: Mapping[str, Sequence[Any]]
    effects: Mapping[str, Sequence[Any]]
    office: BackOffice
    base: Appliance


@contextmanager
def lived(flush: str = "FULL") -> Iterator[Lived]:
    """Live once before a running bank, which then goes on running."""
    with scratch() as folder:
        office = BackOffice(folder / "bank", more=("--window", "1e9"))
        try:
            opened_day(office)
            place = json.dumps({"url": office.url, "folder": str(office.folder)})
            done = run(build(folder), folder / "run", "tests.faults.writing", place, flush)
            whole = chain_of(done.folder)
            rows = {table: _rows(office, table) for table in ("orders", "effects")}
            base_folder = folder / "base"
            with open_appliance(DEMO, ROOT, ledger_dir=base_folder) as base:
                yield Lived(done, whole, rows["orders"], rows["effects"], office, base)
        finally:
            office.running.stop()


def _rows(office: BackOffice, table: str) -> dict[str, Sequence[Any]]:
    """The rows of a table by key."""
    with closing(sqlite3.connect(office.database)) as connection:
        found = connection.execute(f"SELECT key, * FROM {table}").fetchall()  # noqa: S608
    return {row[0]: row[1:] for row in found}


def _as_of(life: Lived, keys: Collection[str]) -> None:
    """The bank as it was when exactly these orders had reached it."""
    office = opened_day(life.office)
    with closing(sqlite3.connect(office.database, isolation_level=None)) as connection:
        for table, rows in (("orders", life.orders), ("effects", life.effects)):
            for row in (rows[key] for key in keys if key in rows):
                marks = ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)  # noqa: S608


def departures(run: Run) -> list[Point]:
    """The places at which an order is on its way, with every way in which the disk may be left."""
    told = enumerate(run.changes, start=1)
    places = [at for at, c in told if c.path.endswith("/acks") and b"sending" in c.data]
    return [Point(at, crash, 0) for at in places for crash in CRASHES]


class Recovered(NamedTuple):
    """How many states of the bank were tried, and how many effects the settling added."""

    banks: int
    effects: int


def recover(left: Crashed, life: Lived) -> Recovered:
    """Start on what a crash left, and settle.

    An order that was on its way may or may not have reached the bank: both are tried.
    """
    sending = [one["sending"] for one in left.told if "sending" in one]
    sent = [one["sent"] for one in left.told if "sent" in one]
    under_way = [key for key in sending if sending.count(key) > sent.count(key)]
    tried = [frozenset(sending), frozenset(k for k in sending if k not in under_way or k in sent)]
    delivered = 0
    for reached in dict.fromkeys(tried):
        _as_of(life, reached)
        delivered += _settle(left, life, sending)
    return Recovered(len(set(tried)), delivered)


def _settle(left: Crashed, life: Lived, sending: Sequence[str]) -> int:
    with scratch() as folder:
        lay(left.image, str(life.run.folder), folder)
        branch = Branch(life.office, folder, life.base)
        try:
            book = branch.appliance.book
            rows = list(book.ledger.iterate())
            assert rows == life.whole[: len(rows)], "not a prefix of what was recorded"
            told = [one for one in left.told if "sequence" in one]
            check_told(book, rows, told)
            check_receipts(book, rows)
            check_tokens(rows, life.whole)
            check_sent(rows, sending)
            before = len(branch.effects)
            for later in (0, 40, LATER, LATER):
                branch.clock.move(later)
                execution.settle(branch.appliance)
            assert list(unfinished(book.ledger)) == [], "a write without an end"
            branch.check()
            return len(branch.effects) - before
        finally:
            branch.close()


def check_sent(rows: Sequence[Stored], keys: Sequence[str]) -> None:
    """Nothing leaves before the decision that dispatches it is durable."""
    records = [row.record for row in rows if row.kind == Kind.DECISION]
    dispatched = {r["confirm"]["of"] for r in records if r["terminal"] == "DISPATCH"}
    assert set(keys) <= dispatched, "an order left before its decision was durable"
