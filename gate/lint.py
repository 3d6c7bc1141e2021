"""Lint: what a configuration says that its author can hardly have meant. Pure; nothing is decided.

Conditions are compared by their form. A pair that is not recognised goes unreported; what is
reported is so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from gate.catalog import Catalog
from gate.conditions import Always, Need, misfits, needs, reads
from gate.configuration import Configuration
from gate.implication import Facts, entails, facts, impossible
from gate.records import Mode
from gate.rules import EVERY_ACTION, Rule, RuleSet
from gate.state import GATE, SLOT_PREFIX

UNREACHABLE = "unreachable-rule"
SHADOWED = "shadowed-rule"
CONTRADICTION = "contradictory-rule"
MISFIT = "misfit-rule"
NO_SUCH_ACTION = "rule-without-action"
NEEDS_OBJECT = "rule-needs-object"
COLLAPSED = "duplicate-rule"
UNREAD = "unread-predicate"
UNPROTECTED = "unprotected-write"
NO_MODE = "action-without-mode"

CODES = (
    UNREACHABLE, SHADOWED, CONTRADICTION, MISFIT, NO_SUCH_ACTION, NEEDS_OBJECT, COLLAPSED, UNREAD,
    UNPROTECTED, NO_MODE,
)  # fmt: skip
"""Every code that a warning can have."""

RESOLVED = "entity_resolved"
"""The gate's own predicate that has a value only once an action is committed."""


@dataclass(frozen=True, slots=True)
class LintWarning:
    """One thing to look at: a code of CODES, the id it is about, what it is, and what to do."""

    code: str
    subject: str
    message: str
    fix: str


def lint(configuration: Configuration) -> tuple[LintWarning, ...]:
    """Every warning: about rules in the order of reading, then predicates, then actions."""
    return (*_of_rules(configuration), *_of_predicates(configuration), *_of_actions(configuration))


def _of_rules(configuration: Configuration) -> Iterator[LintWarning]:
    rules, catalog = configuration.rules, configuration.catalog
    dead = {r.rule_id: above for r, above in unreachable(rules, catalog)}
    hidden = {r.rule_id: above for r, above in shadowed(rules, catalog)}
    for rule in rules.rules:
        if rule.rule_id in dead:
            yield _never(UNREACHABLE, rule, dead[rule.rule_id], "can never decide")
        elif rule.rule_id in hidden:
            yield _never(SHADOWED, rule, hidden[rule.rule_id], "can only decide by an error")
        yield from _of_rule(rule, configuration)
    for rule_id in rules.collapsed:
        yield LintWarning(
            COLLAPSED, rule_id, "stands more than once with the same content", "keep one of them"
        )


def _never(code: str, rule: Rule, above: tuple[str, ...], what: str) -> LintWarning:
    names = " or ".join(f"`{a}`" for a in above)
    return LintWarning(
        code,
        rule.rule_id,
        f"{what}: {names} always holds where it does",
        "remove or narrow one of them",
    )


def _of_rule(rule: Rule, configuration: Configuration) -> Iterator[LintWarning]:
    predicates = configuration.predicates
    for problem in misfits(rule.when, predicates):
        yield LintWarning(MISFIT, rule.rule_id, problem, "correct the rule or the declaration")
    if impossible(rule.when):
        yield LintWarning(
            CONTRADICTION,
            rule.rule_id,
            "contradicts itself, so it can only decide by an error",
            "correct its bounds or values",
        )
    for action_id in rule.applies_to:
        if action_id != EVERY_ACTION and action_id not in configuration.catalog.actions:
            yield LintWarning(
                NO_SUCH_ACTION,
                rule.rule_id,
                f"names the action `{action_id}`, which the catalog lacks",
                "correct the id or remove it",
            )
    resolved = predicates.get(RESOLVED)
    if EVERY_ACTION in rule.applies_to and RESOLVED in reads(rule.when):
        if resolved is not None and resolved.source == GATE:
            yield LintWarning(
                NEEDS_OBJECT,
                rule.rule_id,
                f"reads `{RESOLVED}` for requests without an action too, and errs there",
                "name the actions that need an object in `applies_to`",
            )


