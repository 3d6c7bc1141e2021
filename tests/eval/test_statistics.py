"""Intervals and averages against values computed by hand or by another library."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import f1_score

from eval.statistics import macro_f1, mcnemar, mean, percentile, wilson


def test_wilson_of_nothing_is_none() -> None:
    assert wilson(0, 0) is None


def test_wilson_of_no_false_dispatch_in_84() -> None:
    # z² / (n + z²) with z = 1.959964: 3.841459 / 87.841459
    low, high = wilson(0, 84) or (1.0, 0.0)
    assert low == 0.0
    assert high == pytest.approx(0.043732, abs=1e-6)


@given(st.integers(1, 400).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_wilson_equals_scipy(share: tuple[int, int]) -> None:
    count, of = share
    expected = binomtest(count, of).proportion_ci(0.95, method="wilson")
    assert wilson(count, of) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_percentile_is_nearest_rank() -> None:
    values = [40.0, 10.0, 30.0, 20.0]
    assert percentile(values, 50) == 20.0
    assert percentile(values, 95) == 40.0
    assert percentile([7.0], 50) == 7.0
    assert percentile([], 50) is None


def test_mean_of_nothing_is_none() -> None:
    assert mean([]) is None
    assert mean([1.0, 2.0]) == 1.5


def test_macro_f1_by_hand() -> None:
    # A1: 1 of 2 right, 1 given: F1 = 2·1/3. T_CLARIFY: 1 right, 2 given: F1 = 2·1/3. A2 is absent.
    pairs = [("A1", "A1"), ("A1", "T_CLARIFY"), ("T_CLARIFY", "T_CLARIFY")]
    assert macro_f1(pairs, ("A1", "A2", "T_CLARIFY")) == pytest.approx(2 / 3)
    assert macro_f1([], ("A1",)) is None


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1))
def test_macro_f1_equals_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    right, found = zip(*pairs, strict=True)
    expected = f1_score(right, found, average="macro", zero_division=0)
    assert macro_f1(pairs, "abc") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (2, 0, 0.5), (5, 0, 0.0625), (3, 1, 0.625), (10, 10, 1.0)],
)
def test_mcnemar_is_the_two_sided_binomial_test(first: int, second: int, p: float) -> None:
    assert mcnemar(first, second) == pytest.approx(p)
    assert mcnemar(second, first) == mcnemar(first, second)
    if first + second:
        assert mcnemar(first, second) == pytest.approx(binomtest(first, first + second).pvalue)
