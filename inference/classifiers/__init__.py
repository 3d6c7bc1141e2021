"""Classifiers of the fast tier behind one protocol: lexical, linear, setfit.

A scorer turns texts into distributions over its labels and knows nothing of thresholds. Which texts
may reach it, and how a long one is cut, is the business of reading.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Weighed(NamedTuple):
    """Distributions (n, labels), each row summing to 1, and which texts (n,) are out of distribution."""

    scores: NDArray[np.float64]
    far: NDArray[np.bool_]


class Scorer(Protocol):
    """A fitted classifier; the same texts always give the same scores."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in the head's own order, out-of-scope included where it was trained on any."""
        ...

    def fits(self, text: str) -> bool:
        """Whether it reads the text to its end."""
        ...

    def weigh(self, texts: Sequence[str]) -> Weighed:
        """Distributions, and whether a text is like none that it has learnt from."""
        ...

    def scores(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The distributions alone, shape (len(texts), len(labels))."""
        ...
