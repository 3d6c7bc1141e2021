"""Policy and selection: order of margin and thresholds, costs by hand, limits kept or refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gate.load.costs import CostLimits, Costs
from inference.calibration.calibrator import Calibrator
from inference.calibration.policy import (
    Policy,
    Reaction,
    costs_of,
    margins,
    rates,
    react,
)
from inference.calibration.selection import Sample, choices, choose
from inference.calibration.thresholds import NextTier, derive
from inference.errors import CalibrationError
from tests.inference.calibration.samples import tempered

COSTS = Costs("cents", 0.02, 0.5, 15.0, {"READ": 80.0, "FREEZE": 1000.0, "OUT_OF_SCOPE": 120.0})
LABELS = ("READ", "OUT_OF_SCOPE", "FREEZE")
FOUND = derive(COSTS, dict.fromkeys(COSTS.damage, NextTier(0.9, 100)))
ROWS = np.array(
    [
        [0.95, 0.03, 0.02],  # above READ's 0.894
        [0.80, 0.15, 0.05],  # below it: passing on is cheaper than a question
        [0.03, 0.95, 0.02],  # above OUT_OF_SCOPE's
        [0.03, 0.02, 0.95],  # below FREEZE's 0.985: a question is cheaper
        [0.45, 0.44, 0.11],
    ]
)


def test_reactions_by_hand() -> None:
    done = react(Policy(FOUND), LABELS, ROWS)
    expected = [Reaction.ROUTE, Reaction.ESCALATE, Reaction.OUT_OF_SCOPE, Reaction.CLARIFY, 3]
    assert done.tolist() == expected


def test_margin_comes_before_thresholds() -> None:
    assert margins(ROWS) == pytest.approx([0.92, 0.65, 0.92, 0.92, 0.01])
    done = react(Policy(FOUND, margin=0.7), LABELS, ROWS)
    assert done.tolist() == [0, 2, 1, 2, 2]


def test_calibrator_and_floor_only_decide_how_sure_is_sure() -> None:
    cooled = Policy(FOUND, Calibrator("temperature", (3.0,)))
    assert react(cooled, LABELS, ROWS).tolist() == [3, 3, 3, 2, 3]
    assert react(Policy(FOUND, floor=0.96), LABELS, ROWS)[0] == Reaction.ESCALATE


def test_costs_and_rates_by_hand() -> None:
    own = [FOUND[label] for label in LABELS]
    best, done = ROWS.argmax(axis=1), react(Policy(FOUND), LABELS, ROWS)
    right = np.array([False, True, True, True, True])
    cost = costs_of(COSTS, own, best, right, done)
    assert cost == pytest.approx([80.02, 8.5, 0.02, 15.0, 8.5])
    found = rates(done, right, cost)
    assert (found.routed, found.out_of_scope, found.clarify) == (0.2, 0.2, 0.2)
    assert (found.escalation, found.wrong_routes) == (0.4, 1.0)
    assert found.cost == pytest.approx(112.04 / 5)
    twice = rates(done, right, cost, np.array([2.0, 1, 1, 1, 1]))
    assert twice.routed == pytest.approx(2 / 6)


def sample(heat: float = 3.0, seed: int = 5, n: int = 3000) -> Sample:
    shown, _, gold = tempered(n, 3, heat, seed)
    next_right = np.random.default_rng(seed).random(n) < 0.9
    return Sample(LABELS, shown, gold, next_right)


def test_the_choice_is_the_cheapest_that_keeps_the_limits() -> None:
    limits = CostLimits(escalation=0.5, clarify=0.5, wrong_routes=0.05)
    costs = replace(COSTS, limits=limits)
    chosen = choose(sample(), costs)
    kept = [
        c for c in choices(sample(), costs)
        if c.rates.escalation <= 0.5 and c.rates.clarify <= 0.5 and c.rates.wrong_routes <= 0.05
    ]  # fmt: skip
    assert chosen.rates.cost == min(c.rates.cost for c in kept)
    assert chosen.rates.wrong_routes <= 0.05


def test_overconfident_scores_are_calibrated_before_they_are_routed_on() -> None:
    chosen = choose(sample(heat=4.0), COSTS)
    assert chosen.method != "none"
    assert chosen.policy.calibrator.method == chosen.method
    fresh = sample(heat=4.0, seed=6)
    own = [chosen.policy.thresholds[label] for label in LABELS]
    done, plain = (
        react(p, LABELS, fresh.probabilities)
        for p in (chosen.policy, replace(chosen.policy, calibrator=Calibrator()))
    )
    paid, would = (costs_of(COSTS, own, fresh.best, fresh.right, d).mean() for d in (done, plain))
    assert paid < would


def test_a_tighter_limit_on_wrong_routes_costs_more_and_is_kept() -> None:
    loose = choose(sample(), COSTS)
    limit = loose.rates.wrong_routes / 2
    tight = choose(sample(), replace(COSTS, limits=CostLimits(wrong_routes=limit)))
    assert tight.rates.wrong_routes <= limit
    assert tight.rates.cost >= loose.rates.cost
    assert tight.weight > 1


def test_limits_that_cannot_be_kept_are_an_error_that_says_what_to_change() -> None:
    limits = CostLimits(escalation=0.0, clarify=0.01, wrong_routes=0.001)
    with pytest.raises(CalibrationError) as caught:
        choose(sample(), replace(COSTS, limits=limits))
    assert "no threshold keeps the limits" in str(caught.value)
    limits = CostLimits(escalation=0.02, wrong_routes=0.001)
    with pytest.raises(CalibrationError, match=r"raise `limits\.\w+` from .* to at least 0\.\d+"):
        choose(sample(), replace(COSTS, limits=limits))


def test_advice_of_the_error_works() -> None:
    limits = CostLimits(clarify=0.01, wrong_routes=0.05)
    with pytest.raises(CalibrationError) as caught:
        choose(sample(), replace(COSTS, limits=limits))
    least = float(str(caught.value).split("`limits.clarify` from 0.01 to at least ")[1][:6])
    choose(sample(), replace(COSTS, limits=replace(limits, clarify=least + 0.0001)))


def test_a_small_sample_is_chosen_without_calibrating() -> None:
    chosen = choose(sample(n=80), COSTS)
    assert chosen.method == "none"
    assert chosen.policy.calibrator.parameters == ()
