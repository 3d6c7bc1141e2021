"""SQLite files that survive: made whole or not at all, every write flushed, every error named.

Settings: https://www.sqlite.org/wal.html, https://www.sqlite.org/pragma.html#pragma_synchronous
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import QueuePool

from gate.errors import LedgerError
from gate.ledger.pseudonym import flush_folder, publish

BUSY_SECONDS = 5.0
"""Longest wait for a lock that another process holds."""

OLDEST = (3, 37)
"""The first SQLite that keeps the types of a STRICT table."""

VERSION = 1
"""`user_version` of a file that was never changed; each change of its schema adds one."""

HEADER = 100
"""Bytes of an SQLite header; a shorter file is damaged."""

PRAGMAS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA recursive_triggers = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA cell_size_check = ON",
    "PRAGMA trusted_schema = OFF",
)
"""Run on every connection; the journal mode is a property of the file."""

Insertion = tuple[str, tuple[object, ...]]
"""A statement that inserts a row, and its values."""

Change = tuple[str, ...]
"""Statements that give a file of one version the schema of the next."""

REASONS = {
    "BUSY": "is locked by another process; stop it or try again",
    "LOCKED": "is locked by another connection; try again",
    "FULL": "cannot grow: the disk is full; free some space",
    "IOERR": "cannot be read or written; check the disk",
    "CORRUPT": "is damaged or cut short; restore a copy and run `routelock ledger verify`",
    "NOTADB": "is not an SQLite file; restore a copy and run `routelock ledger verify`",
    "READONLY": "cannot be written; check its owner and mode",
    "CANTOPEN": "cannot be opened; check that it and its folder are readable and writable",
    "CONSTRAINT": "refused the record",
}
"""What to say for an SQLite result code."""


class File:
    """One open SQLite file of ours; safe for threads and for other processes that use it too.

    `still` says that nobody can write to it, so that it is read without locks. The file itself must
    be opened by nothing else in this process: closing it once takes the locks of every connection
    away (https://www.sqlite.org/howtocorrupt.html, section 2.2), another process then takes itself
    for the last one, and deletes the log that we write to.
    """

    def __init__(self, path: Path, engine: Engine, busy_seconds: float, still: bool) -> None:
        self.path = path
        self.still = still
        self.busy_seconds = busy_seconds
        self.busy_message = f"`{path}` {REASONS['LOCKED']}"
        self._engine = engine
        self._turn = threading.Lock()
        self._inode = path.stat().st_ino

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One exclusive transaction, durable on leaving, undone if anything is raised inside."""
        if not self._turn.acquire(timeout=self.busy_seconds):
            raise LedgerError(self.busy_message)
        try:
            with named_errors(self.path), self._engine.connect() as connection:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                log = connection.info.setdefault("log", self._log())
                yield connection
                self._check_place()
                connection.commit()
                self._check_log(connection, log)
        except LedgerError as error:
            if _code(error.__cause__).startswith("SQLITE_READONLY"):
                self._engine.dispose()  # SQLite opens for reading what it cannot open for writing
            raise
        finally:
            self._turn.release()

    def _log(self) -> int:
        """The inode of the write-ahead log that lies beside the file; 0 if there is none."""
        log = self.path.with_name(self.path.name + "-wal")
        return log.stat().st_ino if log.exists() else 0

    def _check_log(self, connection: Connection, log: int) -> None:
        """LedgerError if the log that a connection writes to was taken away: locks were lost.

        Closing every connection brings what is in that log into the file, if it can be saved.
        """
        if self._log() != log:
            connection.invalidate()
            self._engine.dispose()
            raise LedgerError(
                f"`{self.path}` lost its log to another program; the record may be durable or not"
            )

    def _check_place(self) -> None:
        """LedgerError if what was opened no longer lies under its name: writing would be for nothing."""
        if self.path.stat().st_ino != self._inode:
            raise LedgerError(f"`{self.path}` was replaced while open; restore it and start again")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection without a transaction: each statement sees all that is durable by then."""
        with named_errors(self.path), self._engine.connect() as connection:
            yield connection

    def fold(self) -> bool:
        """Bring the write-ahead log into the file and empty it; False if somebody still reads it."""
        with self.reading() as connection:
            return not connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar()

    def close(self) -> None:
        """Close every connection; the last one to close folds the write-ahead log into the file."""
        self._engine.dispose()


def open_file(
    path: Path,
    mode: Literal["rw", "ro"],
    schema: Sequence[str],
    application_id: int,
    busy_seconds: float = BUSY_SECONDS,
    final: bool = False,
    changes: Sequence[Change] = (),
) -> File:
    """Open a file of ours; `rw` makes it on first use. LedgerError if it is missing or unsound.

    A file whose locks were taken off can be read but not written. `busy_seconds` bounds the wait
    for another thread, and again the wait for another process. `final` says that nobody will write
    to the file any more, so that it needs no log of its own. `changes` lead from the first schema
    to this one; `rw` makes those that a file lacks, all of them or none.
    """
    newest = VERSION + len(changes)
    if sqlite3.sqlite_version_info < OLDEST:
        raise LedgerError(f"SQLite `{sqlite3.sqlite_version}` is too old; use 3.37 or newer")
    if mode == "rw":
        _create(path, schema, application_id, newest)
    still = (final or not os.access(path.parent, os.W_OK)) and not log_size(path)
    file = File(path, _connect(path, mode, busy_seconds, still), busy_seconds, still)
    try:
        version = _check_name(file, application_id, newest)
        if mode == "rw":
            if version < newest:
                _change(file, changes)
            if found := faults(file, schema):
                raise LedgerError(f"`{path}` was changed: {found[0]}; restore a copy")
    except LedgerError:
        file.close()
        raise
    return file


def _create(path: Path, schema: Sequence[str], application_id: int, version: int) -> None:
    """Make a file with `schema`, durable under its name on return; leave one that exists."""
    if path.exists():
        return
    if path.with_name(path.name + "-wal").exists():
        raise LedgerError(f"`{path}` is gone but its write-ahead log is there; restore both")
    with _drafted(path, schema, application_id, (), version) as draft:
        publish(draft, path)


def replace(
    path: Path, schema: Sequence[str], application_id: int, rows: Sequence[Insertion]
) -> None:
    """Make a file with `schema` and its first `rows`, durable under its name, whatever was there."""
    with _drafted(path, schema, application_id, rows) as draft:
        draft.rename(path)
        flush_folder(path.parent)


@contextmanager
def _drafted(
    path: Path,
    schema: Sequence[str],
    application_id: int,
    rows: Sequence[Insertion],
    version: int = VERSION,
) -> Iterator[Path]:
    """A whole and durable file beside `path`, gone afterwards unless it was renamed."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with named_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            _write_schema(draft, schema, application_id, rows, version)
            yield draft
        finally:
            for suffix in ("", "-wal", "-shm"):
                draft.with_name(draft.name + suffix).unlink(missing_ok=True)


def _write_schema(
    draft: Path,
    schema: Sequence[str],
    application_id: int,
    rows: Sequence[Insertion],
    version: int,
) -> None:
    """The tables, which come first in a schema, then the rows, then what guards them."""
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA application_id = {application_id}")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute(schema[0])
        for statement, values in rows:
            connection.execute(statement, values)
        for statement in schema[1:]:
            connection.execute(statement)


def _connect(path: Path, mode: Literal["rw", "ro"], busy_seconds: float, still: bool) -> Engine:
    """An engine over an existing file; connections are in autocommit until they say BEGIN."""
    if not path.is_file():
        raise LedgerError(f"`{path}` does not exist; check the path or restore a copy")
    if path.stat().st_size < HEADER:
        raise LedgerError(f"`{path}` {REASONS['CORRUPT']}")
    uri = f"file:{quote(str(path))}?mode={mode}" + ("&immutable=1" if still else "")

    def open_connection() -> sqlite3.Connection:
        connection = sqlite3.connect(
            uri, uri=True, timeout=busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in PRAGMAS:
                connection.execute(pragma)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    return create_engine(
        "sqlite://",
        creator=open_connection,
        poolclass=QueuePool,
        pool_timeout=busy_seconds,
        hide_parameters=True,  # a statement's values are personal and belong in no traceback
    )


def _check_name(file: File, application_id: int, newest: int) -> int:
    """The version of the file; LedgerError unless the file is ours and of a version that we read."""
    with file.reading() as connection:
        if pragma(connection, "application_id") != application_id:
            raise LedgerError(f"`{file.path}` is another program's file; check the path")
        found = pragma(connection, "user_version")
    if not isinstance(found, int) or not VERSION <= found <= newest:
        raise LedgerError(f"`{file.path}` has file version `{found}`, not {newest}; upgrade")
    return found


def _change(file: File, changes: Sequence[Change]) -> None:
    """Make the changes that a file lacks, in one transaction; another process may be faster."""
    with file.writing() as connection:
        version = int(str(pragma(connection, "user_version")))
        for statement in (s for change in changes[version - VERSION :] for s in change):
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql(f"PRAGMA user_version = {VERSION + len(changes)}")


def faults(file: File, schema: Sequence[str]) -> list[str]:
    """What the file's journal mode, tables, indexes and triggers lack or have too much, in words."""
    with file.reading() as connection:
        rows = connection.exec_driver_sql("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
        texts = [*rows.scalars()]
        logs = file.still or pragma(connection, "journal_mode") == "wal"
    found = {sql for sql in texts if isinstance(sql, str)}
    return [
        *([] if len(found) == len(texts) else ["its table of contents is damaged"]),
        *([] if logs else ["it does not keep a write-ahead log"]),
        *(f"`{_title(sql)}` is missing or altered" for sql in schema if sql not in found),
        *(f"`{_title(sql)}` is not ours" for sql in sorted(found - set(schema))),
    ]


def pragma(connection: Connection, name: str) -> object:
    """The value of a pragma."""
    return connection.exec_driver_sql(f"PRAGMA {name}").scalar()


def _title(statement: str) -> str:
    return " ".join(statement.split()[1:3])


def log_size(path: Path) -> int:
    """Bytes in the write-ahead log of a file; a file without them is whole by itself."""
    log = path.with_name(path.name + "-wal")
    return log.stat().st_size if log.exists() else 0


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Turn every database and file error inside into one LedgerError that names the file."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError, UnicodeDecodeError) as error:
        raise LedgerError(f"`{path}` {_reason(error)}") from error


def _code(error: BaseException | None) -> str:
    """The name of the SQLite result code behind an error; empty if there is none."""
    return str(getattr(getattr(error, "orig", None) or error, "sqlite_errorname", ""))


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):  # SQLite's own message quotes the damaged bytes
        return REASONS["CORRUPT"]
    original = getattr(error, "orig", None) or error
    code = _code(error)
    for name, reason in REASONS.items():
        if code.startswith(f"SQLITE_{name}"):
            return f"{reason} ({original})" if name == "CONSTRAINT" else reason
    return f"cannot be used: {original}; check the disk and the file"
