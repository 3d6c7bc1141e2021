"""P-06: adding a blocking rule never opens a route; a missing or non-final ALLOW refuses to load."""

from __future__ import annotations

from itertools import permutations, product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import ConfigError
from gate.rules import AMBIGUOUS_SLOT, evaluate
from tests.gate.chance import ACTIONS, PREDICATES, random_inputs, random_rule, random_rules
from tests.gate.engine import NOW, REAL, blocking, default

DECLARED = REAL.predicates(PREDICATES)
FLAG = {"predicate": "flag", "is": True}
OUTCOMES = {"TRUE": True, "FALSE": False, "ERROR": "broken", "PENDING": AMBIGUOUS_SLOT}
SLOTS = REAL.predicates(
    {"name": f"slot.s{n}", "type": "boolean", "source": "gate"} for n in range(6)
)


def boundary(rules: list[dict[str, Any]], outcomes: tuple[str, ...]) -> str:
    """The boundary when rule n of `rules` (named by its slot) has the outcome n."""
    slots = {f"s{n}": OUTCOMES[outcome] for n, outcome in enumerate(outcomes)}
    return str(evaluate(REAL.build(rules), "ACT", SLOTS, {}, {}, slots, NOW).boundary)


@pytest.mark.parametrize("size", range(4))
def test_p06_a_blocking_rule_at_any_place_with_any_outcome_never_opens(size: int) -> None:
    rules = [blocking(10 * n + 5, {"predicate": f"slot.s{n}", "is": True}) for n in range(size)]
    for outcomes in product(OUTCOMES, repeat=size):
        before = boundary([*rules, default()], outcomes)
        for place, added in product(range(size + 1), OUTCOMES):
            extra = blocking(10 * place + 1, {"predicate": f"slot.s{size}", "is": True})
            after = boundary([*rules, extra, default()], (*outcomes, added))
            if added == "FALSE":
                assert after == before
            else:
                assert after != "ALLOW"
            assert before == "ALLOW" or after != "ALLOW"


def test_p06_added_random_rules_never_open_random_rule_sets() -> None:
    rng = Random(6)  # noqa: S311
    closed = opened = 0
    for _ in range(1500):
        rules = random_rules(rng)
        free = [p for p in range(1, 200) if p not in {rule["priority"] for rule in rules}]
        added = [random_rule(rng, p) for p in rng.sample(free, rng.randint(1, 3))]
        small, large = REAL.build(rules), REAL.build([*rules, *added])
        for action in (*ACTIONS, None, "UNNAMED"):
            inputs = random_inputs(rng, AMBIGUOUS_SLOT)
            before = evaluate(small, action, DECLARED, *inputs, NOW).boundary
            after = evaluate(large, action, DECLARED, *inputs, NOW).boundary
            assert before == "ALLOW" or after != "ALLOW", (rules, added, action, inputs)
            closed += before != "ALLOW"
            opened += before == "ALLOW" and after != "ALLOW"
    assert closed > 1000
    assert opened > 300


@given(st.integers(0, 10**6))
def test_p06_removing_a_blocking_rule_never_closes(seed: int) -> None:
    rng = Random(seed)  # noqa: S311
    rules = random_rules(rng)
    blocking_rules = [rule for rule in rules if rule["then"] != "ALLOW"]
    kept = [rule for rule in rules if rule not in blocking_rules[:1]]
    inputs = random_inputs(rng, AMBIGUOUS_SLOT)
    for action in (*ACTIONS, None):
        before = evaluate(REAL.build(rules), action, DECLARED, *inputs, NOW)
        after = evaluate(REAL.build(kept), action, DECLARED, *inputs, NOW)
        assert before.boundary != "ALLOW" or after.boundary == "ALLOW"


@given(st.integers(0, 10**6))
def test_p06_widening_a_rule_to_every_action_never_opens(seed: int) -> None:
    rng = Random(seed)  # noqa: S311
    rules = random_rules(rng)
    place = rng.randrange(len(rules))
    wider = [*rules]
    wider[place] = {**rules[place], "applies_to": ["*"]}
    inputs = random_inputs(rng, AMBIGUOUS_SLOT)
    for action in (*ACTIONS, None):
        before = evaluate(REAL.build(rules), action, DECLARED, *inputs, NOW)
        after = evaluate(REAL.build(wider), action, DECLARED, *inputs, NOW)
        assert before.boundary == "ALLOW" or after.boundary != "ALLOW"


# A default that is missing or not final.

TWO = [blocking(10, FLAG), blocking(20, {"predicate": "other", "is": True})]


def refused(*rules: dict[str, Any]) -> bool:
    for order in permutations(rules):
        with pytest.raises(ConfigError) as error:
            REAL.build(order)
        assert error.value.fix
    return True


def test_p06_a_missing_allow_refuses() -> None:
    assert refused()
    assert refused(*TWO)
    for then in ("CLARIFY", "DEFER", "HANDOFF", "REJECT"):
        assert refused(*TWO, {**default(), "then": then, "on_error": then})


@pytest.mark.parametrize("priority", [-1, 0, 5, 15])
def test_p06_an_allow_that_is_not_final_refuses(priority: int) -> None:
    assert refused(*TWO, default(priority))
    assert refused(*TWO, {**default(priority), "id": "R-000", "on_error": "REJECT"}, default())


@pytest.mark.parametrize("when", [FLAG, {"not": FLAG}, {"all": [{}]}, {"any": [{}, FLAG]}])
def test_p06_an_allow_with_a_condition_refuses(when: dict[str, Any]) -> None:
    assert refused(*TWO, {**default(), "when": when, "on_error": "REJECT"})


def test_p06_an_allow_for_some_actions_refuses() -> None:
    assert refused(*TWO, {**default(), "applies_to": ["ACT"]})


@pytest.mark.parametrize("changes", [{"on_error": "ALLOW"}, {"on_error": None}, {"then": "ALLOW"}])
def test_p06_a_blocking_rule_that_could_allow_refuses(changes: dict[str, Any]) -> None:
    assert refused(blocking(10, FLAG, **changes), default())
    assert refused(*TWO, blocking(15, FLAG, applies_to=["ACT"], **changes), default())
