"""What the documents pathway receives from outside: an encoder. It never imports one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """Turns texts into unit vectors; the same text gives the same vector."""

    @property
    def digest(self) -> str:
        """SHA-256 that names the weights; known without loading them."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of one vector."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text, shape (len(texts), dimensions), each of length 1."""
        ...
