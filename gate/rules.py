"""State rules: a versioned, ordered list of which the first true or erring one decides.

A verdict depends on declared predicates, state, gate values, slots and the clock, and on nothing
else. Only the final, empty rule can allow.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from itertools import pairwise
from types import MappingProxyType
from typing import Final, NamedTuple, cast

from gate.conditions import Always, Compiled, Condition, compile_condition, needs
from gate.errors import ConfigError
from gate.records import Boundary, Reserved
from gate.state import (
    BOOLEAN,
    ENUM,
    NUMBER,
    SLOT_PREFIX,
    TEXT,
    TIMESTAMP,
    Broken,
    Predicate,
    Reading,
    Value,
    value_of,
)

EVERY_ACTION: Final = "*"
AMBIGUOUS_SLOT: Final = Broken.AMBIGUOUS
"""Stands in `slots` for a slot with more than one candidate in the text."""
RESERVED_PREFIX: Final = "G-"

_PYTHON_TYPE: Final[Mapping[str, type]] = MappingProxyType(
    {BOOLEAN: bool, NUMBER: Decimal, TEXT: str, ENUM: str, TIMESTAMP: datetime}
)
_UNFILLED: Final = (Broken.ABSENT, Broken.AMBIGUOUS)


class Outcome(StrEnum):
    """What one rule says about one request."""

    TRUE = "TRUE"
    FALSE = "FALSE"
    ERROR = "ERROR"
    PENDING = "PENDING"
    """Only slots are missing or ambiguous: reading goes on, but nothing is allowed any more."""


# Looking a member up on its class costs as much as reading a predicate (Python 3.11).
TRUE, FALSE, ERROR, PENDING = Outcome


@dataclass(frozen=True, slots=True)
class Rule:
    """When `when` holds for an action in `applies_to` (`*` is every one), `then` stands.

    A smaller `priority` is read first. `on_error` stands when an input is broken; only the final
    rule, which reads nothing, may leave it None.
    """

    rule_id: str
    priority: int
    applies_to: tuple[str, ...]
    when: Condition
    then: Boundary
    on_error: Boundary | None
    explain: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A blocking rule made ready: what it reads, the Python types that fit, and its test."""

    rule: Rule
    on_error: Boundary
    needs: tuple[tuple[str, frozenset[type]], ...]
    optional: frozenset[str]
    test: Compiled


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Rules in the order of reading, indexed by action; made by `build` alone.

    `rules` ends with the one that allows; `collapsed` names the ids of dropped duplicates.
    """

    version: str
    rules: tuple[Rule, ...]
    collapsed: tuple[str, ...]
    named: Mapping[str, tuple[Step, ...]] = field(repr=False, compare=False)
    everywhere: tuple[Step, ...] = field(repr=False, compare=False)

    @property
    def default(self) -> Rule:
        """The final rule, which allows what nothing above it stopped."""
        return self.rules[-1]

    def steps(self, action_id: str | None) -> tuple[Step, ...]:
        """The blocking rules for that action, or those for every action, in order."""
        if action_id is None:
            return self.everywhere
        return self.named.get(action_id, self.everywhere)

    def applicable(self, action_id: str | None) -> tuple[Rule, ...]:
        """The rules for that action, or those for every action, in order, the default last."""
        return (*(step.rule for step in self.steps(action_id)), self.default)


@dataclass(frozen=True, slots=True)
class RuleReading:
    """One rule as it was read; an optional slot that is absent reads as (None, None)."""

    rule_id: str
    outcome: Outcome
    readings: tuple[Reading, ...]


class RulesVerdict(NamedTuple):  # a tuple, because making one is a tenth of an evaluation
    """What the rules say and which id says it.

    `reason_codes` name the broken inputs behind it as `RULE:PREDICATE:FAULT`; `pending` are the
    rules passed over for want of a slot; `trace` holds every rule read, if it was asked for.
    """

    boundary: Boundary
    rule_id: str
    reason_codes: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    trace: tuple[RuleReading, ...] = ()


def build(rules: Iterable[Rule], version: str) -> RuleSet:
    """Order, check and index rules; the order in which they are given does not matter.

    Raises ConfigError on one id with two contents, equal priorities, a rule that could allow and
    is not the final one, a missing default, or an `on_error` that is missing or allows.
    """
    distinct, collapsed = _distinct(rules)
    for rule in distinct:
        _check_rule(rule)
    ordered = tuple(sorted(distinct, key=lambda rule: rule.priority))
    _check_order(ordered)
    steps = tuple(map(_step, ordered[:-1]))
    actions = {action for step in steps for action in step.rule.applies_to}
    return RuleSet(
        version,
        ordered,
        collapsed,
        MappingProxyType({a: tuple(s for s in steps if _applies(s.rule, a)) for a in actions}),
        tuple(step for step in steps if EVERY_ACTION in step.rule.applies_to),
    )


def _applies(rule: Rule, action_id: str) -> bool:
    return EVERY_ACTION in rule.applies_to or action_id in rule.applies_to


def _distinct(rules: Iterable[Rule]) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """Every id once, and the ids that came more than once with the same content."""
    kept: dict[str, Rule] = {}
    collapsed: list[str] = []
    for rule in rules:
        if rule.rule_id not in kept:
            kept[rule.rule_id] = rule
        elif repr(rule) == repr(kept[rule.rule_id]):  # equality would take true for the number 1
            collapsed.append(rule.rule_id)
        else:
            raise ConfigError(
                f"rule `{rule.rule_id}` is given twice with different contents",
                fix="remove one or give it another id",
            )
    return tuple(kept.values()), tuple(sorted(collapsed))


def _check_order(ordered: tuple[Rule, ...]) -> None:
    """No two rules share a priority; the last one allows everything that reached it."""
    for above, below in pairwise(ordered):
        if above.priority == below.priority:
            raise ConfigError(
                f"rules `{above.rule_id}` and `{below.rule_id}` share priority `{above.priority}`",
                fix="give each rule its own",
            )
    if not ordered or ordered[-1].then != Boundary.ALLOW:
        last = ordered[-1].rule_id if ordered else "none"
        raise ConfigError(
            f"the final rule is `{last}` and does not allow",
            fix="add one with the greatest priority, `when: {}` and `then: ALLOW`",
        )
    default = ordered[-1]
    if default.when != Always() or EVERY_ACTION not in default.applies_to:
        raise ConfigError(
            f"rule `{default.rule_id}` allows under a condition or for some actions only",
            fix='give the final rule `when: {}` and `applies_to: ["*"]`',
        )


def _check_rule(rule: Rule) -> None:
    """What can be wrong with one rule by itself."""
    if not rule.rule_id or rule.rule_id.startswith(RESERVED_PREFIX):
        raise ConfigError(
            f"rule id `{rule.rule_id}` is empty or reserved",
            fix=f"use an id that does not begin with `{RESERVED_PREFIX}`",
        )
    if not rule.applies_to:
        raise ConfigError(
            f"rule `{rule.rule_id}` applies to nothing", fix='name actions, or use ["*"]'
        )
    if rule.on_error == Boundary.ALLOW:
        raise ConfigError(
            f"rule `{rule.rule_id}` allows on an error", fix="use a bounded terminal as on_error"
        )


def _step(rule: Rule) -> Step:
    """A blocking rule made ready for evaluation."""
    if rule.then == Boundary.ALLOW:
        raise ConfigError(
            f"rule `{rule.rule_id}` allows before the final rule",
            fix="only the rule with the greatest priority may allow",
        )
    if rule.on_error is None:
        raise ConfigError(f"rule `{rule.rule_id}` has no on_error", fix="add a bounded terminal")
    required = needs(rule.when)
    return Step(
        rule,
        rule.on_error,
        tuple((n.name, frozenset(_PYTHON_TYPE[t] for t in n.types)) for n in required),
        frozenset(n.name for n in required if n.optional),
        compile_condition(rule.when),
    )


def evaluate(
    ruleset: RuleSet,
    action_id: str | None,
    predicates: Mapping[str, Predicate],
    state: Mapping[str, object],
    gate_values: Mapping[str, object],
    slots: Mapping[str, object],
    now: datetime,
    *,
    trace: bool = False,
) -> RulesVerdict:
    """The verdict of the rules for one action, or of those for every action if it is None.

    The first rule that is true or erring decides, and lower ones are not read. `now` is the
    clock, with zone. `slots` maps a slot's name (without `slot.`) to its value or AMBIGUOUS_SLOT;
    `gate_values` is asked for a name only when a rule reads it. Nothing is raised.
    """
    given = _with_slots(gate_values, slots) if slots else gate_values
    values: dict[str, Value | Broken] = {}
    pending: dict[str, tuple[str, ...]] = {}
    seen: list[RuleReading] = []
    for step in ruleset.steps(action_id):
        sound = True
        for name, fits in step.needs:
            if name not in values:
                values[name] = value_of(predicates, name, state, given, now)
            if type(values[name]) not in fits:
                sound = False
        faults = () if sound else _faults(step, values)
        outcome = _outcome_of(faults) if faults else TRUE if step.test(values, now) else FALSE
        if trace:
            seen.append(RuleReading(step.rule.rule_id, outcome, _readings(step, values)))
        if outcome is FALSE:
            continue
        codes = tuple(f"{step.rule.rule_id}:{fault.name}:{fault.broken}" for fault in faults)
        if outcome is PENDING:
            pending[step.rule.rule_id] = codes
            continue
        boundary = step.rule.then if outcome is TRUE else step.on_error
        return RulesVerdict(boundary, step.rule.rule_id, codes, tuple(pending), tuple(seen))
    return _at_default(ruleset.default, pending, seen, trace)


def _with_slots(
    gate_values: Mapping[str, object], slots: Mapping[str, object]
) -> Mapping[str, object]:
    """Slots under the names that rules use, over gate values that stay unread until asked for."""
    named = {SLOT_PREFIX + name: value for name, value in slots.items()}
    return ChainMap(named, cast(MutableMapping[str, object], gate_values))


def _readings(step: Step, values: Mapping[str, Value | Broken]) -> tuple[Reading, ...]:
    """Everything that the rule reads, with the fault that its use here makes of each."""
    return tuple(_reading(step, name, fits, values[name]) for name, fits in step.needs)


def _reading(step: Step, name: str, fits: frozenset[type], value: Value | Broken) -> Reading:
    if type(value) in fits:
        return Reading(name, value, None)
    if not isinstance(value, Broken):
        return Reading(name, None, Broken.MISTYPED)
    if value is Broken.ABSENT and name in step.optional:
        return Reading(name, None, None)
    return Reading(name, None, value)


def _faults(step: Step, values: Mapping[str, Value | Broken]) -> tuple[Reading, ...]:
    return tuple(reading for reading in _readings(step, values) if reading.broken)


def _outcome_of(faults: tuple[Reading, ...]) -> Outcome:
    """PENDING if nothing but unfilled slots is wrong, else ERROR."""
    unfilled = all(
        fault.name.startswith(SLOT_PREFIX) and fault.broken in _UNFILLED for fault in faults
    )
    return PENDING if unfilled else ERROR


def _at_default(
    default: Rule, pending: Mapping[str, tuple[str, ...]], seen: list[RuleReading], trace: bool
) -> RulesVerdict:
    """The verdict where nothing above decided: the final rule's, unless a slot is wanting."""
    read = (*seen, RuleReading(default.rule_id, TRUE, ())) if trace else ()
    if pending:
        codes = tuple(code for of_rule in pending.values() for code in of_rule)
        return RulesVerdict(Boundary.CLARIFY, Reserved.SLOT, codes, tuple(pending), read)
    return RulesVerdict(default.then, default.rule_id, (), (), read)
