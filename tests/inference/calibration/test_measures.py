"""Calibration figures against values counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.calibration.measures import adaptive_bins, brier, ece, equal_bins, nll

SURE = np.array([0.95, 0.95, 0.95, 0.95, 0.55, 0.55])
RIGHT = np.array([True, True, True, False, True, True])


def test_equal_bins_by_hand() -> None:
    low, high = equal_bins(SURE, RIGHT)
    assert (low.low, low.high, low.weight) == (0.5, pytest.approx(0.6), 2)
    assert low.gap == pytest.approx(-0.45)  # promised too little
    assert high.gap == pytest.approx(0.20)  # promised too much
    assert ece((low, high)) == pytest.approx((2 * 0.45 + 4 * 0.20) / 6)


def test_weights_stand_for_another_mix() -> None:
    weights = np.array([1.0, 1, 1, 1, 10, 10])
    twice = np.concatenate([SURE, *[SURE[4:]] * 9]), np.concatenate([RIGHT, *[RIGHT[4:]] * 9])
    assert ece(equal_bins(SURE, RIGHT, weights=weights)) == pytest.approx(ece(equal_bins(*twice)))
    assert brier(SURE, RIGHT, weights) == pytest.approx(brier(*twice))
    assert nll(SURE, RIGHT, weights) == pytest.approx(nll(*twice))


def test_adaptive_bins_hold_equal_weight() -> None:
    scores = np.linspace(0, 1, 1000) ** 4
    bins = adaptive_bins(scores, scores > 0.5)
    assert [b.weight for b in bins] == [100] * 10
    assert ece(bins) < ece(equal_bins(scores, scores > 0.5)) + 0.2


def test_equal_scores_stay_in_one_bin() -> None:
    assert len(adaptive_bins(np.full(50, 0.7), np.arange(50) < 35)) == 1
    assert ece(adaptive_bins(np.full(50, 0.7), np.arange(50) < 35)) == pytest.approx(0)


def test_brier_and_log_loss_by_hand() -> None:
    scores, right = np.array([0.8, 0.6]), np.array([True, False])
    assert brier(scores, right) == pytest.approx((0.04 + 0.36) / 2)
    assert nll(scores, right) == pytest.approx(-(np.log(0.8) + np.log(0.4)) / 2)
    assert nll(np.array([1.0]), np.array([False])) == pytest.approx(-np.log(1e-12), rel=1e-3)


@given(st.integers(0, 2**32 - 1), st.integers(1, 200))
def test_bins_hold_every_text_once(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    scores, right, weights = rng.random(n), rng.random(n) < 0.5, rng.random(n) + 0.1
    for bins in (equal_bins(scores, right, 10, weights), adaptive_bins(scores, right, 10, weights)):
        assert sum(b.weight for b in bins) == pytest.approx(weights.sum())
        mean = sum(b.weight * b.accuracy for b in bins) / weights.sum()
        assert mean == pytest.approx(np.average(right, weights=weights))
        assert abs(sum(b.weight * b.gap for b in bins)) / weights.sum() <= ece(bins) + 1e-12
