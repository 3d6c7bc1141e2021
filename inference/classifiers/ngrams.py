"""Character n-grams of a text as one sparse vector of unit length.

Terms and weights as scikit-learn's TfidfVectorizer(analyzer="char", sublinear_tf=True) on folded
text, which a test compares; written out so that serving needs a dictionary and no library.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gate.normalise import fold


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Column of each n-gram, and the weight of each column."""

    lengths: tuple[int, int]
    columns: Mapping[str, int]
    weights: NDArray[np.float64]


def grams(text: str, lengths: tuple[int, int]) -> Counter[str]:
    """How often each run of `lengths` characters, ends included, stands in the folded text."""
    folded = fold(text)
    return Counter(
        folded[start : start + length]
        for length in range(lengths[0], lengths[1] + 1)
        for start in range(len(folded) - length + 1)
    )


def learn(texts: Iterable[str], lengths: tuple[int, int], at_least: int) -> Vocabulary:
    """The n-grams that `at_least` so many texts hold, in order, with their smoothed idf."""
    seen: Counter[str] = Counter()
    total = 0
    for text in texts:
        seen.update(grams(text, lengths).keys())
        total += 1
    kept = sorted(gram for gram, texts_with in seen.items() if texts_with >= at_least)
    weights = np.array([math.log((1 + total) / (1 + seen[gram])) + 1 for gram in kept])
    return Vocabulary(lengths, {gram: place for place, gram in enumerate(kept)}, weights)


def vector(vocabulary: Vocabulary, text: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Columns and values of one text; no value where it shares no n-gram with the vocabulary."""
    counts = grams(text, vocabulary.lengths)
    known = {vocabulary.columns[g]: n for g, n in counts.items() if g in vocabulary.columns}
    columns = np.fromiter(known.keys(), np.int64, len(known))
    values = (1 + np.log(np.fromiter(known.values(), np.float64, len(known)))) * (
        vocabulary.weights[columns]
    )
    length = math.sqrt(float(values @ values))
    return columns, values / length if length else values


def matrix(vocabulary: Vocabulary, texts: Sequence[str]) -> Any:
    """All texts as a scipy sparse matrix (len(texts), columns), for fitting."""
    from scipy.sparse import csr_array

    rows = [vector(vocabulary, text) for text in texts]
    starts = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    columns = np.concatenate([c for c, _ in rows]) if rows else np.empty(0, np.int64)
    values = np.concatenate([v for _, v in rows]) if rows else np.empty(0)
    shape = (len(texts), len(vocabulary.columns))
    return csr_array((values, columns, starts), shape=shape)
