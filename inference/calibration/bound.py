"""The error bound: the largest coverage at which wrong routes stay at most alpha, with confidence.

Learn-then-Test (Angelopoulos, Bates, Candès, Jordan and Lei, 2021, arXiv:2110.01052) with exact
binomial p-values over a fixed sequence of thresholds:

1. A learning part orders the thresholds: from the one most likely to pass towards more coverage.
2. On the testing part, of the k texts routed at threshold t, e are wrong. Were the rate of wrong
   routes above alpha, so few would come with probability p = P(Binomial(k, alpha) <= e) at most.
3. Thresholds are accepted in that order while p <= delta; the first that fails ends it.

The sequence does not depend on the testing part and given k its texts are exchangeable, so the
accepted threshold breaks alpha with probability at most delta, whatever the scores are worth. The
statement is about messages like the testing part's: `watch.py` says when they no longer are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, binom

from inference.calibration.calibrator import Floats
from inference.errors import CalibrationError

Bools = NDArray[np.bool_]
Places = NDArray[np.int64]

STEPS: Final = 100
"""Thresholds in the sequence, about one per cent of the routed texts apart."""
LEARNING: Final = 0.1
"""Share of a sample that `parted` gives to the learning part."""
NEVER: Final = math.inf
"""The threshold of a bound under which nothing is routed."""


class Scored(NamedTuple):
    """Labelled texts: confidence, best and gold label as places, and whether it may be routed at all.

    `gold` is -1 for a label that the head lacks; `eligible` leaves out what the policy does not
    route: out-of-scope, a margin, a tau.
    """

    confidence: Floats
    best: Places
    gold: Places
    eligible: Bools

    @property
    def wrong(self) -> Bools:
        """Whether the best label is not the gold one."""
        return np.asarray(self.best != self.gold)

    def take(self, rows: NDArray[np.generic]) -> Scored:
        """Some of the texts, by mask or by places."""
        return Scored(*(column[rows] for column in self))


@dataclass(frozen=True, slots=True)
class Bound:
    """Routes at or above `threshold` are wrong in at most `alpha` of cases, with confidence 1 - delta.

    `routed` and `wrong` are counts of the `texts` it was tested on, `upper` is the exact one-sided
    upper limit of the rate at that threshold. `void` is None, or the reason why nothing is promised;
    then `threshold` is NEVER or, after a shift, the tightened one.
    """

    alpha: float
    delta: float
    threshold: float
    routed: int
    wrong: int
    texts: int
    void: str | None = None

    @property
    def coverage(self) -> float:
        """Share of the tested texts that are routed."""
        return self.routed / self.texts if self.texts else 0.0

    @property
    def upper(self) -> float:
        """The Clopper-Pearson upper limit of the rate of wrong routes at confidence 1 - delta."""
        return upper_limit(self.wrong, self.routed, self.delta)


def upper_limit(wrong: int, routed: int, delta: float) -> float:
    """The exact one-sided upper limit of a share (Clopper and Pearson, 1934)."""
    return 1.0 if wrong >= routed else float(beta.ppf(1 - delta, wrong + 1, routed - wrong))


def fewest(alpha: float, delta: float) -> int:
    """Routed texts without an error that a bound needs at least: 299 for 1 % at 95 %."""
    return math.ceil(math.log(delta) / math.log1p(-alpha))


def parted(sample: Scored, seed: int, share: float = LEARNING) -> tuple[Scored, Scored]:
    """A learning and a testing part, at random."""
    order = np.random.default_rng(seed).permutation(len(sample.confidence))
    cut = round(len(order) * share)
    return sample.take(order[:cut]), sample.take(order[cut:])


def certify(learning: Scored, testing: Scored, alpha: float, delta: float) -> Bound:
    """The bound at the largest coverage that the testing part supports.

    `void` is `too_few` where not even the first threshold of the sequence passes. Raises
    CalibrationError unless 0 < alpha, delta < 1.
    """
    if not (0 < alpha < 1 and 0 < delta < 1):
        raise CalibrationError(f"alpha is {alpha} and delta {delta}; give shares between 0 and 1")
    texts, accepted = len(testing.confidence), None
    for threshold in sequence(learning, texts, alpha):
        routed, wrong = _counts(testing, threshold)
        if binom.cdf(wrong, routed, alpha) > delta:
            break
        accepted = Bound(alpha, delta, threshold, routed, wrong, texts)
    return accepted or Bound(alpha, delta, NEVER, 0, 0, texts, "too_few")


def sequence(learning: Scored, texts: int, alpha: float) -> Sequence[float]:
    """Thresholds from the one most likely to pass a test on `texts` texts, downwards.

    How likely is a guess from the learning part alone: its errors, averaged with those that its
    confidences expect, which steadies a count of one or two.
    """
    sure = learning.confidence[learning.eligible]
    if not len(sure):
        return ()
    order = np.argsort(-sure, kind="stable")
    seen, expected = learning.wrong[learning.eligible][order], 1 - sure[order]
    errors = (np.cumsum(seen) + np.cumsum(expected)) / 2
    ends = np.unique(np.linspace(0, len(sure) - 1, STEPS).round().astype(np.int64))
    scale = texts / len(learning.confidence)
    chance = binom.cdf(np.ceil(errors[ends] * scale), np.round((ends + 1) * scale), alpha)
    start = int(np.argmin(chance))
    return tuple(dict.fromkeys(sure[order][ends[start:]].tolist()))


def _counts(sample: Scored, threshold: float) -> tuple[int, int]:
    routed = sample.eligible & (sample.confidence >= threshold)
    return int(routed.sum()), int((routed & sample.wrong).sum())


def per_action(
    learning: Scored, testing: Scored, labels: Sequence[str], alpha: float, delta: float
) -> dict[str, Bound]:
    """A bound for each action whose texts allow one; each by itself, not all at once.

    An action with fewer than `fewest` eligible texts in the testing part is left out.
    """
    found = {}
    for place, label in enumerate(labels):
        own, tested = (part.take(part.best == place) for part in (learning, testing))
        if int(tested.eligible.sum()) >= fewest(alpha, delta):
            found[label] = certify(own, tested, alpha, delta)
    return found
