"""Search: entitlements choose partitions before any score, two channels, one fused order.

The fused score is Reciprocal Rank Fusion (Cormack, Clarke and Büttcher, SIGIR 2009) with k = 60.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date

import numpy as np

from retrieval import lexical
from retrieval.chunk import Chunk
from retrieval.index import Index, Partition
from retrieval.protocols import Encoder, Vectors

RRF_K = 60
DEPTH = 50
"""How many of each channel's best are fused."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage found; `dense` is a cosine, `bm25` unbounded from 0, ranks count from 1.

    A rank is None where the channel's best `DEPTH` passages do not hold this one. `sentences` are
    the cosines of the request with each of the chunk's sentences.
    """

    chunk: Chunk
    dense: float
    bm25: float
    fused: float
    dense_rank: int | None
    bm25_rank: int | None
    sentences: tuple[float, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class _Scored:
    chunk: Chunk
    dense: float
    bm25: float
    sentences: Vectors


def search(
    index: Index,
    encoder: Encoder,
    query: str,
    *,
    entitlements: Sequence[str],
    collection: str | None = None,
    on: date | None = None,
    k: int = 5,
) -> tuple[Hit, ...]:
    """The best `k` passages that the asker may see, best first; fewer where there are fewer.

    `collection` keeps to one collection's documents, `on` to those in force on that day. Equal
    scores are ordered by chunk id, so the order never depends on the build.
    """
    parts = index.visible(entitlements)
    if not parts or not query.strip():
        return ()
    vector = encoder.encode([query])
    scored = [s for part in parts for s in _score(part, vector, query)]
    hits = _fused([s for s in scored if _wanted(s.chunk, collection, on)])[:k]
    rows = {s.chunk.chunk_id: s.sentences for s in scored}
    return tuple(_with_sentences(hit, rows[hit.chunk.chunk_id], vector) for hit in hits)


def _score(part: Partition, vector: Vectors, query: str) -> list[_Scored]:
    values, rows = part.dense.search(vector, len(part.chunks))
    dense = np.empty(len(part.chunks), dtype=np.float32)
    dense[rows[0]] = values[0]
    bm25 = lexical.scores(part.bm25, query)
    return [
        _Scored(chunk, float(dense[i]), float(bm25[i]), part.sentences[i])
        for i, chunk in enumerate(part.chunks)
    ]


def _with_sentences(hit: Hit, rows: Vectors, vector: Vectors) -> Hit:
    return replace(hit, sentences=tuple(float(score) for score in rows @ vector[0]))


def _wanted(chunk: Chunk, collection: str | None, on: date | None) -> bool:
    source = chunk.source
    in_force = on is None or source.in_force(on)
    return in_force and (collection is None or collection in source.collections)


def _fused(scored: Sequence[_Scored]) -> tuple[Hit, ...]:
    dense = _ranks({s.chunk.chunk_id: s.dense for s in scored})
    bm25 = _ranks({s.chunk.chunk_id: s.bm25 for s in scored if s.bm25 > 0})
    hits = [_hit(s, dense, bm25) for s in scored]
    found = [hit for hit in hits if hit.fused > 0]
    return tuple(sorted(found, key=lambda h: (-h.fused, -h.dense, h.chunk.chunk_id)))


def _ranks(scores: dict[str, float]) -> dict[str, int]:
    order = sorted(scores, key=lambda name: (-scores[name], name))[:DEPTH]
    return {name: rank for rank, name in enumerate(order, start=1)}


def _hit(scored: _Scored, dense: dict[str, int], bm25: dict[str, int]) -> Hit:
    name = scored.chunk.chunk_id
    ranks = [channel[name] for channel in (dense, bm25) if name in channel]
    fused = sum(1.0 / (RRF_K + rank) for rank in ranks)
    return Hit(scored.chunk, scored.dense, scored.bm25, fused, dense.get(name), bm25.get(name))
