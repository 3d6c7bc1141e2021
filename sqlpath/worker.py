"""The confined process: opens one database, gives up everything else, then answers one message at a time.

Messages: `parse` (a text to the engine's count of statements and tree), `run` (a verified statement)
and `tree` (an admitted, scoped tree). A reply is `{"ok": ...}` or `{"reason", "kind"}`; the engine's
own words never leave this process.
"""

from __future__ import annotations

import gc
import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import duckdb

from sqlpath.confine import allow_seconds, confine, leave_network
from sqlpath.errors import QueryError
from sqlpath.pool import Pinned
from sqlpath.scope import SUBJECT, quoted
from sqlpath.wire import KINDS, decode, encode, frame, read_frame

SETTINGS: Final = {
    "temp_directory": "",
    "max_temp_directory_size": "0KiB",
    "memory_limit": "256MB",
    "threads": "1",
    "TimeZone": "UTC",
    "python_enable_replacements": "false",
    "python_scan_all_frames": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
}
"""Set in this order once the file is open; the last one forbids to change any of them again."""

TICK, PATIENCE = 0.02, 50
"""Seconds between two looks at the clock, and looks without a query until the alarm rests."""

_OPERATOR: Final = "is_operator"
"""Is lost where an operator is written as a call, and says nothing else."""


class _Alarm:
    """Interrupts the running query at its deadline; one thread for all queries.

    While queries come the thread looks every `TICK` seconds, and arming it wakes nobody: a thread
    that is woken for every query costs more than most queries.
    """

    def __init__(self) -> None:
        self._needed = threading.Event()
        self._armed: tuple[Any, float] | None = None
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        idle = 0
        while True:
            if idle > PATIENCE:
                self._needed.clear()
                if self._armed is None:
                    self._needed.wait()
                idle = 0
            time.sleep(TICK)
            idle = 0 if self._armed else idle + 1
            with self._lock:
                if self._armed is not None and time.monotonic() >= self._armed[1]:
                    self._armed[0].interrupt()
                    self._armed = None

    @contextmanager
    def set(self, cursor: Any, seconds: float) -> Iterator[None]:
        """Interrupt the cursor after so many seconds, unless the block is left before."""
        self._armed = (cursor, time.monotonic() + seconds)
        if not self._needed.is_set():
            self._needed.set()
        try:
            yield
        finally:
            with self._lock:
                self._armed = None


def connect(path: str) -> Any:
    """The sealed file, read-only, with the configuration locked last."""
    connection = duckdb.connect(path, read_only=True, config={"threads": "1"})
    own = connection.execute(
        "SELECT count(*) FROM duckdb_functions() WHERE NOT internal"
    ).fetchone() or (1,)
    views = connection.execute(
        "SELECT count(*) FROM duckdb_views() WHERE NOT internal"
    ).fetchone() or (1,)
    if own[0] or views[0]:
        raise duckdb.Error("functions or views of its own")
    connection.execute(
        "SELECT json_serialize_sql('SELECT 1'), DATE '2026-01-01', TIMESTAMPTZ '2026-01-01 00:00:00+00'"
    )
    connection.fetchall()
    for name, value in SETTINGS.items():
        connection.execute(f"SET {name} = '{value}'")
    return connection


def parse(cursor: Any, text: str) -> Any:
    """Count of statements and tree, or the class of the parser's error."""
    try:
        count = len(cursor.extract_statements(text))
        row = cursor.execute("SELECT json_serialize_sql(?::VARCHAR)", [text]).fetchone()
    except (duckdb.Error, UnicodeError) as error:
        return {"ok": [0, "", type(error).__name__]}
    return {"ok": [count, row[0] if row else "", ""]}


def text_of(cursor: Any, tree: Any) -> str:
    """The statement of a tree, if the engine reads it back as the same tree; else QueryError."""
    given = json.dumps(tree)
    row = cursor.execute("SELECT json_deserialize_sql(?::JSON)", [given]).fetchone()
    again = cursor.execute("SELECT json_serialize_sql(?::VARCHAR)", [row[0]]).fetchone()
    if _plain(json.loads(again[0])["statements"]) != _plain(tree["statements"]):
        raise QueryError("not_reproducible", "")
    return str(row[0])


def _plain(value: Any) -> Any:
    """A tree without places in a text."""
    if isinstance(value, dict):
        skipped = ("query_location", "query_location_length", "named_param_map", _OPERATOR)
        return {k: _plain(v) for k, v in value.items() if k not in skipped}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def fill(cursor: Any, private: list[list[str]], values: Mapping[str, Any]) -> None:
    """The cursor's own tables: the subject's rows alone, or a changed copy."""
    for name, sql in private:
        statement = f"CREATE TEMP TABLE {quoted(name)} AS {sql}"
        own = {SUBJECT: values[SUBJECT]} if f"${SUBJECT}" in sql else {}
        cursor.execute(statement, own)


def rows(cursor: Any, limits: Mapping[str, Any]) -> Any:
    """Columns and rows of what ran, if they are few and small enough."""
    found = cursor.fetchmany(limits["rows"] + 1)
    if len(found) > limits["rows"]:
        raise QueryError("row_limit", "")
    columns = [str(column[0]) for column in cursor.description or ()]
    encoded = []
    size = 0
    for row in found:
        encoded.append([encode(value) for value in row])
        size += len(json.dumps(encoded[-1], ensure_ascii=False))
        if size > limits["bytes"]:
            raise QueryError("byte_limit", "")
    return {"ok": [columns, encoded]}


def answer(connection: Any, alarm: _Alarm, message: Mapping[str, Any]) -> Any:
    """The reply to one message."""
    limits = message["limits"]
    allow_seconds(limits["seconds"] + 1)
    cursor = connection.cursor()
    try:
        if message["op"] == "parse":
            return parse(cursor, message["text"])
        values = {name: decode(value) for name, value in message["values"].items()}
        with alarm.set(cursor, limits["seconds"]):
            if message["op"] == "tree":
                sql = text_of(cursor, message["tree"])
                fill(cursor, message["private"], values)
            else:
                sql = message["sql"]
            cursor.execute(sql, values)
            return rows(cursor, limits)
    except QueryError as error:
        return {"reason": error.reason, "kind": ""}
    except duckdb.InterruptException:
        return {"reason": "deadline", "kind": ""}
    except (duckdb.Error, MemoryError, OverflowError, ValueError, UnicodeError) as error:
        name = type(error).__name__
        return {"reason": "query_failed", "kind": name if name in KINDS else "Error"}
    finally:
        cursor.close()


def serve(connection: Any, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer messages until the stream ends."""
    alarm = _Alarm()
    while (message := read_frame(source)) is not None:
        try:
            reply = frame(answer(connection, alarm, message))
        except (MemoryError, RecursionError, ValueError):
            reply = frame({"reason": "query_failed", "kind": "MemoryError"})
        sink.write(reply)
        sink.flush()


def main() -> int:
    """`python -m sqlpath.worker DATABASE IDENTITY ADDRESS_SPACE`: frames on standard streams."""
    path, identity, address_space = sys.argv[1], sys.argv[2], int(sys.argv[3])
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    leave_network()
    try:
        connection = connect(path)
        if Pinned.of(Path(path), Path(path).stat()).identity != identity:
            raise duckdb.Error("another file")
        confine(address_space)
    except (duckdb.Error, OSError):
        sink.write(frame({"reason": "cannot_open", "kind": ""}))
        sink.flush()
        return 1
    gc.freeze()
    sink.write(frame({"ok": []}))
    sink.flush()
    serve(connection, source, sink)
    return 0


if __name__ == "__main__":
    sys.exit(main())
