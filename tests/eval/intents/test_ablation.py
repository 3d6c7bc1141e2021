"""Ablations: each policy is the cheapest of those without a part, all beside passing everything on."""

from __future__ import annotations

import numpy as np

from eval.intents import ablation
from eval.intents.scored import Scored

LABELS = ("A", "B", "OUT_OF_SCOPE")


def scored(seed: int, texts: int = 400) -> Scored:
    """Scores that are too sure of themselves."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 3, texts)
    logits = rng.normal(size=(texts, 3)) + 2.0 * np.eye(3)[gold]
    powers = np.exp(8 * (logits - logits.max(axis=1, keepdims=True)))
    return Scored(
        LABELS, powers / powers.sum(axis=1, keepdims=True), tuple(LABELS[g] for g in gold)
    )


def test_every_policy_has_its_costs() -> None:
    slice_, tested = scored(1), scored(2)
    found = ablation.figures(slice_, tested, np.ones(len(tested.gold)), seed=0)
    assert set(found) == {"whole", "without_calibration", "without_clarify_band"}
    costs = {name: row["cost_per_1000"] for name, row in found.items()}
    assert costs["whole"] < costs["without_calibration"]
    assert {round(row["always_next_per_1000"]) for row in found.values()} == {8500}
    assert all(0 <= row["routed"] <= 1 for row in found.values())


def test_a_label_that_the_head_lacks_is_wrong() -> None:
    one = scored(3)
    other = Scored(LABELS, one.probabilities, ("C", *one.gold[1:]))
    assert ablation.sample_of(other, 0).gold[0] == -1
    assert not ablation.sample_of(other, 0).right[0]
