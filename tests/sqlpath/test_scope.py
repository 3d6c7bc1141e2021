"""Scope: neither a result nor an error depends on a row of another subject (P-14)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from gate.load.digests import Source
from gate.load.yamlfile import parse
from sqlpath.admit import Admit, Verdict, admit
from sqlpath.errors import QueryError
from sqlpath.execute import Database, write_manifest
from sqlpath.pool import Limits
from sqlpath.schema import Schema, read
from sqlpath.scope import SUBJECT, Scoped, scope
from tests.sqlpath.random_sql import TABLES, Maker

Judge = Callable[..., Verdict]
NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
TYPES = {"text": "VARCHAR", "number": "DECIMAL(18,2)", "date": "DATE"}
STATEMENTS = 400

OWN = """
INSERT INTO accounts VALUES ('A1', 'C1', '12', 10, 3, '2026-01-05'), ('A2', 'C1', '7', 250, 0, NULL),
    ('A3', 'C1', NULL, NULL, 5, '2026-02-01');
INSERT INTO payments SELECT i, 'C1', 'A' || (1 + i % 3), CAST(i AS VARCHAR), i * 1.25,
    DATE '2026-01-01' + CAST(i AS INTEGER) FROM range(40) r(i);
INSERT INTO days SELECT i, 'd' || i FROM range(10) r(i);
"""
FEW = "INSERT INTO accounts VALUES ('B1', 'C2', '1', 1, 1, '2026-01-01');"
"""Another subject whose rows nothing fails on."""
MANY = """
INSERT INTO accounts SELECT 'B' || i, 'C' || (2 + i % 50), 'no number ' || i,
    (i * 7919 % 1000003) * 99999999, 0, DATE '1000-01-01' + CAST(i AS INTEGER) FROM range(5000) r(i);
INSERT INTO payments SELECT 1000 + i, 'C' || (2 + i % 50), 'A' || (1 + i % 3), 'x' || i, 0,
    NULL FROM range(5000) r(i);
INSERT INTO accounts VALUES ('A1', 'C9', 'x', -9999999999, 0, NULL), (NULL, NULL, 'y', 0, 0, NULL);
"""
"""Other subjects whose rows make casts, divisions and sums fail, and change every statistic."""


@pytest.fixture(scope="module")
def described() -> Schema:
    lines = ["schema_version: 1", "tables:"]
    for name, columns in TABLES.items():
        scoped = "customer_id" if "customer_id" in columns else "null"
        lines += [f"  - name: {name}", "    description: x", f"    scope: {scoped}", "    columns:"]
        lines += [f'      - {{name: {c}, type: "{TYPES[k]}"}}' for c, k in columns.items()]
    return read(parse(Source("schema.yaml", "schema.yaml", "\n".join(lines).encode())))


def build(path: Path, *scripts: str) -> Path:
    with duckdb.connect(str(path)) as connection:
        for name, columns in TABLES.items():
            listed = ", ".join(f"{c} {TYPES[k]}" for c, k in columns.items())
            connection.execute(f"CREATE TABLE {name} ({listed})")
        for script in scripts:
            connection.execute(script)
    write_manifest(path, date(2026, 11, 30), {})
    return path


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Database]]:
    """The same own rows alone, among a few harmless ones, among many harmful ones before and after."""
    folder = tmp_path_factory.mktemp("worlds")
    scripts = {"own": [OWN], "few": [OWN, FEW], "after": [OWN, MANY], "before": [MANY, OWN]}
    limits = Limits(rows=5000, seconds=10, processes=1)
    opened = [
        Database.open(build(folder / f"{name}.duckdb", *parts), limits)
        for name, parts in scripts.items()
    ]
    yield opened
    for database in opened:
        database.close()


def outcome(database: Database, scoped: Scoped, subject: str = "C1") -> object:
    """Rows in order, or reason and class of the error."""
    try:
        found = database.run_scoped("q", scoped, {SUBJECT: subject})
    except QueryError as error:
        return error.reason, error.kind
    return found.columns, found.rows


def test_nothing_depends_on_anothers_row(worlds: list[Database], described: Schema) -> None:
    maker = Maker(Random(20261201))  # noqa: S311 - reproducible, not secret
    ends: Counter[str] = Counter()
    for _ in range(STATEMENTS):
        text = maker.statement()
        verdict = admit(text, worlds[0].parse(text), described, verified_subject=True)
        assert isinstance(verdict, Admit), (text, verdict)
        scoped = scope(verdict, described, 5000, NOW)
        first, *others = [outcome(database, scoped) for database in worlds]
        assert all(other == first for other in others), text
        is_error = isinstance(first, tuple) and isinstance(first[0], str)
        ends[str(first[1]) if is_error else "rows"] += 1
    assert ends["rows"] > STATEMENTS // 4
    assert ends["ConversionException"] > STATEMENTS // 20
    assert len(ends) > 2


def without_private(value: Any) -> Any:
    """The tree with the filtered sub-selects on the shared tables: the first wall alone."""
    if isinstance(value, list):
        return [without_private(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("catalog_name") == "temp":
        path = {"path": value["qualified_name"]["path"][1:]}
        return {**value, "catalog_name": "", "qualified_name": path}
    return {key: without_private(item) for key, item in value.items()}


FOUND = (
    "WITH c1 AS (SELECT CAST(t2.account_id AS BIGINT) AS a, round(avg(CAST(t2.note AS BIGINT)), 2) AS b "
    "FROM accounts AS t2 WHERE t2.note IN (SELECT t3.account_id FROM accounts AS t3 "
    "WHERE CAST(t3.as_of AS INTEGER) < 77) GROUP BY CAST(t2.account_id AS BIGINT)) "
    "SELECT CAST(c1.a AS BIGINT), min(c1.a) FROM c1 GROUP BY 1 ORDER BY 1"
)
"""A statement of the random ones whose error depends on other subjects behind the first wall alone."""


def test_a_filter_alone_would_let_an_error_through(
    worlds: list[Database], described: Schema
) -> None:
    """The property can fail: with the first wall only, other subjects' rows decide over an error."""
    verdict = admit(FOUND, worlds[0].parse(FOUND), described, verified_subject=True)
    assert isinstance(verdict, Admit)
    full = scope(verdict, described, 5000, NOW)
    first_wall = Scoped(without_private(full.tree), ())
    message = {"op": "tree", "tree": first_wall.tree, "private": []}
    assert worlds[0]._ask("q", message, {SUBJECT: "C1"}).rows == ()
    with pytest.raises(QueryError) as caught:
        worlds[3]._ask("q", message, {SUBJECT: "C1"})
    assert caught.value.kind == "ConversionException"
    assert [outcome(world, full)[1] for world in worlds] == [()] * len(worlds)  # type: ignore[index]


