"""Who may import whom (DESIGN.md, "Folders"), read from the source of every module.

    scripts, eval, training -> inference -> retrieval, sqlpath -> gate

Inside gate the core is closed over itself and the standard library; gate/load and gate/ledger may
use the core and their own few libraries. Tiers and backends may not reach evidence, execution of
SQL, or connectors, not even through another module.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("gate", "inference", "retrieval", "sqlpath", "training", "eval", "scripts")

MAY_IMPORT = {
    "gate": {"gate"},
    "retrieval": {"retrieval", "gate"},
    "sqlpath": {"sqlpath", "gate"},
    "inference": {"inference", "retrieval", "sqlpath", "gate"},
    "training": {"training", "inference", "gate"},
    "eval": {"eval", "inference", "gate"},
    "scripts": {"scripts", "eval", "training", "inference", "gate"},
}
LIBRARIES = {
    "gate": set(),
    "gate.load": {"pydantic", "pydantic_core", "yaml"},
    "gate.ledger": {"sqlalchemy", "rfc8785", "cryptography"},
}
# Files, clocks, chance, processes and the network come into the core as values or not at all.
IMPURE = {
    *("asyncio", "http", "io", "os", "pathlib", "random", "secrets", "shutil", "socket"),
    *("sqlite3", "ssl", "subprocess", "tempfile", "threading", "time", "urllib"),
}
CLOCKS = {"now", "utcnow", "today"}
NETWORK = {"asyncio", "http", "socket", "ssl", "urllib.request"}
PROPOSING = ("inference.tiers", "inference.backends")
ANSWERING = {"evidence", "execute", "execution", "connector", "connectors"}
SERVING = ("gate", "inference", "retrieval", "sqlpath")
LABELS = {
    "training/data": re.compile(r"training\W{1,8}data\b"),
    "eval/suites": re.compile(r"\beval\W{1,8}suites\b"),
}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {
    module_name(path): path.read_text(encoding="utf-8")
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
}


def imported(module: str, source: str, known: Iterable[str] = SOURCES) -> set[str]:
    """Every module named by an import anywhere in the source, `from a import b` as a.b if known."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(_from_names(module, node, set(known)))
    return names


def _from_names(module: str, node: ast.ImportFrom, known: set[str]) -> Iterator[str]:
    base = node.module or ""
    if node.level:
        base = ".".join([*module.split(".")[: -node.level], *filter(None, [node.module])])
    yield base
    yield from (name for alias in node.names if (name := f"{base}.{alias.name}") in known)


def top(module: str) -> str:
    return module.partition(".")[0]


def part_of_gate(module: str) -> str:
    """`gate.load` or `gate.ledger` for what lies in them, `gate` for the core."""
    return next(
        (p for p in ("gate.load", "gate.ledger") if f"{module}.".startswith(f"{p}.")), "gate"
    )


def graph_faults(sources: Mapping[str, str]) -> list[str]:
    faults = []
    for module, source in sources.items():
        for name in imported(module, source, sources):
            if top(name) in PACKAGES and top(name) not in MAY_IMPORT[top(module)]:
                faults.append(f"{module} imports {name}")
    return faults


def gate_faults(sources: Mapping[str, str]) -> list[str]:
    faults = []
    for module, source in sources.items():
        part = part_of_gate(module)
        allowed = {*sys.stdlib_module_names, *LIBRARIES[part]}
        for name in imported(module, source, sources):
            if top(name) == "gate":
                fault = part_of_gate(name) not in ("gate", part)
            else:
                fault = top(name) not in allowed or (part == "gate" and top(name) in IMPURE)
                fault |= any(f"{name}.".startswith(f"{network}.") for network in NETWORK)
            if fault:
                faults.append(f"{module} imports {name}")
    return faults


def clock_faults(sources: Mapping[str, str]) -> list[str]:
    return [
        f"{module} reads the clock: {ast.unparse(node)}"
        for module, source in sources.items()
        if part_of_gate(module) == "gate"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in CLOCKS
    ]


def with_parents(module: str) -> Iterator[str]:
    """A module and the packages around it, which are imported with it."""
    while module:
        yield module
        module = module.rpartition(".")[0]


