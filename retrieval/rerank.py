"""The reranker slot: candidates of one request to scores, higher is better.

`lexical_dense` is a fixed linear form over what the channels know already; a trained cross-encoder
takes its place through the same type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from retrieval.chunk import Chunk


@dataclass(frozen=True, slots=True)
class Place:
    """What one channel said of a passage; ranks count from 1."""

    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """One passage with everything that is known of it and the request; cosines and shares, 0 to 1."""

    chunk: Chunk
    channels: Mapping[str, Place]
    fused: float
    dense: float
    title: float
    sentences: tuple[float, ...]
    covered: float

    @property
    def sentence(self) -> float:
        """The best sentence's cosine."""
        return max(self.sentences, default=0.0)


Reranker = Callable[[str, Sequence[Candidate]], Sequence[float]]

FORM: Mapping[str, float] = {
    "dense": 1.0,
    "title": 0.3,
    "sentence": 0.7,
    "covered": 0.3,
}


def lexical_dense(_query: str, candidates: Sequence[Candidate]) -> Sequence[float]:
    """The weighted sum of passage, title and sentence cosines and of the covered words."""
    return [sum(weight * getattr(c, name) for name, weight in FORM.items()) for c in candidates]


def as_fused(_query: str, candidates: Sequence[Candidate]) -> Sequence[float]:
    """No reranking: the fused score itself."""
    return [candidate.fused for candidate in candidates]
