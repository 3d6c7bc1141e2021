"""Admission: a statement gets one of four frozen verdicts, and what is unknown is unsupported.

The engine itself splits and parses the text (`Parsed`); here its tree is read node by node against
`tree.py`. Every kind of node and every field of it must be listed, every table described, every
function and type on its list. What comes out is a tree, not a text: the rewriter (`scope.py`) works
on exactly what was read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlpath import functions, tree
from sqlpath.schema import Schema, Table, fold
from sqlpath.tree import Node


@dataclass(frozen=True, slots=True)
class Bounds:
    """Largest statement: characters, nested expressions and queries, nodes, tables and CTEs."""

    characters: int = 20_000
    depth: int = 120
    queries: int = 16
    nodes: int = 5_000
    tables: int = 16
    ctes: int = 24


@dataclass(frozen=True, slots=True)
class Parsed:
    """What the engine's splitter and parser made of a text.

    `statements` counts what the splitter found, `tree` is the JSON of `json_serialize_sql`, and
    `error` the class of its parser's error, empty if there is none.
    """

    statements: int
    tree: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Admit:
    """The statement may run: its tree, the described tables it reads, whether it bounds its rows."""

    tree: Node
    tables: tuple[Table, ...]
    limited: bool


@dataclass(frozen=True, slots=True)
class Refuse:
    """The statement asks for what no query may do; `node` is the offending part of its text."""

    reason: str
    node: str


@dataclass(frozen=True, slots=True)
class NeedsPermission:
    """The statement reads rows that belong to somebody, and no subject is verified."""

    table: str


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Nothing here says that this may run: `what` is the unlisted kind, field or value."""

    what: str
    node: str


Verdict = Admit | Refuse | NeedsPermission | Unsupported

ROOT_LIMIT: Final = "LIMIT_MODIFIER"

_ODD: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
"""Control characters, at some of which the engine ends itself, and halves of a surrogate pair."""


class _StopError(Exception):
    """Ends the walk with a verdict."""

    def __init__(self, verdict: Refuse | Unsupported) -> None:
        self.verdict = verdict
        super().__init__(str(verdict))


def admit(
    text: str,
    parsed: Parsed,
    schema: Schema,
    *,
    verified_subject: bool,
    parameters: frozenset[str] = frozenset(),
    bounds: Bounds | None = None,
) -> Verdict:
    """The verdict on one statement; never raises for any text or tree.

    `parameters` are the names that may stand as `$name`; a model's statement has none.
    """
    limits = bounds or Bounds()
    if len(text) > limits.characters:
        return Refuse("too_long", "")
    if _ODD.search(text):
        return Unsupported("character", "")
    if parsed.error:
        return Unsupported(parsed.error, "")
    if parsed.statements != 1:
        return Refuse("not_one_statement", "")
    walk = _Walk(text.encode("utf-8", "replace"), schema, parameters, limits)
    try:
        root = _root(parsed.tree)
        walk.query(root, frozenset(), 1, 1)
    except _StopError as stop:
        return stop.verdict
    except RecursionError:
        return Refuse("too_deep", "")
    tables = tuple(schema.tables[name] for name in sorted(walk.read))
    scoped = next((table for table in tables if table.scope is not None), None)
    if scoped is not None and not verified_subject:
        return NeedsPermission(scoped.name)
    return Admit(root, tables, any(m["type"] == ROOT_LIMIT for m in root["modifiers"]))


