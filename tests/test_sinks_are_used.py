"""Nothing leaves the packages but through `inference/sinks.py`, read from the source of every module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

import pytest

from tests.test_import_graph import SOURCES, imported, top

SINKS = "inference.sinks"
TERMINAL = "scripts.terminal"
REPORT = "eval.report"

PRINTS = {
    "scripts.environment": "prints constants for a shell, which reads them as they are",
    "training.router": "prints ASCII JSON; its bytes name the router that it makes",
}
WRITES_CSV = {
    SINKS: "the sink",
    "sqlpath.demo_data": "a staging file of made-up data for DuckDB, deleted after it was read",
}
ESCAPES = {
    "html": {SINKS},
    "markupsafe": {SINKS},
    "xml.sax.saxutils": {SINKS},
    "rich": {TERMINAL},
}
"""Libraries that write to a sink, and who may import them."""

WITHOUT_A_SINK = ("logging", "syslog", "curses", "jinja2", "matplotlib")
"""Not used so far. Who brings one adds its sink first, and then its place here."""

ECHOES = {"echo", "secho", "from_markup", "from_ansi"}
TAG = re.compile(
    r"</?(?:a|b|body|button|code|div|form|g|h[1-6]|head|html|i|img|input|li|link|meta|ol|p|pre|rect"
    r"|script|span|style|svg|table|td|text|th|title|tr|ul)[ />]",
    re.IGNORECASE,
)
DRAWS = {
    REPORT: {"body", "header", "texts", "table", "STYLE"},
    "eval.page": {
        *("STYLE", "''.join(bodies)", "''.join(parts)", "body", "cells", "head", "header"),
        *("kind", "legend", "n", "result.cases", "told"),
    },
    "eval.plots": {
        *("HEIGHT", "WIDTH", "_axis(scale)", "blank", "breakable(strip.label)", "grid(scale)"),
        *("kind", "lines", "note", "said", "strip.kind", "strip.marks", "ticks"),
    },
    "eval.intents.reliability": {
        *("heading", "told", "ends", "place", "dashed", "colour", "size", "below", "left"),
        *("EDGE", "SIDE", "''.join(parts)", "size - 8", "_x(share)", "_y(share)"),
        *("_x(b.confidence)", "_y(b.accuracy)"),
    },
}
"""Who puts HTML or SVG together, and what stands in it that is their own."""

NUMBER = re.compile(r"[defgn%]$")
"""A format that takes numbers alone."""


def called(node: ast.AST) -> str:
    """`module.function` of a call, `function` of a plain one, else nothing."""
    if not isinstance(node, ast.Call):
        return ""
    return ast.unparse(node.func)


def escaped(node: ast.expr) -> bool:
    """True for a call of a line sink, or for `*map(sink, lines)`."""
    sinks = {"sinks.terminal", "sinks.lines", "sinks.json_text"}
    if isinstance(node, ast.Starred):
        first = node.value.args[0] if isinstance(node.value, ast.Call) else None
        return called(node.value) == "map" and first is not None and ast.unparse(first) in sinks
    return called(node) in sinks


def print_faults(module: str, tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        name = called(node)
        if isinstance(node, ast.Call) and name == "print" and module not in PRINTS:
            if not all(map(escaped, node.args)):
                yield f"{module}:{node.lineno} prints without a sink"
        if isinstance(node, ast.Call) and name.rpartition(".")[2] in ECHOES:
            yield f"{module}:{node.lineno} calls {name}"
        if re.search(r"\b(stdout|stderr)(\.buffer)?\.write(lines)?$", name):
            yield f"{module} calls {name}"


def csv_faults(module: str, tree: ast.AST) -> Iterator[str]:
    names = {ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    names |= {
        f"csv.{alias.name}"
        for n in ast.walk(tree)
        if isinstance(n, ast.ImportFrom) and n.module == "csv"
        for alias in n.names
    }
    if names & {"csv.writer", "csv.DictWriter"} and module not in WRITES_CSV:
        yield f"{module} writes CSV without a sink"


def import_faults(module: str, source: str) -> Iterator[str]:
    for name in imported(module, source):
        for library, allowed in ESCAPES.items():
            if f"{name}.".startswith(f"{library}.") and module not in allowed:
                yield f"{module} imports {name}"
        if top(name) in WITHOUT_A_SINK:
            yield f"{module} imports {name}, which has no sink yet"


def rich_faults(module: str, tree: ast.AST) -> Iterator[str]:
    """In the terminal's module every text of rich is escaped, and no console reads markup."""
    if module != TERMINAL:
        return
    for node in ast.walk(tree):
        name = called(node)
        if isinstance(node, ast.Call) and name == "Console":
            off = {k.arg for k in node.keywords if ast.unparse(k.value) == "False"}
            if not {"markup", "emoji"} <= off:
                yield f"{module}:{node.lineno} a console that reads markup"
        if isinstance(node, ast.Call) and name == "Text" and not all(map(escaped, node.args)):
            yield f"{module}:{node.lineno} a text without a sink"


