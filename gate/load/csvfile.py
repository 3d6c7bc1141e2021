"""CSV with line numbers: a header of unique names, and rows that all have as many fields."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from gate.errors import ConfigError
from gate.load.digests import Source
from gate.load.fixes import did_you_mean, shown

FIELD_CHARS = 131_072
"""Longest field that is accepted (the csv module's own default)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the line it starts on and its fields by column, without white space at the edges."""

    line: int
    fields: dict[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file's columns and its rows, which are read as they are asked for."""

    source: Source
    columns: tuple[str, ...]
    rows: Iterator[Row]

    def error(self, problem: str, line: int, fix: str) -> ConfigError:
        """A ConfigError about a line of the file."""
        return ConfigError(problem, file=self.source.path, line=line, fix=fix)


def parse(source: Source, required: Collection[str], optional: Collection[str] | None) -> Table:
    """The table in `source`; with `optional` None, further columns are accepted."""
    text = source.text
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ConfigError("NUL character", file=source.path, line=line, fix="remove the character")
    records = _records(text, source)
    _, header = next(records, (1, []))
    columns = tuple(name.strip() for name in header)
    _check_header(source, columns, required, optional)
    return Table(source, columns, _rows(records, source, columns))


def _check_header(
    source: Source,
    columns: tuple[str, ...],
    required: Collection[str],
    optional: Collection[str] | None,
) -> None:
    def error(problem: str, fix: str) -> ConfigError:
        return ConfigError(problem, file=source.path, line=1, fix=fix)

    known = (*required, *(optional or ()))
    for position, name in enumerate(columns):
        if name in columns[:position]:
            raise error(
                f"column `{shown(name)}` stands twice in the header", "remove one of the two"
            )
        if optional is not None and name not in known:
            raise error(f"unknown column `{shown(name)}`", did_you_mean(name, known))
    for name in required:
        if name not in columns:
            wanted = ",".join(required)
            raise error(f"column `{name}` is missing", f"the first line must name {wanted}")


def _records(text: str, source: Source) -> Iterator[tuple[int, list[str]]]:
    """Non-empty records with the line each starts on."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ConfigError(
                f"not valid CSV: {error}",
                file=source.path,
                line=line,
                fix='close every quotation mark and write a quote inside a field as `""`',
            ) from error
        if record:
            yield line, record


def _rows(
    records: Iterator[tuple[int, list[str]]], source: Source, columns: tuple[str, ...]
) -> Iterator[Row]:
    for line, record in records:
        if len(record) != len(columns):
            raise ConfigError(
                f"row has {len(record)} fields, the header {len(columns)}",
                file=source.path,
                line=line,
                fix="put a field that holds a comma in double quotes, and add missing commas",
            )
        yield Row(line, dict(zip(columns, (f.strip() for f in record), strict=True)))
