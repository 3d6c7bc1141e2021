"""Scores with a known truth, for the tests of calibration, thresholds and bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def tempered(
    n: int, labels: int, heat: float, seed: int
) -> tuple[Floats, Bools, NDArray[np.int64]]:
    """Distributions that are true after dividing their logits by `heat`; right; gold."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (n, labels)) + 4 * np.eye(labels)[rng.integers(labels, size=n)]
    true = softmax(logits)
    gold = (true.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    shown = softmax(logits * heat)
    return shown, shown.argmax(axis=1) == gold, gold
