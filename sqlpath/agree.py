"""Whether two statements mean the same, as far as data can tell: on the rows as they are, and on copies
with another order, with rows twice, with rows missing, and with other values.

Two candidates that agree by chance on one state of the data rarely do on all five. The copies are the
private tables of a query (`scope.py`): nothing is written, and each holds the subject's rows alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Final

from sqlpath.admit import Admit
from sqlpath.errors import QueryError
from sqlpath.execute import Database, Rows
from sqlpath.grammar import kind_of
from sqlpath.schema import Schema, Table
from sqlpath.scope import Changed, quoted, scope

AS_IS: Final = "as_is"
SHARE: Final = 3
"""One row in so many is doubled, dropped or changed."""


def _ordered(seed: int, _: Table, rows: str) -> str:
    return f"SELECT r.* FROM ({rows}) AS r ORDER BY hash(r, {seed})"  # noqa: S608 - described names


def _doubled(seed: int, _: Table, rows: str) -> str:
    some = f"SELECT r.* FROM ({rows}) AS r WHERE hash(r, {seed}) % {SHARE} = 0"  # noqa: S608
    return f"{rows} UNION ALL {some}"


def _dropped(seed: int, _: Table, rows: str) -> str:
    return f"SELECT r.* FROM ({rows}) AS r WHERE hash(r, {seed}) % {SHARE} <> 0"  # noqa: S608


def _revalued(seed: int, table: Table, rows: str) -> str:
    """Numbers and days of some rows are larger by one; keys of joins stay."""
    joined = {name for join in table.joins for name in join.using}
    items = []
    for column in table.columns:
        name = quoted(column.name)
        if column.name not in joined and kind_of(column) in ("number", "date"):
            more = f"TRY_CAST(r.{name} + {_one(column.kind)} AS {column.kind})"
            items.append(
                f"CASE WHEN hash(r, {seed}) % {SHARE} = 0 THEN {more} ELSE r.{name} END AS {name}"
            )
        else:
            items.append(f"r.{name}")
    return f"SELECT {', '.join(items)} FROM ({rows}) AS r"  # noqa: S608


def _one(kind: str) -> str:
    return "INTERVAL 1 DAY" if kind.startswith(("DATE", "TIMESTAMP")) else "1"


COPIES: Final[Mapping[str, Changed | None]] = MappingProxyType(
    {
        AS_IS: None,
        "order": partial(_ordered, 1),
        "doubled": partial(_doubled, 2),
        "dropped": partial(_dropped, 3),
        "revalued": partial(_revalued, 4),
    }
)
"""What the two are compared on, in this order."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether two statements gave the same everywhere, the first copy on which they did not, and the
    first one's rows on the data as it is."""

    agreed: bool
    differs_on: str | None
    rows: Rows | None


def compare(
    database: Database,
    first: Admit,
    second: Admit,
    schema: Schema,
    values: Mapping[str, object],
    now: datetime,
) -> Agreement:
    """Run both on every copy; an error of either is a difference, whatever the other does.

    `values` holds the verified subject under `SUBJECT` where a scoped table is read. Rows count in any
    order, as often as they stand; names of columns do not.
    """
    rows = None
    for name, changed in COPIES.items():
        ends = []
        for admitted in (first, second):
            scoped = scope(admitted, schema, database.limits.rows + 1, now, changed)
            try:
                ends.append(database.run_scoped(name, scoped, values))
            except QueryError:
                return Agreement(False, name, None)
        rows = rows or ends[0]
        if _counted(ends[0]) != _counted(ends[1]):
            return Agreement(False, name, None)
    return Agreement(True, None, rows)


def _counted(rows: Rows) -> tuple[int, Counter[str]]:
    return len(rows.columns), Counter(map(repr, rows.rows))
