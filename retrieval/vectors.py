"""FAISS behind one small face: an index whose kind follows from its size, searched among allowed rows.

| rows | kind | |
|---|---|---|
| up to 50,000 | `flat` | exact |
| up to 500,000 | `hnsw` | graph of 32 neighbours, 128 candidates at search |
| more | `ivf` | 4 √n cells, of which at least 64 are searched |

Built on one thread, so equal vectors give equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import BrokenIndexError
from retrieval.protocols import Vectors

if TYPE_CHECKING:
    from faiss import Index as Faiss

FLAT, HNSW, IVF = "flat", "hnsw", "ivf"
MOST_FLAT = 50_000
MOST_HNSW = 500_000
NEIGHBOURS, BUILD_DEPTH, SEARCH_DEPTH = 32, 200, 128
CELLS_SEARCHED = 64
TRAINED = 64
"""Vectors per cell that the cells are trained on."""

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


def kind_of(rows: int) -> str:
    """The kind that an index of that many rows gets."""
    return FLAT if rows <= MOST_FLAT else HNSW if rows <= MOST_HNSW else IVF


def checked(vectors: Vectors, rows: int, dimensions: int) -> Vectors:
    """The vectors as float32 rows; BrokenIndexError for another shape or a value that is no number."""
    if vectors.shape != (rows, dimensions):
        raise BrokenIndexError(
            f"the encoder gave vectors of shape {vectors.shape}, not {(rows, dimensions)}; "
            "use the encoder that the index was made with, or build it again"
        )
    if not np.isfinite(vectors).all():
        raise BrokenIndexError("the encoder gave a vector that is not finite; check its weights")
    return np.ascontiguousarray(vectors, dtype=np.float32)


def build(vectors: Vectors, kind: str | None = None) -> Faiss:
    """An inner-product index over checked rows, shape (rows, dimensions)."""
    faiss = _faiss()
    rows, dimensions = vectors.shape
    chosen = kind or kind_of(rows)
    index: Any
    with _one_thread():
        if chosen == FLAT:
            index = faiss.IndexFlatIP(dimensions)
        elif chosen == HNSW:
            index = faiss.IndexHNSWFlat(dimensions, NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
            index.hnsw.efConstruction = BUILD_DEPTH
        else:
            cells = max(1, int(4 * sqrt(rows)))
            index = faiss.IndexIVFFlat(
                faiss.IndexFlatIP(dimensions), dimensions, cells, faiss.METRIC_INNER_PRODUCT
            )
            index.train(vectors[:: max(1, rows // (cells * TRAINED))])
        index.add(vectors)
    made: Faiss = index
    return made


@contextmanager
def _one_thread() -> Iterator[None]:
    faiss = _faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def nearest(index: Faiss, vector: Vectors, k: int, allowed: Mask | None) -> tuple[Rows, Vectors]:
    """Rows and scores of the best `k` among the allowed rows, best first, fewer if there are fewer.

    `vector` has shape (1, dimensions). A zero vector is near nothing.
    """
    faiss = _faiss()
    number = min(k, index.ntotal if allowed is None else int(allowed.sum()))
    if number <= 0 or not vector.any():
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    selector = None
    if allowed is not None and not allowed.all():
        selector = faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
    scores, rows = index.search(vector, number, params=_parameters(index, number, selector))
    found = rows[0] >= 0
    return rows[0][found], scores[0][found]


def _faiss() -> Any:
    import faiss  # its annotations describe the C++ face, not the Python one

    return faiss


def _parameters(index: Any, number: int, selector: Any) -> Any:
    faiss = _faiss()
    name = type(faiss.downcast_index(index)).__name__
    given = {} if selector is None else {"sel": selector}
    if name == "IndexHNSWFlat":
        return faiss.SearchParametersHNSW(efSearch=max(SEARCH_DEPTH, number), **given)
    if name == "IndexIVFFlat":
        return faiss.SearchParametersIVF(nprobe=min(index.nlist, CELLS_SEARCHED), **given)
    return faiss.SearchParameters(**given)
