"""What the tier does with a message: clarify margin first, then the thresholds.

    best two labels closer than the margin           CLARIFY   ask which of the two is meant
    confidence at or above the best label's tau      ROUTE, or OUT_OF_SCOPE where that is the label
    below it                                         CLARIFY or ESCALATE, whichever costs less

The margin is taken of the head's own distribution: a calibrator says how often the best label is
right and nothing of the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from gate.load.costs import Costs
from inference.calibration.calibrator import AS_IS, Calibrator, Floats, confidence
from inference.calibration.thresholds import Threshold, Thresholds
from inference.tiers.scores import OUT_OF_SCOPE

Bools = NDArray[np.bool_]
Reactions = NDArray[np.int64]


class Reaction(IntEnum):
    """What becomes of a message."""

    ROUTE = 0
    OUT_OF_SCOPE = 1
    CLARIFY = 2
    ESCALATE = 3


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that turns a distribution into a reaction.

    `floor` is a confidence below which no action is routed whatever its tau: that of an error bound.
    """

    thresholds: Thresholds
    calibrator: Calibrator = AS_IS
    margin: float = 0.0
    floor: float = 0.0


def margins(probabilities: Floats) -> Floats:
    """Best less second-best probability, shape (n,)."""
    top = np.partition(probabilities, -2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])


def react(policy: Policy, labels: Sequence[str], probabilities: Floats) -> Reactions:
    """The reaction to each row (n, labels), shape (n,)."""
    own = [policy.thresholds[label] for label in labels]
    sure = confidence(policy.calibrator, probabilities)
    return reactions(own, policy, probabilities.argmax(axis=1), sure, margins(probabilities))


def reactions(
    own: Sequence[Threshold], policy: Policy, best: NDArray[np.int64], sure: Floats, margin: Floats
) -> Reactions:
    """As `react`, from best labels (places in `own`), their confidences and margins."""
    floors = [0.0 if t.label == OUT_OF_SCOPE else policy.floor for t in own]
    taus = np.array([max(t.tau, floor) for t, floor in zip(own, floors, strict=True)])[best]
    asks = np.array([t.otherwise == "clarify" for t in own])[best]
    outside = np.array([t.label == OUT_OF_SCOPE for t in own])[best]
    below = np.where(asks, Reaction.CLARIFY, Reaction.ESCALATE)
    above = np.where(outside, Reaction.OUT_OF_SCOPE, Reaction.ROUTE)
    found = np.where(sure >= taus, above, below)
    return np.asarray(np.where(margin < policy.margin, Reaction.CLARIFY, found), dtype=np.int64)


def costs_of(
    costs: Costs, own: Sequence[Threshold], best: NDArray[np.int64], right: Bools, done: Reactions
) -> Floats:
    """What each message costs, shape (n,), in the unit of the costs."""
    damage = np.array([t.damage for t in own])[best]
    passed = np.array([t.escalate for t in own])[best]
    small = costs.small + np.where(right, 0.0, damage)
    by_reaction = {
        Reaction.ROUTE: small,
        Reaction.OUT_OF_SCOPE: small,
        Reaction.CLARIFY: np.full(len(best), costs.clarify),
        Reaction.ESCALATE: passed,
    }
    return np.asarray(np.select([done == r for r in by_reaction], list(by_reaction.values())))


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of all messages by reaction, wrong routes as a share of the routed, cost per message."""

    routed: float
    out_of_scope: float
    clarify: float
    escalation: float
    wrong_routes: float
    cost: float

    def breaks(self, limits: Mapping[str, float]) -> bool:
        """Whether one of the named shares is above its limit."""
        return any(getattr(self, name) > limit for name, limit in limits.items())


def rates(done: Reactions, right: Bools, cost: Floats, weights: Floats | None = None) -> Rates:
    """Rates of a sample; `weights` let it stand for another mix."""
    mass = np.ones(len(done)) if weights is None else weights
    total = mass.sum()
    share = [float(mass[done == reaction].sum() / total) for reaction in Reaction]
    routed = done == Reaction.ROUTE
    wrong = float(mass[routed & ~right].sum() / mass[routed].sum()) if routed.any() else 0.0
    mean = float(np.average(cost, weights=mass))
    return Rates(share[0], share[1], share[2], share[3], wrong, mean)
