"""Admission: every statement of the fixture gets its verdict, and what is unknown is unsupported."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, fields
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlpath import functions
from sqlpath.admit import (
    Admit,
    Bounds,
    NeedsPermission,
    Parsed,
    Refuse,
    Unsupported,
    Verdict,
    admit,
)
from sqlpath.schema import Schema, fold
from tests.sqlpath.blocks import FIXTURES, Block, blocks

Judge = Callable[..., Verdict]
CASES = blocks(FIXTURES / "admission.sql")


def said(verdict: Verdict) -> str:
    match verdict:
        case Admit(tables=tables):
            return " ".join(("admit", *(table.name for table in tables)))
        case Refuse(reason=reason):
            return f"refuse {reason}"
        case NeedsPermission(table=table):
            return f"needs_permission {table}"
        case Unsupported(what=what):
            return f"unsupported {what}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.place)
def test_statement_gets_its_verdict(judge: Judge, case: Block) -> None:
    assert said(judge(case.text)) == case.head


def test_rows_of_somebody_need_a_verified_subject(judge: Judge) -> None:
    assert judge("SELECT name FROM accounts", subject=False) == NeedsPermission("accounts")
    assert judge("SELECT (SELECT max(name) FROM accounts)", subject=False) == NeedsPermission(
        "accounts"
    )
    assert isinstance(judge("SELECT day FROM days", subject=False), Admit)


def test_verdicts_are_frozen() -> None:
    for verdict in (
        Admit({}, (), True),
        Refuse("a", "b"),
        NeedsPermission("a"),
        Unsupported("a", "b"),
    ):
        with pytest.raises(FrozenInstanceError):
            setattr(verdict, fields(verdict)[0].name, "other")


def test_offending_part_is_shown(judge: Judge) -> None:
    assert judge("SELECT 'é', pg_sleep(1) FROM days") == Refuse(
        "function_not_allowed", "pg_sleep(1)"
    )
    assert judge("SELECT * FROM '/etc/passwd'") == Refuse("table_not_described", "'/etc/passwd'")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT 1 -- " + "x" * 20_000, "too_long"),
        ("SELECT " + "+".join(["1"] * 300), "too_deep"),
        ("SELECT * FROM (" * 40 + "SELECT 1" + ")" * 40, "too_deep"),
        ("SELECT " + ",".join(["1"] * 6_000), "too_many_nodes"),
        ("SELECT 1 FROM days" + ",days" * 16, "too_many_tables"),
        (
            "WITH " + ",".join(f"c{n} AS (SELECT 1)" for n in range(800)) + " SELECT 1",
            "too_many_ctes",
        ),
    ],
)
def test_statement_beyond_a_bound_is_refused(judge: Judge, text: str, reason: str) -> None:
    verdict = judge(text)
    assert isinstance(verdict, Refuse)
    assert verdict.reason == reason


def test_nested_ctes_are_bounded(judge: Judge) -> None:
    text = "SELECT 1 AS a"
    for n in range(800):
        text = f"WITH c{n} AS ({text}) SELECT * FROM c{n}"  # noqa: S608
    assert isinstance(judge(text), (Refuse, Unsupported))


def test_limit_of_the_whole_statement_is_seen(judge: Judge) -> None:
    for text, limited in (
        ("SELECT day FROM days LIMIT 3", True),
        ("SELECT day FROM days", False),
        ("SELECT day FROM (SELECT * FROM days LIMIT 3)", False),
        ("SELECT 1 UNION SELECT 2 LIMIT 1", True),
    ):
        verdict = judge(text)
        assert isinstance(verdict, Admit)
        assert verdict.limited == limited


def test_declared_parameter_is_admitted(schema: Schema) -> None:
    connection = duckdb.connect()
    text = "SELECT name FROM accounts WHERE name = $object"
    tree = connection.execute("SELECT json_serialize_sql(?)", [text]).fetchall()[0][0]
    parsed = Parsed(1, tree)
    names = frozenset({"object"})
    assert isinstance(admit(text, parsed, schema, verified_subject=True, parameters=names), Admit)
    assert admit(text, parsed, schema, verified_subject=True) == Refuse(
        "parameter_not_declared", "$object"
    )


def places(value: Any) -> Iterator[dict[str, Any]]:
    """Every node of a tree."""
    if isinstance(value, dict):
        yield value
    for item in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from places(item)


ADMITTED = [case.text for case in CASES if case.head.startswith("admit")]


def trees() -> Iterator[tuple[str, Any]]:
    connection = duckdb.connect()
    for text in ADMITTED:
        found = connection.execute("SELECT json_serialize_sql(?)", [text]).fetchall()
        yield text, json.loads(found[0][0])


def test_unknown_field_of_any_node_is_unsupported(schema: Schema) -> None:
    """A later engine's field, whatever it may mean, closes the door."""
    tried = 0
    for text, tree in trees():
        for place in range(len(list(places(tree["statements"][0]["node"])))):
            changed = copy.deepcopy(tree)
            node = list(places(changed["statements"][0]["node"]))[place]
            if "type" not in node and "query_node" not in node:
                continue
            node["new_field"] = {"class": "FUNCTION", "type": "FUNCTION"}
            verdict = admit(text, Parsed(1, json.dumps(changed)), schema, verified_subject=True)
            assert isinstance(verdict, Unsupported), (text, node)
            tried += 1
    assert tried > 250


