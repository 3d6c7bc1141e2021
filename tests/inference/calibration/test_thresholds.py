"""Thresholds: the inequality holds on exactly one side of tau, for every action and any costs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.load.costs import Costs
from inference.calibration.thresholds import (
    FEWEST,
    NextTier,
    derivation,
    derive,
    measure_next_tier,
    pointless,
    settle,
    slack,
)
from inference.errors import CalibrationError

COSTS = Costs("cents", 0.02, 0.5, 15.0, {"READ": 80.0, "FREEZE": 1000.0, "OUT_OF_SCOPE": 120.0})
LABELS = ("READ", "OUT_OF_SCOPE", "FREEZE")
GOOD = dict.fromkeys(COSTS.damage, NextTier(0.9, 100))


def test_tau_by_hand() -> None:
    found = derive(COSTS, GOOD)
    # READ: passing on costs 0.5 + 0.1 * 80 = 8.5, less than a question at 15
    assert found["READ"].escalate == pytest.approx(8.5)
    assert found["READ"].tau == pytest.approx(1 - (8.5 - 0.02) / 80)
    assert found["READ"].otherwise == "escalate"
    # FREEZE: passing on costs 0.5 + 0.1 * 1000, so a question is cheaper
    assert found["FREEZE"].tau == pytest.approx(1 - (15 - 0.02) / 1000)
    assert found["FREEZE"].otherwise == "clarify"


amounts = st.floats(0.01, 1000)


@given(
    amounts, amounts, amounts, amounts, st.floats(0, 1), st.floats(0, 1)
)  # fmt: skip
def test_a_route_is_cheapest_exactly_from_tau_on(
    small: float, large: float, ask: float, damage: float, right: float, p: float
) -> None:
    costs = Costs("c", small, large, ask, {"A": damage})
    tau = derive(costs, {"A": NextTier(right, 1)})["A"].tau
    cheap = (1 - p) * damage + small
    other = min(large + (1 - right) * damage, ask)
    if abs(cheap - other) > 1e-9 * (1 + damage):
        assert (p >= tau) == (cheap <= other)


def test_a_worse_next_tier_lowers_tau_until_a_question_is_cheaper() -> None:
    rights = (1.0, 0.9, 0.85, 0.5, 0.0)
    found = [derive(COSTS, dict.fromkeys(COSTS.damage, NextTier(r, 9)))["READ"].tau for r in rights]
    assert found == sorted(found, reverse=True)
    assert found[-1] == found[-2] == pytest.approx(1 - (15 - 0.02) / 80)


def test_weight_counts_damage_several_times() -> None:
    one, two = derive(COSTS, GOOD), derive(COSTS, GOOD, weight=2.0)
    for label in COSTS.damage:
        assert 1 - two[label].tau == pytest.approx((1 - one[label].tau) / 2)


def test_a_label_without_a_measured_next_tier_is_refused() -> None:
    with pytest.raises(CalibrationError, match="FREEZE"):
        derive(COSTS, {k: v for k, v in GOOD.items() if k != "FREEZE"})


def test_next_tier_is_measured_on_what_is_passed_on_only() -> None:
    best = np.repeat([0, 1, 2], [60, 60, 5])
    passed_on = np.tile([True, False], 63)[:125]
    # Right on the passed-on READ, wrong on everything else.
    right = passed_on & (best == 0)
    found = measure_next_tier(LABELS, best, passed_on, right)
    assert found["READ"] == NextTier((30 + 0.5) / 31, 30)
    assert found["OUT_OF_SCOPE"] == NextTier(0.5 / 31, 30)
    assert found["FREEZE"].pooled and found["FREEZE"].measured_on == 3 < FEWEST
    assert found["FREEZE"].right == pytest.approx((30 + 0.5) / (63 + 1))


def test_nothing_passed_on_counts_as_even_odds() -> None:
    nothing = np.zeros(4, dtype=bool)
    found = measure_next_tier(LABELS, np.zeros(4, dtype=np.int64), nothing, nothing)
    assert {m.right for m in found.values()} == {0.5}


def example(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    best, sure = rng.integers(3, size=900), rng.beta(5, 1, 900)
    return best, sure, rng.random(900) < 0.5 + 0.45 * sure


@pytest.mark.parametrize("seed", range(8))
def test_settled_thresholds_agree_with_what_they_pass_on(seed: int) -> None:
    best, sure, next_right = example(seed)
    found, settled = settle(COSTS, LABELS, best, sure, next_right)
    passed_on = sure < np.array([found[label].tau for label in LABELS])[best]
    again = derive(COSTS, measure_next_tier(LABELS, best, passed_on, next_right))
    if settled:
        assert again == found
    else:
        assert all(found[k].tau >= again[k].tau - 0.2 for k in found)


def test_a_circle_keeps_the_higher_threshold() -> None:
    # The next tier is good on what a low threshold passes on and bad on what a high one adds:
    # measured on all it lowers tau, measured on the rest it raises it again.
    best = np.zeros(100, dtype=np.int64)
    sure = np.repeat([0.4, 0.85], 50)
    next_right = np.repeat([True, False], 50)
    costs = Costs("c", 0.0, 1.0, 60.0, {"READ": 100.0})
    found, settled = settle(costs, ("READ",), best, sure, next_right)
    assert not settled
    assert found["READ"].tau == pytest.approx(1 - (1 + 0.5 / 51 * 100) / 100)


def test_slack_is_the_nearest_message_on_either_side() -> None:
    found = derive(COSTS, GOOD)
    best = np.array([0, 0, 2, 2])
    sure = np.array([0.95, 0.80, 0.99, 0.90])
    # READ 8.5 - 4.02 and 16.02 - 8.5; FREEZE 15 - 10.02 and 100.02 - 15
    got = slack(COSTS, found, LABELS, best, sure)
    assert got.taken == pytest.approx(4.48)
    assert got.passed == pytest.approx(7.52)
    assert slack(COSTS, found, LABELS, best[:1], sure[:1]).passed is None


def test_what_makes_a_tier_pointless_is_said() -> None:
    cheap = Costs("c", 0.0, 50.0, 50.0, {"READ": 10.0, "FREEZE": 1e6})
    found = derive(cheap, dict.fromkeys(cheap.damage, NextTier(0.9, 50)))
    (problem,) = pointless(found, 0.5)
    assert "`READ`" in problem and "every message is routed" in problem
    dear = Costs("c", 5.0, 1.0, 1.0, {"READ": 10.0})
    (problem,) = pointless(derive(dear, {"READ": NextTier(1.0, 50)}), 0.5)
    assert "no message is ever routed" in problem
    (problem,) = pointless(derive(COSTS, GOOD), 0.004)
    assert "coverage is 0.40%" in problem
    assert pointless(derive(COSTS, GOOD), 0.5) == ()


def test_derivation_prints_every_number_of_the_inequality() -> None:
    found = derive(COSTS, {**GOOD, "FREEZE": NextTier(0.75, 3, pooled=True)})
    text = derivation(COSTS, found, slack(COSTS, found, LABELS, np.array([0]), np.array([0.95])))
    for part in ("cents", "0.02", "0.5", "15", "READ", "0.8940", "0.900", "0.750*", "4.48", "none"):
        assert part in text
