"""The gate's rules against cedarpy on the same nine rules, with equal meaning proved first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

from cedarpy import Entities, PolicySet, Schema, is_authorized, is_authorized_batch

from eval.errors import EvalError
from eval.timing import Call, Part, Ratio, timed
from gate.conditions import Is
from gate.configuration import Configuration
from gate.load import load
from gate.records import Boundary
from gate.rules import EVERY_ACTION, Rule, RulesVerdict, evaluate
from gate.state import BOOLEAN

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
Request = tuple[str, dict[str, bool]]
"""An action id and the state."""


def cedar_text(configuration: Configuration) -> str:
    """The RouteBR rules as Cedar policies of equal meaning: a blocking rule forbids, the default
    permits. Cedar has no order; the first of the forbids that it reports is the deciding rule."""
    return "\n".join(_cedar_policy(rule) for rule in configuration.rules.rules)


def _cedar_policy(rule: Rule) -> str:
    effect = "permit" if rule.then is Boundary.ALLOW else "forbid"
    named = ", ".join(f'Action::"{action}"' for action in rule.applies_to)
    action = "action" if EVERY_ACTION in rule.applies_to else f"action in [{named}]"
    when = ""
    if isinstance(rule.when, Is):
        when = f" when {{ {'' if rule.when.value else '!'}context.{rule.when.predicate} }}"
    return f'@id("{rule.rule_id}")\n{effect} (principal, {action}, resource){when};'


def cedar_schema(configuration: Configuration) -> str:
    """A Cedar schema that declares the eight booleans for every action."""
    booleans = [p.name for p in configuration.predicates.values() if p.type == BOOLEAN]
    context = ", ".join(f"{name}: Bool" for name in booleans)
    applies = f"appliesTo {{ principal: Subject, resource: Service, context: {{{context}}} }}"
    actions = (f'action "{action}" {applies};' for action in configuration.catalog.actions)
    return "\n".join(("entity Subject;", "entity Service;", *actions))


def cedar_request(request: Request, *, as_text: bool = False) -> dict[str, Any]:
    """The request in cedarpy's form, with the state as a dictionary or as JSON text."""
    action, state = request
    return {
        "principal": 'Subject::"customer"',
        "action": f'Action::"{action}"',
        "resource": 'Service::"service"',
        "context": json.dumps(state) if as_text else state,
    }


def calm(configuration: Configuration) -> dict[str, bool]:
    """The state in which no rule is true, so that every rule is read and the default allows."""
    conditions = (rule.when for rule in configuration.rules.rules)
    return {c.predicate: not c.value for c in conditions if isinstance(c, Is)}


def all_requests(configuration: Configuration) -> Iterator[Request]:
    """Every action with every one of the 256 states."""
    names = tuple(calm(configuration))
    for action in configuration.catalog.actions:
        for values in product((False, True), repeat=len(names)):
            yield action, dict(zip(names, values, strict=True))


def near_requests(configuration: Configuration) -> list[Request]:
    """Every action with the calm state and with each of its values turned over."""
    base = calm(configuration)
    states = [base, *({**base, name: not value} for name, value in base.items())]
    return [(action, state) for action in configuration.catalog.actions for state in states]


def _evaluate(configuration: Configuration, request: Request) -> RulesVerdict:
    action, state = request
    return evaluate(configuration.rules, action, configuration.predicates, state, {}, {}, NOW)


def assert_equal_meaning(configuration: Configuration) -> int:
    """Compare both engines on every request; the number compared, EvalError on a difference."""
    policies, entities = PolicySet.from_str(cedar_text(configuration)), _no_entities()
    order = [rule.rule_id for rule in configuration.rules.rules]
    requests = list(all_requests(configuration))
    answers = is_authorized_batch([cedar_request(r) for r in requests], policies, entities)
    for request, answer in zip(requests, answers, strict=True):
        verdict = _evaluate(configuration, request)
        ids = answer.diagnostics.id_annotations_by_reason.values()
        if min(ids, key=order.index) != verdict.rule_id:
            raise EvalError(f"cedarpy answers {sorted(ids)} on {request}, the gate {verdict}")
    return len(requests)


def _no_entities() -> Entities:
    return Entities.from_json_str("[]")


def rules_against_cedarpy(routebr: Path) -> Part:
    """Nine rules over eight booleans, against the fastest of cedarpy's ways to ask the same."""
    configuration = load(routebr, bench=True)
    compared = assert_equal_meaning(configuration)
    hardest = ("A5_PROTECTED_ACTION", calm(configuration))
    near = near_requests(configuration)
    calls: dict[str, Call] = {
        "gate, all 9 rules read": lambda: _evaluate(configuration, hardest),
        "gate, 45 requests": lambda: [_evaluate(configuration, r) for r in near],
        **cedar_calls(configuration, "9 policies", [hardest]),
        **cedar_calls(configuration, "45 requests", near),
    }
    timing = timed(calls, {name: len(near) for name in calls if "45 requests" in name})
    one, many = timing.fastest("cedarpy, 9 policies"), timing.fastest("cedarpy, 45 requests")
    return Part(
        "rules_against_cedarpy",
        f"the RouteBR rules; both engines agree on all {compared} pairs of action and state",
        timing.median_us(),
        (
            Ratio(one, "gate, all 9 rules read", timing.times(one, "gate, all 9 rules read"), 10),
            Ratio(many, "gate, 45 requests", timing.times(many, "gate, 45 requests"), 10),
        ),
    )


def cedar_calls(
    configuration: Configuration, what: str, requests: list[Request]
) -> dict[str, Call]:
    """cedarpy's ways to ask, all with pre-parsed policies and entities; JSON text is made before."""
    policies, entities = PolicySet.from_str(cedar_text(configuration)), _no_entities()
    schema = Schema.from_str(cedar_schema(configuration))
    plain = [cedar_request(r) for r in requests]
    text = [cedar_request(r, as_text=True) for r in requests]
    return {
        f"cedarpy, {what}": lambda: [is_authorized(r, policies, entities) for r in plain],
        f"cedarpy, {what}, schema": lambda: [
            is_authorized(r, policies, entities, schema) for r in plain
        ],
        f"cedarpy, {what}, state as JSON text": lambda: [
            is_authorized(r, policies, entities) for r in text
        ],
        f"cedarpy, {what}, one batch of JSON texts": lambda: is_authorized_batch(
            text, policies, entities
        ),
    }
