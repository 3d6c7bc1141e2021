"""Random rules and random states over one fixed set of predicates, from a seed.

Rules are well typed (the loader refuses others); states are mostly sound and near the rules'
limits, so that every outcome is common, and now and then broken in every way we know.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from random import Random
from typing import Any

from tests.gate.engine import ago, blocking, dated, default

ACTIONS = ("ACT", "BUY", "ASK")

PREDICATES: tuple[dict[str, Any], ...] = (
    {"name": "flag", "type": "boolean", "source": "core"},
    {"name": "other", "type": "boolean", "source": "core"},
    {"name": "fresh", "type": "boolean", "source": "core", "max_age_s": 60},
    {"name": "amount", "type": "number", "unit": "USD", "source": "core"},
    {"name": "limit", "type": "number", "unit": "USD", "source": "core"},
    {"name": "count", "type": "number", "source": "core", "max_age_s": 3600, "skew_s": 30},
    {"name": "tier", "type": "enum", "values": ["low", "medium", "high"], "source": "core"},
    {"name": "terms", "type": "text", "source": "core"},
    {"name": "current", "type": "text", "source": "core"},
    {"name": "seen", "type": "timestamp", "source": "core", "skew_s": 0},
    {"name": "opened", "type": "timestamp", "source": "core"},
    {"name": "resolved", "type": "boolean", "source": "gate"},
    {"name": "slot.sum", "type": "number", "unit": "USD", "source": "gate"},
    {"name": "slot.payee", "type": "text", "source": "gate"},
    {"name": "slot.due", "type": "timestamp", "source": "gate"},
)
BY_NAME = {p["name"]: p for p in PREDICATES}
AGES = ("1s", "15m", "24h", "30d")

SOUND: Mapping[str, tuple[object, ...]] = {
    "boolean": (True, False),
    "number": (0, 1, 5, -3, 12.5, "12.50", "-3", "0.0", 10**50, 2.0, Decimal("5.0")),
    "enum": ("low", "medium", "high"),
    "text": ("v1", "v2", "", "1"),
    "timestamp": (
        *(ago(seconds=s) for s in (0, 0.5, 1, 1.000001, 900, 900.5, 86400, 90000, 2592000, 9e6)),
        "2026-12-01T10:00:00+01:00",
        "2026-12-01t08:59:59.999999999z",
        datetime(2026, 11, 30, tzinfo=UTC),
        "0001-01-01T00:00:00+23:59",
    ),
}
STRANGE: tuple[object, ...] = (
    None, 0, 1, 1.0, "true", "yes", "", "High", "low ", [], [True], {}, {"value": True}, b"low", (),
    float("nan"), float("inf"), "NaN", "-Infinity", "1e3", "1_0", " 5", "٣", "5.", ".5", "--5",
    Decimal("NaN"), Decimal("-Infinity"), 10**400, -(10**4000), 1 + 2j, {"a": {"b": {}}},
    "2026-12-01", "2026-12-01T09:00:00", "2026-12-01T08:00:60Z", "2026-02-30T00:00:00Z",
    "20261201T080000Z", "2026-12-01T24:00:00Z", "2026-12-01 08:00:00Z", "0000-01-01T00:00:00Z",
    datetime(2026, 1, 1), "2026-12-01T08:00:00.Z", "2026-12-01T08:00:00+24:00",
    "9999-12-31T23:59:59-23:59", ago(seconds=-1), ago(seconds=-2), ago(seconds=-2.000001),
    ago(seconds=-31), ago(days=-1),
    dated(True), dated(5, seconds=59), dated("low", seconds=61), dated(True, seconds=-2),
    dated(True, seconds=-3), dated(7, seconds=-31), dated(7, hours=2),
    {"value": 1, "as_of": "soon"},
    {"value": True, "as_of": ago(), "by": "me"}, {"value": {"value": 1}, "as_of": ago()}, object(),
    {"value": True, "as_of": None}, {1: 2}, dated(None), dated(ago(seconds=1)), True, False,
)  # fmt: skip


def random_condition(rng: Random, depth: int = 2) -> dict[str, Any]:
    """A well-typed condition of at most that depth below this node."""
    if depth and rng.random() < 0.35:
        return _composite(rng, depth)
    name = rng.choice([*BY_NAME, "flag", "other", "fresh"])
    if name.startswith("slot.") and rng.random() < 0.5:
        return {"if_present": name, "then": _atom(rng, name)}
    return _atom(rng, name) if rng.random() < 0.98 else {"predicate": "ghost", "is": True}


def _composite(rng: Random, depth: int) -> dict[str, Any]:
    parts = [random_condition(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    slot = rng.choice(("slot.sum", "slot.payee", "slot.due"))
    forms: tuple[dict[str, Any], ...] = (
        {"all": parts},
        {"any": parts},
        {"not": parts[0]},
        {"if_present": slot, "then": parts[0]},
    )
    return rng.choice(forms)


def _atom(rng: Random, name: str) -> dict[str, Any]:
    kind = BY_NAME[name]["type"]
    if kind == "boolean":
        return {"predicate": name, "is": rng.random() < 0.5}
    if kind == "timestamp":
        return {"predicate": name, rng.choice(("older_than", "younger_than")): rng.choice(AGES)}
    if kind == "number":
        return _numeric(rng, name)
    words = SOUND[kind]
    forms: list[dict[str, Any]] = [
        {"predicate": name, "is": rng.choice(words)},
        {"predicate": name, "in": rng.sample(words, rng.randint(1, 3))},
    ]
    if kind == "text":
        forms.append({"predicate": name, "equals": {"predicate": rng.choice(("terms", "current"))}})
    return rng.choice(forms)


def _numeric(rng: Random, name: str) -> dict[str, Any]:
    numbers = (0, 5, -3, Decimal("12.5"), 2.0)
    if rng.random() < 0.2:
        forms = ({"is": rng.choice(numbers)}, {"in": rng.sample(numbers, 2)})
        return {"predicate": name, **rng.choice(forms)}
    words = rng.sample(("gt", "ge", "lt", "le"), rng.choice((1, 1, 2)))
    return {"predicate": name, **{word: _bound(rng, name, numbers) for word in words}}


def _bound(rng: Random, name: str, numbers: tuple[object, ...]) -> object:
    if "unit" in BY_NAME[name] and rng.random() < 0.3:
        return {"predicate": rng.choice(("amount", "limit"))}
    return rng.choice(numbers)


def random_rules(rng: Random) -> list[dict[str, Any]]:
    """Up to eight blocking rules with distinct priorities and the default, in any order."""
    priorities = rng.sample(range(1, 99), rng.randint(0, 8))
    rules = [random_rule(rng, priority) for priority in priorities]
    rules.append(default())
    rng.shuffle(rules)
    return rules


def random_rule(rng: Random, priority: int) -> dict[str, Any]:
    """One blocking rule, for every action or for some."""
    bounded = ("CLARIFY", "DEFER", "HANDOFF", "REJECT")
    return blocking(
        priority,
        random_condition(rng) if rng.random() < 0.99 else {},
        applies_to=["*"] if rng.random() < 0.5 else rng.sample(ACTIONS, rng.randint(1, 2)),
        then=rng.choice(bounded),
        on_error=rng.choice(bounded),
    )


Inputs = tuple[dict[str, object], dict[str, object], dict[str, object]]


def random_inputs(rng: Random, ambiguous: object) -> Inputs:
    """State, gate values and slots; about half of them have nothing wrong."""
    damage = rng.choice((0.0, 0.0, 0.05, 0.3))
    state: dict[str, object] = {}
    gate_values: dict[str, object] = {}
    slots: dict[str, object] = {}
    for name, predicate in BY_NAME.items():
        raw = rng.choice(SOUND[predicate["type"]])
        if "max_age_s" in predicate or rng.random() < 0.05:
            raw = dated(raw, seconds=rng.choice((0, 1, 59, 60)))
        if rng.random() < damage:
            raw = rng.choice(STRANGE)
        if name.startswith("slot."):
            if rng.random() < 0.6:
                slots[name[5:]] = ambiguous if rng.random() < 0.2 else _undated(raw)
        elif predicate["source"] == "gate":
            gate_values[name] = _undated(raw)
        elif rng.random() >= damage / 3:
            state[name] = raw
    if rng.random() < damage / 3:
        state[rng.choice(("resolved", "slot.sum", "unheard_of"))] = rng.choice(STRANGE)
    return state, gate_values, slots


def _undated(raw: object) -> object:
    """What the gate computes carries no time, except where it is broken."""
    return raw["value"] if isinstance(raw, dict) and "value" in raw and len(raw) == 2 else raw
