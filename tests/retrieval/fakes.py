"""An encoder for tests that need no meaning: a text's vector follows from its words alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from retrieval.lexical import words
from retrieval.protocols import Vectors


class WordEncoder:
    """The sum of one fixed random vector per word, of length 1; zero for a text without words."""

    digest = "f" * 64

    def __init__(self, dimensions: int = 16, value: float | None = None) -> None:
        self.dimensions = dimensions
        self._value = value

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `Encoder`; every number is `value` where one was given."""
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in words(text):
                seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
                row += np.random.default_rng(seed).normal(size=self.dimensions)
            row /= np.linalg.norm(row) or 1.0
        return rows if self._value is None else np.full_like(rows, self._value)
