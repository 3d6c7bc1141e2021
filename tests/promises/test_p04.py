"""P-04: the engine equals an independent reference model, exhaustively over abstract outcomes and
on random states."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random
from typing import Any

import pytest

from gate.rules import AMBIGUOUS_SLOT, evaluate
from tests.gate import reference
from tests.gate.chance import ACTIONS, BY_NAME, PREDICATES, random_inputs, random_rules
from tests.gate.engine import NOW, REAL, blocking, default, says, whole

OUTCOMES = ("TRUE", "FALSE", "ERROR", "PENDING")
BOUNDED = ("CLARIFY", "DEFER", "HANDOFF", "REJECT")
MOST_RULES = 5
RAW = {"TRUE": True, "FALSE": False, "ERROR": "broken", "PENDING": AMBIGUOUS_SLOT}
"""A raw value of a boolean slot that gives a rule each outcome; a missing one is PENDING too."""

SLOTS = REAL.predicates(
    {"name": f"slot.s{n}", "type": "boolean", "source": "gate"} for n in range(MOST_RULES)
)


def one_rule_a_slot(boundaries: tuple[tuple[str, str], ...]) -> list[dict[str, Any]]:
    """Rule n is true if slot n is; its `then` and `on_error` are given."""
    rules = [
        blocking(n, {"predicate": f"slot.s{n}", "is": True}, then=then, on_error=on_error)
        for n, (then, on_error) in enumerate(boundaries)
    ]
    return [*rules, default()]


def assert_equal_on(outcomes: tuple[str, ...], boundaries: tuple[tuple[str, str], ...]) -> None:
    rules = one_rule_a_slot(boundaries)
    slots = {f"s{n}": RAW[outcome] for n, outcome in enumerate(outcomes)}
    found = evaluate(REAL.build(rules), "ACT", SLOTS, {}, {}, slots, NOW)
    judged = [
        (rule["id"], outcome, rule["then"], rule["on_error"])
        for rule, outcome in zip(rules[:-1], outcomes, strict=True)
    ]
    boundary, rule_id, pending = reference.combine(judged, "R-999")
    assert (*says(found), found.pending) == (boundary, rule_id, pending)


@pytest.mark.parametrize("size", range(MOST_RULES + 1))
def test_p04_the_engine_combines_every_sequence_of_outcomes_like_the_reference(size: int) -> None:
    boundaries = tuple(zip(BOUNDED, BOUNDED[1:] + BOUNDED[:1], strict=True)) * 2
    for outcomes in product(OUTCOMES, repeat=size):
        for shift in range(len(BOUNDED)):
            assert_equal_on(outcomes, boundaries[shift : shift + size])


@pytest.mark.parametrize("size", [1, 2])
def test_p04_the_engine_combines_every_choice_of_boundaries_like_the_reference(size: int) -> None:
    for outcomes in product(OUTCOMES, repeat=size):
        for boundaries in product(product(BOUNDED, repeat=2), repeat=size):
            assert_equal_on(outcomes, boundaries)


def test_p04_a_missing_slot_is_like_an_ambiguous_one() -> None:
    rules = one_rule_a_slot((("REJECT", "DEFER"),) * 3)
    ruleset = REAL.build(rules)
    for present in product((False, True), repeat=3):
        missing = {f"s{n}": False for n, there in enumerate(present) if there}
        unclear = {f"s{n}": False if there else AMBIGUOUS_SLOT for n, there in enumerate(present)}
        verdicts = [evaluate(ruleset, "ACT", SLOTS, {}, {}, s, NOW) for s in (missing, unclear)]
        assert says(verdicts[0]) == says(verdicts[1])
        assert verdicts[0].pending == verdicts[1].pending


def test_p04_the_reference_dispatches_on_no_outcome_but_false() -> None:
    for size in range(MOST_RULES + 1):
        for outcomes in product(OUTCOMES, repeat=size):
            judged = [(f"R-{n}", outcome, "REJECT", "DEFER") for n, outcome in enumerate(outcomes)]
            boundary, _, _ = reference.combine(judged, "R-999")
            assert (boundary == "ALLOW") is (set(outcomes) <= {"FALSE"})


@pytest.mark.slow
def test_p04_the_engine_equals_the_reference_on_random_rules_and_states(random_states: int) -> None:
    rng = Random(4)  # noqa: S311
    declared = REAL.predicates(PREDICATES)
    seen: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    per_rules = 50
    for _ in range(random_states // per_rules):
        rules = random_rules(rng)
        ruleset = REAL.build(rules)
        for _ in range(per_rules):
            action = rng.choice((*ACTIONS, "UNNAMED", None))
            inputs = random_inputs(rng, AMBIGUOUS_SLOT)
            found = whole(evaluate(ruleset, action, declared, *inputs, NOW))
            expected = reference.verdict(rules, action, BY_NAME, *inputs, NOW, AMBIGUOUS_SLOT)
            assert found == expected, (rules, action, inputs)
            seen[f"{found[0]} {'error' if found[2] else 'true'}"] += 1
            faults.update(code.rpartition(":")[2] for code in found[2])
    assert len(seen) == 9, seen  # four bounded verdicts, by a true or an erring rule, and ALLOW
    assert len(faults) == 9, faults  # every fault there is
