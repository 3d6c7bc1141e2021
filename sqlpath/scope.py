"""Scope: what an admitted statement reads becomes the verified subject's rows and nothing else.

Two walls, each enough to keep a row out of a result, and together enough to keep it out of an
error:

1. Every reference to a scoped table becomes `(SELECT <described columns> FROM ... WHERE <scope> =
   $subject) AS <alias>`, in the engine's own tree.
2. That sub-select reads no shared table but a private one, which holds the subject's rows alone and
   lives as long as the query's cursor (`Private`). An optimizer may evaluate any expression on any
   row that it can see before it applies a filter, and draws on statistics of the whole table; here
   there is no other row and there are no other statistics.

Reads of the clock become the time of the asking, so that an answer can be had again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sqlpath import functions
from sqlpath.admit import Admit
from sqlpath.schema import Schema, Table, fold
from sqlpath.tree import Node

SUBJECT: Final = "routelock_subject"
"""The parameter that holds the session's verified subject."""

_NOWHERE: Final = {"query_location": 2**64 - 1, "query_location_length": 0}


@dataclass(frozen=True, slots=True)
class Private:
    """A table that a cursor fills for itself: its name, and the SELECT of the subject's rows."""

    name: str
    sql: str

    @property
    def of_subject(self) -> bool:
        """Whether it holds the subject's rows; a changed copy of a table for everybody does not."""
        return f"${SUBJECT}" in self.sql


Changed = Callable[[Table, str], str]
"""Makes of a table and the SELECT of its rows the SELECT of a changed copy."""


@dataclass(frozen=True, slots=True)
class Scoped:
    """A statement that may run: its tree, and the private tables that it reads."""

    tree: Node
    private: tuple[Private, ...]


def scope(
    admitted: Admit, schema: Schema, rows: int, now: datetime, changed: Changed | None = None
) -> Scoped:
    """The admitted statement for one subject at one time, with a LIMIT of `rows` if it has none.

    `changed` makes of a table's SELECT the one of a perturbed copy; every table is then private.
    """
    root = _rewritten(admitted.tree, _Place(schema, now, changed is not None))
    if not admitted.limited:
        limit = {"type": "LIMIT_MODIFIER", "limit": _number(rows), "offset": None}
        root["modifiers"] = [*root["modifiers"], {**limit, "limit_type": "ROW_COUNT"}]
    private = tuple(
        Private(t.name, changed(t, _rows_of(t)) if changed else _rows_of(t))
        for t in admitted.tables
        if t.scope is not None or changed
    )
    return Scoped({"error": False, "statements": [{"node": root, "named_param_map": []}]}, private)


def _rows_of(table: Table) -> str:
    """The SELECT of a table's described columns, for a scoped one of the subject's rows."""
    where = f" WHERE {quoted(table.scope)} = ${SUBJECT}" if table.scope else ""
    return f"SELECT {_columns(table)} FROM main.{quoted(table.name)}{where}"  # noqa: S608


def quoted(name: str) -> str:
    """A name as an identifier of SQL."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _columns(table: Table) -> str:
    return ", ".join(quoted(column.name) for column in table.columns)


@dataclass(frozen=True, slots=True)
class _Place:
    """What a rewriting needs: the tables, the time, whether public tables are private copies too."""

    schema: Schema
    now: datetime
    copied: bool


def _rewritten(value: Any, place: _Place) -> Any:
    """The same tree with every described table and every clock replaced."""
    if isinstance(value, list):
        return [_rewritten(item, place) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "BASE_TABLE":
        table = place.schema.find(str(value.get("table_name")))
        return value if table is None else _sub_select(value, table, place.copied)
    clock = _clock(value)
    if clock:
        return _time(clock, place.now, str(value.get("alias", "")))
    changed = {key: _rewritten(item, place) for key, item in value.items()}
    if value.get("type") == "SELECT_NODE":
        before = map(_clock, value["select_list"])
        for item, name in zip(changed["select_list"], before, strict=True):
            item["alias"] = item["alias"] or name  # the name that the column would have had
    return changed


def _clock(node: Node) -> str:
    """The clock that a node reads, or nothing."""
    if node.get("class") == "COLUMN_REF":
        path = node["column_names"]
        name = fold(path[0]) if len(path) == 1 else ""
        return name if name in functions.CLOCK_COLUMNS else ""
    if node.get("class") == "FUNCTION" and not node["arguments"]:
        name = fold(node["function_name"])
        return name if name in functions.CLOCK else ""
    return ""


def _time(clock: str, now: datetime, alias: str) -> Node:
    """A time as a constant."""
    if clock in ("current_date", "today"):
        text, kind = now.date().isoformat(), "date"
    elif clock == "localtimestamp":
        text, kind = now.astimezone(UTC).replace(tzinfo=None).isoformat(" "), "TIMESTAMP"
    else:
        text, kind = now.astimezone(UTC).isoformat(" "), "timestamptz"
    constant = {"class": "CONSTANT", "type": "VALUE_CONSTANT", "alias": "", **_NOWHERE}
    named = {"class": "CAST", "type": "OPERATOR_CAST", "alias": alias, **_NOWHERE}
    return {
        **named,
        "child": {**constant, "literal": {"kind": "STRING", "text": text}},
        "try_cast": False,
        "type_expr": {
            "class": "TYPE",
            "type": "TYPE",
            "alias": "",
            **_NOWHERE,
            "catalog": "",
            "schema": "",
            "type_name": kind,
            "children": [],
            "qualified_name": {"path": [kind]},
        },
    }


def _sub_select(reference: Node, table: Table, copied: bool) -> Node:
    """The reference's alias and column names over a SELECT of the described columns."""
    where = "temp" if table.scope is not None or copied else ""
    path = [where, "main", table.name] if where else ["main", table.name]
    base = {
        **reference,
        "alias": "",
        "table_name": table.name,
        "schema_name": "main",
        "catalog_name": where,
        "column_name_alias": [],
        "qualified_name": {"path": path},
    }
    node: Node = {
        "type": "SELECT_NODE",
        "modifiers": [],
        "cte_map": {"map": []},
        "select_list": [_column(column.name) for column in table.columns],
        "from_table": base,
        "where_clause": None if table.scope is None else _is_subject(table.scope),
        "group_expressions": [],
        "group_sets": [],
        "aggregate_handling": "STANDARD_HANDLING",
        "having": None,
        "sample": None,
        "qualify": None,
    }
    return {
        "type": "SUBQUERY",
        "alias": reference["alias"] or reference["table_name"],
        "sample": None,
        **_NOWHERE,
        "subquery": {"node": node, "named_param_map": []},
        "column_name_alias": reference["column_name_alias"],
    }


def _column(name: str) -> Node:
    found = {"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", **_NOWHERE}
    return {**found, "column_names": [name]}


def _is_subject(column: str) -> Node:
    parameter = {"class": "PARAMETER", "type": "VALUE_PARAMETER", "alias": "", **_NOWHERE}
    return {
        "class": "COMPARISON",
        "type": "COMPARE_EQUAL",
        "alias": "",
        **_NOWHERE,
        "left": _column(column),
        "right": {**parameter, "identifier": SUBJECT},
    }


def _number(value: int) -> Node:
    constant = {"class": "CONSTANT", "type": "VALUE_CONSTANT", "alias": "", **_NOWHERE}
    return {**constant, "literal": {"kind": "INTEGER", "text": str(value)}}
