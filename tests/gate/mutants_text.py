"""Hand-made mutants of what reads text: each a plausible mistake, as one replacement of source text.

The same kind as `tests/gate/mutants.py`, for the modules from clauses to evidence. A mutant is loaded
as a changed copy of one module and copies of those after it in `PARTS`, and has to fail the battery:
the sentences of tests/fixtures/gate, and a few cases for contract, controller and evidence.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

import gate
from gate.evidence import Evidence, Statement
from gate.records import NONE, Abstain, OutOfScope, Switches, Unparsed
from tests.gate import small, texts, writes_battery
from tests.gate.engine import blocking, default

GATE = Path(str(gate.__path__[0]))
PARTS = (
    "clauses",
    "complement",
    "coverage",
    "government",
    "direction",
    "objects",
    "findings",
    "resolution",
    "contract",
    "masking",
    "confirmation",
    "controller",
    "dialogue",
    "evidence",
)
"""The modules, each importing only earlier ones among them."""


@dataclass(frozen=True)
class Mutant:
    """In `gate/<part>.py` the text `old`, which stands there once, becomes `new`."""

    part: str
    name: str
    old: str
    new: str


def load() -> tuple[Mutant, ...]:
    """All mutants of tests/fixtures/gate/mutants.yaml, by module and in the file's order."""
    text = (texts.FIXTURES / "mutants.yaml").read_text(encoding="utf-8")
    return tuple(
        Mutant(part, **changes) for part, group in yaml.safe_load(text).items() for changes in group
    )


MUTANTS = load()


@dataclass(frozen=True)
class Reader:
    """The modules under test; a mutant is the same record around changed copies."""

    modules: Mapping[str, ModuleType]

    def __getattr__(self, part: str) -> Any:
        return self.modules[part]


def source_of(part: str) -> str:
    """The text of one module."""
    return (GATE / f"{part}.py").read_text(encoding="utf-8")


@contextmanager
def changed(label: str, part: str, text: str) -> Iterator[Reader]:
    """The reader with the text of one module replaced, and copies of the modules after it."""
    modules = {earlier: _real(earlier) for earlier in PARTS[: PARTS.index(part)]}
    copies: dict[str, ModuleType] = {}
    try:
        for later in PARTS[PARTS.index(part) :]:
            source = source_of(later) if copies else text
            for copy in copies:
                source = source.replace(f"from gate.{copy} import", f"from {label}_{copy} import")
                source = source.replace(f"from gate import {copy} as", f"import {label}_{copy} as")
                plain = f"from gate import {copy}\n"
                source = source.replace(plain, f"import {label}_{copy} as {copy}\n")
            module = ModuleType(f"{label}_{later}")
            sys.modules[module.__name__] = copies[later] = module
            exec(compile(source, f"{label}/{later}.py", "exec"), module.__dict__)  # noqa: S102
        yield Reader({**modules, **copies})
    finally:
        for module in copies.values():
            del sys.modules[module.__name__]


def _real(part: str) -> ModuleType:
    return __import__(f"gate.{part}", fromlist=["gate"])


def real() -> Reader:
    """The modules as they are."""
    return Reader({part: _real(part) for part in PARTS})


def survives(mutant: Mutant) -> bool:
    """Whether the mutant passes the battery; ValueError if it no longer applies."""
    source = source_of(mutant.part)
    if source.count(mutant.old) != 1:
        raise ValueError(
            f"mutant `{mutant.name}`: its text stands {source.count(mutant.old)} times"
        )
    text = source.replace(mutant.old, mutant.new)
    try:
        with changed(f"text_mutant_{mutant.part}_{mutant.name}", mutant.part, text) as reader:
            BATTERIES[mutant.part](reader)
    except Exception:
        return False
    return True


# The batteries: each raises (anything) unless all is as it must be.


