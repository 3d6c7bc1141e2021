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

from gate import confirmation, controller
from gate.configuration import Configuration
from gate.controller import decide
from gate.findings import Findings, find, from_core, to_core
from gate.records import (
    Abstain,
    Confirmed,
    Direction,
    Earlier,
    Equal,
    Situation,
    TierAnswer,
    Verdict,
    Write,
)
from gate.slots import PRIVATE, SlotFound
from tests.gate import small
from tests.gate.texts import INSTITUTIONS, NOW, cases, demo, proposal, request, situation

GATE = Path(controller.__file__).parent
TEXT = {
    "normalise", "lexicon", "clauses", "spot", "numbers", "amounts", "dates", "contacts", "values",
    "dialogue",
}  # fmt: skip
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
        "earlier": "Earlier",
    }


def test_p07_what_was_earlier_holds_ids_codes_and_values_only() -> None:
    """`slots` are canonical values of typed slots, `pins` values of typed predicates."""
    held = {
        kind: {f.name: f.type for f in dataclasses.fields(kind)}
        for kind in (Earlier, Confirmed, Write, Equal)
    }
    assert held == {
        Earlier: {
            "asked": "int",
            "refused": "str",
            "unfit": "str",
            "confirmed": "Confirmed | None",
            "equal": "Equal | None",
        },
        Confirmed: {"decision_id": "str", "write": "Write", "pins": "Mapping[str, str]"},
        Write: {"action_id": "str", "object_id": "str", "slots": "tuple[tuple[str, str], ...]"},
        Equal: {"decision_id": "str", "open": "bool", "done_at": "str"},
    }


# A decision depends on everything that was earlier, and on nothing but that and what it is given.

BUYING = small.findings("F1", direction=Direction.WRITE, asked=["BUY"])
BUYS, LOW = small.proposal("BUY"), Abstain("low", "fast")
DEPENDS: tuple[tuple[TierAnswer, Earlier, Earlier], ...] = (
    (LOW, Earlier(), Earlier(asked=3)),
    (LOW, Earlier(), Earlier(refused="EXPIRED")),
    (BUYS, Earlier(), Earlier(unfit="NO_CONNECTOR")),
    (BUYS, Earlier(), small.BUY_F1),
    (BUYS, Earlier(), Earlier(equal=Equal("d-1", True))),
    (BUYS, small.BUY_F1, dataclasses.replace(small.BUY_F1, equal=Equal("d-1", False))),
    (BUYS, small.BUY_F1, Earlier(confirmed=Confirmed("d-0", Write("SELL", "F1")))),
)


def bought(answer: TierAnswer, earlier: Earlier) -> Verdict:
    return decide(small.institution(), small.situation(small.BARE, None, earlier), BUYING, answer)


@pytest.mark.parametrize(("answer", "one", "other"), DEPENDS)
def test_p07_the_same_with_something_else_earlier_may_be_decided_otherwise(
    answer: TierAnswer, one: Earlier, other: Earlier
) -> None:
    assert bought(answer, one) != bought(answer, other)
    for earlier in (one, other):
        assert bought(answer, earlier) == bought(answer, dataclasses.replace(earlier))


def test_p07_which_decisions_they_were_decides_nothing() -> None:
    """Ids and times of earlier decisions are for the record and for what the customer is told."""
    write = Write("BUY", "F1")
    for open_ in (True, False):
        first, second = (
            Earlier(confirmed=Confirmed(i, write), equal=Equal(i, open_, at))
            for i, at in (("d-0", ""), ("d-7", "2026-12-01T08:59:00Z"))
        )
        assert bought(BUYS, first) == bought(BUYS, second)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def test_p07_findings_hold_ids_and_offsets_only() -> None:
    configuration = demo()
    known = {
        "",  # no object was chosen
        *configuration.languages,
        *configuration.catalog.actions,
        *configuration.registry.entries,
        *(d.value for d in Direction),
        *(s.object_id for s in request("", session="dana").session.objects),  # type: ignore[union-attr]
    }
    for case in (*cases("objects", "en"), *cases("direction", "en")):
        asked = request(case["text"], history=case.get("history", ()), session="dana")
        found = find(configuration, asked)
        assert not found.chosen
        held = set(strings(list(found._replace(slots=())))) - {m.status for m in found.mentions}
        held -= {m.status for t in found.history for m in t.mentions}
        assert held <= known, case["text"]


SENTENCES = [
    (tag, case)
    for tag in INSTITUTIONS
    for name in ("direction", "objects")
    for case in cases(name, tag)
]


def unmarked(value: Any) -> Any:
    """A core without its marks of what is personal."""
    if isinstance(value, dict):
        return (
            value[PRIVATE]
            if value.keys() == {PRIVATE}
            else {k: unmarked(v) for k, v in value.items()}
        )
    return [unmarked(item) for item in value] if isinstance(value, list) else value


def test_p07_equal_findings_decide_equally_whatever_was_said() -> None:
    """Every sentence, every action: the findings back from the record, which holds ids, offsets and, in
    the receipt, the values of slots."""
    for tag, case in SENTENCES:
        configuration = INSTITUTIONS[tag]()
        asked = request(
            case["text"],
            history=case.get("history", ()),
            session=case.get("session"),
            candidates=case.get("candidates"),
        )
        found = find(configuration, asked)
        recorded = from_core(unmarked(json.loads(json.dumps(to_core(found)))))
        for action in configuration.catalog.actions:
            for place in stages(configuration, situation(asked), found, action):
                here, there = (
                    decide(configuration, place, read, proposal(action))
                    for read in (found, recorded)
                )
                assert here == there, (case["text"], action)


def stages(
    configuration: Configuration, place: Situation, found: Findings, action: str
) -> Iterator[Situation]:
    """The situation before and, for a write that is asked about, after it was confirmed."""
    yield place
    verdict = decide(configuration, place, found, proposal(action))
    if confirmation.asks(verdict):
        yield small.confirming(configuration, place, verdict)


def shifted(found: Findings, by: int) -> Findings:
    """The same findings of a text that begins `by` characters later."""

    def moved(item: Any) -> Any:
        if isinstance(item, SlotFound):
            return item._replace(start=item.start + by, end=item.end + by)
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
            for place in stages(configuration, situation(asked), found, action):
                here, there = (
                    decide(configuration, place, read, proposal(action))
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
