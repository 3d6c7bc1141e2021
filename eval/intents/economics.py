"""What a policy does with scored texts and what it costs, beside passing every message on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from eval.intents.scored import Floats, Scored
from gate.load.costs import Costs
from inference.calibration.policy import Policy, Rates, costs_of, rates, react


def played(scored: Scored, policy: Policy, costs: Costs, weights: Floats) -> Rates:
    """Rates of a policy on scored texts, for the mix that `weights` stand for."""
    own = [policy.thresholds[label] for label in scored.labels]
    done = react(policy, scored.labels, scored.probabilities)
    cost = costs_of(costs, own, scored.best, scored.right, done)
    return rates(done, scored.right, cost, weights)


def figures(scored: Scored, policy: Policy, costs: Costs, weights: Floats) -> Mapping[str, float]:
    """Cost per 1,000 messages in the unit of the costs, and the shares of all messages.

    `always_next` is the cost per 1,000 where every message goes to the next tier, at its measured
    share for the label that this tier thinks best.
    """
    found = played(scored, policy, costs, weights)
    passed = np.array([policy.thresholds[label].escalate for label in scored.labels])[scored.best]
    return {
        "cost_per_1000": 1000 * found.cost,
        "always_next_per_1000": 1000 * float(np.average(passed, weights=weights)),
        "routed": found.routed,
        "out_of_scope": found.out_of_scope,
        "clarify": found.clarify,
        "escalation": found.escalation,
        "wrong_routes": found.wrong_routes,
    }
