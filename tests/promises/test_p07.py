"""P-07: state rules never read text: equal state, session, candidates, clock, dialogue, proposal,
findings and configuration give an equal decision."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gate import controller
from gate.controller import decide
from gate.findings import Findings, find, from_core, to_core
from gate.records import Direction, Situation, Verdict
from tests.gate.texts import INSTITUTIONS, NOW, cases, demo, proposal, request, situation

GATE = Path(controller.__file__).parent
TEXT = {"normalise", "lexicon", "clauses"}
"""The modules that read text."""


def imported(module: str) -> set[str]:
    """The gate's own modules that one of them imports directly."""
    tree = ast.parse((GATE / f"{module}.py").read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "gate":
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gate."):
            names.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            names |= {a.name.split(".")[1] for a in node.names if a.name.startswith("gate.")}
    return names


def reached(module: str) -> set[str]:
    """Everything that a module imports, directly or not."""
    found: set[str] = set()
    waiting = {module}
    while waiting:
        new = imported(waiting.pop()) - found
        found |= new
        waiting |= new
    return found


@pytest.mark.parametrize("module", ["state", "conditions", "rules", "records", "contract"])
def test_p07_the_engine_reaches_no_module_that_reads_text(module: str) -> None:
    assert not reached(module) & {*TEXT, "direction", "objects", "findings", "resolution"}


@pytest.mark.parametrize("module", ["controller", "resolution"])
def test_p07_the_controller_imports_no_module_that_reads_text(module: str) -> None:
    assert not imported(module) & TEXT


def test_p07_a_decision_is_given_no_text() -> None:
    assert list(inspect.signature(decide).parameters) == [
        "configuration", "situation", "findings", "answer", "switches",
    ]  # fmt: skip
    fields = {f.name: f.type for f in dataclasses.fields(Situation)}
    assert fields == {
        "state": "Mapping[str, Any]",
        "now": "datetime",
        "session": "Session | None",
        "candidates": "tuple[str, ...] | None",
    }


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def test_p07_findings_hold_ids_and_offsets_only() -> None:
    configuration = demo()
    known = {
        *configuration.languages,
        *configuration.catalog.actions,
        *configuration.registry.entries,
        *(d.value for d in Direction),
        *(s.object_id for s in request("", session="dana").session.objects),  # type: ignore[union-attr]
    }
    for case in (*cases("objects", "en"), *cases("direction", "en")):
        asked = request(case["text"], history=case.get("history", ()), session="dana")
        found = find(configuration, asked)
        held = set(strings(list(found))) - {m.status for m in found.mentions}
        held -= {m.status for t in found.history for m in t.mentions}
        assert held <= known, case["text"]


SENTENCES = [
    (tag, case)
    for tag in INSTITUTIONS
    for name in ("direction", "objects")
    for case in cases(name, tag)
]


def test_p07_equal_findings_decide_equally_whatever_was_said() -> None:
    """Every sentence, every action: the findings back from the record, which holds no text."""
    for tag, case in SENTENCES:
        configuration = INSTITUTIONS[tag]()
        asked = request(
            case["text"],
            history=case.get("history", ()),
            session=case.get("session"),
            candidates=case.get("candidates"),
        )
        found = find(configuration, asked)
        recorded = from_core(json.loads(json.dumps(to_core(found))))
        for action in configuration.catalog.actions:
            verdicts = {
                decide(configuration, situation(asked), read, proposal(action))
                for read in (found, recorded)
            }
            assert len(verdicts) == 1, (case["text"], action)


def shifted(found: Findings, by: int) -> Findings:
    """The same findings of a text that begins `by` characters later."""

    def moved(item: Any) -> Any:
        if isinstance(item, tuple) and len(item) >= 2 and type(item[0]) is int:
            rest = (item[0] + by, item[1] + by, *item[2:])
            return type(item)(*rest) if hasattr(item, "_fields") else rest
        if isinstance(item, tuple) and hasattr(item, "_fields"):
            return type(item)(*map(moved, item))
        return tuple(map(moved, item)) if isinstance(item, tuple) else item

    return Findings(*map(moved, found))


def test_p07_where_something_stands_decides_nothing() -> None:
    for tag, case in SENTENCES:
        configuration = INSTITUTIONS[tag]()
        asked = request(case["text"], history=case.get("history", ()), session=case.get("session"))
        found = find(configuration, asked)
        for action in configuration.catalog.actions:
            here, there = (
                decide(configuration, situation(asked), read, proposal(action))
                for read in (found, shifted(found, 1000))
            )
            assert here == there, (case["text"], action)


SAME = (
    ("Freeze my debit card.", "FREEZE my debit card!"),
    ("what is the price of HLGRX", "what is the price of hlgrx"),
    ("price of HLGRX, dear colleague", "price of HLGRX, kind stranger"),
)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_p07_texts_with_equal_findings_get_equal_verdicts(one: str, other: str) -> None:
    configuration = demo()

    def verdicts(text: str) -> list[Verdict]:
        asked = request(text, session="dana")
        read = find(configuration, asked)
        where = Situation(asked.state, NOW, asked.session)
        return [
            decide(configuration, where, read, proposal(a)) for a in configuration.catalog.actions
        ]

    first, second = (find(configuration, request(t, session="dana")) for t in (one, other))
    assert first == second
    assert verdicts(one) == verdicts(other)
