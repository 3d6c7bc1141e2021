"""Pairs of texts for contrastive training, k per text, drawn without building all n squared.

SetFit's own sampler lists every pair before it applies its limit; on 40,000 texts those are 800
million. Here the texts are sorted by label once, so that a label's texts stand side by side: a
partner of the same label is a place inside that block, one of another label a place outside it, and
both are one random number. Work and memory grow with the number of pairs that are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.errors import TrainingError


class Pairs(NamedTuple):
    """Places of two texts and whether they have one label; three arrays of one length."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    same: NDArray[np.bool_]

    def texts(self, texts: Sequence[str]) -> dict[str, list[object]]:
        """The columns that sentence-transformers' pair losses read."""
        return {
            "sentence_1": [texts[i] for i in self.left],
            "sentence_2": [texts[i] for i in self.right],
            "label": [1.0 if same else 0.0 for same in self.same],
        }


def draw(labels: Sequence[str], per_text: int, seed: int) -> Pairs:
    """`per_text` pairs with each text on the left, half of them (rounded up) of its own label.

    A text is never paired with itself; one that is alone in its label gets pairs of other labels
    only, fewer by the first half. Partners are drawn with replacement, so a small label's few pairs
    repeat. The order is random. Raises TrainingError for one label alone or no pair per text.
    """
    if per_text < 1:
        raise TrainingError(f"`{per_text}` pairs per text; draw at least one")
    block = np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)[1]
    sizes = np.bincount(block)
    if len(sizes) < 2:
        raise TrainingError("all texts have one label; pairs need at least two")
    rng = np.random.default_rng(seed)
    order = np.argsort(block, kind="stable")
    starts = np.cumsum(sizes) - sizes
    place = np.empty(len(block), dtype=np.int64)
    place[order] = np.arange(len(block))

    alike = (per_text + 1) // 2
    company = np.flatnonzero(sizes[block] > 1)
    left_same = np.repeat(company, alike)
    own = block[left_same]
    step = rng.integers(1, sizes[own])
    right_same = order[starts[own] + (place[left_same] - starts[own] + step) % sizes[own]]

    left_other = np.repeat(np.arange(len(block)), per_text - alike)
    own = block[left_other]
    step = rng.integers(0, len(block) - sizes[own])
    right_other = order[(starts[own] + sizes[own] + step) % len(block)]

    left = np.concatenate([left_same, left_other])
    right = np.concatenate([right_same, right_other])
    same = np.arange(len(left)) < len(left_same)
    shuffled = rng.permutation(len(left))
    return Pairs(left[shuffled], right[shuffled], same[shuffled])
