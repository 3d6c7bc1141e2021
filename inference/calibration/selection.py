"""Margin, calibration and thresholds chosen together, by expected cost under limits.

For every calibrator that the sample allows, every margin and every weight of damage, the thresholds
are derived, the sample is run through, and the cheapest choice that breaks no limit wins; of equally
cheap ones the first, which is the simplest. Confidences are cross-fitted, so that no calibrator is
chosen for what it has seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gate.load.costs import Costs
from inference.calibration import fit
from inference.calibration.calibrator import Floats, Method
from inference.calibration.policy import Policy, Rates, costs_of, margins, rates, reactions
from inference.calibration.thresholds import Outcomes, settle
from inference.errors import CalibrationError

Bools = NDArray[np.bool_]

MARGINS: Final = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)
WEIGHTS: Final = (1.0, 0.25, 0.5, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 40.0)
PARTS: Final = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """Validation texts: distributions (n, labels), gold places (-1: a label the head lacks).

    `next_tier` (n,) says what the next tier makes of each text, `weights` (n,) what it stands for.
    """

    labels: tuple[str, ...]
    probabilities: Floats
    gold: NDArray[np.int64]
    next_tier: Outcomes
    weights: Floats | None = None

    @property
    def best(self) -> NDArray[np.int64]:
        """The best label's place, shape (n,)."""
        return np.asarray(self.probabilities.argmax(axis=1))

    @property
    def right(self) -> Bools:
        """Whether the best label is the gold one, shape (n,)."""
        return np.asarray(self.best == self.gold)

    def take(self, rows: NDArray[np.int64]) -> Sample:
        """Some of the texts, by place."""
        weights = None if self.weights is None else self.weights[rows]
        arrays = (self.probabilities[rows], self.gold[rows], self.next_tier[rows])
        return Sample(self.labels, *arrays, weights)


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice: the policy that would be used, its rates on the sample, the weight of damage.

    `settled` is False where thresholds and the next tier's measure went in a circle.
    """

    policy: Policy
    rates: Rates
    method: Method
    weight: float
    settled: bool


def choose(sample: Sample, costs: Costs, seed: int = 0) -> Choice:
    """The cheapest choice within the limits of `costs`; its calibrator is fitted on the whole sample.

    Raises CalibrationError where no choice keeps the limits, with what would have to change.
    """
    limits = asdict(costs.limits)
    every = list(choices(sample, costs, seed))
    kept = [choice for choice in every if not choice.rates.breaks(limits)]
    if not kept:
        raise CalibrationError(_what_to_change(every, limits))
    best = min(kept, key=lambda choice: choice.rates.cost)
    calibrator = fit.fit(best.method, sample.probabilities, sample.right, sample.weights)
    return replace(best, policy=replace(best.policy, calibrator=calibrator))


def choices(sample: Sample, costs: Costs, seed: int = 0) -> Iterator[Choice]:
    """Every choice with its rates; calibrators are cross-fitted and left out of the policies."""
    best, right, margin = sample.best, sample.right, margins(sample.probabilities)
    errors = int((~right).sum())
    for method in fit.allowed(len(right), errors):
        sure = fit.cross_fitted(method, sample.probabilities, right, PARTS, seed, sample.weights)
        for weight in WEIGHTS:
            found, settled = settle(costs, sample.labels, best, sure, sample.next_tier, weight)
            own = [found[label] for label in sample.labels]
            for band in MARGINS:
                policy = Policy(found, margin=band)
                done = reactions(own, policy, best, sure, margin)
                cost = costs_of(costs, own, best, right, done)
                figures = rates(done, right, cost, sample.weights)
                yield Choice(policy, figures, method, weight, settled)


def _what_to_change(every: Sequence[Choice], limits: dict[str, float]) -> str:
    """For each limit that cannot stand beside the others, the least that it would have to be."""
    parts = []
    for name, limit in limits.items():
        others = {other: value for other, value in limits.items() if other != name}
        within = [c for c in every if not c.rates.breaks(others)]
        least = min((getattr(c.rates, name) for c in within), default=None)
        if least is not None and least > limit:
            parts.append(f"raise `limits.{name}` from {limit:g} to at least {least:.4f}")
    advice = ", or ".join(parts) or "raise several limits at once"
    return f"no threshold keeps the limits of costs.yaml; {advice}, or train a better head"
