"""Running a query: read-only, nothing outside the file, bounded in rows, bytes, memory and time.

A verified query of the closed list is run as it is written; any other statement comes as an admitted,
scoped tree. Both run in confined processes (`pool.py`, `worker.py`, `confine.py`).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from sqlpath.admit import Parsed
from sqlpath.errors import QueryError, SnapshotError
from sqlpath.pool import Limits, Pinned, Pool
from sqlpath.scope import SUBJECT, Scoped
from sqlpath.wire import decode, encode

REBUILD = "build it again with `scripts/setup`"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Which data this is: the SHA-256 of the database file, the day it was true on, and the number of
    days after which nothing is answered from it (None: no limit)."""

    digest: str
    as_of: date | None
    max_age_days: int | None = None

    def is_stale(self, on: date) -> bool:
        """Whether the data is too old on that day, or of no known day although its age is limited."""
        if self.max_age_days is None:
            return False
        return self.as_of is None or (on - self.as_of).days > self.max_age_days


@dataclass(frozen=True, slots=True)
class Rows:
    """What a query returned; values are those of DuckDB's Python types, lists for its tuples."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


def manifest_path(database: Path) -> Path:
    """Where a database's manifest lies: `bank.duckdb` -> `bank.duckdb.json`."""
    return database.with_name(database.name + ".json")


def write_manifest(
    database: Path, as_of: date, inputs: Mapping[str, str], max_age_days: int | None = None
) -> Snapshot:
    """Seal a freshly built database; `inputs` are digests of what it was made from."""
    snapshot = Snapshot(_digest(database), as_of, max_age_days)
    manifest = {
        "schema_version": 1,
        "sha256": snapshot.digest,
        "as_of": as_of.isoformat(),
        "max_age_days": max_age_days,
        "inputs": dict(inputs),
    }
    text = json.dumps(manifest, indent=1, sort_keys=True)
    manifest_path(database).write_text(text + "\n", encoding="utf-8")
    return snapshot


def read_snapshot(database: Path) -> Snapshot:
    """The manifest's snapshot, after comparing the file with it; raises SnapshotError."""
    manifest = _manifest(database)
    try:
        as_of, oldest = date.fromisoformat(manifest["as_of"]), manifest.get("max_age_days")
        if oldest is not None and type(oldest) is not int:
            raise ValueError("`max_age_days` is no whole number")
        snapshot = Snapshot(manifest["sha256"], as_of, oldest)
        actual = _digest(database)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SnapshotError(f"`{database}` cannot be checked: {error}; {REBUILD}") from error
    if actual != snapshot.digest:
        name = manifest_path(database).name
        raise SnapshotError(f"`{database}` is not what `{name}` says; {REBUILD}")
    return snapshot


def read_inputs(database: Path) -> dict[str, str]:
    """Digests of what the database was made from; raises SnapshotError without a manifest."""
    return dict(_manifest(database).get("inputs", {}))


def _manifest(database: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(manifest_path(database).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SnapshotError(f"`{database}` has no readable manifest: {error}; {REBUILD}") from error
    return dict(manifest) if isinstance(manifest, dict) else {}


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class Database:
    """An open database file; safe for threads, each query on a cursor of its own."""

    def __init__(self, path: Path, snapshot: Snapshot, limits: Limits, pool: Pool) -> None:
        self.path = path
        self.snapshot = snapshot
        self.limits = limits
        self._pool = pool

    @classmethod
    def open(cls, path: Path, limits: Limits | None = None) -> Database:
        """Open a sealed file read-only; SnapshotError if it is absent, changed or locked."""
        bounds = limits or Limits()
        before = _status(path)
        snapshot = read_snapshot(path)
        pool = Pool(Pinned.of(path, before), bounds)
        try:
            pool.start()
        except SnapshotError as error:
            raise SnapshotError(f"`{path}`: {error}; {REBUILD}") from error
        return cls(path, snapshot, bounds, pool)

    def run(self, query_id: str, sql: str, parameters: Mapping[str, object]) -> Rows:
        """Run a verified statement with bound values; QueryError for too long, too many or failed."""
        return self._ask(query_id, {"op": "run", "sql": sql}, parameters)

    def run_scoped(self, query_id: str, scoped: Scoped, values: Mapping[str, object]) -> Rows:
        """Run an admitted, scoped statement; `values` of its own parameters and, under `SUBJECT`, of
        the verified subject. QueryError as for `run`."""
        private = [[table.name, table.sql] for table in scoped.private]
        of_subject = any(table.of_subject for table in scoped.private)
        if of_subject and SUBJECT not in values:
            raise QueryError("no_session", query_id)
        bound = {k: v for k, v in values.items() if k != SUBJECT or of_subject}
        return self._ask(query_id, {"op": "tree", "tree": scoped.tree, "private": private}, bound)

    def parse(self, text: str) -> Parsed:
        """What the engine's splitter and parser make of a text; QueryError if its process is lost."""
        count, tree, error = self._pool.ask("parse", {"op": "parse", "text": text})
        return Parsed(int(count), str(tree), str(error))

    def _ask(
        self, query_id: str, message: Mapping[str, object], values: Mapping[str, object]
    ) -> Rows:
        bound = {name: encode(value) for name, value in values.items()}
        columns, rows = self._pool.ask(query_id, {**message, "values": bound})
        return Rows(
            tuple(str(column) for column in columns),
            tuple(tuple(decode(value) for value in row) for row in rows),
        )

    def close(self) -> None:
        """End the processes that read the file."""
        self._pool.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _status(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise SnapshotError(f"`{path}` cannot be read: {error.strerror}; {REBUILD}") from error
