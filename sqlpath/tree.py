"""The grammar of trees that admission reads: for every kind of node, each field and what it holds.

The trees are those of DuckDB's `json_serialize_sql`. A kind or a field that is not listed makes a
statement unsupported: a newer engine's new field is a question to a person, not a way in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Node = dict[str, Any]

LEAF: Final = "leaf"
"""A word, number or list of words that reaches nothing."""
ABSENT: Final = "absent"
"""Must be empty, false or null; any other value is unsupported."""
EXPRESSION: Final = "expression"
EXPRESSIONS: Final = "expressions"
ARGUMENTS: Final = "arguments"
ORDERS: Final = "orders"
WHENS: Final = "whens"
REPLACED: Final = "replaced"
QUERY: Final = "query"
STATEMENT: Final = "statement"
TABLE: Final = "table"
ROWS: Final = "rows"
MODIFIERS: Final = "modifiers"
CTES: Final = "ctes"
HANDLED: Final = "handled"
"""Read by the check of its own that this kind has."""

_CALL = {
    "function_name": HANDLED,
    "qualified_name": HANDLED,
    "schema": ABSENT,
    "catalog": ABSENT,
    "arguments": ARGUMENTS,
    "distinct": LEAF,
    "is_legacy_function_call": LEAF,
}
_PAIR = {"left": EXPRESSION, "right": EXPRESSION}
_QUERY = {"modifiers": MODIFIERS, "cte_map": CTES}

COMMON: Final = frozenset({"class", "type", "alias", "query_location", "query_location_length"})

CLASSES: Final[Mapping[str, Mapping[str, str]]] = {
    "BETWEEN": {"input": EXPRESSION, "lower": EXPRESSION, "upper": EXPRESSION},
    "CASE": {"case_checks": WHENS, "else_expr": EXPRESSION},
    "CAST": {"child": EXPRESSION, "type_expr": EXPRESSION, "try_cast": LEAF},
    "COLLATE": {"child": EXPRESSION, "collation": HANDLED},
    "COLUMN_REF": {"column_names": HANDLED},
    "COMPARISON": _PAIR,
    "CONJUNCTION": {"children": EXPRESSIONS},
    "CONSTANT": {"literal": LEAF},
    "FUNCTION": {
        **_CALL,
        "export_state": ABSENT,
        "filter": EXPRESSION,
        "is_operator": LEAF,
        "order_bys": ORDERS,
    },
    "OPERATOR": {"children": EXPRESSIONS},
    "PARAMETER": {"identifier": HANDLED},
    "STAR": {
        "columns": LEAF,
        "exclude_list": LEAF,
        "expr": EXPRESSION,
        "qualified_exclude_list": LEAF,
        "relation_name": LEAF,
        "rename_list": LEAF,
        "replace_list": REPLACED,
    },
    "SUBQUERY": {
        "child": EXPRESSION,
        "comparison_type": LEAF,
        "subquery": STATEMENT,
        "subquery_type": LEAF,
    },
    "TYPE": {
        "catalog": ABSENT,
        "children": EXPRESSIONS,
        "qualified_name": HANDLED,
        "schema": ABSENT,
        "type_name": HANDLED,
    },
    "WINDOW": {
        **_CALL,
        "arg_orders": ORDERS,
        "default_expr": EXPRESSION,
        "end": LEAF,
        "end_expr": EXPRESSION,
        "exclude_clause": LEAF,
        "filter_expr": EXPRESSION,
        "has_ignore_nulls": LEAF,
        "ignore_nulls": LEAF,
        "offset_expr": EXPRESSION,
        "orders": ORDERS,
        "partitions": EXPRESSIONS,
        "start": LEAF,
        "start_expr": EXPRESSION,
    },
}
"""Expressions by their class."""

OPERATORS: Final = frozenset(
    """
    ARRAY_EXTRACT ARRAY_SLICE COMPARE_IN COMPARE_NOT_IN GROUPING_FUNCTION OPERATOR_COALESCE
    OPERATOR_IS_NULL OPERATOR_IS_NOT_NULL OPERATOR_NOT OPERATOR_NULLIF STRUCT_EXTRACT
    """.split()
)
"""Types that the class OPERATOR may have."""

QUERIES: Final[Mapping[str, Mapping[str, str]]] = {
    "SELECT_NODE": {
        **_QUERY,
        "select_list": EXPRESSIONS,
        "from_table": TABLE,
        "where_clause": EXPRESSION,
        "group_expressions": EXPRESSIONS,
        "group_sets": LEAF,
        "aggregate_handling": LEAF,
        "having": EXPRESSION,
        "sample": ABSENT,
        "qualify": EXPRESSION,
    },
    "SET_OPERATION_NODE": {
        **_QUERY,
        "setop_type": LEAF,
        "setop_all": LEAF,
        "left": QUERY,
        "right": QUERY,
        "children": "queries",
    },
    "RECURSIVE_CTE_NODE": {
        **_QUERY,
        "cte_name": LEAF,
        "union_all": LEAF,
        "left": QUERY,
        "right": QUERY,
        "aliases": LEAF,
        "key_targets": ABSENT,
    },
}

TABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "BASE_TABLE": {
        "at_clause": ABSENT,
        "catalog_name": HANDLED,
        "column_name_alias": LEAF,
        "qualified_name": HANDLED,
        "sample": ABSENT,
        "schema_name": HANDLED,
        "table_name": HANDLED,
    },
    "EMPTY": {"sample": ABSENT},
    "EXPRESSION_LIST": {
        "expected_names": LEAF,
        "expected_types": ABSENT,
        "sample": ABSENT,
        "values": ROWS,
    },
    "JOIN": {
        "condition": EXPRESSION,
        "delim_flipped": ABSENT,
        "duplicate_eliminated_columns": ABSENT,
        "is_implicit": LEAF,
        "join_type": HANDLED,
        "left": TABLE,
        "nearest_approx": LEAF,
        "nearest_count": LEAF,
        "nearest_order_type": LEAF,
        "ranking_expression": ABSENT,
        "ref_type": HANDLED,
        "right": TABLE,
        "sample": ABSENT,
        "using_columns": LEAF,
    },
    "SUBQUERY": {"column_name_alias": LEAF, "sample": ABSENT, "subquery": STATEMENT},
}

JOINS: Final = frozenset({"INNER", "LEFT", "RIGHT", "OUTER", "FULL", "SEMI", "ANTI"})
JOINED: Final = frozenset({"REGULAR", "NATURAL", "CROSS", "LATERAL"})

MODIFIER_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "ORDER_MODIFIER": {"orders": ORDERS},
    "LIMIT_MODIFIER": {"limit": EXPRESSION, "offset": EXPRESSION, "limit_type": HANDLED},
    "DISTINCT_MODIFIER": {"distinct_on_targets": EXPRESSIONS},
}

CTE: Final[Mapping[str, str]] = {
    "aliases": LEAF,
    "materialized": LEAF,
    "key_targets": ABSENT,
    "payload_aggregates": ABSENT,
    "query_node": QUERY,
}
