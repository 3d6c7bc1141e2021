"""Give a trained classifier its policy: calibrator, margin and thresholds, from costs.

The sample's scores must be of texts that the head has not seen: held back, or out of fold
(unseen.py). How often the next tier is right is measured where its answers are at hand;
`Rule.next_right` is an assumption for all of them, and the manifest says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gate.load import load_institution
from gate.load.costs import Costs
from inference import artefacts
from inference.artefacts import Artefact
from inference.calibration import policy_file, thresholds
from inference.calibration.bound import Bound, Scored, certify
from inference.calibration.calibrator import confidence
from inference.calibration.policy import Policy, Rates, Reaction, costs_of, rates, react
from inference.calibration.selection import Choice, Sample, choose
from training.errors import TrainingError

ALPHA, DELTA = 0.05, 0.05
"""The bound that is stated: wrong routes at most ALPHA, with confidence 1 - DELTA."""
CHOSEN_ON = 0.6
"""Share of the sample that the policy is chosen on; the rest tests it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What thresholds are derived from.

    `next_right` is an assumed a_l where none was measured; `next_versions` are the digests of the
    next tier whose answers were, as decisions name them.
    """

    costs: Costs
    next_right: float | None = None
    next_versions: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0

    @staticmethod
    def of(
        config: Path, next_right: float | None, next_versions: Mapping[str, str] | None = None
    ) -> Rule:
        """The rule of an institution's folder; TrainingError where it has no costs.yaml."""
        found = load_institution(config).costs
        if found is None:
            raise TrainingError(
                f"`{config}` has no costs.yaml; add it, or train without thresholds"
            )
        return Rule(found, next_right, next_versions or {})


@dataclass(frozen=True, slots=True)
class Derived:
    """A policy with the bound that it keeps, its rates on texts that it was not chosen on, and why."""

    choice: Choice
    policy: Policy
    rates: Rates
    bound: Bound
    text: str
    problems: tuple[str, ...]

    @property
    def summary(self) -> str:
        """What was chosen and what it does, in a few lines for a person."""
        found, bound, policy = self.rates, self.bound, self.policy
        kept = (
            f"wrong routes at most {bound.alpha:.0%} with confidence {1 - bound.delta:.0%}, at "
            f"coverage {bound.coverage:.1%} ({bound.wrong} wrong of {bound.routed})"
            if bound.void is None
            else f"none ({bound.void})"
        )
        return (
            f"calibrator {policy.calibrator.method}, margin {policy.margin:g}, floor "
            f"{policy.floor:.4f}, damage weighed {self.choice.weight:g} times\n"
            f"routed {found.routed:.1%}, out of scope {found.out_of_scope:.1%}, asked back "
            f"{found.clarify:.1%}, passed on {found.escalation:.1%}; wrong among the routed "
            f"{found.wrong_routes:.1%}; cost per message {found.cost:.2f}\n"
            f"bound: {kept}\n"
        )


def derive(sample: Sample, rule: Rule) -> Derived:
    """The cheapest policy within the limits; CalibrationError where none keeps them.

    It is chosen on one part of the sample; rates and bound come from the other. Where the bound
    holds, its threshold becomes the policy's floor, so that what is served is what was tested.
    """
    if rule.next_right is not None:
        sample = replace(sample, next_tier=_assumed(len(sample.gold), rule))
    order = np.random.default_rng(rule.seed).permutation(len(sample.gold))
    cut = round(len(order) * CHOSEN_ON)
    chosen_on, tested_on = sample.take(order[:cut]), sample.take(order[cut:])
    choice = choose(chosen_on, rule.costs, rule.seed)
    bound = certify(
        routable(chosen_on, choice.policy), routable(tested_on, choice.policy), ALPHA, DELTA
    )
    floor = 0.0 if bound.void else bound.threshold
    policy = replace(choice.policy, floor=floor)
    sure = confidence(policy.calibrator, tested_on.probabilities)
    slack = thresholds.slack(rule.costs, policy.thresholds, sample.labels, tested_on.best, sure)
    figures = rates_of(tested_on, policy, rule.costs)
    return Derived(
        choice,
        policy,
        figures,
        bound,
        thresholds.derivation(rule.costs, policy.thresholds, slack),
        thresholds.pointless(policy.thresholds, figures.routed + figures.out_of_scope),
    )


def _assumed(texts: int, rule: Rule) -> NDArray[np.bool_]:
    """Outcomes of a next tier that is right so often, drawn once."""
    share = rule.next_right or 0.0
    return np.asarray(np.random.default_rng(rule.seed).random(texts) < share)


def routable(sample: Sample, policy: Policy) -> Scored:
    """The sample as the bound sees it: what the policy would route is eligible."""
    sure = confidence(policy.calibrator, sample.probabilities)
    done = react(policy, sample.labels, sample.probabilities)
    return Scored(sure, sample.best, sample.gold, np.asarray(done == Reaction.ROUTE))


def rates_of(sample: Sample, policy: Policy, costs: Costs) -> Rates:
    """What the policy does with a sample, and at what cost per message."""
    done = react(policy, sample.labels, sample.probabilities)
    own = [policy.thresholds[label] for label in sample.labels]
    cost = costs_of(costs, own, sample.best, sample.right, done)
    return rates(done, sample.right, cost, sample.weights)


def seal(artefact: Artefact, derived: Derived, rule: Rule) -> Artefact:
    """Write the policy into the artefact's folder and seal it again with the figures."""
    policy_file.write(artefact.folder, derived.policy, rule.costs.digest)
    fields = {k: v for k, v in artefact.manifest.items() if k not in ("files", "schema_version")}
    report = {
        "calibrator": derived.policy.calibrator.method,
        "notes": list(derived.policy.calibrator.notes),
        "floor": derived.policy.floor,
        "margin": derived.policy.margin,
        "weight_of_damage": derived.choice.weight,
        "settled": derived.choice.settled,
        "rates": {k: round(v, 4) for k, v in asdict(derived.rates).items()},
        "costs": rule.costs.digest,
        "next_tier": "measured" if rule.next_right is None else f"assumed {rule.next_right}",
        "next_versions": dict(rule.next_versions) if rule.next_right is None else {},
        "derivation": derived.text.splitlines(),
        "problems": list(derived.problems),
        "bound": {
            "alpha": derived.bound.alpha,
            "delta": derived.bound.delta,
            "void": derived.bound.void,
            "coverage": round(derived.bound.coverage, 4),
            "routed": derived.bound.routed,
            "wrong": derived.bound.wrong,
            "upper": round(derived.bound.upper, 4),
        },
    }
    return artefacts.write_manifest(
        artefact.folder, {**fields, "calibrated": True, "policy": report}
    )