def _root(text: str) -> Node:
    try:
        parsed = json.loads(text)
        if parsed.get("error") is not False:
            raise _StopError(Unsupported(_word(parsed.get("error_type")), ""))
        (statement,) = parsed["statements"]
        root = statement["node"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _StopError(Unsupported("tree", "")) from error
    if not isinstance(root, dict):
        raise _StopError(Unsupported("tree", ""))
    return root


def _word(value: object) -> str:
    return value.replace(" ", "_")[:40] if isinstance(value, str) else "parser"


@dataclass(slots=True)
class _Walk:
    """One reading of a tree; `read` collects the described tables in it."""

    text: bytes
    schema: Schema
    parameters: frozenset[str]
    bounds: Bounds
    read: set[str] = field(default_factory=set)
    nodes: int = 0
    references: int = 0
    ctes: int = 0

    # ---- verdicts -------------------------------------------------------------------------------
    def shown(self, node: object) -> str:
        """The node's part of the text, at most 80 characters."""
        if not isinstance(node, dict):
            return ""
        start, length = node.get("query_location"), node.get("query_location_length")
        if not isinstance(start, int) or not isinstance(length, int) or start > len(self.text):
            return _word(node.get("type"))
        return self.text[start : start + length].decode("utf-8", "replace")[:80]

    def refuse(self, reason: str, node: object) -> _StopError:
        return _StopError(Refuse(reason, self.shown(node)))

    def unsupported(self, what: str, node: object) -> _StopError:
        return _StopError(Unsupported(what, self.shown(node)))

    # ---- nodes ----------------------------------------------------------------------------------
    def query(self, node: object, names: frozenset[str], depth: int, queries: int) -> None:
        """A query; `names` are the CTEs that it sees."""
        if queries > self.bounds.queries:
            raise self.refuse("too_deep", node)
        kind = self.kind(node)
        if kind not in tree.QUERIES:
            if kind.endswith("_NODE"):
                raise self.refuse("not_a_select", node)
            raise self.unsupported(kind, node)
        assert isinstance(node, dict)  # noqa: S101 - `kind` found a type in it
        inner = self.with_ctes(node, names, depth, queries)
        if kind == "RECURSIVE_CTE_NODE":
            inner |= {fold(str(node.get("cte_name")))}
        self.fields(node, tree.QUERIES[kind], inner, depth, queries)

    def with_ctes(
        self, node: Node, names: frozenset[str], depth: int, queries: int
    ) -> frozenset[str]:
        """Read the node's CTEs, each seeing those before it; the names that its query sees."""
        listed = node.get("cte_map")
        entries = listed.get("map") if isinstance(listed, dict) and set(listed) == {"map"} else None
        if not isinstance(entries, list):
            raise self.unsupported("cte_map", node)
        for entry in entries:
            if not isinstance(entry, dict) or set(entry) != {"key", "value"}:
                raise self.unsupported("cte_map", node)
            name, value = fold(str(entry["key"])), entry["value"]
            self.ctes += 1
            if self.ctes > self.bounds.ctes:
                raise self.refuse("too_many_ctes", node)
            if self.schema.find(name) is not None:
                raise _StopError(Refuse("table_shadowed", name[:80]))
            if not isinstance(value, dict):
                raise self.unsupported("cte_map", node)
            self.fields(value, tree.CTE, names, depth + 1, queries)
            names = names | {name}
        return names

    def kind(self, node: object) -> str:
        """The node's type, counted; anything without one is unsupported."""
        self.nodes += 1
        if self.nodes > self.bounds.nodes:
            raise self.refuse("too_many_nodes", None)
        if not isinstance(node, dict) or not isinstance(node.get("type"), str):
            raise self.unsupported("tree", node)
        return str(node["type"])

    def fields(
        self,
        node: Node,
        listed: Mapping[str, str],
        names: frozenset[str],
        depth: int,
        queries: int,
    ) -> None:
        """Every field of a node by what its list says that it holds."""
        if depth > self.bounds.depth:
            raise self.refuse("too_deep", node)
        if fold(str(node.get("alias"))) in functions.CLOCK_COLUMNS:
            raise self.unsupported("alias", node)
        for name, value in node.items():
            if name in tree.COMMON:
                continue
            if name not in listed:
                raise self.unsupported(f"{_word(node.get('type'))}.{name}"[:80], node)
            self.value(listed[name], name, value, node, names, depth, queries)

    def value(
        self,
        holds: str,
        name: str,
        value: Any,
        node: Node,
        names: frozenset[str],
        depth: int,
        queries: int,
    ) -> None:
        """One field's value."""
        match holds:
            case tree.LEAF:
                if not _is_leaf(value):
                    raise self.unsupported(name, node)
            case tree.ABSENT:
                if value not in (None, False, "", []):
                    raise self.unsupported(name, node)
            case tree.EXPRESSION | tree.TABLE | tree.QUERY if value is None:
                pass
            case tree.EXPRESSION:
                self.expression(value, names, depth + 1, queries)
            case tree.TABLE:
                self.table(value, names, depth + 1, queries)
            case tree.QUERY:
                self.query(value, names, depth + 1, queries)
            case tree.STATEMENT:
                self.query(self.statement(value, node), names, depth + 1, queries + 1)
            case tree.HANDLED | tree.CTES:
                pass
            case _:
                for kind, item in self.items(holds, value, node):
                    self.value(kind, name, item, node, names, depth, queries)

    def items(self, holds: str, value: Any, node: Node) -> Iterator[tuple[str, Any]]:
        """The parts of a list, each with what it holds."""
        if holds == tree.ORDERS and isinstance(value, dict):
            if value.get("type") != "ORDER_MODIFIER" or set(value) - {"type", "orders"}:
                raise self.unsupported("order_bys", node)
            value = value["orders"]
        if not isinstance(value, list):
            raise self.unsupported(holds, node)
        for item in value:
            if holds == tree.EXPRESSIONS:
                yield tree.EXPRESSION, item
            elif holds == "queries":
                yield tree.QUERY, item
            elif holds == tree.ROWS:
                yield tree.EXPRESSIONS, item
            elif holds == tree.MODIFIERS:
                yield from self.modifier(item)
            else:
                yield from self.pairs(holds, item, node)

    def pairs(self, holds: str, item: Any, node: Node) -> Iterator[tuple[str, Any]]:
        """The expressions inside an argument, a sort key, a case or a replaced column."""
        shape = {
            tree.ARGUMENTS: ({"name", "expression"}, ("expression",)),
            tree.ORDERS: ({"type", "null_order", "expression"}, ("expression",)),
            tree.WHENS: ({"when_expr", "then_expr"}, ("when_expr", "then_expr")),
            tree.REPLACED: ({"key", "value"}, ("value",)),
        }[holds]
        if not isinstance(item, dict) or set(item) != shape[0]:
            raise self.unsupported(holds, node)
        for name in shape[1]:
            yield tree.EXPRESSION, item[name]

    def modifier(self, item: Any) -> Iterator[tuple[str, Any]]:
        """The parts of ORDER BY, LIMIT or DISTINCT."""
        kind = self.kind(item)
        listed = tree.MODIFIER_FIELDS.get(kind)
        if listed is None or set(item) - set(listed) - {"type"}:
            raise self.unsupported(kind, item)
        if kind == ROOT_LIMIT and item.get("limit_type") != "ROW_COUNT":
            raise self.unsupported("limit_type", item)
        yield from ((listed[name], item[name]) for name in item if name != "type")

    def statement(self, value: Any, node: Node) -> Any:
        """The query inside a sub-select, which brings no parameters of its own."""
        if not isinstance(value, dict) or set(value) - {"node", "named_param_map"}:
            raise self.unsupported("subquery", node)
        return value.get("node")

    # ---- expressions ----------------------------------------------------------------------------
    def expression(self, node: Any, names: frozenset[str], depth: int, queries: int) -> None:
        """An expression; its class says which fields it has."""
        kind = self.kind(node)
        listed = tree.CLASSES.get(str(node.get("class")))
        if listed is None:
            raise self.unsupported(kind, node)
        match node["class"]:
            case "FUNCTION":
                self.called(node, functions.CALLED)
            case "WINDOW":
                self.called(node, functions.WINDOWED)
            case "OPERATOR" if kind not in tree.OPERATORS:
                raise self.unsupported(kind, node)
            case "TYPE":
                self.one_of(node, "type_name", functions.TYPES, "type_not_allowed")
            case "COLLATE":
                if fold(str(node.get("collation"))) not in functions.COLLATIONS:
                    raise self.refuse("collation_not_allowed", node)
            case "PARAMETER":
                if node.get("identifier") not in self.parameters:
                    raise self.refuse("parameter_not_declared", node)
            case "COLUMN_REF":
                self.column(node)
        self.fields(node, listed, names, depth, queries)

    def called(self, node: Node, allowed: frozenset[str]) -> None:
        clock = allowed is functions.CALLED and not node.get("arguments")
        name = fold(str(node.get("function_name")))
        if clock and name in functions.CLOCK and _path(node) == [name]:
            return
        self.one_of(node, "function_name", allowed, "function_not_allowed")

    def one_of(self, node: Node, key: str, allowed: frozenset[str], reason: str) -> None:
        """The node's name is one word on the list, and its path says the same."""
        name = fold(str(node.get(key)))
        if name not in allowed or _path(node) != [name]:
            raise self.refuse(reason, node)

    def column(self, node: Node) -> None:
        """Names of columns; the engine reads some lone ones as calls if no column bears them."""
        path = node.get("column_names")
        if not isinstance(path, list) or not path or not all(isinstance(p, str) for p in path):
            raise self.unsupported("column_names", node)
        name = fold(path[0])
        described = any(t.column(name) is not None for t in self.schema.tables.values())
        if len(path) == 1 and name in functions.SESSION and not described:
            raise self.refuse("function_not_allowed", node)

    # ---- tables ---------------------------------------------------------------------------------
    def table(self, node: Any, names: frozenset[str], depth: int, queries: int) -> None:
        """What stands in FROM."""
        kind = self.kind(node)
        if kind == "TABLE_FUNCTION":
            raise self.refuse("table_function", node)
        if kind not in tree.TABLES:
            raise self.unsupported(kind, node)
        if kind == "BASE_TABLE":
            self.base_table(node, names)
        if kind == "JOIN" and (
            node.get("join_type") not in tree.JOINS or node.get("ref_type") not in tree.JOINED
        ):
            raise self.unsupported(f"{node.get('ref_type')} {node.get('join_type')}"[:80], node)
        self.fields(node, tree.TABLES[kind], names, depth, queries)

    def base_table(self, node: Node, names: frozenset[str]) -> None:
        """A name in FROM: a CTE that is seen here, or a described table, and nothing else."""
        self.references += 1
        if self.references > self.bounds.tables:
            raise self.refuse("too_many_tables", node)
        name = fold(str(node.get("table_name")))
        if node.get("catalog_name") or node.get("schema_name") or _path(node) != [name]:
            raise self.refuse("table_not_described", node)
        if name in names:
            return
        if self.schema.find(name) is None:
            raise self.refuse("table_not_described", node)
        self.read.add(name)


def _path(node: Node) -> list[str]:
    """The node's qualified name in small letters."""
    qualified = node.get("qualified_name")
    path = qualified.get("path") if isinstance(qualified, dict) else None
    return [fold(str(part)) for part in path] if isinstance(path, list) else []


def _is_leaf(value: Any) -> bool:
    """True for words, numbers and small mappings of them that hold no node."""
    if isinstance(value, dict):
        return "class" not in value and "type" not in value and all(map(_is_leaf, value.values()))
    if isinstance(value, list):
        return all(map(_is_leaf, value))
    return value is None or isinstance(value, (str, int, float))
