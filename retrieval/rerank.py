"""The reranker slot: candidates of one request to scores, higher is better.

`lexical_dense` is a fixed linear form over what the channels know already; a trained cross-encoder
takes its place through the same type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

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

FORM: Mapping[str, float] = MappingProxyType(
    {"dense": 1.25, "title": 0.2, "sentence": 0.4, "covered": 0.07, "bm25": 0.12}
)
"""Fitted by random search on one half of our own questions about Regulation E."""

SUFFICIENT = 0.98
"""Least score of the best candidate for anything to be answered; fitted on the same half."""


def lexical_dense(_query: str, candidates: Sequence[Candidate]) -> Sequence[float]:
    """The weighted sum of passage, title and sentence cosines, of the covered words, and of BM25 as
    a share of its best."""
    best = max((_bm25(c) for c in candidates), default=0.0) or 1.0
    return [_form(c) + FORM["bm25"] * _bm25(c) / best for c in candidates]


def _form(c: Candidate) -> float:
    return (
        FORM["dense"] * c.dense
        + FORM["title"] * c.title
        + FORM["sentence"] * c.sentence
        + FORM["covered"] * c.covered
    )


def _bm25(candidate: Candidate) -> float:
    place = candidate.channels.get("bm25")
    return place.score if place else 0.0


def as_fused(_query: str, candidates: Sequence[Candidate]) -> Sequence[float]:
    """No reranking: the fused score itself."""
    return [candidate.fused for candidate in candidates]
