"""Fitting a calibrator, by a method that the size of the sample allows.

Every method maximises the likelihood of one event, "the best label is right", so a text whose gold
label the head does not know counts as what it is: wrong. The scores must be of texts that the head
was not trained on: held back, or out of fold (folds.py).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression, minimize, minimize_scalar

from inference.calibration import folds
from inference.calibration.calibrator import (
    AS_IS,
    Calibrator,
    Floats,
    Method,
    confidence,
    logit,
    sigmoid,
    tempered,
)

Bools = NDArray[np.bool_]

TEMPERATURES: Final = (0.05, 20.0)
"""Range of T; a best value at its edge says that no temperature fits."""


class Size(NamedTuple):
    """The least that a method is fitted on: texts, and errors among them."""

    texts: int
    errors: int


SIZES: Final[dict[Method, Size]] = {
    "none": Size(0, 0),
    "temperature": Size(100, 10),
    "platt": Size(500, 30),
    "isotonic": Size(2000, 100),
}
"""One parameter, two, and as many as the data have steps."""


def allowed(texts: int, errors: int) -> tuple[Method, ...]:
    """The methods that a sample of this size allows, the simplest first."""
    right = texts - errors
    return tuple(m for m, s in SIZES.items() if texts >= s.texts and min(errors, right) >= s.errors)


def fit(
    method: Method, probabilities: Floats, right: Bools, weights: Floats | None = None
) -> Calibrator:
    """The calibrator of one method; where the sample refuses it, scores as they are, and why.

    `probabilities` (n, labels), `right` (n,): whether the best label is the gold one. `weights` (n,)
    let the sample stand for another mix, such as one with more out-of-scope texts; what the sample's
    size allows is judged by the texts themselves.
    """
    texts, errors = len(right), int((~right).sum())
    mass = np.ones(texts) if weights is None else weights * texts / weights.sum()
    if method not in allowed(texts, errors):
        return _refused(method, texts, errors, _too_few(texts, errors))
    match method:
        case "none":
            return Calibrator(texts=texts, errors=errors)
        case "temperature":
            return _temperature(probabilities, right, mass)
        case "platt":
            return _platt(probabilities.max(axis=1), right, mass)
        case "isotonic":
            return _isotonic(probabilities.max(axis=1), right, mass)


def _too_few(texts: int, errors: int) -> str:
    return f"{texts} texts with {errors} errors are too few"


def _refused(method: Method, texts: int, errors: int, why: str) -> Calibrator:
    note = f"{method} refused: {why}; scores are used as they are (T = 1)"
    return Calibrator(texts=texts, errors=errors, notes=(note,))


def _temperature(probabilities: Floats, right: Bools, mass: Floats) -> Calibrator:
    low, high = map(math.log, TEMPERATURES)
    found = minimize_scalar(
        lambda log: (mass * _loss(tempered(probabilities, math.exp(log)), right)).mean(),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-5},
    )
    texts, errors = len(right), int((~right).sum())
    if min(found.x - low, high - found.x) < 0.01 * (high - low):
        edge = f"the best T, {math.exp(found.x):.2f}, is at the edge of {TEMPERATURES}"
        return _refused("temperature", texts, errors, edge)
    return Calibrator("temperature", (math.exp(found.x),), (), texts, errors)


def _platt(scores: Floats, right: Bools, mass: Floats) -> Calibrator:
    """Platt's targets, drawn in by one text of each kind, keep the likelihood finite."""
    texts, hits = len(right), int(right.sum())
    targets = np.where(right, (hits + 1) / (hits + 2), 1 / (texts - hits + 2))
    odds = logit(scores)

    def loss(line: Floats) -> float:
        return float((mass * _loss(sigmoid(line[0] * odds + line[1]), targets)).mean())

    found = minimize(loss, np.array([1.0, 0.0]), method="Nelder-Mead", options={"xatol": 1e-6})
    slope, intercept = map(float, found.x)
    if slope <= 0:
        return _refused("platt", texts, texts - hits, f"the slope is {slope:.3f}")
    return Calibrator("platt", (slope, intercept), (), texts, texts - hits)


def _isotonic(scores: Floats, right: Bools, mass: Floats) -> Calibrator:
    """Each level as (hits + 1) / (texts + 2): a run without an error is not certainty."""
    values, place = np.unique(scores, return_inverse=True)
    counts = np.bincount(place, mass)
    shares = np.bincount(place, mass * right) / counts
    levels = isotonic_regression(shares, weights=counts).x
    blocks = np.flatnonzero(np.diff(levels, prepend=-1.0) > 0)
    ends = np.append(blocks[1:], len(values)) - 1
    sizes = np.add.reduceat(counts, blocks)
    heights = np.maximum.accumulate((levels[blocks] * sizes + 1) / (sizes + 2))
    knots: list[tuple[float, float]] = []
    for start, end, height in zip(blocks, ends, heights, strict=True):
        knots.append((float(values[start]), float(height)))
        if end > start:
            knots.append((float(values[end]), float(height)))
    return Calibrator("isotonic", (), tuple(knots), len(right), int((~right).sum()))


def _loss(chances: Floats, targets: Floats | Bools) -> Floats:
    """Per text the negative log-likelihood of being right."""
    cut = np.clip(chances, 1e-12, 1 - 1e-12)
    aims = targets.astype(np.float64)
    return np.asarray(-(aims * np.log(cut) + (1 - aims) * np.log(1 - cut)))


def cross_fitted(
    method: Method,
    probabilities: Floats,
    right: Bools,
    parts: int,
    seed: int,
    weights: Floats | None = None,
) -> Floats:
    """Confidences (n,) of which each comes from a calibrator that did not see its text."""
    out = np.empty(len(right))
    for rows in folds.parts(right.astype(np.int64), parts, seed):
        mass = None if weights is None else weights[~rows]
        fitted = fit(method, probabilities[~rows], right[~rows], mass)
        out[rows] = confidence(fitted, probabilities[rows])
    return out


def choose(
    probabilities: Floats,
    right: Bools,
    weights: Floats | None = None,
    parts: int = 5,
    seed: int = 0,
) -> Calibrator:
    """The calibrator of the best allowed method by cross-fitted likelihood.

    A simpler method stays unless another is better by more than one standard error of the paired
    difference.
    """
    best: Method = "none"
    mass = np.ones(len(right)) if weights is None else weights / weights.mean()
    best_loss = _loss(confidence(AS_IS, probabilities), right)
    methods = allowed(len(right), int((~right).sum()))
    for method in methods[1:]:
        sure = cross_fitted(method, probabilities, right, parts, seed, weights)
        loss = _loss(sure, right)
        gain = (best_loss - loss) * mass
        if gain.mean() > gain.std(ddof=1) / math.sqrt(len(gain)):
            best, best_loss = method, loss
    why = _too_few(len(right), int((~right).sum()))
    notes = tuple(f"{m} not tried: {why}" for m in SIZES if m not in methods)
    chosen = fit(best, probabilities, right, weights)
    return replace(chosen, notes=(*chosen.notes, *notes))
