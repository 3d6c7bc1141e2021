"""Whether today's messages are still like those that the bound was tested on, and what if not.

Shift signal: the confidences (Kolmogorov-Smirnov) and the frequencies of the best labels (chi
square) of two samples are compared, each at half of the stated false-alarm rate; a signal is one of
the two. With no shift it comes in at most that share of the windows looked at.

Label shift: if only the mix of gold labels changed, the mix of today is the one under which the best
labels come out as they do (black-box shift estimation: Lipton, Wang and Smola, 2018), found by
maximum likelihood with the EM of Saerens, Latinne and Decaestecker (2002). Labelled texts are then
kept at random in proportion to the new mix (rejection sampling), which makes them a sample of today,
and the bound is derived anew. Its delta does not cover the error of the estimated mix. If the texts
so drawn still differ from today's, it was no label shift: the bound is void.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from scipy.stats import chi2, ks_2samp

from inference.calibration.bound import Bound, Places, Scored, certify
from inference.calibration.calibrator import Floats

FALSE_ALARMS: Final = 0.05
ROUNDS: Final = 500
SHIFT, UNKNOWN = "shift", "too_few"
TIGHTER: Final = 2.0
"""After a shift, thresholds stand as if every wrong route did so many times its damage."""


class Traffic(NamedTuple):
    """Messages without labels: confidence and best label as a place."""

    confidence: Floats
    best: Places


class Signal(NamedTuple):
    """P-values of the two tests, and whether one of them is below its half of the false-alarm rate."""

    scores: float
    labels: float
    shifted: bool


def signal(reference: Traffic, traffic: Traffic, false_alarms: float = FALSE_ALARMS) -> Signal:
    """Compare two samples of messages."""
    scores = float(ks_2samp(reference.confidence, traffic.confidence).pvalue)
    labels = _same_frequencies(reference.best, traffic.best)
    return Signal(scores, labels, min(scores, labels) < false_alarms / 2)


def _same_frequencies(one: Places, other: Places) -> float:
    """P-value of the chi square of homogeneity; labels expected fewer than five times go together."""
    size = int(max(one.max(initial=0), other.max(initial=0))) + 1
    table = np.stack([np.bincount(one, minlength=size), np.bincount(other, minlength=size)])
    share = table.sum(axis=1).min() / table.sum()
    rare = table.sum(axis=0) * share < 5
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2 or (table.sum(axis=1) == 0).any():
        return 1.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, table.shape[1] - 1))


def new_mix(labelled: Scored, best: Places) -> Floats:
    """Weight of each labelled text under today's mix of gold labels, mean about 1, shape (n,).

    `best` are today's best labels. Source: see the module.
    """
    kinds, kind = np.unique(labelled.gold, return_inverse=True)
    size = int(max(labelled.best.max(), best.max())) + 1
    joint = np.zeros((len(kinds), size))
    np.add.at(joint, (kind, labelled.best), 1)
    was = joint.sum(axis=1) / joint.sum()
    given = (joint + 0.5 / size) / (joint.sum(axis=1, keepdims=True) + 0.5)
    counts = np.bincount(best, minlength=size) / len(best)
    mix = was.copy()
    for _ in range(ROUNDS):
        mean = mix @ given
        mix = mix * (given @ (counts / mean))
        mix /= mix.sum()
    return np.asarray((mix / was)[kind])


def redrawn(labelled: Scored, weights: Floats, seed: int) -> Scored:
    """The texts kept at random in proportion to their weights: a sample of the new mix."""
    chance = weights / weights.max()
    return labelled.take(np.random.default_rng(seed).random(len(chance)) < chance)


def current(
    learning: Scored,
    testing: Scored,
    traffic: Traffic,
    alpha: float,
    delta: float,
    seed: int,
    false_alarms: float = FALSE_ALARMS,
) -> Bound:
    """The bound for today's messages: as it was, derived anew for their mix, or void.

    A void bound keeps the tightened threshold of `certify` on the old messages.
    """
    old = certify(learning, testing, alpha, delta)
    if not signal(unlabelled(testing), traffic, false_alarms).shifted:
        return old
    weights = new_mix(testing, traffic.best)
    drawn = redrawn(testing, weights, seed)
    if len(drawn.best) and not signal(unlabelled(drawn), traffic, false_alarms).shifted:
        return certify(learning, drawn, alpha, delta)
    return replace(old, threshold=tightened(old.threshold), void=SHIFT)


def unlabelled(sample: Scored) -> Traffic:
    """A labelled sample as traffic."""
    return Traffic(sample.confidence, sample.best)


def tightened(threshold: float) -> float:
    """The threshold after a shift: the room above it divided by TIGHTER; NEVER stays."""
    return threshold if threshold > 1 else 1 - (1 - threshold) / TIGHTER
