"""Texts with their gold labels and the distributions that a scorer gave them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inference.classifiers import Scorer
from inference.classifiers.reading import read
from inference.tiers.scores import OUT_OF_SCOPE

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Scored:
    """Distributions (n, labels) and gold labels (n,); a gold label need not be one of `labels`."""

    labels: tuple[str, ...]
    probabilities: Floats
    gold: tuple[str, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The head's labels, then gold labels that it lacks, in order."""
        return (*self.labels, *sorted(set(self.gold) - set(self.labels)))

    @cached_property
    def places(self) -> Places:
        """Gold labels as places in `names`; those from len(labels) on the head cannot give."""
        place = {label: i for i, label in enumerate(self.names)}
        return np.array([place[label] for label in self.gold], dtype=np.int64)

    @cached_property
    def best(self) -> Places:
        """The best label's place."""
        return np.asarray(self.probabilities.argmax(axis=1))

    @cached_property
    def right(self) -> Bools:
        """Whether the best label is the gold one."""
        return np.asarray(self.best == self.places)

    @cached_property
    def in_scope(self) -> Bools:
        """Whether the gold label is an action."""
        return np.array([label != OUT_OF_SCOPE for label in self.gold], dtype=bool)

    @cached_property
    def actions(self) -> Bools:
        """Which of `labels` are actions."""
        return np.array([label != OUT_OF_SCOPE for label in self.labels])


def score(scorer: Scorer, texts: Sequence[str], gold: Sequence[str]) -> Scored:
    """Score texts as the tier does; one that says nothing gets equal scores for all labels."""
    even = np.full(len(scorer.labels), 1 / len(scorer.labels))
    rows = [even if r.scores is None else r.scores for r in read(scorer, texts)]
    return Scored(scorer.labels, np.stack(rows), tuple(gold))


def mixed(in_scope: Bools, of: tuple[int, int]) -> Floats:
    """Weights under which a sample stands for `of` (in scope, out of scope) texts.

    Validation sets hold few out-of-scope texts; CLINC150's test set has 4,500 and 1,000.
    """
    inside, outside = int(in_scope.sum()), int((~in_scope).sum())
    return np.where(in_scope, of[0] / max(inside, 1), of[1] / max(outside, 1))
