"""How far a classifier reaches: a text whose vector is close to no label is out of distribution.

    <folder>/reach.safetensors   centres (labels, dimensions) of unit length, least (1,)

Closeness is the cosine to the nearest label's centre, the mean of its training vectors. `least` is a
low quantile of the closeness of texts that were held back, so that about that share of texts of the
trained kind is passed on as well. A head's probabilities do not say this: far from everything that it
has learnt a logistic head is often sure.

Method: nearest class mean, as in Lee et al., A Simple Unified Framework for Detecting
Out-of-Distribution Samples (2018), with the cosine on unit vectors in place of the shared covariance.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inference.errors import ArtefactError

FILE: Final = "reach.safetensors"


class Reach(NamedTuple):
    """Centres (labels, dimensions) and the least closeness of a text that the classifier knows."""

    centres: NDArray[np.float32]
    least: float


def centres(
    vectors: NDArray[np.float32], gold: NDArray[np.int64], labels: int
) -> NDArray[np.float32]:
    """Unit means by label, shape (labels, dimensions); a label without a text has zeros."""
    found = np.zeros((labels, vectors.shape[1]), dtype=np.float32)
    for row in range(labels):
        own = vectors[gold == row]
        mean = own.mean(axis=0) if len(own) else found[row]
        length = float(np.linalg.norm(mean))
        found[row] = mean / length if length else mean
    return found


def closeness(own: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosine of each unit vector to its nearest centre, shape (n,)."""
    return np.asarray((vectors @ own.T).max(axis=1))


def far(reach: Reach, vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Whether each vector is out of distribution; one that is no number is."""
    return np.asarray(~(closeness(reach.centres, vectors) >= reach.least))


def write(folder: Path, reach: Reach) -> None:
    """Write the arrays beside the head."""
    from safetensors.numpy import save_file

    arrays: dict[str, NDArray[Any]] = {
        "centres": np.ascontiguousarray(reach.centres),
        "least": np.array([reach.least], dtype=np.float32),
    }
    save_file(arrays, folder / FILE)


def read(folder: Path, labels: int) -> Reach | None:
    """The reach; None for an artefact without one, ArtefactError for one of another classifier."""
    from safetensors.numpy import load_file

    if not (folder / FILE).exists():
        return None
    arrays = load_file(folder / FILE)
    if arrays["centres"].shape[:1] != (labels,) or arrays["least"].shape != (1,):
        raise ArtefactError(f"`{folder / FILE}` is of another classifier; train it again")
    return Reach(arrays["centres"], float(arrays["least"][0]))
