"""Reading a table of a suite: every row with its line, every problem with file, line and fix."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.errors import SuiteError


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a CSV file, with the line on which it begins (1-based)."""

    file: str
    line: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def wrong(self, problem: str, fix: str) -> SuiteError:
        """The error that names this row's place."""
        return SuiteError(problem, file=self.file, line=self.line, fix=fix)

    def json(self, column: str) -> object:
        """The JSON value of a cell; SuiteError if it is not JSON, or says NaN or Infinity."""
        try:
            value: object = json.loads(self.cells[column], parse_constant=_no_constant)
        except ValueError as error:
            raise self.wrong(
                f"column `{column}` is not JSON: {error}", "write the cell as one JSON value"
            ) from error
        return value

    def one_of(self, column: str, allowed: Sequence[str]) -> str:
        """The cell, if it is one of `allowed`."""
        value = self.cells[column]
        if value not in allowed:
            shown = ", ".join(allowed[:8]) + (", ..." if len(allowed) > 8 else "")
            raise self.wrong(f"column `{column}` holds `{value}`", f"use one of {shown}")
        return value


def _no_constant(name: str) -> object:
    raise ValueError(f"`{name}` is no JSON number")


def read(path: Path, columns: Sequence[str]) -> tuple[Row, ...]:
    """The rows of a UTF-8 CSV file that has at least `columns`; SuiteError names file and line."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    rows: list[Row] = []
    start = 1
    header: list[str] | None = None
    try:
        for cells in reader:
            if header is None:
                header = _header(path, cells, columns)
            elif cells:
                rows.append(_row(path, start, header, cells))
            start = reader.line_num + 1
    except csv.Error as error:
        raise SuiteError(
            f"row is not CSV: {error}", file=str(path), line=start, fix="repair or remove the row"
        ) from error
    if not rows:
        raise SuiteError("file holds no rows", file=str(path), fix="give a file with cases")
    return tuple(rows)


def _header(path: Path, cells: list[str], columns: Sequence[str]) -> list[str]:
    missing = [c for c in columns if c not in cells]
    if missing:
        names = ", ".join(f"`{m}`" for m in missing)
        raise SuiteError(
            f"columns are missing: {names}", file=str(path), line=1, fix="add them to the header"
        )
    twice = sorted({c for c in cells if cells.count(c) > 1})
    if twice:
        raise SuiteError(
            f"column `{twice[0]}` stands twice", file=str(path), line=1, fix="remove one of them"
        )
    return cells


def _row(path: Path, line: int, header: list[str], cells: list[str]) -> Row:
    if len(cells) != len(header):
        raise SuiteError(
            f"row has {len(cells)} cells, the header {len(header)}",
            file=str(path),
            line=line,
            fix="quote cells that hold a comma",
        )
    return Row(str(path), line, dict(zip(header, cells, strict=True)))


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without byte order mark."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or "unreadable"
        raise SuiteError(
            f"file cannot be read: {reason.lower()}", file=str(path), fix="check the path"
        ) from error
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise SuiteError(
            f"byte `0x{error.object[error.start]:02x}` is not UTF-8",
            file=str(path),
            line=line,
            fix="save the file as UTF-8",
        ) from error


def unique(rows: Sequence[Row], column: str) -> None:
    """SuiteError if a cell of `column` is empty or stands on two rows."""
    first: dict[str, Row] = {}
    for row in rows:
        key = row[column]
        if not key:
            raise row.wrong(f"column `{column}` is empty", "give every row an id")
        other = first.setdefault(key, row)
        if other is not row:
            place = f"line {other.line}" if other.file == row.file else f"{other.file}:{other.line}"
            raise row.wrong(f"`{key}` stands already on {place}", "keep one of the two rows")


def digest(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise SuiteError("file cannot be read", file=str(path), fix="check the path") from error
