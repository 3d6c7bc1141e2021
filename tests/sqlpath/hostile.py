"""What becomes of the hostile statements: `python -m tests.sqlpath.hostile` stores their ends.

The asker is C1 in a database that also holds other subjects' rows and an undescribed table, each with
a canary. An end, from best to worst: not admitted; contained, which is stopped by an error or a limit,
or answered with exactly the rows that a database without anything of others' gives. All else is
ACCEPTED, which can be stored nowhere. A statement may never end worse than is stored.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from gate.load.digests import Source
from gate.load.yamlfile import parse
from sqlpath.admit import Admit, NeedsPermission, Refuse, Unsupported, admit
from sqlpath.errors import QueryError
from sqlpath.execute import Database, Rows, write_manifest
from sqlpath.pool import GRACE, Limits
from sqlpath.schema import Schema, read
from sqlpath.scope import SUBJECT, Scoped, scope
from tests.sqlpath.blocks import FIXTURES, Block, blocks
from tests.sqlpath.conftest import SCHEMA

RATCHET = Path(__file__).resolve().parents[1] / "ratchets" / "sql.json"
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
CANARY = "SECRET"
ACCEPTED = "ACCEPTED"
LIMITS = Limits(rows=200, seconds=0.6, bytes=256 * 1024, address_space=1024**3, processes=1)

TABLES = """
CREATE TABLE accounts (account_id VARCHAR, customer_id VARCHAR, name VARCHAR,
    balance DECIMAL(12,2), as_of DATE, hidden VARCHAR);
CREATE TABLE days (day BIGINT);
CREATE TABLE secrets (value VARCHAR);
INSERT INTO days SELECT range FROM range(60);
INSERT INTO accounts VALUES ('A1', 'C1', 'Checking', 12.50, '2026-11-30', 'SECRET');
"""
OTHERS = """
INSERT INTO secrets VALUES ('SECRET');
INSERT INTO accounts SELECT 'B' || i, 'C' || (2 + i % 40), 'SECRET' || i, 666, '2026-11-30', 'SECRET'
    FROM range(2000) r(i);
"""


@dataclass(frozen=True, slots=True)
class World:
    """A database with others' rows, the same without, and a folder with a file that holds a canary."""

    full: Database
    alone: Database
    folder: Path

    def text(self, block: Block) -> str:
        """The statement with this world's paths in it."""
        inside, out = self.folder / "inside.csv", self.folder / "out"
        return block.text.replace("{inside}", str(inside)).replace("{out}", str(out))

    def files(self) -> dict[str, str]:
        """Every file of the folder by its digest."""
        return {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }


@contextmanager
def world() -> Iterator[World]:
    """Both databases, open."""
    with TemporaryDirectory(prefix="hostile-") as name:
        folder = Path(name)
        (folder / "out").mkdir()
        (folder / "inside.csv").write_text(f"{CANARY}\n1\n")
        paths = [folder / "hostile.duckdb", folder / "alone.duckdb"]
        for path, scripts in zip(paths, ((TABLES, OTHERS), (TABLES,)), strict=True):
            with duckdb.connect(str(path)) as connection:
                for script in scripts:
                    connection.execute(script)
            write_manifest(path, date(2026, 11, 30), {})
        patient = replace(LIMITS, seconds=20.0)
        with Database.open(paths[0], LIMITS) as full, Database.open(paths[1], patient) as alone:
            yield World(full, alone, folder)


def small_schema() -> Schema:
    """The description of the two tables that may be asked for."""
    return read(parse(Source("schema.yaml", "schema.yaml", SCHEMA.encode())))


def hostile() -> tuple[Block, ...]:
    """Every hostile statement."""
    return tuple(b for path in sorted((FIXTURES / "hostile").glob("*.sql")) for b in blocks(path))


def key(block: Block) -> str:
    """A statement's name in the ratchet: its file and a digest of its text."""
    digest = hashlib.sha256(block.text.encode()).hexdigest()[:12]
    return f"{block.place.partition('.')[0]}/{digest}"


@dataclass(frozen=True, slots=True)
class End:
    """What became of a statement, and the longest that one question about it took, in seconds."""

    what: str
    seconds: float


def end(text: str, here: World, described: Schema) -> End:
    """Admission, scope and execution of one statement for C1, by a process that is there already."""
    here.full.run("q", "SELECT 1", {})
    began = time.monotonic()
    try:
        parsed = here.full.parse(text)
    except QueryError as error:
        return End(f"contained {error.reason}", time.monotonic() - began)
    took = time.monotonic() - began
    match admit(text, parsed, described, verified_subject=True):
        case Refuse(reason=reason):
            return End(f"refuse {reason}", took)
        case Unsupported(what=what):
            return End(f"unsupported {what}", took)
        case NeedsPermission():
            return End("needs_permission", took)
        case Admit() as verdict:
            scoped = scope(verdict, described, LIMITS.rows + 1, NOW)
    began = time.monotonic()
    found = _rows(here.full, scoped)
    took = max(took, time.monotonic() - began)
    if isinstance(found, str):
        return End(f"contained {found}", took)
    own = _rows(here.alone, scoped)
    same = found == own and CANARY not in repr(found.rows)
    return End("contained own_rows" if same else ACCEPTED, took)


def _rows(database: Database, scoped: Scoped) -> Rows | str:
    try:
        return database.run_scoped("q", scoped, {SUBJECT: "C1"})
    except QueryError as error:
        return error.reason


def rank(what: str) -> int:
    """0 not admitted, 1 contained, 2 accepted."""
    if what == ACCEPTED:
        return 2
    return 1 if what.startswith("contained") else 0


def stored() -> Mapping[str, str]:
    """The ends that are stored, by statement."""
    return dict(json.loads(RATCHET.read_text(encoding="utf-8")))


def main() -> int:
    """Store the ends of all statements; nothing is stored while one is accepted or ends worse."""
    described = small_schema()
    with world() as here:
        ends = {key(block): end(here.text(block), here, described).what for block in hostile()}
    before = stored() if RATCHET.exists() else {}
    worse = [
        name
        for name, what in ends.items()
        if rank(what) == 2 or (name in before and rank(what) > rank(before[name]))
    ]
    if worse:
        print(*(f"{name}: {before.get(name)} -> {ends[name]}" for name in worse), sep=os.linesep)
        return 1
    RATCHET.parent.mkdir(exist_ok=True)
    RATCHET.write_text(json.dumps(ends, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(len(ends), "statements,", *(sum(rank(e) == r for e in ends.values()) for r in range(2)))
    return 0


SLACK = GRACE + 0.5
"""Seconds beyond the deadline that an answer may take on a busy machine."""

if __name__ == "__main__":
    raise SystemExit(main())
