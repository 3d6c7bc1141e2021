"""From costs to thresholds, one per action.

A route with confidence p is the cheapest thing to do iff

    (1 - p) * C_e + C_s  <=  min(C_l + (1 - a_l) * C_e, C_clarify)

with C_e the damage of a wrong route of that action, C_s the cost of this tier's answer, C_l that of
passing the message on, a_l how often the next tier is right on messages of that action that this
tier passes on, and C_clarify the cost of a question. Solved for p, that is p >= tau with

    tau = 1 - (min(...) - C_s) / C_e

Where the next tier itself asks back, in a share q_l of these messages, a question is what follows and
no damage: passing on then costs C_l + q_l * C_clarify + (1 - a_l - q_l) * C_e.

a_l depends on which messages are passed on and they depend on tau, so `settle` repeats both until
nothing changes. Whoever changes the next tier measures a_l again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from gate.load.costs import Costs
from inference.calibration.calibrator import Floats
from inference.errors import CalibrationError

Bools = NDArray[np.bool_]
Otherwise = Literal["escalate", "clarify"]
Outcomes = NDArray[np.int64] | Bools
"""What the next tier makes of each message; of an array of truths, whether it is right."""

WRONG, RIGHT, ASKS, UNKNOWN = 0, 1, 2, -1

PRIOR: Final = (0.5, 0.5)
"""Jeffreys' prior: a_l of an action is (right + 0.5) / (passed on + 1)."""
FEWEST: Final = 20
"""An action with fewer passed-on messages takes the a_l of all actions together."""
ROUNDS: Final = 20
POINTLESS_COVERAGE: Final = 0.01


@dataclass(frozen=True, slots=True)
class NextTier:
    """How often the next tier is right on one action's passed-on messages, and on how many measured.

    `asks` is how often it asks back instead; `pooled` says that the action had too few of its own and
    all actions stand in.
    """

    right: float
    measured_on: int
    pooled: bool = False
    asks: float = 0.0


@dataclass(frozen=True, slots=True)
class Threshold:
    """The derivation of one action's tau; `otherwise` is the cheaper thing to do below it."""

    label: str
    damage: float
    next_tier: NextTier
    escalate: float
    clarify: float
    tau: float

    @property
    def otherwise(self) -> Otherwise:
        """What costs less where the route is not taken."""
        return "clarify" if self.clarify < self.escalate else "escalate"


Thresholds = Mapping[str, Threshold]


def derive(
    costs: Costs, next_tier: Mapping[str, NextTier], weight: float = 1.0
) -> dict[str, Threshold]:
    """The threshold of every label of `costs`.

    `weight` counts the damage of this tier's wrong routes so many times (the next tier's once); it
    is how a limit on wrong routes moves all thresholds together. Raises CalibrationError for a
    label without a measured next tier.
    """
    found = {}
    for label, damage in costs.damage.items():
        if label not in next_tier:
            raise CalibrationError(f"nothing is known of the next tier on `{label}`; measure it")
        measured = next_tier[label]
        wrong = 1 - measured.right - measured.asks
        escalate = costs.large + measured.asks * costs.clarify + wrong * damage
        tau = 1 - (min(escalate, costs.clarify) - costs.small) / (damage * weight)
        found[label] = Threshold(label, damage, measured, escalate, costs.clarify, tau)
    return found


def measure_next_tier(
    labels: Sequence[str], best: NDArray[np.int64], passed_on: Bools, next_tier: Outcomes
) -> dict[str, NextTier]:
    """a_l and q_l by label, over the messages passed on whose best label it is.

    `best` (n,) is this tier's best label as an index into `labels`, `next_tier` (n,) what the next
    tier makes of each; messages of which that is not known count nowhere. Nothing passed on at all
    counts as an a_l of one half.
    """
    known = passed_on & (next_tier != UNKNOWN)
    every = _measured(next_tier[known], pooled=True)
    found = {}
    for place, label in enumerate(labels):
        own = next_tier[known & (best == place)]
        enough = len(own) >= FEWEST
        found[label] = _measured(own) if enough else replace(every, measured_on=len(own))
    return found


def _measured(outcomes: Outcomes, pooled: bool = False) -> NextTier:
    total = len(outcomes) + sum(PRIOR)
    right = (float((outcomes == RIGHT).sum()) + PRIOR[0]) / total
    return NextTier(right, len(outcomes), pooled, float((outcomes == ASKS).sum()) / total)


