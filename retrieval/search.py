"""Search: entitlements choose partitions before any score; channels, one fused order, a reranker.

The fused score is weighted Reciprocal Rank Fusion (Cormack, Clarke and Büttcher, SIGIR 2009) with
k = 60. Its weights and the reranker's were fitted on one half of our own questions about Regulation E.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType

import numpy as np

from retrieval import lexical, vectors
from retrieval.chunk import Chunk
from retrieval.index import Index, Partition
from retrieval.protocols import Encoder, Vectors
from retrieval.rerank import SUFFICIENT, Candidate, Place, Reranker, lexical_dense
from retrieval.rewrite import rewritten

RRF_K = 60
DEPTH = 50
"""How many of each channel's best are fused, and how many of the fused are reranked."""
DENSE, TITLE, BM25 = "dense", "title", "bm25"
CHANNELS = (DENSE, TITLE, BM25)
WEIGHTS: Mapping[str, float] = MappingProxyType({DENSE: 1.0, TITLE: 0.3, BM25: 1.0})


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage found, with why: a place per channel that found it, fused, reranked.

    `dense` is the cosine of request and passage, `sentences` those of request and each of its
    sentences, `covered` the share of the request's words, weighted by rarity, that it holds.
    """

    chunk: Chunk
    channels: Mapping[str, Place]
    fused: float
    reranked: float
    dense: float
    covered: float
    sentences: tuple[float, ...] = field(default=(), repr=False)


_Key = tuple[int, int]
"""Partition and row."""


def search(
    index: Index,
    encoder: Encoder,
    query: str,
    *,
    entitlements: Sequence[str],
    collection: str | None = None,
    on: date | None = None,
    k: int = 5,
    weights: Mapping[str, float] = WEIGHTS,
    reranker: Reranker = lexical_dense,
    form: Callable[[str], str] = rewritten,
) -> tuple[Hit, ...]:
    """The best `k` passages that the asker may see, best first; fewer where there are fewer.

    `collection` keeps to one collection's documents, `on` to those in force on that day. Equal
    scores are ordered by chunk id, so the order never depends on the build. `form` turns the query
    into what is searched for. BrokenIndexError where
    the encoder gives another dimension than the index has, or no numbers.
    """
    parts = index.visible(entitlements)
    if not parts or not query.strip() or k < 1:
        return ()
    asked = form(query)
    vector = vectors.checked(encoder.encode([asked]), 1, index.dimensions)
    masks = [part.wanted(collection, on) for part in parts]
    tokens = lexical.words(asked)
    places = {
        channel: _ranked(parts, _CHANNEL[channel], vector, tokens, masks)
        for channel in CHANNELS
        if weights.get(channel, 0.0) > 0
    }
    fused = _fuse(places, weights)
    best = sorted(fused, key=lambda key: (-fused[key], _name(parts, key)))[:DEPTH]
    covered = _covered(parts, best, tokens)
    candidates = [_candidate(parts, key, vector, places, fused[key], covered[key]) for key in best]
    scores = reranker(query, candidates)
    order = sorted(range(len(best)), key=lambda i: (-scores[i], candidates[i].chunk.chunk_id))
    return tuple(_hit(candidates[i], scores[i]) for i in order[:k])


def sufficient(hits: Sequence[Hit], least: float = SUFFICIENT) -> bool:
    """True if the best passage fits well enough for anything to be answered from the hits."""
    return bool(hits) and hits[0].reranked >= least


def as_asked(query: str) -> str:
    """The query form that adds nothing."""
    return query


def _name(parts: Sequence[Partition], key: _Key) -> str:
    return parts[key[0]].chunks[key[1]].chunk_id


_Score = Callable[[Partition, Vectors, Sequence[str], vectors.Mask], Mapping[int, float]]


def _ranked(
    parts: Sequence[Partition],
    score: _Score,
    vector: Vectors,
    tokens: Sequence[str],
    masks: Sequence[vectors.Mask],
) -> dict[_Key, Place]:
    """The channel's best `DEPTH` over all partitions."""
    found = {
        (number, row): value
        for number, (part, mask) in enumerate(zip(parts, masks, strict=True))
        for row, value in score(part, vector, tokens, mask).items()
    }
    order = sorted(found, key=lambda key: (-found[key], _name(parts, key)))[:DEPTH]
    return {key: Place(found[key], rank) for rank, key in enumerate(order, start=1)}


