"""A logistic head: fitted by scikit-learn, kept as two arrays, applied without it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inference.errors import ArtefactError

FILE = "head.safetensors"


class Head(NamedTuple):
    """Probability of label i is softmax(coefficients @ vector + intercepts)[i]."""

    coefficients: NDArray[np.floating[Any]]
    intercepts: NDArray[np.float64]


def fit(
    vectors: Any, labels: Sequence[str], strength: float, seed: int
) -> tuple[Head, tuple[str, ...]]:
    """A head and its labels in the order of scikit-learn's `classes_`.

    `vectors` (n, dimensions) dense or sparse, `strength` scikit-learn's C. Raises ArtefactError for
    fewer than two labels.
    """
    from sklearn.linear_model import LogisticRegression

    if len(set(labels)) < 2:
        raise ArtefactError("all texts have one label; a head needs at least two")
    model = LogisticRegression(C=strength, max_iter=2000, random_state=seed).fit(
        vectors, np.array(labels)
    )
    return from_arrays(model.coef_, model.intercept_), tuple(map(str, model.classes_))


def from_arrays(coefficients: NDArray[Any], intercepts: NDArray[Any]) -> Head:
    """A head with one row per label; scikit-learn keeps a single row for two labels."""
    if len(coefficients) == 1:
        coefficients = np.vstack([np.zeros_like(coefficients), coefficients])
        intercepts = np.concatenate([np.zeros_like(intercepts), intercepts])
    return Head(np.ascontiguousarray(coefficients), intercepts.astype(np.float64))


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities, row by row."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float64)


def apply(head: Head, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Probabilities, one row per vector, one column per label."""
    return softmax(vectors.astype(np.float64) @ head.coefficients.T + head.intercepts)


def expecting(head: Head, row: int, trained: float, expected: float) -> Head:
    """The head for messages of which a share `expected` has the label of `row`, not `trained`.

    Its odds against every other label grow by one factor (label shift: Saerens, Latinne and
    Decaestecker, Adjusting the Outputs of a Classifier to New a Priori Probabilities, 2002).
    """
    intercepts = head.intercepts.copy()
    intercepts[row] += np.log(odds(expected) / odds(trained))
    return Head(head.coefficients, intercepts)


def odds(share: float) -> float:
    """Share of one kind over the rest; ArtefactError for none or all."""
    if not 0 < share < 1:
        raise ArtefactError(f"a share of `{share:g}` has no odds; give one between 0 and 1")
    return share / (1 - share)


def write(folder: Path, head: Head, **more: NDArray[Any]) -> None:
    """Write the arrays, and others beside them, to `head.safetensors`."""
    from safetensors.numpy import save_file

    arrays = {"coefficients": head.coefficients, "intercepts": head.intercepts, **more}
    save_file({name: np.ascontiguousarray(a) for name, a in arrays.items()}, folder / FILE)


def read(folder: Path, labels: int) -> tuple[Head, dict[str, NDArray[Any]]]:
    """The head and the arrays beside it; ArtefactError where shapes do not fit `labels`."""
    from safetensors.numpy import load_file

    arrays = load_file(folder / FILE)
    try:
        head = Head(arrays.pop("coefficients"), arrays.pop("intercepts"))
    except KeyError as error:
        raise ArtefactError(f"`{folder / FILE}` has no {error}; train it again") from error
    if head.coefficients.shape[:1] != (labels,) or head.intercepts.shape != (labels,):
        raise ArtefactError(f"`{folder}`: head and labels differ in number; train it again")
    return head, arrays
