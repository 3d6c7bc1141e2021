"""Loads an institution's tables into a new sealed database file and swaps it in.

Nothing is taken that the plan does not declare. Values that do not fit their type, and missing ones
that may not be, stop the load and name the column and their number, never a value. The old file
stays in place until the new one is whole; between the two renames a reader finds a file that differs
from its manifest, and refuses it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import duckdb

from sqlpath import load_plan
from sqlpath.errors import LoadError
from sqlpath.execute import Snapshot, manifest_path, write_manifest
from sqlpath.load_plan import ColumnPlan, Plan, TablePlan
from sqlpath.scope import quoted

KEY_BYTES: Final = 16
"""Fewest bytes of a key for pseudonyms."""
FENCE: Final = 3
"""A number is called an outlier beyond so many interquartile ranges outside the quartiles."""
BATCH: Final = 5_000
RAW: Final = "routelock_raw"


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """What came of one column; `outliers` is None where it holds no numbers."""

    name: str
    policy: str
    kind: str
    missing: int
    distinct: int
    outliers: int | None


@dataclass(frozen=True, slots=True)
class TableReport:
    """What came of one table; `undeclared` columns of the source were dropped."""

    name: str
    rows: int
    watermark: str | None
    undeclared: tuple[str, ...]
    columns: tuple[ColumnReport, ...]


def load(plan: Plan, target: Path, key: bytes | None = None) -> tuple[Snapshot, list[TableReport]]:
    """Build the database of a plan and put it at `target` in one step.

    `key` makes the pseudonyms; the same key gives the same pseudonym. Raises LoadError.
    """
    pseudonymised = any(c.policy == load_plan.PSEUDONYMISE for t in plan.tables for c in t.columns)
    if pseudonymised and (key is None or len(key) < KEY_BYTES):
        raise LoadError(f"pseudonyms need a key of at least {KEY_BYTES} bytes; give one with --key")
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as folder:
        fresh = Path(folder) / target.name
        with duckdb.connect(str(fresh)) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            if key is not None:
                _pseudonyms(connection, key)
            reports = [_table(connection, plan, table) for table in plan.tables]
            if key is not None:
                connection.remove_function("pseudonym")
            connection.execute("CHECKPOINT")
        inputs = {f"rows:{report.name}": str(report.rows) for report in reports}
        snapshot = write_manifest(fresh, plan.as_of, inputs, plan.max_age_days)
        os.replace(manifest_path(fresh), manifest_path(target))
        os.replace(fresh, target)
    return snapshot, reports


def shown(reports: Sequence[TableReport]) -> list[dict[str, Any]]:
    """The reports as values for JSON."""
    return [asdict(report) for report in reports]


def _pseudonyms(connection: Any, key: bytes) -> None:
    def pseudonym(value: str) -> str:
        return hmac.new(key, value.encode(), hashlib.sha256).hexdigest()[:24]

    connection.create_function("pseudonym", pseudonym, ["VARCHAR"], "VARCHAR")


def _table(connection: Any, plan: Plan, table: TablePlan) -> TableReport:
    """Read a source as text, then keep what is declared, as what it is declared."""
    with _raw(connection, plan, table) as found:
        names = {name.lower(): name for name in found}
        kept = [c for c in table.columns if c.policy != load_plan.DROP]
        for column in kept:
            if column.name.lower() not in names:
                raise LoadError(f"`{table.source}` has no column `{column.name}`; correct the plan")
            _check(connection, table, column)
        items = ", ".join(f"{_value(c)} AS {quoted(c.name)}" for c in kept)
        order = f" ORDER BY {quoted(table.sort)}" if table.sort else ""
        name = quoted(table.name)
        connection.execute(f"CREATE TABLE {name} AS SELECT {items} FROM {RAW}{order}")  # noqa: S608
        declared = {c.name.lower() for c in table.columns}
        undeclared = tuple(sorted(n for low, n in names.items() if low not in declared))
        return _report(connection, table, kept, undeclared)


@contextmanager
def _raw(connection: Any, plan: Plan, table: TablePlan) -> Iterator[list[str]]:
    """The source as a temporary table of text; its column names."""
    if table.is_file:
        _read_file(connection, plan.folder / table.source)
    else:
        _read_database(connection, plan.database or "", table)
    try:
        yield [row[0] for row in connection.execute(f"DESCRIBE {RAW}").fetchall()]
    finally:
        connection.execute(f"DROP TABLE IF EXISTS {RAW}")


def _read_file(connection: Any, path: Path) -> None:
    if not path.is_file():
        raise LoadError(f"`{path}` is missing; put the file there or correct the plan")
    reader = "read_csv(?, all_varchar = true, header = true)"
    if path.suffix == ".parquet":
        reader = "read_parquet(?)"
    try:
        connection.execute(
            f"CREATE TEMP TABLE {RAW} AS SELECT CAST(COLUMNS(*) AS VARCHAR) FROM {reader}",  # noqa: S608
            [str(path)],
        )
    except duckdb.Error as error:
        kind = type(error).__name__
        raise LoadError(f"`{path}` cannot be read ({kind}); check the file") from error


def _read_database(connection: Any, url: str, table: TablePlan) -> None:
    """A table of any database that SQLAlchemy reads, its declared columns alone."""
    import sqlalchemy
    from sqlalchemy.exc import SQLAlchemyError

    names = [c.name for c in table.columns if c.policy != load_plan.DROP]
    listed = ", ".join(f"{quoted(name)} VARCHAR" for name in names)
    connection.execute(f"CREATE TEMP TABLE {RAW} ({listed})")
    marks = ", ".join("?" for _ in names)
    try:
        engine = sqlalchemy.create_engine(url)
        columns: list[Any] = [sqlalchemy.column(name) for name in names]
        with engine.connect() as source:
            rows = source.execution_options(stream_results=True).execute(
                sqlalchemy.select(*columns).select_from(sqlalchemy.table(table.source))
            )
            for batch in rows.partitions(BATCH):
                texts = [[None if v is None else str(v) for v in row] for row in batch]
                connection.executemany(f"INSERT INTO {RAW} VALUES ({marks})", texts)  # noqa: S608
        engine.dispose()
    except (SQLAlchemyError, ModuleNotFoundError) as error:
        kind = type(error).__name__
        raise LoadError(
            f"table `{table.source}` cannot be read ({kind}); check the plan"
        ) from error


def _value(column: ColumnPlan) -> str:
    """What is stored of a column."""
    name = quoted(column.name)
    if column.policy == load_plan.CODE:
        return f"CASE WHEN {name} IS NOT NULL THEN dense_rank() OVER (ORDER BY {name}) END"
    if column.policy == load_plan.PSEUDONYMISE:
        return f"pseudonym({name})"
    return f"CAST({name} AS {column.kind})"


def _check(connection: Any, table: TablePlan, column: ColumnPlan) -> None:
    """LoadError if a value is missing that may not be, or is not of its type."""
    name = quoted(column.name)
    if column.required:
        _none(connection, f"{name} IS NULL", table, column, "missing values")
    if column.policy == load_plan.KEEP:
        wrong = f"{name} IS NOT NULL AND TRY_CAST({name} AS {column.kind}) IS NULL"
        _none(connection, wrong, table, column, f"values that are no {column.kind}")


def _none(connection: Any, where: str, table: TablePlan, column: ColumnPlan, what: str) -> None:
    try:
        query = f"SELECT count(*) FROM {RAW} WHERE {where}"  # noqa: S608 - names of the plan
        count = connection.execute(query).fetchone()[0]
    except duckdb.Error as error:
        place = f"column `{column.name}` of `{table.name}`"
        raise LoadError(f"{place}: type `{column.kind}` is unknown; correct the plan") from error
    if count:
        place = f"column `{column.name}` of `{table.name}`"
        raise LoadError(f"{place} has {count} {what}; correct the source or the plan")


def _report(
    connection: Any, table: TablePlan, kept: Sequence[ColumnPlan], undeclared: tuple[str, ...]
) -> TableReport:
    name = quoted(table.name)
    rows = connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]  # noqa: S608
    mark = None
    if table.watermark is not None:
        query = f"SELECT max({quoted(table.watermark)}) FROM {name}"  # noqa: S608
        mark = str(connection.execute(query).fetchone()[0])
    columns = tuple(_column_report(connection, table, column) for column in kept)
    return TableReport(table.name, rows, mark, undeclared, columns)


def _column_report(connection: Any, table: TablePlan, column: ColumnPlan) -> ColumnReport:
    name, source = quoted(column.name), quoted(table.name)
    missing, distinct, kind = connection.execute(
        f"SELECT count(*) - count({name}), count(DISTINCT {name}), any_value(typeof({name})) "  # noqa: S608
        f"FROM {source}"
    ).fetchone()
    outliers = None
    if column.policy == load_plan.KEEP and _is_number(kind or ""):
        outliers = connection.execute(
            f"WITH q AS (SELECT quantile_cont({name}, 0.25) AS a, quantile_cont({name}, 0.75) AS b "  # noqa: S608
            f"FROM {source}) SELECT count(*) FROM {source}, q "
            f"WHERE {name} < a - {FENCE} * (b - a) OR {name} > b + {FENCE} * (b - a)"
        ).fetchone()[0]
    return ColumnReport(
        column.name, column.policy, kind or column.kind, missing, distinct, outliers
    )


def _is_number(kind: str) -> bool:
    return (
        kind.startswith(("DECIMAL", "DOUBLE", "FLOAT")) or kind.endswith("INT") or kind == "INTEGER"
    )
