"""From a distribution over labels to a tier's answer under a calibrated policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gate.records import Abstain, OutOfScope, Proposal, TierAnswer
from inference.calibration.calibrator import confidence
from inference.calibration.policy import Policy, Reaction, react
from inference.tiers import scores


def answer(
    policy: Policy, labels: Sequence[str], row: NDArray[np.float64], tier: str, backend: str = ""
) -> TierAnswer:
    """The best label where the policy lets it through; `row` (labels,) sums to 1."""
    rows = row[np.newaxis]
    sure = scores.confidence(float(confidence(policy.calibrator, rows)[0]))
    order = [labels[i] for i in np.argsort(-row, kind="stable")]
    actions = tuple(label for label in order if label != scores.OUT_OF_SCOPE)
    match Reaction(int(react(policy, labels, rows)[0])):
        case Reaction.CLARIFY:
            return Abstain(scores.CLARIFY, tier, actions[:2], backend)
        case Reaction.ROUTE:
            return Proposal(order[0], None, actions[:3], sure, tier, backend)
        case Reaction.OUT_OF_SCOPE:
            return OutOfScope(tier, sure, backend)
        case Reaction.ESCALATE:
            return Abstain(scores.LOW_CONFIDENCE, tier, actions[:2], backend)