def settle(
    costs: Costs,
    labels: Sequence[str],
    best: NDArray[np.int64],
    confidences: Floats,
    next_tier: Outcomes,
    weight: float = 1.0,
) -> tuple[dict[str, Threshold], bool]:
    """Thresholds and a_l that agree with each other, and whether they came to rest.

    It starts from a_l over all messages. Where it goes in a circle, every label keeps the highest
    threshold of the last round trip: the safe side.
    """
    passed_on = np.ones(len(best), dtype=bool)
    seen: list[tuple[Bools, dict[str, Threshold]]] = []
    for _ in range(ROUNDS):
        measured = _with_all(costs, measure_next_tier(labels, best, passed_on, next_tier))
        thresholds = derive(costs, measured, weight)
        seen.append((passed_on, thresholds))
        now = confidences < taus(thresholds, labels)[best]
        if (now == passed_on).all():
            return thresholds, True
        start = next((i for i, (mask, _) in enumerate(seen) if (mask == now).all()), None)
        if start is not None:
            return _highest([t for _, t in seen[start:]]), False
        passed_on = now
    return _highest([t for _, t in seen]), False


def _with_all(costs: Costs, measured: Mapping[str, NextTier]) -> dict[str, NextTier]:
    """Labels of the costs that the head does not know take what is pooled over all."""
    pooled = next((m for m in measured.values() if m.pooled), None)
    means = [float(np.mean([getattr(m, f) for m in measured.values()])) for f in ("right", "asks")]
    rest = pooled or NextTier(means[0], 0, True, means[1])
    return {label: measured.get(label, rest) for label in costs.damage}


def _highest(rounds: Sequence[Thresholds]) -> dict[str, Threshold]:
    return {label: max((r[label] for r in rounds), key=lambda t: t.tau) for label in rounds[0]}


def taus(thresholds: Thresholds, labels: Sequence[str]) -> Floats:
    """tau by place of the label; CalibrationError for a label of the head without costs."""
    missing = [label for label in labels if label not in thresholds]
    if missing:
        raise CalibrationError(f"`{missing[0]}` has no damage in costs.yaml; add it")
    return np.array([thresholds[label].tau for label in labels])


@dataclass(frozen=True, slots=True)
class Slack:
    """By how much the nearest message would have to change, in the unit of the costs.

    `taken` is the smallest saving among the routed messages, `passed` the smallest loss among those
    that were not routed; None where there is no such message.
    """

    taken: float | None
    passed: float | None


def slack(
    costs: Costs,
    thresholds: Thresholds,
    labels: Sequence[str],
    best: NDArray[np.int64],
    confidences: Floats,
) -> Slack:
    """The smallest slack on either side of the inequality over a sample."""
    damage = np.array([thresholds[label].damage for label in labels])[best]
    other = np.array(
        [min(thresholds[label].escalate, thresholds[label].clarify) for label in labels]
    )[best]
    saved = other - ((1 - confidences) * damage + costs.small)
    taken, passed = saved[saved >= 0], -saved[saved < 0]
    return Slack(
        float(taken.min()) if len(taken) else None, float(passed.min()) if len(passed) else None
    )


def pointless(thresholds: Thresholds, coverage: float) -> tuple[str, ...]:
    """What makes the tier pointless, one sentence each; nothing where it is not."""
    found = [
        f"`{t.label}`: tau is {t.tau:.3f}, so every message is routed whatever its score; its damage"
        f" of {t.damage:g} is below what anything else costs"
        for t in thresholds.values()
        if t.tau <= 0
    ]
    found += [
        f"`{t.label}`: tau is {t.tau:.3f}, so no message is ever routed; everything else costs less"
        " than this tier's own answer"
        for t in thresholds.values()
        if t.tau > 1
    ]
    if coverage < POINTLESS_COVERAGE:
        found.append(
            f"coverage is {coverage:.2%}: the tier answers next to nothing; train on more texts, or"
            " leave it out"
        )
    return tuple(found)


def derivation(costs: Costs, thresholds: Thresholds, found: Slack) -> str:
    """The derivation as a table of text, one line per action."""
    lines = [
        f"(1 - p) * C_e + {costs.small:g} <= min({costs.large:g} + q_l * {costs.clarify:g}"
        f" + (1 - a_l - q_l) * C_e, {costs.clarify:g})   in {costs.unit}",
        f"{'action':<24} {'C_e':>8} {'a_l':>6} {'q_l':>6} {'n':>6} {'escalate':>9} {'clarify':>8}"
        f" {'tau':>8}",
    ]
    for t in thresholds.values():
        star = "*" if t.next_tier.pooled else " "
        lines.append(
            f"{t.label:<24} {t.damage:>8g} {t.next_tier.right:>5.3f}{star}"
            f" {t.next_tier.asks:>5.3f}{star} {t.next_tier.measured_on:>6}"
            f" {t.escalate:>9.2f} {t.clarify:>8.2f} {t.tau:>8.4f}"
        )
    lines.append(f"* too few of its own (below {FEWEST}): a_l of all actions together")
    lines.append(f"smallest slack: routed {_shown(found.taken)}, not routed {_shown(found.passed)}")
    return "\n".join(lines) + "\n"


def _shown(amount: float | None) -> str:
    return "none" if amount is None else f"{amount:.4g}"
