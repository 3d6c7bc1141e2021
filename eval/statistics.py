"""Intervals and averages that the metrics are made of."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, comb, sqrt

Z95 = 1.959963984540054
"""Two-sided 95 % point of the normal distribution."""


def wilson(count: int, of: int, z: float = Z95) -> tuple[float, float] | None:
    """Wilson's score interval of a share; None of nothing.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    JASA 22 (1927).
    """
    if of == 0:
        return None
    share, square = count / of, z * z
    centre = (share + square / (2 * of)) / (1 + square / of)
    half = z * sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return max(0.0, centre - half), min(1.0, centre + half)


def percentile(values: Sequence[float], percent: int) -> float | None:
    """The nearest-rank percentile; None of nothing."""
    if not values:
        return None
    return sorted(values)[max(0, ceil(percent / 100 * len(values)) - 1)]


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean; None of nothing."""
    return sum(values) / len(values) if values else None


def macro_f1(pairs: Sequence[tuple[str, str]], labels: Sequence[str]) -> float | None:
    """The mean F1 over the `labels` that occur as right or given; `pairs` are (right, given).

    A label that occurs on neither side has no F1 and is left out, as scikit-learn does.
    """
    scores = []
    for label in labels:
        both = sum(right == given == label for right, given in pairs)
        total = sum((right == label) + (given == label) for right, given in pairs)
        if total:
            scores.append(2 * both / total)
    return mean(scores)


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p-value of McNemar's test; 1 where the two never differ.

    `only_first` and `only_second` count the units of which one only is right. Source: Q. McNemar,
    Note on the sampling error of the difference between correlated proportions, Psychometrika 12
    (1947), with the binomial distribution in place of the normal one.
    """
    differing = only_first + only_second
    fewer = min(only_first, only_second)
    tail: float = sum(comb(differing, k) for k in range(fewer + 1)) / 2**differing
    return min(1.0, 2 * tail)