def sentences(reader: Reader) -> None:
    """Every sentence of the fixtures."""
    for tag, load in texts.INSTITUTIONS.items():
        configuration = load()
        for case in texts.cases("direction", tag):
            asked_for = texts.request(case["text"], session=case.get("session"))
            found = reader.findings.find(configuration, asked_for)
            asked = sorted({i for a in found.asked for i in a.actions})
            expected = (case["direction"], case.get("asked", []), case.get("several", False))
            assert (found.direction.value, asked, found.several_requests) == expected, case
        for case in texts.cases("objects", tag):
            asked_for = texts.request(
                case["text"],
                history=case.get("history", ()),
                session=case.get("session"),
                candidates=case.get("candidates"),
            )
            found = reader.findings.find(configuration, asked_for)
            action = configuration.catalog.actions[case["action"]]
            where, entries = texts.situation(asked_for), configuration.registry.entries
            got = reader.resolution.resolve(action, found, where, entries)
            expected = (case["object"], case.get("reason", ""), case.get("options", []))
            assert (got.object_id, got.reason, list(got.options)) == expected, case


GOOD = '{"action_id": "PRICE", "object_id": "F1", "topk": ["PRICE", "BUY"]}'
HELD: tuple[tuple[Any, str | None], ...] = (
    (small.proposal("PRICE", "F1"), None),
    (OutOfScope("fast"), None),
    (Abstain("x", "fast"), None),
    (None, "C-SYNTAX:type"),
    (small.proposal("X"), "C-CLOSED:action_id"),
    (small.proposal("PRICE", "F9"), "C-CLOSED:object_id"),
    (small.proposal("PRICE", topk=("PRICE", "X")), "C-CLOSED:topk"),
    (small.proposal("PRICE", topk=("PRICE", "BUY", "SELL", "HELP")), "C-CROSS:topk"),
    (small.proposal("PRICE", topk=("PRICE", "PRICE")), "C-CROSS:topk"),
    (small.proposal("PRICE", topk=("BUY",)), "C-CROSS:primary"),
    (small.proposal("PRICE", "L1"), "C-CROSS:object_type"),
    (small.proposal("PRICE", NONE), "C-CROSS:object_required"),
    (small.proposal("PRICE", confidence="1.5"), "C-CROSS:confidence"),
    (small.proposal("PRICE", confidence="NaN"), "C-CROSS:confidence"),
    (Unparsed(GOOD, "p"), None),
    (Unparsed("{", "p"), "C-SYNTAX:json"),
    (Unparsed(GOOD.replace("{", '{"action_id": "BUY", '), "p"), "C-SYNTAX:json"),
    (Unparsed(GOOD.replace("}", ', "x": 1}'), "p"), "C-SYNTAX:fields"),
    (Unparsed(f"so: ```\n{GOOD}\n```", "p"), "C-SYNTAX:json"),
    (Unparsed(GOOD + " " * 5000, "p"), "C-SYNTAX:length"),
)


def contract(reader: Reader) -> None:
    """Answers that hold, and one for every way to fail."""
    registry = {e.object_id: e for e in small.ENTRIES}
    for answer, failed in HELD:
        found = reader.contract.check(answer, small.institution().catalog, registry, {})
        assert getattr(found, "contract", None) == failed, answer
    fenced = reader.contract.check(
        Unparsed(f"```json\n{GOOD}\n```", "p"), small.institution().catalog, registry, {}
    )
    assert fenced.repair == "fence"


def controller(reader: Reader) -> None:
    """What the battery of `tests/gate/mutants.py` does not hold: slots, languages, equal spans."""
    plain = small.institution()
    slot = blocking(30, {"predicate": "slot.amount", "gt": 1})
    waiting = small.institution([*small.RULES[:-1], slot, default()])

    def end(configuration: Any, read: Any, answer: Any, switches: Any = None, **state: Any) -> str:
        where = small.situation(candidates=state.pop("candidates", None), **state)
        verdict = reader.controller.decide(
            configuration, where, read, answer, switches or Switches()
        )
        assert verdict.terminal.value != "DISPATCH" or verdict.boundary.value == "ALLOW"
        assert not verdict.options or verdict.terminal.value == "CLARIFY"
        return str(verdict.rule_id)

    read = small.findings("F1")
    assert end(plain, read, small.proposal("PRICE")) == "R-999"
    assert end(waiting, read, small.proposal("PRICE")) == "G-SLOT"
    assert end(waiting, small.findings(), small.proposal("PRICE")) == "G-OBJECT"
    assert end(waiting, small.findings(), OutOfScope("fast")) == "G-SCOPE"
    assert end(plain, read._replace(language=None), small.proposal("PRICE"), alarm=True) == "R-010"
    assert end(plain, read, small.proposal("BUY", "F9"), buying_permitted=False) == "R-020"
    both = [replace_asked(("BUY",)), replace_asked(("SELL",))]
    write = small.findings("F1", direction=read.direction.WRITE, asked=both)
    assert end(plain, write, small.proposal("BUY")) == "G-ACTION"
    assert end(plain, read, small.proposal("PRICE", "UNRESOLVED")) == "G-OBJECT"
    assert end(plain, read, small.proposal("PRICE"), candidates=("F2",)) == "G-OBJECT"
    replayed = Switches(no_object_evidence=True)
    assert (
        end(plain, read, small.proposal("PRICE", "F1"), replayed, candidates=("F2",)) == "G-OBJECT"
    )
    unclear = small.findings("F1", "F2")
    handed = replace(plain, terminals={**plain.terminals, "G-OBJECT": plain.terminals["G-SCOPE"]})  # type: ignore[dict-item, index]
    assert end(handed, unclear, small.proposal("PRICE")) == "G-OBJECT"


