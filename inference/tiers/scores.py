"""From a distribution over labels to a tier's answer, with one fixed threshold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal

from gate.records import Abstain, OutOfScope, Proposal, TierAnswer

OUT_OF_SCOPE = "OUT_OF_SCOPE"
"""The label of everything that no action covers."""

LOW_CONFIDENCE = "low_confidence"
"""Reason of an abstention that passes the message on to the next tier."""

OUT_OF_DISTRIBUTION = "out_of_distribution"
"""Reason of an abstention on a text that is like none that the tier has learnt from."""

CLARIFY = "clarify"
"""Reason of an abstention that no other tier may answer: the customer is asked which is meant."""

PLACES = 6
"""Decimal places of a confidence; what is compared with a threshold is what is recorded."""


def confidence(probability: float) -> Decimal:
    """A probability as it is recorded and compared: a decimal rounded to six places."""
    return Decimal(_written(probability))


def _written(probability: float) -> str:
    return f"{probability:.{PLACES}f}"


def shown(probabilities: Mapping[str, float]) -> str:
    """A whole distribution as JSON, for the receipt."""
    return json.dumps({label: _written(p) for label, p in probabilities.items()})


def answer(
    probabilities: Mapping[str, float], threshold: Decimal, tier: str, backend: str = ""
) -> TierAnswer:
    """The best label as a proposal, or out-of-scope, or an abstention below `threshold`.

    `probabilities` sums to 1 over the labels. A threshold of 0.6 is met by 0.600000.
    """
    order = sorted(probabilities, key=lambda label: (-probabilities[label], label))
    best = order[0]
    sure = confidence(probabilities[best])
    actions = [label for label in order if label != OUT_OF_SCOPE]
    if sure < threshold:
        return Abstain(LOW_CONFIDENCE, tier, tuple(actions[:2]), backend)
    if best == OUT_OF_SCOPE:
        return OutOfScope(tier, sure, backend)
    return Proposal(best, None, tuple(actions[:3]), sure, tier, backend)
