"""What DuckDB 2.0.1 does, each fact beside what is made of it here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
import sqlglot

from sqlpath.admit import Refuse, Unsupported, Verdict
from sqlpath.errors import QueryError, SnapshotError
from sqlpath.execute import Database
from sqlpath.pool import Limits
from sqlpath.worker import SETTINGS

Judge = Callable[..., Verdict]
INSERT = "WITH x AS (INSERT INTO days VALUES (99) RETURNING *) SELECT * FROM x"


def test_engine_is_the_one_the_facts_are_of() -> None:
    assert duckdb.__version__ == "2.0.1"


def test_write_in_a_cte_is_called_a_select_and_refused(judge: Judge) -> None:
    (statement,) = duckdb.extract_statements(INSERT)
    assert statement.type == duckdb.StatementType.SELECT
    assert judge(INSERT) == Refuse("not_a_select", "INSERT_QUERY_NODE")


def test_explain_before_a_copy_runs_the_copy_and_is_refused(judge: Judge, tmp_path: Path) -> None:
    text = f"EXPLAIN SELECT 1; COPY (SELECT 1) TO '{tmp_path}/out.csv'"
    duckdb.connect().execute(text)
    assert (tmp_path / "out.csv").exists()
    assert judge(text) == Refuse("not_one_statement", "")


def test_pivot_is_several_statements_and_unsupported(judge: Judge) -> None:
    text = "PIVOT days ON day USING count(*)"
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE days (day INTEGER)")
        (statement,) = connection.extract_statements(text)
    assert statement.type == duckdb.StatementType.MULTI
    assert isinstance(judge(text), Unsupported)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT * FROM 'x.csv'", "table_not_described"),
        ("SELECT * FROM query('SELECT 1')", "table_function"),
    ],
)
def test_what_sqlglot_calls_a_plain_select_is_refused(judge: Judge, text: str, reason: str) -> None:
    assert isinstance(sqlglot.parse_one(text, read="duckdb"), sqlglot.exp.Select)
    verdict = judge(text)
    assert isinstance(verdict, Refuse)
    assert verdict.reason == reason


OUTSIDE = [
    "COPY accounts TO '{out}'",
    "EXPORT DATABASE '{out}'",
    "SELECT * FROM read_csv('{inside}')",
    "SELECT * FROM read_text('{inside}')",
    "SELECT * FROM glob('{inside}')",
    "SELECT * FROM '{inside}'",
    "SELECT * FROM python_variable",
]


@pytest.mark.parametrize("text", OUTSIDE)
def test_read_only_alone_reaches_outside_and_settings_and_admission_each_stop_it(
    file: Path, tmp_path: Path, judge: Judge, text: str
) -> None:
    import pandas

    python_variable = pandas.DataFrame({"a": [1]})
    inside, out = tmp_path / "inside.csv", tmp_path / "out"
    inside.write_text("secret\n1\n")
    statement = text.format(inside=inside, out=out)
    with duckdb.connect(str(file), read_only=True) as connection:
        connection.execute("SET python_scan_all_frames = true")
        connection.execute(statement)
    assert len(python_variable) == 1
    with duckdb.connect(str(file), read_only=True) as connection:
        for name, value in SETTINGS.items():
            connection.execute(f"SET {name} = '{value}'")
        with pytest.raises(duckdb.Error):
            connection.execute(statement)
    assert isinstance(judge(statement), (Refuse, Unsupported))


INSIDE = [
    "CREATE TEMP TABLE days AS SELECT 1",
    "CREATE TEMP VIEW days AS SELECT 1",
    "CREATE TEMP MACRO lower(x) AS 'hers'",
    "SET VARIABLE x = 1",
    "PREPARE p AS SELECT 1",
    "PRAGMA version",
    "CALL pragma_version()",
    "SELECT write_log('x')",
    "SELECT pg_sleep(0)",
    "SELECT * FROM query('SELECT 1')",
]


@pytest.mark.parametrize("text", INSIDE)
def test_what_settings_do_not_stop_admission_stops(
    database: Database, judge: Judge, text: str
) -> None:
    database.run("q", text, {})
    assert isinstance(judge(text), (Refuse, Unsupported))


def test_what_one_query_makes_is_gone_for_the_next(opened: Callable[[Limits], Database]) -> None:
    database = opened(Limits(processes=1))
    database.run("q", "CREATE TEMP TABLE days AS SELECT 'shadow' AS day", {})
    database.run("q", "SET VARIABLE x = 1", {})
    assert database.run("q", "SELECT min(day), getvariable('x') FROM days", {}).rows == ((0, None),)


BOMB = "SELECT length(array_to_string(range(100000000), ','))"


def test_memory_of_a_scalar_function_ends_with_the_address_space(
    opened: Callable[[Limits], Database],
) -> None:
    database = opened(Limits(seconds=1.0, address_space=1024**3, processes=1))
    with pytest.raises(QueryError) as caught:
        database.run("q", BOMB, {})
    assert caught.value.reason in ("deadline", "query_failed", "worker_lost")
    assert database.run("q", "SELECT 1", {}).rows == ((1,),)


def test_sleep_is_interrupted(opened: Callable[[Limits], Database]) -> None:
    with pytest.raises(QueryError) as caught:
        opened(Limits(seconds=0.3)).run("q", "SELECT pg_sleep(600)", {})
    assert caught.value.reason == "deadline"


HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); input()"


def test_a_writer_elsewhere_blocks_reading(file: Path) -> None:
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", HOLD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"held\n"
        with pytest.raises(SnapshotError):
            Database.open(file)
        writer.communicate(b"\n")


def test_a_reader_elsewhere_blocks_writing(database: Database, file: Path) -> None:
    assert database.run("q", "SELECT 1", {}).rows == ((1,),)
    with pytest.raises(duckdb.IOException):
        duckdb.connect(str(file))