def resolved(reader: Reader) -> None:
    """The sentences, and objects that were chosen."""
    sentences(reader)
    writes_battery.choices(reader)


def controlled(reader: Reader) -> None:
    """Reads, and writes with all that is needed to send one."""
    controller(reader)
    writes_battery.writes(reader)


def replace_asked(actions: tuple[str, ...]) -> Any:
    """A verb at one place."""
    return _real("direction").Asked(0, 4, actions)


PASSAGE = Evidence("E1", "A wire of $1,000.50 costs 25 days from 3 March to 5 April, -2% on 2026-12-01. "
                         "It is not refunded on Friday, 3-5 times.")  # fmt: skip
CARRIED = (
    ("A wire of $1000.50 costs 25 days", None),
    ("A wire of $1,000.500 costs 25 days from March 3 to 5 April", None),
    ("It is not refunded on Friday, 3-5 times", None),
    ("A wire costs 26 days", "NUMBER_NOT_IN_EVIDENCE"),
    ("A wire of €1,000.50 costs 25 days", "NUMBER_NOT_IN_EVIDENCE"),
    ("A wire of $1,000.50 costs 25 months", "NUMBER_NOT_IN_EVIDENCE"),
    ("from 5 March to 3 April", "NUMBER_NOT_IN_EVIDENCE"),
    ("A wire, 2% on 2026-12-01", "NUMBER_NOT_IN_EVIDENCE"),
    ("A wire, -2% on 2026-01-12", "NUMBER_NOT_IN_EVIDENCE"),
    ("It is not refunded, 5 times", "NUMBER_NOT_IN_EVIDENCE"),
    ("It is not refunded on Friday, 3-9 times", "NUMBER_NOT_IN_EVIDENCE"),
    ("It is not refunded on Monday", "WORD_NOT_IN_EVIDENCE"),
    ("It is refunded on Friday", "NEGATION"),
    ("A wire costs 25 days. It is refunded on Friday", "NEGATION"),
    ("Nothing of the sort stands there", "NOT_SUPPORTED"),
)


def evidence(reader: Reader) -> None:
    """Quotes that pass, and one for every change."""
    lexicon, known = texts.demo().lexicon, [PASSAGE, Evidence("E2", "Something else.")]

    def reason(text: str, *cites: str) -> str | None:
        found = reader.evidence.check(lexicon, [Statement(text, cites)], known)
        return str(found[0]).removesuffix(":1") if found else None

    for text, expected in CARRIED:
        assert reason(text, "E1") == expected, text
    assert reason(CARRIED[0][0]) == "NOT_CITED"
    assert reason(CARRIED[0][0], "E1", "E9") == "UNKNOWN_EVIDENCE"
    assert reason(CARRIED[0][0], "E2", "E1") is None
    assert reason("Nothing of the sort stands there", "E2", "E1") == "NOT_SUPPORTED"
    assert Decimal(1) > reader.evidence.SUPPORT


BATTERIES = {
    "clauses": sentences,
    "complement": sentences,
    "coverage": sentences,
    "government": sentences,
    "direction": sentences,
    "objects": sentences,
    "findings": sentences,
    "resolution": resolved,
    "contract": contract,
    "masking": writes_battery.masking,
    "confirmation": writes_battery.confirmation,
    "controller": controlled,
    "dialogue": writes_battery.dialogue,
    "evidence": evidence,
}
