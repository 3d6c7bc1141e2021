"""What each part of the fast tier saves: a policy chosen without it, played on the same texts.

Public data have no costs of their own. Every label gets the same damage here, in US cents, and the
next tier is taken to be right in nine of ten cases; an institution's own figures come from its
costs.yaml. The policy is chosen on the calibration slice and played on the measured texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from eval.intents import economics
from eval.intents.scored import Floats, Scored
from gate.load.costs import Costs
from inference.calibration import fit
from inference.calibration.selection import Choice, Sample, choices
from inference.calibration.thresholds import Thresholds
from inference.tiers.scores import OUT_OF_SCOPE

SMALL, LARGE, CLARIFY, DAMAGE, NEXT_RIGHT = 0.02, 0.50, 15.0, 80.0, 0.9
WITHOUT: Final[Mapping[str, Callable[[Choice], bool]]] = {
    "whole": lambda _: True,
    "without_calibration": lambda choice: choice.method == "none",
    "without_clarify_band": lambda choice: choice.policy.margin == 0,
}
"""What a choice must be like to count."""


def costs_of(labels: tuple[str, ...]) -> Costs:
    """The same damage for every label."""
    return Costs("US cents", SMALL, LARGE, CLARIFY, dict.fromkeys((*labels, OUT_OF_SCOPE), DAMAGE))


def figures(
    chosen_on: Scored, played_on: Scored, weights: Floats, seed: int
) -> Mapping[str, Mapping[str, float]]:
    """Cost per 1,000 and shares of each policy, by what it does without; passing everything on is
    `always_next_per_1000` in each."""
    costs, sample = costs_of(chosen_on.labels), sample_of(chosen_on, seed)
    every = list(choices(sample, costs, seed))
    found = {}
    for name, counts in WITHOUT.items():
        best = min((c for c in every if counts(c)), key=lambda choice: choice.rates.cost)
        calibrator = fit.fit(best.method, sample.probabilities, sample.right)
        played = replace(best.policy, calibrator=calibrator, thresholds=_priced(best))
        found[name] = dict(economics.figures(played_on, played, costs, weights))
    return found


def _priced(choice: Choice) -> Thresholds:
    """The choice's thresholds; what is passed on costs what it was taken to cost, not what a few
    draws of the slice say, so that policies are compared at one price."""
    passed_on = LARGE + (1 - NEXT_RIGHT) * DAMAGE
    return {n: replace(t, escalate=passed_on) for n, t in choice.policy.thresholds.items()}


def sample_of(scored: Scored, seed: int) -> Sample:
    """Scored texts as what a policy is chosen on, the next tier's answers drawn at NEXT_RIGHT."""
    gold = np.where(scored.places < len(scored.labels), scored.places, -1)
    right = np.random.default_rng(seed).random(len(gold)) < NEXT_RIGHT
    return Sample(scored.labels, scored.probabilities, gold, right)