def _dense(
    part: Partition, vector: Vectors, _tokens: Sequence[str], mask: vectors.Mask
) -> Mapping[int, float]:
    rows, scores = vectors.nearest(part.dense, vector, DEPTH, mask)
    return dict(zip(rows.tolist(), scores.tolist(), strict=True))


def _title(
    part: Partition, vector: Vectors, _tokens: Sequence[str], mask: vectors.Mask
) -> Mapping[int, float]:
    """Passages below the nearest titles; those below one title share its score."""
    shown = np.zeros(part.titles.ntotal, dtype=np.bool_)
    shown[part.title_rows[mask]] = True
    rows, scores = vectors.nearest(part.titles, vector, DEPTH, shown)
    found: dict[int, float] = {}
    for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
        if len(found) >= DEPTH:
            break
        found |= dict.fromkeys(np.flatnonzero((part.title_rows == row) & mask).tolist(), score)
    return found


def _bm25(
    part: Partition, _vector: Vectors, tokens: Sequence[str], mask: vectors.Mask
) -> Mapping[int, float]:
    scores = np.where(mask, lexical.scores(part.bm25, tokens), 0.0)
    if len(scores) > DEPTH:
        least = np.partition(scores, len(scores) - DEPTH)[len(scores) - DEPTH]
        rows = np.flatnonzero((scores >= least) & (scores > 0))
    else:
        rows = np.flatnonzero(scores > 0)
    return {int(row): float(scores[row]) for row in rows}


_CHANNEL: Mapping[str, _Score] = MappingProxyType({DENSE: _dense, TITLE: _title, BM25: _bm25})


def _fuse(
    places: Mapping[str, Mapping[_Key, Place]], weights: Mapping[str, float]
) -> dict[_Key, float]:
    fused: dict[_Key, float] = {}
    for channel, found in places.items():
        for key, place in found.items():
            share = weights[channel] / (RRF_K + place.rank)
            fused[key] = fused.get(key, 0.0) + share
    return fused


def _covered(
    parts: Sequence[Partition], keys: Sequence[_Key], tokens: Sequence[str]
) -> dict[_Key, float]:
    found: dict[_Key, float] = {}
    for number, part in enumerate(parts):
        mine = [key for key in keys if key[0] == number]
        shares = lexical.covered(part.bm25, tokens, [row for _, row in mine])
        found |= dict(zip(mine, shares.tolist(), strict=True))
    return found


def _candidate(
    parts: Sequence[Partition],
    key: _Key,
    vector: Vectors,
    places: Mapping[str, Mapping[_Key, Place]],
    fused: float,
    covered: float,
) -> Candidate:
    part, row = parts[key[0]], key[1]
    chunk = part.chunks[row]
    return Candidate(
        chunk=chunk,
        channels={name: found[key] for name, found in places.items() if key in found},
        fused=fused,
        dense=float(part.dense.reconstruct(row) @ vector[0]),
        title=float(part.titles.reconstruct(int(part.title_rows[row])) @ vector[0]),
        sentences=tuple((part.sentences[row] @ vector[0]).tolist()),
        covered=covered,
    )


def _hit(candidate: Candidate, reranked: float) -> Hit:
    return Hit(
        chunk=candidate.chunk,
        channels=candidate.channels,
        fused=candidate.fused,
        reranked=reranked,
        dense=candidate.dense,
        covered=candidate.covered,
        sentences=candidate.sentences,
    )
