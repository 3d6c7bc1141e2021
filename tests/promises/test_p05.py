"""P-05: file order does not matter; conflicting duplicates and equal priorities refuse to load."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from copy import deepcopy
from itertools import permutations, product
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import ConfigError
from gate.load import load
from gate.rules import AMBIGUOUS_SLOT, evaluate
from tests.gate.chance import ACTIONS, PREDICATES, random_inputs, random_rules
from tests.gate.demo import DEMO, demo
from tests.gate.engine import NOW, REAL, blocking, decide, default, whole

DECLARED = REAL.predicates(PREDICATES)
FLAG = {"predicate": "flag", "is": True}
OTHER = {"predicate": "other", "is": True}
SUM = {"predicate": "slot.sum", "gt": 5}

FIVE = [
    blocking(10, FLAG),
    blocking(20, OTHER, then="DEFER"),
    blocking(30, {"predicate": "tier", "in": ["high"]}, then="HANDOFF"),
    blocking(40, SUM, applies_to=["ACT"]),
    default(),
]
STATES: list[tuple[dict[str, object], dict[str, object]]] = [
    ({"flag": flag, "other": other, "tier": tier}, slots)
    for flag, other, tier in product((True, False, None), (True, False), ("low", "high"))
    for slots in ({}, {"sum": 6}, {"sum": 1})
]


def test_p05_every_file_order_of_five_rules_gives_equal_rule_sets_and_verdicts() -> None:
    expected = [whole(decide(FIVE, PREDICATES, state, slots=slots)) for state, slots in STATES]
    assert len(set(expected)) > 5
    for order in permutations(FIVE):
        ruleset = REAL.build(order)
        assert ruleset == REAL.build(FIVE)
        found = [evaluate(ruleset, "ACT", DECLARED, st_, {}, slots, NOW) for st_, slots in STATES]
        assert [whole(verdict) for verdict in found] == expected


@given(st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_p05_shuffling_any_rules_changes_no_verdict(seed: int, shuffler: Random) -> None:
    rng = Random(seed)  # noqa: S311
    rules = random_rules(rng)
    shuffled = list(rules)
    shuffler.shuffle(shuffled)
    one, two = REAL.build(rules), REAL.build(shuffled)
    assert one == two
    for action in (*ACTIONS, None):
        assert one.applicable(action) == two.applicable(action)
        inputs = random_inputs(rng, AMBIGUOUS_SLOT)
        assert evaluate(one, action, DECLARED, *inputs, NOW) == evaluate(
            two, action, DECLARED, *inputs, NOW
        )


@given(st.integers(0, 10**6))
def test_p05_duplicates_anywhere_in_the_file_change_no_verdict(seed: int) -> None:
    rng = Random(seed)  # noqa: S311
    rules = random_rules(rng)
    doubled = [*rules, *rng.sample(rules, rng.randint(1, len(rules)))]
    rng.shuffle(doubled)
    one, two = REAL.build(rules), REAL.build(doubled)
    assert one.rules == two.rules
    assert len(two.collapsed) == len(doubled) - len(rules)
    inputs = random_inputs(rng, AMBIGUOUS_SLOT)
    assert evaluate(one, "ACT", DECLARED, *inputs, NOW) == evaluate(
        two, "ACT", DECLARED, *inputs, NOW
    )


def refuses(rules: Any) -> bool:
    """Whether every file order of these rules is refused."""
    refusals = 0
    for order in permutations(rules):
        with pytest.raises(ConfigError):
            REAL.build(order)
        refusals += 1
    return refusals > 0


@pytest.mark.parametrize("place", range(5))
def test_p05_equal_priorities_refuse_in_every_file_order(place: int) -> None:
    twin = blocking(FIVE[place]["priority"], FLAG, id="R-777")
    assert refuses([*FIVE, twin])


@pytest.mark.parametrize(
    "change",
    [
        {"priority": 15},
        {"then": "HANDOFF"},
        {"on_error": "DEFER"},
        {"when": OTHER},
        {"when": {"predicate": "flag", "is": False}},
        {"applies_to": ["ACT"]},
        {"explain": "another reason"},
    ],
)
def test_p05_one_id_with_two_contents_refuses_in_every_file_order(change: dict[str, Any]) -> None:
    assert refuses([*FIVE, {**FIVE[0], **change}])


def test_p05_two_contents_refuse_even_beside_a_true_duplicate() -> None:
    assert refuses([FIVE[0], FIVE[0], {**FIVE[0], "then": "DEFER"}, default()])


def test_p05_one_default_in_two_contents_refuses() -> None:
    assert refuses([FIVE[0], default(), default(1000)])
    assert refuses([FIVE[0], default(), {**default(1000), "id": "R-1000"}])


def test_p05_the_id_does_not_break_ties() -> None:
    for ids in permutations(("R-001", "R-002")):
        assert refuses([*(blocking(5, FLAG, id=rule_id) for rule_id in ids), default()])


# The same through the files of an institution.


def rewritten(folder: Path, change: Callable[[list[Any]], list[Any]]) -> Path:
    """A copy of the demo institution with another list of rules in `rules.yaml`."""
    shutil.copytree(DEMO, folder)
    file = folder / "rules.yaml"
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    content["rules"] = change(content["rules"])
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return folder


@pytest.mark.parametrize("seed", range(3))
def test_p05_the_demo_loads_alike_in_any_order_of_its_rules(tmp_path: Path, seed: int) -> None:
    def shuffled(rules: list[Any]) -> list[Any]:
        Random(seed).shuffle(rules)  # noqa: S311
        return rules

    assert load(rewritten(tmp_path / "demo", shuffled)).rules == demo().rules


def test_p05_the_demo_with_every_rule_twice_is_the_demo(tmp_path: Path) -> None:
    twice = load(rewritten(tmp_path / "demo", lambda rules: rules + deepcopy(rules))).rules
    assert twice.rules == demo().rules.rules
    assert twice.collapsed == tuple(sorted(rule.rule_id for rule in twice.rules))


@pytest.mark.parametrize(
    "change", [{"priority": 11}, {"priority": 20, "id": "R-777"}, {"explain": "another reason"}]
)
def test_p05_the_demo_with_a_conflicting_rule_refuses_with_file_and_line(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    folder = rewritten(tmp_path / "demo", lambda rules: [*rules, deepcopy({**rules[0], **change})])
    with pytest.raises(ConfigError) as error:
        load(folder)
    assert error.value.file.endswith("rules.yaml")
    assert error.value.line
    assert error.value.fix
