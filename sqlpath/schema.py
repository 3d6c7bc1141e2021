"""`schema.yaml`: the tables and columns that a query may touch, and whose rows they hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from gate.load.digests import YAML_BYTES
from gate.load.digests import read as read_bytes
from gate.load.fixes import did_you_mean
from gate.load.model import FileModel, Model, Text, validate
from gate.load.yamlfile import Document, parse

FILE: Final = "schema.yaml"
RESERVED: Final = ("sqlite_", "pg_", "duckdb_", "information_schema")
"""Beginnings of names that the engine's own catalogs bear."""

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")]
TypeName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_ ]*(\([0-9, ]+\))?$")]


def fold(name: str) -> str:
    """A name as the engine compares names: ASCII letters small, all others as they are."""
    return name.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


class ColumnModel(Model):
    """One column."""

    name: Name
    """Name in the database."""
    type: TypeName
    """DuckDB's type, for example `DECIMAL(12,2)`."""
    description: Text | None = None
    """What the value means."""
    unit: Text | None = None
    """What a number counts."""
    values: list[Text] = Field(default_factory=list)
    """Allowed values; left out, any."""
    synonyms: list[Text] = Field(default_factory=list)
    """Other words that people use for it."""


class JoinModel(Model):
    """How this table's rows belong to another's."""

    table: Name
    """The other table."""
    using: Annotated[list[Name], Field(min_length=1)]
    """Columns of the same name in both that must be equal."""


class TableModel(Model):
    """One table."""

    name: Name
    """Name in the database."""
    description: Text
    """What one row is."""
    scope: Name | None
    """Column that holds the subject a row belongs to; null marks a table for everybody."""
    columns: Annotated[list[ColumnModel], Field(min_length=1)]
    """The columns; others in the database do not exist for a query."""
    joins: list[JoinModel] = Field(default_factory=list)
    """Tables that it may be joined with."""
    synonyms: list[Text] = Field(default_factory=list)
    """Other words that people use for it."""


class SchemaFile(FileModel):
    """The described tables."""

    tables: Annotated[list[TableModel], Field(min_length=1)]
    """The tables."""


@dataclass(frozen=True, slots=True)
class Column:
    """One described column; `kind` is DuckDB's type name."""

    name: str
    kind: str
    description: str | None = None
    unit: str | None = None
    values: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Join:
    """Rows of two tables belong together where these columns are equal."""

    table: str
    using: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """One described table; `scope` is the column with the subject, None for everybody's rows."""

    name: str
    description: str
    scope: str | None
    columns: tuple[Column, ...]
    joins: tuple[Join, ...] = ()
    synonyms: tuple[str, ...] = ()

    def column(self, name: str) -> Column | None:
        """The column of that name, in any case."""
        return next((c for c in self.columns if fold(c.name) == fold(name)), None)


@dataclass(frozen=True, slots=True)
class Schema:
    """Tables by name in small letters, as the engine compares names."""

    tables: Mapping[str, Table]

    def find(self, name: str) -> Table | None:
        """The table of that name, in any case."""
        return self.tables.get(fold(name))


def load(folder: Path) -> Schema:
    """The description in an institution's folder; ConfigError with file, line and fix."""
    return read(parse(read_bytes(folder, FILE, YAML_BYTES)))


def read(document: Document) -> Schema:
    """The described tables; ConfigError with file, line and fix for the first thing wrong."""
    file = validate(SchemaFile, document)
    tables: dict[str, Table] = {}
    for index, model in enumerate(file.tables):
        loc = ("tables", index, "name")
        if model.name.lower() in tables:
            raise document.error(f"table `{model.name}` is listed twice", loc, "remove one")
        if model.name.lower().startswith(RESERVED):
            raise document.error(f"`{model.name}` is a name of the engine's", loc, "rename it")
        _check_columns(document, index, model)
        tables[model.name.lower()] = _table(model)
    for index, model in enumerate(file.tables):
        _check_joins(document, index, model, tables)
    return Schema(MappingProxyType(tables))


def _table(model: TableModel) -> Table:
    columns = tuple(
        Column(
            c.name,
            re.sub(r"\s+", " ", c.type).upper(),
            c.description,
            c.unit,
            tuple(c.values),
            tuple(c.synonyms),
        )
        for c in model.columns
    )
    joins = tuple(Join(j.table, tuple(j.using)) for j in model.joins)
    return Table(model.name, model.description, model.scope, columns, joins, tuple(model.synonyms))


def _check_columns(document: Document, index: int, model: TableModel) -> None:
    names = [column.name.lower() for column in model.columns]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise document.error(
                f"column `{name}` is listed twice",
                ("tables", index, "columns", place, "name"),
                "remove one",
            )
    if model.scope is not None and model.scope.lower() not in names:
        raise document.error(
            f"scope `{model.scope}` is no column of `{model.name}`",
            ("tables", index, "scope"),
            did_you_mean(model.scope, [column.name for column in model.columns]),
        )


def _check_joins(
    document: Document, index: int, model: TableModel, tables: Mapping[str, Table]
) -> None:
    mine = tables[model.name.lower()]
    for place, join in enumerate(model.joins):
        loc = ("tables", index, "joins", place)
        other = tables.get(join.table.lower())
        if other is None:
            fix = did_you_mean(join.table, [table.name for table in tables.values()])
            raise document.error(f"`{join.table}` is no table", (*loc, "table"), fix)
        for name in join.using:
            if mine.column(name) is None or other.column(name) is None:
                raise document.error(
                    f"`{name}` is no column of both `{model.name}` and `{join.table}`",
                    (*loc, "using"),
                    "name a column of both",
                )
