"""Rows to words: one sentence per row from the query's template, every value as the row has it."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from gate.load.queries import Query
from sqlpath.execute import Rows

NOTHING = "-"
"""Stands for an SQL null."""


def shown(value: object) -> str:
    """A value as text: numbers with thousands separators, days and times in ISO 8601."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, Decimal)):
        return f"{value:,}"
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    return str(value)


def records(rows: Rows) -> tuple[dict[str, str], ...]:
    """Each row as column to text."""
    return tuple(
        {name: shown(value) for name, value in zip(rows.columns, row, strict=True)}
        for row in rows.rows
    )


def sentences(query: Query, rows: Rows, language: str) -> tuple[str, ...]:
    """One sentence per row, in row order."""
    template = query.answer[language]
    return tuple(template.format_map(record) for record in records(rows))


def empty(query: Query, language: str) -> str | None:
    """What is said for no rows at all, if the query declares it."""
    return query.empty.get(language)