def _of_predicates(configuration: Configuration) -> Iterator[LintWarning]:
    read = {name for rule in configuration.rules.rules for name in reads(rule.when)}
    for name, predicate in configuration.predicates.items():
        if name not in read and not predicate.pin:
            yield LintWarning(UNREAD, name, "is read by no rule", "remove it or add the rule")


def _of_actions(configuration: Configuration) -> Iterator[LintWarning]:
    named = {a for rule in configuration.rules.rules for a in rule.applies_to}
    for action_id, action in configuration.catalog.actions.items():
        if action.mode is None:
            yield LintWarning(
                NO_MODE,
                action_id,
                "has no mode, so its direction cannot be checked and it is never served",
                "add `mode: read` or `mode: write`",
            )
        if action.mode is Mode.WRITE and action_id not in named:
            yield LintWarning(
                UNPROTECTED,
                action_id,
                "writes, but no rule names it",
                "add a rule for it, such as one on the customer's permission",
            )


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A blocking rule with what comparing it needs, worked out once."""

    rule: Rule
    facts: Facts
    reads: frozenset[Need]
    slots: frozenset[Need]


def unreachable(rules: RuleSet, catalog: Catalog) -> tuple[tuple[Rule, tuple[str, ...]], ...]:
    """Rules that can never decide, and the ids above them that always do.

    For each action of such a rule there is a higher rule that reads at least the same, and is true
    wherever this one is: where this one is true or errs, that one decided before.
    """
    return _covered(rules, catalog, _decides_before)


def shadowed(rules: RuleSet, catalog: Catalog) -> tuple[tuple[Rule, tuple[str, ...]], ...]:
    """Rules that never decide by being true, and the ids above them that take those cases."""
    return _covered(rules, catalog, _holds_before)


def _holds_before(above: _Prepared, below: _Prepared) -> bool:
    """True only if `above` decides wherever `below` is true.

    `above` may read more: what is broken there is its error. But a slot that it lacks would leave
    it pending.
    """
    return above.slots <= below.reads and entails(below.facts, above.facts)


def _decides_before(above: _Prepared, below: _Prepared) -> bool:
    """True only if `above` decides wherever `below` is true or errs."""
    if above.rule.when == Always():
        return True
    return below.reads <= above.reads and _holds_before(above, below)


def _covered(
    rules: RuleSet, catalog: Catalog, covers: Callable[[_Prepared, _Prepared], bool]
) -> tuple[tuple[Rule, tuple[str, ...]], ...]:
    """The blocking rules of which every action is covered by some higher rule."""
    found: list[tuple[Rule, tuple[str, ...]]] = []
    higher: dict[str | None, list[_Prepared]] = {}
    for below in map(_prepared, rules.rules[:-1]):
        everywhere = EVERY_ACTION in below.rule.applies_to
        # What covers a request without an action covers every action: only such rules are read there.
        asked = (None,) if everywhere else below.rule.applies_to
        ids = [_first(higher.get(action, ()), below, covers) for action in asked]
        known = tuple(i for i in ids if i is not None)
        if len(known) == len(ids):
            found.append((below.rule, tuple(dict.fromkeys(known))))
        for action in (None, *catalog.actions) if everywhere else below.rule.applies_to:
            higher.setdefault(action, []).append(below)
    return tuple(found)


def _prepared(rule: Rule) -> _Prepared:
    reads = frozenset(needs(rule.when))
    slots = frozenset(n for n in reads if n.name.startswith(SLOT_PREFIX))
    return _Prepared(rule, facts(rule.when), reads, slots)


def _first(
    higher: Iterable[_Prepared], below: _Prepared, covers: Callable[[_Prepared, _Prepared], bool]
) -> str | None:
    return next((above.rule.rule_id for above in higher if covers(above, below)), None)
