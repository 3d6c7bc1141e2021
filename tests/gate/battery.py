"""A quick battery against one engine: whoever fails it in any way is not the engine we promised.

It runs on the real engine (and must pass) and on every mutant (and must fail), so it holds no
more than it takes to tell them apart: hand-made cases at every limit, refusals, and a short
comparison with the reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from gate.errors import ConfigError
from tests.gate import reference
from tests.gate.chance import ACTIONS, BY_NAME, PREDICATES, random_inputs, random_rules
from tests.gate.engine import NOW, Engine, ago, blocking, dated, decide, default, whole

READINGS: tuple[tuple[str, object, object], ...] = (
    ("flag", True, True),
    ("flag", 1, "MISTYPED"),
    ("flag", "true", "MISTYPED"),
    ("flag", None, "ABSENT"),
    ("flag", {"value": True}, "MISTYPED"),
    ("flag", {"value": True, "as_of": ago(), "by": "me"}, "MISTYPED"),
    ("flag", dated(True, seconds=-2), True),
    ("flag", dated(True, seconds=-2.000001), "FUTURE"),
    ("flag", {"value": True, "as_of": "2026-12-01T08:00:00"}, "MISTYPED"),
    ("fresh", True, "STALE"),
    ("fresh", None, "ABSENT"),
    ("fresh", dated(True, seconds=60), True),
    ("fresh", dated(True, seconds=60.000001), "STALE"),
    ("amount", True, "MISTYPED"),
    ("amount", 0.1, Decimal("0.1")),
    ("amount", "12.50", Decimal("12.5")),
    ("amount", float("nan"), "NOT_A_NUMBER"),
    ("amount", Decimal("Infinity"), "NOT_A_NUMBER"),
    ("amount", "NaN", "NOT_A_NUMBER"),
    ("amount", "1e3", "MISTYPED"),
    ("amount", "5 ", "MISTYPED"),
    ("amount", [5], "MISTYPED"),
    ("tier", "low", "low"),
    ("tier", "none", "UNKNOWN_VALUE"),
    ("tier", 1, "MISTYPED"),
    ("terms", "anything", "anything"),
    ("terms", True, "MISTYPED"),
    ("seen", ago(), NOW),
    ("seen", ago(seconds=-0.000001), "FUTURE"),
    ("seen", "2026-12-01T08:00:00", "MISTYPED"),
    ("seen", "20261201T080000Z", "MISTYPED"),
    ("seen", "2026-02-30T08:00:00Z", "MISTYPED"),
    ("seen", datetime(2026, 1, 1), "MISTYPED"),
    ("opened", ago(seconds=-2), NOW + timedelta(seconds=2)),
    ("resolved", True, "REFUSED"),
    ("resolved", None, "REFUSED"),
    ("ghost", True, "UNDECLARED"),
)

FLAG = {"predicate": "flag", "is": True}
OTHER = {"predicate": "other", "is": True}
SUM = {"predicate": "slot.sum", "gt": 100}
OPTIONAL = {"if_present": "slot.sum", "then": SUM}
AGED = {"predicate": "opened", "older_than": "1m"}
YOUNG = {"predicate": "opened", "younger_than": "1m"}

WHEN: tuple[tuple[dict[str, Any], dict[str, object], dict[str, object], str], ...] = (
    ({"predicate": "amount", "gt": 5}, {"amount": 5}, {}, "ALLOW"),
    ({"predicate": "amount", "ge": 5}, {"amount": 5}, {}, "REJECT"),
    ({"predicate": "amount", "lt": 5}, {"amount": 5}, {}, "ALLOW"),
    ({"predicate": "amount", "le": 5}, {"amount": 5}, {}, "REJECT"),
    ({"predicate": "amount", "gt": 1, "lt": 5}, {"amount": 5}, {}, "ALLOW"),
    ({"predicate": "amount", "gt": {"predicate": "limit"}}, {"amount": 5, "limit": 4}, {}, "REJECT"),
    ({"predicate": "amount", "gt": {"predicate": "limit"}}, {"amount": 5}, {}, "HANDOFF"),
    ({"predicate": "amount", "is": 5}, {"amount": "5.0"}, {}, "REJECT"),
    ({"predicate": "tier", "in": ["low", "high"]}, {"tier": "high"}, {}, "REJECT"),
    ({"predicate": "tier", "in": ["low"]}, {"tier": "high"}, {}, "ALLOW"),
    ({"predicate": "terms", "equals": {"predicate": "current"}}, {"terms": "a", "current": "a"}, {}, "REJECT"),
    ({"predicate": "terms", "equals": {"predicate": "current"}}, {"terms": "a"}, {}, "HANDOFF"),
    (AGED, {"opened": ago(seconds=60)}, {}, "ALLOW"),
    (AGED, {"opened": ago(seconds=60.1)}, {}, "REJECT"),
    (YOUNG, {"opened": ago(seconds=60)}, {}, "ALLOW"),
    (YOUNG, {"opened": ago(seconds=59.9)}, {}, "REJECT"),
    ({"all": [FLAG, OTHER]}, {"flag": False, "other": "?"}, {}, "HANDOFF"),
    ({"all": [FLAG, OTHER]}, {"flag": False, "other": True}, {}, "ALLOW"),
    ({"any": [FLAG, OTHER]}, {"flag": True, "other": "?"}, {}, "HANDOFF"),
    ({"any": [FLAG, OTHER]}, {"flag": False, "other": True}, {}, "REJECT"),
    ({"not": FLAG}, {"flag": False}, {}, "REJECT"),
    (SUM, {}, {}, "CLARIFY"),
    (SUM, {}, {"sum": 101}, "REJECT"),
    (SUM, {}, {"sum": "much"}, "HANDOFF"),
    (SUM, {"slot.sum": 1}, {}, "HANDOFF"),
    ({"all": [SUM, FLAG]}, {}, {}, "HANDOFF"),
    (OPTIONAL, {}, {}, "ALLOW"),
    (OPTIONAL, {}, {"sum": 101}, "REJECT"),
    ({"all": [OPTIONAL, SUM]}, {}, {}, "CLARIFY"),
    ({"predicate": "resolved", "is": True}, {}, {}, "HANDOFF"),
    ({"predicate": "flag", "is": 1}, {"flag": True}, {}, "HANDOFF"),
    ({"any": [FLAG, {"predicate": "flag", "is": 1}]}, {"flag": False}, {}, "HANDOFF"),
    ({"predicate": "amount", "lt": {"predicate": "terms"}}, {"amount": 1, "terms": "a"}, {}, "HANDOFF"),
)  # fmt: skip

REFUSED_RULES: tuple[list[dict[str, Any]], ...] = (
    [],
    [blocking(1, FLAG)],
    [blocking(1, {})],
    [default(1), blocking(2, FLAG)],
    [{**default(), "when": FLAG}],
    [{**default(), "applies_to": ["ACT"]}],
    [blocking(1, FLAG, then="ALLOW"), default()],
    [blocking(1, FLAG, on_error="ALLOW"), default()],
    [blocking(1, FLAG, on_error=None), default()],
    [blocking(1, FLAG, applies_to=[]), default()],
    [blocking(1, FLAG, id="G-SLOT"), default()],
    [blocking(1, FLAG), blocking(1, FLAG, id="R-2"), default()],
    [blocking(1, FLAG), blocking(1, OTHER), default()],
    [blocking(1, {"predicate": "p", "is": 1}), blocking(1, {"predicate": "p", "is": True}), default()],
    [blocking(1, {"all": []}), default()],
    [blocking(1, {"any": []}), default()],
    [blocking(1, {"predicate": "p", "in": []}), default()],
    [blocking(1, {"predicate": "p", "in": ["a", 1]}), default()],
    [blocking(1, {"predicate": "p", "gt": "5"}), default()],
    [blocking(1, {"predicate": "p", "gt": True}), default()],
    [blocking(1, {"predicate": "p", "is": float("nan")}), default()],
    [blocking(1, {"predicate": "p", "older_than": "0s"}), default()],
    [blocking(1, {"if_present": "sum", "then": FLAG}), default()],
)  # fmt: skip

REFUSED_PREDICATES: tuple[dict[str, Any], ...] = (
    {"name": "p", "type": "bool", "source": "core"},
    {"name": "p", "type": "enum", "source": "core"},
    {"name": "p", "type": "text", "source": "core", "unit": "USD"},
    {"name": "p", "type": "text", "source": "core", "skew_s": 31},
    {"name": "p", "type": "text", "source": "core", "max_age_s": 0},
    {"name": "p", "type": "text", "source": "gate", "max_age_s": 5},
    {"name": "slot.p", "type": "text", "source": "core"},
)

MISFITS: tuple[dict[str, Any], ...] = (
    {"predicate": "ghost", "is": True},
    {"predicate": "flag", "is": 1},
    {"predicate": "tier", "is": "none"},
    {"not": {"predicate": "tier", "in": ["low", "none"]}},
    {"all": [{"predicate": "amount", "gt": {"predicate": "count"}}]},
    {"if_present": "slot.payee", "then": {"predicate": "terms", "equals": {"predicate": "tier"}}},
    {"any": [{"predicate": "tier", "is": "low"}, {"predicate": "tier", "is": True}]},
)


def run(engine: Engine) -> None:
    """Raise (anything) unless the engine keeps every promise looked at here."""
    _readings(engine)
    _conditions(engine)
    _sequences(engine)
    _refusals(engine)
    _against_the_reference(engine)


def _readings(engine: Engine) -> None:
    predicates = engine.predicates(PREDICATES)
    for name, raw, expected in READINGS:
        reading = engine.state.read(predicates, name, {name: raw}, {}, NOW)
        found = reading.value if reading.broken is None else str(reading.broken)
        assert (found, type(found)) == (expected, type(expected)), (name, raw)


def _conditions(engine: Engine) -> None:
    for when, state, slots, expected in WHEN:
        found = decide(
            [blocking(1, when), default()], PREDICATES, state, slots=slots, engine=engine
        )
        assert found.boundary == expected, (when, state, slots)


def _sequences(engine: Engine) -> None:
    """What stands above, below and beside; order, trace and index."""
    rules = [
        blocking(3, OTHER, then="DEFER"),
        blocking(1, SUM, applies_to=["ACT"]),
        default(),
        blocking(2, FLAG),
        blocking(4, AGED, applies_to=["BUY"]),
    ]
    ambiguous = engine.rules.AMBIGUOUS_SLOT

    def found(state: Mapping[str, object], **inputs: Any) -> Any:
        return decide(rules, PREDICATES, state, engine=engine, **inputs)

    calm = {"flag": False, "other": False}
    codes = ("R-001:slot.sum:AMBIGUOUS",)
    pending = found(calm, slots={"sum": ambiguous})
    assert whole(pending) == ("CLARIFY", "G-SLOT", codes, ("R-001",))
    assert whole(found({"flag": True, "other": True})) == ("REJECT", "R-002", (), ("R-001",))
    assert whole(found({"other": True}, slots={"sum": 1})) == (
        "HANDOFF",
        "R-002",
        ("R-002:flag:ABSENT",),
        (),
    )
    assert whole(found({**calm, "other": True}, action=None)) == ("DEFER", "R-003", (), ())
    assert whole(found(calm, action="BUY"))[:2] == ("HANDOFF", "R-004")
    assert whole(found(calm, action="NEW")) == ("ALLOW", "R-999", (), ())
    trace = found(calm, action="ACT", trace=True).trace
    assert [(r.rule_id, str(r.outcome)) for r in trace] == [
        ("R-001", "PENDING"),
        ("R-002", "FALSE"),
        ("R-003", "FALSE"),
        ("R-999", "TRUE"),
    ]
    assert found(calm).trace == found({}).trace == ()
    ruleset = engine.build(rules + rules[:1])
    assert ruleset.collapsed == ("R-003",)
    assert [r.rule_id for r in ruleset.applicable("BUY")] == ["R-002", "R-003", "R-004", "R-999"]
    optional = decide([blocking(1, OPTIONAL), default()], PREDICATES, {}, trace=True, engine=engine)
    assert optional.trace[0].readings[0].broken is None


def _refusals(engine: Engine) -> None:
    for forms in REFUSED_RULES:
        _refused(lambda forms=forms: engine.build(forms), forms)
    for form in REFUSED_PREDICATES:
        _refused(lambda form=form: engine.predicate(form), form)
    predicates = engine.predicates(PREDICATES)
    for when in MISFITS:
        assert engine.conditions.misfits(engine.condition(when), predicates), when


def _refused(make: Any, form: object) -> None:
    try:
        make()
    except ConfigError:
        return
    raise AssertionError(f"accepted {form}")


def _against_the_reference(engine: Engine, rule_sets: int = 60, states: int = 12) -> None:
    rng = Random(8)  # noqa: S311
    predicates = engine.predicates(PREDICATES)
    ambiguous = engine.rules.AMBIGUOUS_SLOT
    for _ in range(rule_sets):
        rules = random_rules(rng)
        ruleset = engine.build(rules)
        for _ in range(states):
            action = rng.choice((*ACTIONS, None))
            inputs = random_inputs(rng, ambiguous)
            found = whole(engine.rules.evaluate(ruleset, action, predicates, *inputs, NOW))
            expected = reference.verdict(rules, action, BY_NAME, *inputs, NOW, ambiguous)
            assert found == expected, (rules, action, inputs)
