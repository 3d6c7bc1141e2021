"""The rule engine as tests see it: rules, predicates and states in the form of the YAML files.

`REAL` is the engine under test; a mutant is the same record around changed copies of the modules.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import gate.conditions
import gate.controller
import gate.rules
import gate.state

GATE = Path(gate.rules.__file__).parent
PARTS = ("state", "conditions", "rules", "controller")
"""The modules of the engine, each importing only earlier ones among them."""

NOW = datetime(2026, 12, 1, 9, 0, 0, tzinfo=UTC)
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def ago(**delta: float) -> str:
    """An RFC 3339 time that long before NOW (negative: after it)."""
    return (NOW - timedelta(**delta)).isoformat().replace("+00:00", "Z")


def dated(value: object, **delta: float) -> dict[str, object]:
    """A raw value with its time, that long before NOW."""
    return {"value": value, "as_of": ago(**delta)}


def seconds(age: str) -> int:
    """`30d` as seconds."""
    return int(age[:-1]) * SECONDS[age[-1]]


@dataclass(frozen=True)
class Engine:
    """Modules of the engine, with constructors from the YAML form."""

    state: ModuleType
    conditions: ModuleType
    rules: ModuleType
    controller: ModuleType

    def predicate(self, form: Mapping[str, Any]) -> Any:
        fields = dict(form)
        if "values" in fields:
            fields["values"] = tuple(fields["values"])
        return self.state.Predicate(**fields)

    def predicates(self, forms: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        return {form["name"]: self.predicate(form) for form in forms}

    def condition(self, form: Mapping[str, Any]) -> Any:
        c = self.conditions
        match form:
            case {"all": parts}:
                return c.All(tuple(map(self.condition, parts)))
            case {"any": parts}:
                return c.AnyOf(tuple(map(self.condition, parts)))
            case {"not": part}:
                return c.Not(self.condition(part))
            case {"if_present": slot, "then": then}:
                return c.IfPresent(slot, self.condition(then))
            case {"predicate": name, "is": literal}:
                return c.Is(name, literal)
            case {"predicate": name, "in": literals}:
                return c.In(name, tuple(literals))
            case {"predicate": name, "equals": {"predicate": other}}:
                return c.Equals(name, c.Ref(other))
            case {"predicate": name, "older_than": age}:
                return c.Age(name, older=seconds(age))
            case {"predicate": name, "younger_than": age}:
                return c.Age(name, younger=seconds(age))
            case {"predicate": name, **bounds}:
                return c.Bounds(name, **{word: self._bound(b) for word, b in bounds.items()})
        assert not form, form
        return c.Always()

    def _bound(self, form: Any) -> Any:
        return self.conditions.Ref(form["predicate"]) if isinstance(form, Mapping) else form

    def rule(self, form: Mapping[str, Any]) -> Any:
        boundary = self.rules.Boundary
        on_error = form.get("on_error")
        return self.rules.Rule(
            rule_id=form["id"],
            priority=form["priority"],
            applies_to=tuple(form["applies_to"]),
            when=self.condition(form["when"]),
            then=boundary(form["then"]),
            on_error=None if on_error is None else boundary(on_error),
            explain=form.get("explain", ""),
        )

    def build(self, forms: Iterable[Mapping[str, Any]]) -> Any:
        return self.rules.build([self.rule(form) for form in forms], "1")


REAL = Engine(gate.state, gate.conditions, gate.rules, gate.controller)


def source_of(part: str) -> str:
    """The text of one module of the engine."""
    return (GATE / f"{part}.py").read_text(encoding="utf-8")


@contextmanager
def changed(label: str, part: str, text: str) -> Iterator[Engine]:
    """The engine with the text of one module replaced, and copies of the modules after it.

    The copies import one another, and live in `sys.modules` under names of their own for as long
    as the context lasts, because dataclasses look themselves up there.
    """
    modules = {earlier: vars(REAL)[earlier] for earlier in PARTS[: PARTS.index(part)]}
    copies: dict[str, ModuleType] = {}
    try:
        for later in PARTS[PARTS.index(part) :]:
            text = source_of(later) if copies else text
            for copy in copies:
                text = text.replace(f"from gate.{copy} import", f"from {label}_{copy} import")
            module = ModuleType(f"{label}_{later}")
            sys.modules[module.__name__] = copies[later] = module
            exec(compile(text, f"{label}/{later}.py", "exec"), module.__dict__)  # noqa: S102
        yield Engine(**modules, **copies)
    finally:
        for module in copies.values():
            del sys.modules[module.__name__]


def default(priority: int = 999) -> dict[str, Any]:
    """The final rule."""
    return {"id": "R-999", "priority": priority, "applies_to": ["*"], "when": {}, "then": "ALLOW"}


def blocking(number: int, when: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """A rule `R-<number>` of that priority which rejects, or hands over on an error."""
    form = {
        "id": f"R-{number:03}",
        "priority": number,
        "applies_to": ["*"],
        "when": when,
        "then": "REJECT",
        "on_error": "HANDOFF",
    }
    return {**form, **changes}


def says(verdict: Any) -> tuple[str, str]:
    """Boundary and id of a verdict, as text."""
    return str(verdict.boundary), str(verdict.rule_id)


def whole(verdict: Any) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    """Everything that a verdict says besides its trace, as text."""
    return (*says(verdict), tuple(verdict.reason_codes), tuple(verdict.pending))


def decide(
    forms: Sequence[Mapping[str, Any]],
    predicates: Sequence[Mapping[str, Any]],
    state: Mapping[str, object],
    *,
    action: str | None = "ACT",
    gate_values: Mapping[str, object] | None = None,
    slots: Mapping[str, object] | None = None,
    now: datetime = NOW,
    trace: bool = False,
    engine: Engine = REAL,
) -> Any:
    """Build and evaluate in one go."""
    return engine.rules.evaluate(
        engine.build(forms),
        action,
        engine.predicates(predicates),
        state,
        gate_values or {},
        slots or {},
        now,
        trace=trace,
    )
