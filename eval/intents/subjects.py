"""The classifiers under measurement: from texts and labels to scores of other texts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval.errors import ProposerError
from eval.intents.data import Texts
from eval.intents.scored import Scored, score
from inference import artefacts
from inference.classifiers import head, lexical
from inference.encoder import TorchEncoder

ENCODER = Path("var/models/all-minilm-l6-v2")
CACHE = Path("var/intents/vectors")
KINDS = ("lexical", "linear")
NGRAMS = lexical.Recipe(ngrams=(1, 4), at_least=2, strength=20.0)

Measure = Callable[[Texts, Sequence[Texts], float], list[Scored]]
"""From training texts, texts to score and the head's strength (C) to scored texts."""


class Subject(NamedTuple):
    """One kind: how it is fitted and applied, its default strength, digests of what it builds on."""

    kind: str
    measure: Measure
    strength: float
    digests: dict[str, str]


def choose(kind: str, root: Path = Path()) -> Subject:
    """The subject of a kind; ProposerError on any other name."""
    if kind == "lexical":
        return Subject(kind, _lexical, NGRAMS.strength, {})
    if kind == "linear":
        found = artefacts.read(root / ENCODER)
        vectors = Vectors(TorchEncoder(found), root / CACHE)
        return Subject(kind, vectors.measure, 20.0, {"encoder": found.digest})
    near = get_close_matches(kind, KINDS, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"use one of {', '.join(KINDS)}"
    raise ProposerError(f"no classifier is called `{kind}`; {hint}")


def _lexical(kept: Texts, asked: Sequence[Texts], strength: float) -> list[Scored]:
    recipe = lexical.Recipe(NGRAMS.ngrams, NGRAMS.at_least, strength)
    scorer = lexical.fit(kept.texts, kept.labels, recipe)
    return [score(scorer, part.texts, part.labels) for part in asked]


class Vectors:
    """A frozen encoder whose vectors of a list of texts are kept in a file."""

    def __init__(self, encoder: TorchEncoder, folder: Path) -> None:
        self._encoder = encoder
        self._folder = folder

    def measure(self, kept: Texts, asked: Sequence[Texts], strength: float) -> list[Scored]:
        """A logistic head on the vectors; see `Measure`."""
        fitted, labels = head.fit(self.of(kept.texts), kept.labels, strength, 0)
        return [
            Scored(labels, head.apply(fitted, self.of(part.texts)), part.labels) for part in asked
        ]

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (len(texts), dimensions), from the file of these texts and this encoder."""
        named = "\0".join([self._encoder.digest, *texts])
        path = self._folder / f"{hashlib.sha256(named.encode()).hexdigest()}.npy"
        if path.exists():
            return np.asarray(np.load(path, allow_pickle=False), dtype=np.float32)
        vectors = self._encoder.encode(texts)
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, vectors, allow_pickle=False)
        return vectors
