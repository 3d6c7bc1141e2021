"""How well confidences keep their word: expected calibration error, Brier score, log loss.

All are about one event, "the best label is right". `weights` let a sample stand for another mix of
in-scope and out-of-scope texts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inference.calibration.calibrator import Floats

Bools = NDArray[np.bool_]


class Bin(NamedTuple):
    """Texts whose confidence lies in [low, high], the last bin's ends included.

    `gap` is confidence less accuracy: above 0 the scores promise too much.
    """

    low: float
    high: float
    weight: float
    confidence: float
    accuracy: float

    @property
    def gap(self) -> float:
        """Mean confidence less accuracy, signed."""
        return self.confidence - self.accuracy


def equal_bins(
    confidences: Floats, right: Bools, bins: int = 10, weights: Floats | None = None
) -> tuple[Bin, ...]:
    """Bins of equal width from 0 to 1; empty ones are left out."""
    edges = np.linspace(0, 1, bins + 1)
    place = np.clip(np.digitize(confidences, edges[1:-1]), 0, bins - 1)
    return _bins(confidences, right, place, _or_ones(weights, right), edges)


def adaptive_bins(
    confidences: Floats, right: Bools, bins: int = 10, weights: Floats | None = None
) -> tuple[Bin, ...]:
    """Bins of equal weight (Nguyen and O'Connor, 2015); equal confidences stay together."""
    given = _or_ones(weights, right)
    inverse = np.unique(confidences, return_inverse=True)[1]
    mass = np.bincount(inverse, weights=given)
    middle = (np.cumsum(mass) - mass / 2) / max(mass.sum(), 1e-300)
    place = np.minimum((middle * bins).astype(np.int64), bins - 1)[inverse]
    return _bins(confidences, right, place, given, None)


def _or_ones(weights: Floats | None, right: Bools) -> Floats:
    return np.ones(len(right)) if weights is None else weights


def _bins(
    confidences: Floats,
    right: Bools,
    place: NDArray[np.int64],
    weights: Floats,
    edges: Floats | None,
) -> tuple[Bin, ...]:
    found = []
    for number in np.unique(place):
        rows = place == number
        here, total = confidences[rows], float(weights[rows].sum())
        if total <= 0:
            continue
        low, high = (here.min(), here.max()) if edges is None else edges[number : number + 2]
        mean = float(np.average(here, weights=weights[rows]))
        share = float(np.average(right[rows], weights=weights[rows]))
        found.append(Bin(float(low), float(high), total, mean, share))
    return tuple(found)


def ece(bins: tuple[Bin, ...]) -> float:
    """The expected calibration error: the bins' absolute gaps, weighted (Naeini et al., 2015)."""
    total = sum(b.weight for b in bins)
    return sum(b.weight * abs(b.gap) for b in bins) / total if total else 0.0


def brier(confidences: Floats, right: Bools, weights: Floats | None = None) -> float:
    """The mean squared difference of confidence and outcome (Brier, 1950)."""
    return float(np.average((confidences - right) ** 2, weights=weights))


def nll(confidences: Floats, right: Bools, weights: Floats | None = None) -> float:
    """The mean negative log-likelihood of the outcome, in nats; a certainty counts as 1 - 1e-12."""
    cut = np.clip(confidences, 1e-12, 1 - 1e-12)
    return float(np.average(-np.log(np.where(right, cut, 1 - cut)), weights=weights))