def html_faults(module: str, tree: ast.AST) -> Iterator[str]:
    """HTML is put together in one module; what stands in it is escaped or its own."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr):
            continue
        fixed = "".join(str(p.value) for p in node.values if isinstance(p, ast.Constant))
        if not TAG.search(fixed):
            continue
        if module not in DRAWS:
            yield f"{module}:{node.lineno} puts HTML together"
        for part in node.values:
            if isinstance(part, ast.FormattedValue) and not placed(part, module):
                yield f"{module}:{node.lineno} HTML without a sink"


def placed(part: ast.FormattedValue, module: str) -> bool:
    """True for what passed the sink, is a number, or is the module's own."""
    form = ast.unparse(part.format_spec)[2:-1] if part.format_spec else ""
    own = ast.unparse(part.value) in DRAWS.get(module, ())
    return own or called(part.value) == "sinks.html" or bool(NUMBER.search(form))


def markdown_faults(module: str, tree: ast.AST) -> Iterator[str]:
    """A heading or a table's row of Markdown holds only what passed the sink."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            if re.match(r"#{1,6} ", str(node.values[0].value)):
                parts = [p.value for p in node.values if isinstance(p, ast.FormattedValue)]
                if not all(called(part) == "sinks.markdown" for part in parts):
                    yield f"{module}:{node.lineno} Markdown without a sink"


def faults(sources: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    for module, source in sources.items():
        tree = ast.parse(source)
        for check in (print_faults, csv_faults, rich_faults, html_faults, markdown_faults):
            found.extend(check(module, tree))
        found.extend(import_faults(module, source))
    return found


def test_nothing_leaves_without_its_sink() -> None:
    assert faults(SOURCES) == []


def test_exceptions_are_still_needed() -> None:
    for module in PRINTS:
        assert "print(" in SOURCES[module]
    for module in WRITES_CSV:
        assert "csv.writer" in SOURCES[module]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("eval.asked", "print(text)"),
        ("eval.asked", "print(f'{text}')"),
        ("eval.asked", "print(sinks.terminal(a), b)"),
        ("eval.asked", "print(*lines)"),
        ("eval.asked", "print(*map(str, lines))"),
        ("eval.asked", "sys.stdout.write(text)"),
        ("eval.asked", "sys.stderr.buffer.write(text)"),
        ("scripts.commands.gate", "typer.echo(text)"),
        ("scripts.commands.gate", "from rich.console import Console"),
        ("scripts.terminal", "Console(stderr=True)"),
        ("scripts.terminal", "Text(line)"),
        ("scripts.terminal", "Text.from_markup(sinks.terminal(line))"),
        ("eval.asked", "csv.writer(file)"),
        ("eval.asked", "from csv import DictWriter"),
        ("inference.console", "from html import escape"),
        ("inference.console", "import jinja2"),
        ("inference.way", "import logging"),
        ("eval.figures", "from matplotlib import pyplot"),
        ("eval.report", "f'<td>{cell}</td>'"),
        ("inference.console", "f'<td>{sinks.html(cell)}</td>'"),
        ("eval.report", "f'## {part}'"),
    ],
)
def test_a_text_without_its_sink_is_found(module: str, source: str) -> None:
    assert faults({module: source}) != []


@pytest.mark.parametrize(
    "source",
    [
        "print(sinks.terminal(f'{a} {b}'), file=sys.stderr)",
        "print(sinks.json_text(value), flush=True)",
        "print(*map(sinks.terminal, lines), sep='\\n')",
        "csv.reader(file)",
        "f'{a} < {b}'",
    ],
)
def test_a_text_with_its_sink_is_no_fault(source: str) -> None:
    assert faults({"eval.asked": source}) == []
