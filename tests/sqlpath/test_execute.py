"""Execution: nothing is written, nothing outside is read, and nothing runs on."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from sqlpath.errors import QueryError, SnapshotError
from sqlpath.execute import (
    Database,
    manifest_path,
    read_inputs,
    read_snapshot,
    write_manifest,
)
from sqlpath.pool import Limits
from tests.sqlpath.conftest import ROWS


def test_rows_come_with_their_columns_and_types(database: Database) -> None:
    sql = "SELECT name, balance, as_of FROM accounts WHERE account_id = $object"
    found = database.run("q", sql, {"object": "A1"})
    assert found.columns == ("name", "balance", "as_of")
    assert found.rows == (("Checking", Decimal("1234.50"), date(2026, 11, 30)),)


def test_no_row_is_no_error(database: Database) -> None:
    found = database.run("q", "SELECT name FROM accounts WHERE account_id = $o", {"o": "none"})
    assert (found.columns, found.rows) == (("name",), ())


def test_value_is_never_part_of_the_statement(database: Database) -> None:
    sql = "SELECT name FROM accounts WHERE account_id = $o"
    for hostile in ("A1' OR '1'='1", "A1'; DROP TABLE accounts; --", "$o", '"', "\x00", "A1\\"):
        assert database.run("q", sql, {"o": hostile}).rows == ()
    assert len(database.run("q", "SELECT * FROM accounts", {}).rows) == 3


HOSTILE = [
    "INSERT INTO accounts VALUES ('X', 'X', 'X', 0, NULL)",
    "WITH x AS (INSERT INTO days VALUES (99) RETURNING *) SELECT * FROM x",
    "UPDATE accounts SET balance = 0",
    "DELETE FROM accounts",
    "DROP TABLE accounts",
    "CREATE TABLE other (a INTEGER)",
    "COPY accounts TO '{out}'",
    "EXPORT DATABASE '{out}'",
    "SELECT * FROM read_csv('{inside}')",
    "SELECT * FROM read_text('{inside}')",
    "SELECT * FROM '{inside}'",
    "SELECT * FROM glob('/*')",
    "ATTACH '{out}' AS other",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET memory_limit = '100GB'",
    "PRAGMA threads = 8",
    "SELECT * FROM python_variable",
]


@pytest.mark.parametrize("statement", HOSTILE)
def test_hostile_statement_fails_and_changes_nothing(
    database: Database, file: Path, tmp_path: Path, statement: str
) -> None:
    python_variable = [1, 2, 3]
    inside, out = tmp_path / "inside.csv", tmp_path / "out"
    inside.write_text("secret\n")
    before = hashlib.sha256(file.read_bytes()).hexdigest()
    with pytest.raises(QueryError) as caught:
        database.run("q", statement.format(inside=inside, out=out), {})
    assert caught.value.reason == "query_failed"
    assert "secret" not in str(caught.value)
    assert not out.exists()
    assert hashlib.sha256(file.read_bytes()).hexdigest() == before
    assert len(python_variable) == 3


def test_engines_words_never_leave(database: Database) -> None:
    with pytest.raises(QueryError) as caught:
        database.run("fund_price", "SELECT no_such_column FROM accounts", {})
    assert str(caught.value) == "query `fund_price`: query_failed"


def test_endless_query_is_interrupted(opened: Callable[[Limits], Database]) -> None:
    database = opened(Limits(seconds=0.2))
    started = time.monotonic()
    with pytest.raises(QueryError) as caught:
        database.run("q", "SELECT count(*) FROM range(1000000000000)", {})
    assert caught.value.reason == "deadline"
    assert time.monotonic() - started < 1.2
    assert database.run("q", "SELECT 1", {}).rows == ((1,),)


@pytest.mark.parametrize(("rows", "refused"), [(ROWS, False), (ROWS - 1, True), (1, True)])
def test_too_many_rows_are_refused_not_cut(
    opened: Callable[[Limits], Database], rows: int, refused: bool
) -> None:
    database = opened(Limits(rows=rows))
    if not refused:
        assert len(database.run("q", "SELECT day FROM days", {}).rows) == ROWS
        return
    with pytest.raises(QueryError) as caught:
        database.run("q", "SELECT day FROM days", {})
    assert caught.value.reason == "row_limit"


def test_askers_at_once_do_not_disturb_each_other(database: Database) -> None:
    sql = "SELECT sum(day) + $n FROM days"
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: database.run("q", sql, {"n": n}).rows[0][0], range(64)))
    assert found == [sum(range(ROWS)) + n for n in range(64)]


def test_two_appliances_may_read_one_file(database: Database, file: Path) -> None:
    with Database.open(file) as other:
        assert other.run("q", "SELECT 1", {}).rows == database.run("q", "SELECT 1", {}).rows


def test_snapshot_is_digest_and_day(file: Path, database: Database) -> None:
    assert database.snapshot.digest == hashlib.sha256(file.read_bytes()).hexdigest()
    assert database.snapshot.as_of == date(2026, 11, 30)
    assert read_inputs(file) == {"code": "1"}


def test_changed_file_is_refused(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(SnapshotError, match="scripts/setup"):
        Database.open(file)


@pytest.mark.parametrize("text", [None, "", "{", "[]", "{}", '{"sha256": "0", "as_of": "today"}'])
def test_file_without_a_readable_manifest_is_refused(file: Path, text: str | None) -> None:
    manifest_path(file).unlink()
    if text is not None:
        manifest_path(file).write_text(text)
    with pytest.raises(SnapshotError, match="scripts/setup"):
        read_snapshot(file)


def test_absent_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError):
        Database.open(tmp_path / "none.duckdb")


def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    path.write_bytes(b"no database" * 1000)
    write_manifest(path, date(2026, 1, 1), {})
    with pytest.raises(SnapshotError, match="cannot be opened"):
        Database.open(path)
