"""Groups of near-duplicate texts, so that none of a group stands on both sides of a split."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inference.classifiers import ngrams

LENGTHS = (3, 5)
ALIKE = 0.8
"""Cosine of the n-gram vectors from which on two texts are near-duplicates."""
BLOCK = 1000


def near_duplicates(texts: Sequence[str], alike: float = ALIKE) -> NDArray[np.int64]:
    """The group of each text, shape (n,): whatever is linked by pairs that are alike is one group."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    vectors = ngrams.matrix(ngrams.learn(texts, LENGTHS, 1), texts)
    rows, columns = [], []
    for start in range(0, len(texts), BLOCK):
        near = (vectors[start : start + BLOCK] @ vectors.T).tocoo()
        linked = near.data >= alike
        rows.append(near.row[linked] + start)
        columns.append(near.col[linked])
    pairs = (np.concatenate(rows), np.concatenate(columns))
    graph = coo_array((np.ones(len(pairs[0]), dtype=bool), pairs), shape=(len(texts),) * 2)
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def held_back(
    groups: NDArray[np.int64], labels: Sequence[str], share: float, seed: int
) -> NDArray[np.bool_]:
    """A mask (n,) of whole groups, about `share` of every label's texts, drawn at random.

    A group belongs to the label of most of its texts. A label with a single group is not held back.
    """
    rng = np.random.default_rng(seed)
    names, label = np.unique(np.array(labels), return_inverse=True)
    sizes = np.bincount(groups)
    counts = np.zeros((len(sizes), len(names)), dtype=np.int64)
    np.add.at(counts, (groups, label), 1)
    owner = counts.argmax(axis=1)
    held = np.zeros(len(sizes), dtype=bool)
    for place in range(len(names)):
        own = rng.permutation(np.flatnonzero(owner == place))
        wanted = share * sizes[own].sum()
        held[
            own[np.cumsum(sizes[own]) <= max(wanted, sizes[own].min(initial=1))][: len(own) - 1]
        ] = True
    return np.asarray(held[groups])
