"""Scores of texts by a head that has not seen them, where there are too few texts to hold back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from inference.classifiers import Scorer

Fitting = Callable[[Sequence[str], Sequence[str]], Scorer]
"""From texts and labels to a fitted scorer."""


def parts(strata: NDArray[np.int64], count: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    """`count` masks (n,) that cover every row once, each stratum spread as evenly as it can be."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]
    fold = np.empty(len(strata), dtype=np.int64)
    fold[order] = np.arange(len(strata)) % count
    yield from (fold == part for part in range(count))


def out_of_fold(
    texts: Sequence[str], labels: Sequence[str], fitting: Fitting, count: int = 5, seed: int = 0
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Label names and distributions (n, labels), each row by a scorer that did not see its text.

    A label that a fold's training part lacks has probability 0 in that fold: so it is for a text of
    a kind that nobody has seen.
    """
    names = tuple(sorted(set(labels)))
    column = {name: place for place, name in enumerate(names)}
    out = np.zeros((len(texts), len(names)))
    for held in parts(np.array([column[label] for label in labels]), count, seed):
        kept = np.flatnonzero(~held).tolist()
        scorer = fitting([texts[i] for i in kept], [labels[i] for i in kept])
        rows = np.flatnonzero(held).tolist()
        found = scorer.scores([texts[i] for i in rows])
        out[np.ix_(rows, [column[label] for label in scorer.labels])] = found
    return names, out