def test_unknown_kind_of_any_node_is_not_admitted(schema: Schema) -> None:
    for text, tree in trees():
        for place in range(len(list(places(tree["statements"][0]["node"])))):
            for key in ("type", "class"):
                changed = copy.deepcopy(tree)
                node = list(places(changed["statements"][0]["node"]))[place]
                if key not in node or str(node[key]).startswith(
                    ("ORDER_", "COMPARE", "CONJUNCTION")
                ):
                    continue
                if key == "type" and node.get("class") not in (None, "OPERATOR"):
                    continue
                if node[key] in ("ASCENDING", "DESCENDING"):
                    continue
                node[key] = "SOMETHING_NEW"
                verdict = admit(text, Parsed(1, json.dumps(changed)), schema, verified_subject=True)
                assert not isinstance(verdict, Admit), (text, node)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "error",
                        "statements",
                        "node",
                        "type",
                        "class",
                        "modifiers",
                        "cte_map",
                        "select_list",
                        "map",
                    ]
                )
                | st.text(),
                inner,
            )
        ),
    )
)
def test_no_tree_makes_admission_raise(schema: Schema, value: Any) -> None:
    for tree in (json.dumps(value), json.dumps({"error": False, "statements": [{"node": value}]})):
        assert not isinstance(
            admit("SELECT 1", Parsed(1, tree), schema, verified_subject=True), Admit
        )


@given(st.text())
def test_no_text_makes_admission_raise(judge: Judge, text: str) -> None:
    verdict = judge(text)
    assert isinstance(verdict, (Refuse, Unsupported)) or not verdict.tables


def test_names_are_compared_as_the_engine_compares_them() -> None:
    assert fold("Accounts") == "accounts"
    assert fold("\u212a") == "\u212a"  # the Kelvin sign, whose small letter is k elsewhere


def test_listed_functions_exist_and_none_reaches_out() -> None:
    connection = duckdb.connect()
    known = {
        row[0]
        for row in connection.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE database_name = 'system'"
        ).fetchall()
    }
    special = {"unnest", "coalesce", "ifnull", "if", "initcap", "rank_dense"} | functions.WINDOWS
    assert functions.CALLED - known - special - {"//", "!~~*", "~~~"} == set()
    forbidden = ("read_", "pragma", "duckdb_", "getvariable", "current_setting", "query", "sleep")
    assert not [n for n in functions.CALLED | functions.WINDOWED if n.startswith(forbidden)]


def test_bounds_are_what_is_written() -> None:
    assert Bounds() == Bounds(20_000, 120, 16, 5_000, 16, 24)
