"""P-03: nothing erroneous in a predicate that an applicable rule reads ever gives ALLOW; a broken
predicate that no applicable rule reads does not block."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.conditions import reads
from gate.rules import AMBIGUOUS_SLOT, evaluate
from tests.gate.chance import (
    ACTIONS,
    BY_NAME,
    PREDICATES,
    SOUND,
    STRANGE,
    random_inputs,
    random_rules,
)
from tests.gate.engine import NOW, REAL, ago, blocking, dated, decide, default, says

DECLARED = REAL.predicates(PREDICATES)
BOOLEANS = tuple(f"b{n}" for n in range(8))
BOOLEAN_FORMS = tuple({"name": name, "type": "boolean", "source": "core"} for name in BOOLEANS)
EIGHT = [
    *(blocking(n + 1, {"predicate": b, "is": True}) for n, b in enumerate(BOOLEANS)),
    default(),
]
EIGHT_SET = REAL.build(EIGHT)
EIGHT_DECLARED = REAL.predicates(BOOLEAN_FORMS)

BROKEN: dict[str, tuple[object, ...]] = {
    "boolean": (None, 0, 1, "false", "", [], {}, float("nan"), {"value": False}),
    "number": (None, True, "", "1e3", "NaN", float("nan"), float("inf"), dated(1, days=-1)),
    "enum": (None, "none", "Low", 1, False, ["low"], {"value": "low"}),
    "text": (None, 1, True, b"v1", ["v1"], {"value": "v1"}),
    "timestamp": (None, "", "2026-01-01", "2026-01-01T00:00:00", 0, True, ago(days=-1)),
}  # fmt: skip

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)


@given(st.fixed_dictionaries({}, optional={name: JSON | st.just(False) for name in BOOLEANS}))
def test_p03_arbitrary_json_allows_only_if_every_read_value_is_exactly_false(
    state: dict[str, object],
) -> None:
    found = evaluate(EIGHT_SET, None, EIGHT_DECLARED, state, {}, {}, NOW)
    sound = all(state.get(name) is False for name in BOOLEANS)
    assert (found.boundary == "ALLOW") is sound


def test_p03_every_pair_of_broken_values_blocks() -> None:
    calm = dict.fromkeys(BOOLEANS, False)
    for one, two in product(BOOLEANS, repeat=2):
        for bad in BROKEN["boolean"]:
            state = {**calm, one: bad, two: bad}
            found = evaluate(EIGHT_SET, None, EIGHT_DECLARED, state, {}, {}, NOW)
            first = min(one, two, key=BOOLEANS.index)
            assert says(found) == ("HANDOFF", f"R-{BOOLEANS.index(first) + 1:03}")


# Every type, in every position of every kind of condition.

FALSE_FORMS: dict[str, tuple[object, list[dict[str, Any]]]] = {
    "flag": (False, [{"is": True}]),
    "amount": (5, [{"is": 6}, {"in": [6, 7]}, {"gt": 5}, {"ge": 6}, {"lt": 5}, {"le": 4},
                   {"gt": {"predicate": "limit"}}]),
    "tier": ("low", [{"is": "high"}, {"in": ["medium", "high"]}]),
    "terms": ("v1", [{"is": "v2"}, {"in": ["v2"]}, {"equals": {"predicate": "current"}}]),
    "seen": (ago(hours=1), [{"older_than": "1d"}, {"younger_than": "1m"}]),
}  # fmt: skip
SURROUNDINGS = (
    lambda form: form,
    lambda form: {"not": {"not": form}},
    lambda form: {"all": [{"predicate": "other", "is": True}, form]},
    lambda form: {"all": [form, {"predicate": "other", "is": True}]},
    lambda form: {"any": [{"predicate": "other", "is": True}, form]},
    lambda form: {"not": {"any": [{"predicate": "other", "is": False}, form]}},
    lambda form: {"if_present": "slot.sum", "then": form},
)


@pytest.mark.parametrize("surround", SURROUNDINGS, ids=range(len(SURROUNDINGS)))
@pytest.mark.parametrize("name", FALSE_FORMS)
def test_p03_a_broken_value_blocks_in_every_kind_of_condition(name: str, surround: Any) -> None:
    sound, forms = FALSE_FORMS[name]
    state: dict[str, object] = {"other": False, "limit": 9, "current": "v9", name: sound}
    for form in forms:
        rules = [blocking(1, surround({"predicate": name, **form})), default()]
        assert says(decide(rules, PREDICATES, state)) == ("ALLOW", "R-999")
        for bad in BROKEN[BY_NAME[name]["type"]]:
            found = decide(rules, PREDICATES, {**state, name: bad})
            assert says(found) == ("HANDOFF", "R-001"), (form, bad)
        del_state = {key: raw for key, raw in state.items() if key != name}
        assert says(decide(rules, PREDICATES, del_state)) == ("HANDOFF", "R-001")


@pytest.mark.parametrize("other", [{"amount": "limit"}, {"terms": "current"}])
def test_p03_a_broken_second_field_blocks(other: dict[str, str]) -> None:
    ((mine, theirs),) = other.items()
    word = "gt" if mine == "amount" else "equals"
    rules = [blocking(1, {"predicate": mine, word: {"predicate": theirs}}), default()]
    state: dict[str, object] = {"amount": 1, "limit": 2, "terms": "a", "current": "b"}
    assert says(decide(rules, PREDICATES, state)) == ("ALLOW", "R-999")
    for bad in BROKEN[BY_NAME[theirs]["type"]]:
        found = decide(rules, PREDICATES, {**state, theirs: bad})
        assert says(found) == ("HANDOFF", "R-001")


# Random rules: break one value of an allowed state at a time.


def allowed_cases(seed: int, wanted: int) -> Any:
    """(rule set, action, inputs) of random cases that are allowed."""
    rng = Random(seed)  # noqa: S311
    while wanted:
        ruleset = REAL.build(random_rules(rng))
        for _ in range(20):
            inputs = random_inputs(rng, AMBIGUOUS_SLOT)
            action = rng.choice((*ACTIONS, None))
            found = evaluate(ruleset, action, DECLARED, *inputs, NOW)
            if found.boundary == "ALLOW" and wanted:
                wanted -= 1
                yield rng, ruleset, action, inputs


def broken_inputs(rng: Random, name: str, inputs: Any) -> Any:
    """The inputs with one value broken where its predicate is read from."""
    state, gate_values, slots = (dict(part) for part in inputs)
    bad = rng.choice(BROKEN[BY_NAME[name]["type"]])
    if BY_NAME[name]["source"] == "core":
        state[name] = bad
    elif rng.random() < 0.3:
        state[name] = rng.choice(SOUND["boolean"])  # supplied as input, which is refused
    elif name.startswith("slot."):
        slots[name[5:]] = AMBIGUOUS_SLOT if bad is None else bad
    else:
        gate_values[name] = bad
    return state, gate_values, slots


def test_p03_breaking_any_value_that_an_applicable_rule_reads_closes_an_open_route() -> None:
    checked = 0
    for rng, ruleset, action, inputs in allowed_cases(3, 3000):
        read = {name for rule in ruleset.applicable(action) for name in reads(rule.when)}
        for name in sorted(read & set(BY_NAME)):
            found = evaluate(ruleset, action, DECLARED, *broken_inputs(rng, name, inputs), NOW)
            assert found.boundary != "ALLOW", (name, inputs)
            checked += 1
    assert checked > 2000


def test_p03_breaking_any_value_that_no_applicable_rule_reads_changes_nothing() -> None:
    checked = 0
    for rng, ruleset, action, inputs in allowed_cases(33, 500):
        read = {name for rule in ruleset.applicable(action) for name in reads(rule.when)}
        for name in sorted(set(BY_NAME) - read):
            found = evaluate(ruleset, action, DECLARED, *broken_inputs(rng, name, inputs), NOW)
            assert says(found) == ("ALLOW", "R-999")
            checked += 1
    assert checked > 2000


def test_p03_undeclared_names_in_the_state_change_nothing() -> None:
    for rng, ruleset, action, (state, gate_values, slots) in allowed_cases(333, 300):
        noisy = {**state, "unheard_of": rng.choice(STRANGE), "": rng.choice(STRANGE)}
        found = evaluate(ruleset, action, DECLARED, noisy, gate_values, slots, NOW)
        assert says(found) == ("ALLOW", "R-999")


def test_p03_a_broken_value_below_the_deciding_rule_changes_nothing() -> None:
    rules = [
        blocking(1, {"predicate": "flag", "is": True}),
        blocking(2, {"predicate": "other", "is": True}),
        default(),
    ]
    for bad in BROKEN["boolean"]:
        assert says(decide(rules, PREDICATES, {"flag": True, "other": bad})) == ("REJECT", "R-001")
