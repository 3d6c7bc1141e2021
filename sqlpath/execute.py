"""Running a verified query: read-only, nothing outside the file, bounded in rows and time.

This is the thin form: statements come from the closed list alone, so they need no admission, and
DuckDB runs in this process. Model-written SQL needs both, and a confined child process.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlpath.errors import QueryError, SnapshotError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SETTINGS = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "memory_limit": "256MB",
    "threads": "1",
    "lock_configuration": "true",
}
"""Set when the file is opened; the last one forbids to change any of them afterwards."""

REBUILD = "build it again with `scripts/setup`"


@dataclass(frozen=True, slots=True)
class Limits:
    """Most rows of an answer, and seconds until a running query is interrupted."""

    rows: int = 50
    seconds: float = 2.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Which data this is: the SHA-256 of the database file, and the day it was true on."""

    digest: str
    as_of: date | None


@dataclass(frozen=True, slots=True)
class Rows:
    """What a query returned; values are those of DuckDB's Python types."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


def manifest_path(database: Path) -> Path:
    """Where a database's manifest lies: `bank.duckdb` -> `bank.duckdb.json`."""
    return database.with_name(database.name + ".json")


def write_manifest(database: Path, as_of: date, inputs: Mapping[str, str]) -> Snapshot:
    """Seal a freshly built database; `inputs` are digests of what it was made from."""
    snapshot = Snapshot(_digest(database), as_of)
    manifest = {
        "schema_version": 1,
        "sha256": snapshot.digest,
        "as_of": as_of.isoformat(),
        "inputs": dict(inputs),
    }
    text = json.dumps(manifest, indent=1, sort_keys=True)
    manifest_path(database).write_text(text + "\n", encoding="utf-8")
    return snapshot


def read_snapshot(database: Path) -> Snapshot:
    """The manifest's snapshot, after comparing the file with it; raises SnapshotError."""
    manifest = _manifest(database)
    try:
        snapshot = Snapshot(manifest["sha256"], date.fromisoformat(manifest["as_of"]))
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

    def __init__(
        self, path: Path, connection: DuckDBPyConnection, snapshot: Snapshot, limits: Limits
    ) -> None:
        self.path = path
        self.snapshot = snapshot
        self._connection = connection
        self._limits = limits

    @classmethod
    def open(cls, path: Path, limits: Limits | None = None) -> Database:
        """Open a sealed file read-only; SnapshotError if it is absent, changed or locked."""
        import duckdb

        snapshot = read_snapshot(path)
        try:
            connection = duckdb.connect(str(path), read_only=True, config=dict(SETTINGS))
        except duckdb.Error as error:
            raise SnapshotError(f"`{path}` cannot be opened: {error}; {REBUILD}") from error
        return cls(path, connection, snapshot, limits or Limits())

    def run(self, query_id: str, sql: str, parameters: Mapping[str, object]) -> Rows:
        """Run one statement with bound parameters; QueryError for too long, too many or failed."""
        import duckdb

        cursor = self._connection.cursor()
        alarm = threading.Timer(self._limits.seconds, cursor.interrupt)
        alarm.start()
        try:
            cursor.execute(sql, dict(parameters))
            rows = cursor.fetchmany(self._limits.rows + 1)
            columns = tuple(str(column[0]) for column in cursor.description or ())
        except duckdb.InterruptException as error:
            raise QueryError("deadline", query_id) from error
        except duckdb.Error as error:
            raise QueryError("query_failed", query_id) from error
        finally:
            alarm.cancel()
            cursor.close()
        if len(rows) > self._limits.rows:
            raise QueryError("row_limit", query_id)
        return Rows(columns, tuple(tuple(row) for row in rows))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
