"""Every figure of `bench intents`, as pure functions of scored texts.

`weights` (n,) let a sample stand for another mix (`scored.mixed`). A route is an action that is the
best label; an out-of-scope text that is routed is a wrong route.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from eval.intents.scored import Bools, Floats, Scored, mixed
from inference.calibration import measures

PRECISIONS = (0.98, 0.99, 0.995)


def ones(scored: Scored) -> Floats:
    """Every text counts once."""
    return np.ones(len(scored.gold))


def in_scope_accuracy(scored: Scored, weights: Floats) -> float:
    """Share of the in-scope texts whose best label, out-of-scope included, is the gold one."""
    return _share(scored.right, weights * scored.in_scope)


def out_of_scope_recall(scored: Scored, weights: Floats) -> float:
    """Share of the out-of-scope texts whose best label is out-of-scope."""
    return _share(_called_out(scored), weights * ~scored.in_scope)


def out_of_scope_precision(scored: Scored, weights: Floats) -> float:
    """Share of the texts called out-of-scope that are."""
    return _share(~scored.in_scope, weights * _called_out(scored))


def auroc(scored: Scored, weights: Floats) -> float:
    """Chance that an in-scope text's best action scores above an out-of-scope text's, ties half.

    The score is the highest probability of an action.
    """
    scores = scored.probabilities[:, scored.actions].max(axis=1)
    values, place = np.unique(scores, return_inverse=True)
    inside = np.bincount(place, weights * scored.in_scope, len(values))
    outside = np.bincount(place, weights * ~scored.in_scope, len(values))
    below = np.cumsum(outside) - outside / 2
    total = inside.sum() * outside.sum()
    return float((inside * below).sum() / total) if total else math.nan


def coverage_at(
    scored: Scored, weights: Floats, precision: float, confidences: Floats | None = None
) -> float:
    """Largest share of the in-scope texts that is routed while this share of all routes is right.

    Texts are routed from the highest confidence (default: the best label's probability) downwards,
    equal confidences together, out-of-scope texts among them.
    """
    sure = scored.probabilities.max(axis=1) if confidences is None else confidences
    routed = ~_called_out(scored)
    order = np.argsort(-sure[routed], kind="stable")
    mass = weights[routed][order]
    share = np.cumsum(mass * scored.right[routed][order]) / np.maximum(np.cumsum(mass), 1e-300)
    last = np.append(np.diff(sure[routed][order]) != 0, True) if len(order) else np.empty(0, bool)
    good = np.flatnonzero(last & (share >= precision))
    inside = np.cumsum(mass * scored.in_scope[routed][order])
    total = float((weights * scored.in_scope).sum())
    return float(inside[good[-1]] / total) if len(good) and total else 0.0


class ClassFigures(NamedTuple):
    """Precision and recall of one label (NaN of nothing) and the weight of its gold texts."""

    precision: float
    recall: float
    support: float


def per_class(scored: Scored, weights: Floats) -> Mapping[str, ClassFigures]:
    """By label of the head or of the gold, out-of-scope included, in alphabetical order."""
    kinds = len(scored.names)
    hits = np.bincount(scored.best, weights * scored.right, kinds)
    given = np.bincount(scored.best, weights, kinds)
    gold = np.bincount(scored.places, weights, kinds)
    found = {
        label: ClassFigures(_ratio(hits[i], given[i]), _ratio(hits[i], gold[i]), float(gold[i]))
        for i, label in enumerate(scored.names)
    }
    return dict(sorted(found.items()))


def macro_precision(scored: Scored, weights: Floats) -> float:
    """Mean precision over the labels that are given at all."""
    return float(np.nanmean([c.precision for c in per_class(scored, weights).values()]))


def macro_recall(scored: Scored, weights: Floats) -> float:
    """Mean recall over the labels that occur as gold."""
    return float(np.nanmean([c.recall for c in per_class(scored, weights).values()]))


Figure = Callable[[Scored, Floats], float]


def _coverage(precision: float) -> Figure:
    return lambda scored, weights: coverage_at(scored, weights, precision)


FIGURES: Mapping[str, Figure] = {
    "in_scope_accuracy": in_scope_accuracy,
    "out_of_scope_recall": out_of_scope_recall,
    "out_of_scope_precision": out_of_scope_precision,
    "auroc": auroc,
    **{f"coverage_at_{p:g}": _coverage(p) for p in PRECISIONS},
    "macro_precision": macro_precision,
    "macro_recall": macro_recall,
}
"""Figures by name; those about out-of-scope texts are NaN where there is none."""


def calibration(scored: Scored, confidences: Floats, weights: Floats) -> Mapping[str, float]:
    """Calibration errors, Brier score and log loss of "the best label is right": in scope, and mixed."""
    found = {}
    for name, mass in (("in_scope", weights * scored.in_scope), ("mixed", weights)):
        rows = mass > 0
        given = (confidences[rows], scored.right[rows])
        equal = measures.equal_bins(*given, weights=mass[rows])
        adaptive = measures.adaptive_bins(*given, weights=mass[rows])
        found[f"ece_{name}"] = measures.ece(equal)
        found[f"ece_adaptive_{name}"] = measures.ece(adaptive)
        found[f"brier_{name}"] = measures.brier(*given, weights=mass[rows])
        found[f"nll_{name}"] = measures.nll(*given, weights=mass[rows])
    return found


class Interval(NamedTuple):
    """A percentile interval of the bootstrap."""

    low: float
    high: float


def intervals(
    scored: Scored,
    of: tuple[int, int] | None = None,
    figures: Mapping[str, Figure] = FIGURES,
    rounds: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Mapping[str, Interval]:
    """Percentile bootstrap (Efron, 1979) of each figure; in-scope and out-of-scope are drawn apart.

    `of` is the mix that the sample stands for; without it every text counts once. An interval is as
    wide as the rarer kind makes it: 100 out-of-scope texts stay 100, whatever their weight.
    """
    rng = np.random.default_rng(seed)
    weights = weights_of(scored, of)
    kinds = [k for k in map(np.flatnonzero, (scored.in_scope, ~scored.in_scope)) if len(k)]
    found: dict[str, list[float]] = {name: [] for name in figures}
    for _ in range(rounds):
        drawn = np.concatenate([rng.choice(kind, len(kind)) for kind in kinds])
        mass = weights * np.bincount(drawn, minlength=len(weights))
        for name, figure in figures.items():
            found[name].append(figure(scored, mass))
    ends = ((1 - level) / 2, (1 + level) / 2)
    return {name: Interval(*_quantiles(values, ends)) for name, values in found.items()}


def _quantiles(values: list[float], ends: tuple[float, float]) -> tuple[float, float]:
    known = [value for value in values if not math.isnan(value)]
    low, high = np.quantile(known, ends) if known else (math.nan, math.nan)
    return float(low), float(high)


def weights_of(scored: Scored, of: tuple[int, int] | None) -> Floats:
    """Weights for the mix `of`, or one for every text."""
    return ones(scored) if of is None else mixed(scored.in_scope, of)


def _called_out(scored: Scored) -> Bools:
    return np.asarray(~scored.actions[scored.best])


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else math.nan


def _share(hits: Bools, weights: Floats) -> float:
    return _ratio(float((weights * hits).sum()), float(weights.sum()))
