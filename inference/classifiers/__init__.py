"""Classifiers of the fast tier behind one protocol: lexical, linear, setfit.

A scorer turns texts into distributions over its labels and knows nothing of thresholds. Which texts
may reach it, and how a long one is cut, is the business of reading.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Scorer(Protocol):
    """A fitted classifier; the same texts always give the same scores."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in the head's own order, out-of-scope included where it was trained on any."""
        ...

    def fits(self, text: str) -> bool:
        """Whether it reads the text to its end."""
        ...

    def scores(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Distributions, shape (len(texts), len(labels)); each row sums to 1."""
        ...