def reachable(start: str, sources: Mapping[str, str]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for module in with_parents(waiting.pop()):
            if module in sources and module not in seen:
                seen.add(module)
                waiting.extend(imported(module, sources[module], sources))
    return seen


def proposing_faults(sources: Mapping[str, str]) -> list[str]:
    faults = []
    for module in sources:
        if f"{module}.".startswith(tuple(f"{prefix}." for prefix in PROPOSING)):
            for name in reachable(module, sources):
                reads_files = name.startswith("gate.load.")  # what is declared, not what it does
                answering = not reads_files and ANSWERING.intersection(name.split("."))
                if top(name) == "sqlpath" or answering:
                    faults.append(f"{module} reaches {name}")
    return faults


def without_docstrings(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            if isinstance(body[0].value, ast.Constant):
                body[0] = ast.Pass()
    return ast.unparse(tree)


def label_faults(sources: Mapping[str, str], labels: Iterable[str]) -> list[str]:
    return [
        f"{module} names {label}"
        for module, source in sources.items()
        for label in labels
        if LABELS[label].search(without_docstrings(source))
    ]


def only(*packages: str) -> dict[str, str]:
    return {name: source for name, source in SOURCES.items() if top(name) in packages}


def test_packages_import_only_downwards() -> None:
    assert graph_faults(SOURCES) == []


def test_gate_core_is_standard_library_only_and_pure() -> None:
    assert gate_faults(only("gate")) == []
    assert clock_faults(only("gate")) == []


def test_tiers_and_backends_reach_no_evidence_execution_or_connector() -> None:
    assert proposing_faults(SOURCES) == []


def test_serving_code_names_no_labels() -> None:
    assert label_faults(only(*SERVING), LABELS) == []


def test_training_names_no_held_out_labels() -> None:
    assert label_faults(only("training"), ["eval/suites"]) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("gate.rules", "import inference.tiers"),
        ("retrieval.index", "from sqlpath.execute import run"),
        ("sqlpath.execute", "def f():\n    from inference import encoder"),
        ("eval.report", "from retrieval import index"),
        ("training.router", "import eval.metrics"),
        ("inference.answer", "from scripts import cli"),
    ],
)
def test_upward_import_is_found(module: str, source: str) -> None:
    assert graph_faults({module: source}) != []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("gate.rules", "import yaml"),
        ("gate.rules", "from .load import catalog"),
        ("gate.rules", "from gate import ledger"),
        ("gate.rules", "import os.path"),
        ("gate.rules", "from time import monotonic"),
        ("gate.load.files", "import sqlalchemy"),
        ("gate.load.files", "from gate.ledger import store"),
        ("gate.load.files", "from urllib.request import urlopen"),
        ("gate.ledger.store", "import yaml"),
        ("gate.ledger.store", "from gate.load import files"),
    ],
)
def test_foreign_import_in_gate_is_found(module: str, source: str) -> None:
    others = {"gate": "", "gate.load": "", "gate.ledger": ""}
    assert gate_faults({**others, module: source}) != []


def test_clock_in_the_core_is_found() -> None:
    assert clock_faults({"gate.rules": "from datetime import datetime\nx = datetime.now()"}) != []


@pytest.mark.parametrize("name", ["gate.evidence", "sqlpath.queries", "inference.connectors.demo"])
def test_answering_module_behind_another_one_is_found(name: str) -> None:
    sources = {
        "inference.tiers.fast": "from inference import shared",
        "inference.shared": f"import {name}",
        name: "",
    }
    assert proposing_faults(sources) == [f"inference.tiers.fast reaches {name}"]


@pytest.mark.parametrize(
    "source",
    [
        "open('training/data/demo/x.jsonl')",
        "Path('training') / 'data'",
        "os.path.join('eval', 'suites')",
        "from eval.suites import demo",
    ],
)
def test_path_to_labels_is_found(source: str) -> None:
    assert label_faults({"inference.tiers.fast": source}, LABELS) != []


def test_label_folder_in_a_docstring_is_no_fault() -> None:
    assert label_faults({"gate.rules": '"""Labels lie in training/data."""'}, LABELS) == []