def test_own_rows_and_no_others_are_read(worlds: list[Database], described: Schema) -> None:
    text = "SELECT DISTINCT a.customer_id FROM accounts a JOIN payments p USING (account_id)"
    for database in worlds:
        verdict = admit(text, database.parse(text), described, verified_subject=True)
        assert isinstance(verdict, Admit)
        scoped = scope(verdict, described, 50, NOW)
        assert database.run_scoped("q", scoped, {SUBJECT: "C1"}).rows == (("C1",),)
        for hostile in ("C1' OR '1'='1", "%", "", "nobody"):
            assert database.run_scoped("q", scoped, {SUBJECT: hostile}).rows == ()


def test_without_a_subject_nothing_scoped_runs(worlds: list[Database], described: Schema) -> None:
    text = "SELECT * FROM accounts"
    verdict = admit(text, worlds[0].parse(text), described, verified_subject=True)
    assert isinstance(verdict, Admit)
    scoped = scope(verdict, described, 50, NOW)
    with pytest.raises(QueryError) as caught:
        worlds[0].run_scoped("q", scoped, {})
    assert caught.value.reason == "no_session"


@pytest.mark.parametrize(
    "text", ["SELECT rowid FROM accounts", "SELECT accounts.rowid FROM accounts"]
)
def test_undescribed_columns_do_not_exist(
    worlds: list[Database], described: Schema, text: str
) -> None:
    verdict = admit(text, worlds[0].parse(text), described, verified_subject=True)
    assert isinstance(verdict, Admit)
    assert outcome(worlds[0], scope(verdict, described, 50, NOW)) == (
        "query_failed",
        "BinderException",
    )


def test_star_is_the_described_columns(worlds: list[Database], described: Schema) -> None:
    table = described.tables["accounts"]
    less = replace(table, columns=tuple(c for c in table.columns if c.name != "balance"))
    narrow = Schema({**described.tables, "accounts": less})
    verdict = admit(
        "SELECT * FROM accounts",
        worlds[0].parse("SELECT * FROM accounts"),
        narrow,
        verified_subject=True,
    )
    assert isinstance(verdict, Admit)
    found = worlds[0].run_scoped("q", scope(verdict, narrow, 50, NOW), {SUBJECT: "C1"})
    assert found.columns == ("account_id", "customer_id", "note", "small", "as_of")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("SELECT current_date", date(2026, 12, 1)),
        ("SELECT today()", date(2026, 12, 1)),
        ("SELECT now()", NOW),
        ("SELECT current_timestamp", NOW),
        ("SELECT localtimestamp", NOW.replace(tzinfo=None)),
        ("SELECT x.d FROM (SELECT current_date AS d) AS x", date(2026, 12, 1)),
    ],
)
def test_clock_is_the_time_of_the_asking(
    worlds: list[Database], described: Schema, text: str, value: object
) -> None:
    verdict = admit(text, worlds[0].parse(text), described, verified_subject=False)
    assert isinstance(verdict, Admit)
    assert worlds[0].run_scoped("q", scope(verdict, described, 50, NOW), {}).rows == ((value,),)


def test_limit_is_added_where_there_is_none(worlds: list[Database], described: Schema) -> None:
    for text, rows in (("SELECT day FROM days", 4), ("SELECT day FROM days LIMIT 7", 7)):
        verdict = admit(text, worlds[0].parse(text), described, verified_subject=False)
        assert isinstance(verdict, Admit)
        assert len(worlds[0].run_scoped("q", scope(verdict, described, 4, NOW), {}).rows) == rows


def test_tree_that_the_engine_reads_otherwise_is_not_run(
    worlds: list[Database], described: Schema
) -> None:
    text = "SELECT day FROM days"
    verdict = admit(text, worlds[0].parse(text), described, verified_subject=False)
    assert isinstance(verdict, Admit)
    tree = json.loads(json.dumps(scope(verdict, described, 4, NOW).tree))
    tree["statements"][0]["node"]["select_list"][0]["alias"] = "\x00 , 1"
    assert outcome(worlds[0], Scoped(tree, ()))[0] in ("not_reproducible", "query_failed")  # type: ignore[index]


def test_scoped_statement_is_not_what_was_admitted_changed(described: Schema, judge: Judge) -> None:
    verdict = judge("SELECT * FROM accounts AS a(x, y)", described)
    assert isinstance(verdict, Admit)
    before = json.dumps(verdict.tree)
    scope(verdict, described, 5, NOW)
    assert json.dumps(verdict.tree) == before
