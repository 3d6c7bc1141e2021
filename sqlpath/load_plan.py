"""The plan of a load: which tables come from where, and what becomes of every column."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from gate.load.digests import YAML_BYTES
from gate.load.digests import read as read_bytes
from gate.load.model import FileModel, Model, Text, validate
from gate.load.yamlfile import Document, parse
from sqlpath.schema import Name, TypeName, fold

KEEP: Final = "keep"
CODE: Final = "code"
PSEUDONYMISE: Final = "pseudonymise"
DROP: Final = "drop"


class ColumnPlanModel(Model):
    """One column of a source; a column that is not declared is dropped."""

    name: Name
    """Name in the source and in the database."""
    policy: Literal["keep", "code", "pseudonymise", "drop"]
    """`keep` the value, `code` it as a small number, `pseudonymise` it with a key, or `drop` it."""
    type: TypeName = "VARCHAR"
    """DuckDB's type of a kept value; a value that is none of it stops the load."""
    required: bool = False
    """Whether a missing value stops the load."""


class TablePlanModel(Model):
    """One table."""

    name: Name
    """Name in the database."""
    source: Text
    """A `.csv` or `.parquet` file beside the plan, or a table of the plan's `database`."""
    columns: Annotated[list[ColumnPlanModel], Field(min_length=1)]
    """The declared columns."""
    sort: Name | None = None
    """Kept column to store the rows by, so that one subject's rows lie together."""
    watermark: Name | None = None
    """Kept column whose greatest value says how far this data goes."""


class LoadFile(FileModel):
    """A whole load."""

    as_of: Text
    """Day on which the data was true, as in `2026-11-30`."""
    max_age_days: Annotated[int, Field(ge=0, le=36_500)] | None = None
    """After so many days nothing is answered from it; left out, there is no limit."""
    database: Text | None = None
    """SQLAlchemy URL of a database that tables without a file come from."""
    tables: Annotated[list[TablePlanModel], Field(min_length=1)]
    """The tables."""


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """One declared column."""

    name: str
    policy: str
    kind: str
    required: bool


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One table: its source as written, and its declared columns in order."""

    name: str
    source: str
    columns: tuple[ColumnPlan, ...]
    sort: str | None
    watermark: str | None

    @property
    def is_file(self) -> bool:
        """Whether the source is a file beside the plan."""
        return self.source.endswith((".csv", ".parquet"))


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole load; `folder` is where its files lie."""

    folder: Path
    as_of: date
    max_age_days: int | None
    database: str | None
    tables: tuple[TablePlan, ...]


def load(path: Path) -> Plan:
    """The plan in a file; ConfigError with file, line and fix."""
    return read(parse(read_bytes(path.parent, path.name, YAML_BYTES)), path.parent)


def read(document: Document, folder: Path) -> Plan:
    """The plan of a document; ConfigError with file, line and fix for the first thing wrong."""
    file = validate(LoadFile, document)
    try:
        as_of = date.fromisoformat(file.as_of)
    except ValueError as error:
        problem = f"`as_of` is `{file.as_of}`, not a day"
        raise document.error(problem, ("as_of",), "write a day like `2026-11-30`") from error
    names: set[str] = set()
    for index, table in enumerate(file.tables):
        if fold(table.name) in names:
            loc = ("tables", index, "name")
            raise document.error(f"table `{table.name}` is listed twice", loc, "remove one")
        names.add(fold(table.name))
        _check(document, index, table, file.database)
    return Plan(folder, as_of, file.max_age_days, file.database, tuple(map(_table, file.tables)))


def _check(document: Document, index: int, table: TablePlanModel, database: str | None) -> None:
    loc = ("tables", index)
    kept = {c.name for c in table.columns if c.policy == KEEP}
    for key, name in (("sort", table.sort), ("watermark", table.watermark)):
        if name is not None and name not in kept:
            problem = f"`{name}` of `{table.name}` is no kept column"
            raise document.error(problem, (*loc, key), "name a column whose policy is `keep`")
    declared = [fold(c.name) for c in table.columns]
    for place, name in enumerate(declared):
        if name in declared[:place]:
            where = (*loc, "columns", place, "name")
            raise document.error(f"column `{name}` is listed twice", where, "remove one")
    if all(c.policy == DROP for c in table.columns):
        fix = "keep a column, or remove the table"
        raise document.error(f"table `{table.name}` keeps no column", (*loc, "columns"), fix)
    if not table.source.endswith((".csv", ".parquet")) and database is None:
        problem = f"`{table.source}` is neither a .csv nor a .parquet file"
        raise document.error(problem, (*loc, "source"), "name such a file, or give a `database`")


def _table(model: TablePlanModel) -> TablePlan:
    columns = tuple(ColumnPlan(c.name, c.policy, c.type, c.required) for c in model.columns)
    return TablePlan(model.name, model.source, columns, model.sort, model.watermark)
