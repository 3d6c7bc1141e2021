"""The two defog databases in DuckDB: transpiled by sqlglot, every read of the clock frozen at `NOW`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import sqlglot
from sqlglot import exp

from gate.load.digests import Source
from gate.load.yamlfile import parse
from sqlpath.execute import write_manifest
from sqlpath.schema import Schema, read

NAMES = ("broker", "car_dealership")
NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Variant:
    """One accepted query of a question, for DuckDB; `frozen` has constants where `sql` reads the clock."""

    name: str
    database: str
    sql: str
    frozen: str


def frozen(tree: exp.Expression) -> exp.Expression:
    """The statement with constants for the clock."""
    return tree.transform(_constant)


def _constant(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.CurrentDate):
        return sqlglot.parse_one(f"CAST('{NOW.date()}' AS DATE)", read="duckdb")
    if isinstance(node, exp.CurrentTimestamp):
        return sqlglot.parse_one(f"CAST('{NOW.isoformat(' ')}' AS TIMESTAMPTZ)", read="duckdb")
    return node


def build(data: Path, name: str, path: Path) -> Schema:
    """The database at `path`, sealed; returns its description, with every table for everybody."""
    text = (data / f"{name}.sql").read_text(encoding="utf-8")
    # A format of MySQL's in a PostgreSQL file; what PostgreSQL makes of it is no date either way.
    text = text.replace("%Y%m%d %H:%i:%s", "YYYYMMDD HH24:MI:SS")
    text = text.replace(" SERIAL ", " INTEGER ")  # every row names its id
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for tree in sqlglot.parse(text, read="postgres"):
            if tree is not None:
                connection.execute(frozen(tree).sql(dialect="duckdb"))
        columns = connection.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal "
            "ORDER BY table_name, column_index"
        ).fetchall()
    write_manifest(path, date(2026, 11, 30), {})
    return described(columns)


def described(columns: list[tuple[str, str, str]]) -> Schema:
    """`schema.yaml` of these columns."""
    lines = ["schema_version: 1", "tables:"]
    last = ""
    for table, column, kind in columns:
        if table != last:
            last = table
            lines += [f"  - name: {table}", "    description: x", "    scope: null", "    columns:"]
        lines.append(f'      - {{name: "{column}", type: "{kind}"}}')
    return read(parse(Source("schema.yaml", "schema.yaml", "\n".join(lines).encode())))


def variants(data: Path) -> tuple[Variant, ...]:
    """Every accepted query of every question."""
    found = []
    with (data / "questions.csv").open(encoding="utf-8", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream), start=1):
            for place, tree in enumerate(sqlglot.parse(row["query"], read="postgres")):
                if tree is not None:
                    name = f"{number}.{place}"
                    sql = tree.sql(dialect="duckdb")
                    fixed = frozen(tree).sql(dialect="duckdb")
                    found.append(Variant(name, row["db_name"], sql, fixed))
    return tuple(found)
