"""The lexical classifier: character n-grams and a logistic head; any language, no weights to bring.

<folder>/manifest.json      see store.py; `ngrams` the shortest and longest run
<folder>/vocabulary.json    the n-grams in the order of their columns
<folder>/head.safetensors   coefficients (labels, columns), intercepts (labels), weights (columns)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference import artefacts
from inference.artefacts import Artefact
from inference.classifiers import Weighed, head, ngrams, store
from inference.classifiers.head import Head
from inference.classifiers.ngrams import Vocabulary
from inference.errors import ArtefactError

KIND = "lexical"
VOCABULARY = "vocabulary.json"
READS = 1000
"""Characters that are read at once; a request far into a longer text would drown in the rest."""


@dataclass(frozen=True, slots=True)
class Lexical:
    """A fitted lexical classifier; see `Scorer`."""

    labels: tuple[str, ...]
    vocabulary: Vocabulary
    head: Head

    def fits(self, text: str) -> bool:
        """Whether it is read to its end at once."""
        return len(text) <= READS

    def weigh(self, texts: Sequence[str]) -> Weighed:
        """Distributions (len(texts), len(labels)), and which texts share no n-gram with any learnt."""
        logits = np.empty((len(texts), len(self.labels)))
        far = np.zeros(len(texts), dtype=bool)
        for row, text in enumerate(texts):
            columns, values = ngrams.vector(self.vocabulary, text)
            logits[row] = self.head.coefficients[:, columns] @ values + self.head.intercepts
            far[row] = not len(columns)
        return Weighed(head.softmax(logits), far)

    def scores(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Distributions, shape (len(texts), len(labels))."""
        return self.weigh(texts).scores


@dataclass(frozen=True, slots=True)
class Recipe:
    """What decides the result beside texts and labels."""

    ngrams: tuple[int, int] = (1, 3)
    at_least: int = 1
    """Texts that must hold an n-gram."""
    strength: float = 10.0
    """Inverse regularisation, scikit-learn's C."""
    seed: int = 0


RECIPE = Recipe()


def fit(texts: Sequence[str], labels: Sequence[str], recipe: Recipe = RECIPE) -> Lexical:
    """Fit on texts and their labels; the same input gives the same weights."""
    vocabulary = ngrams.learn(texts, recipe.ngrams, recipe.at_least)
    vectors = ngrams.matrix(vocabulary, texts)
    fitted, names = head.fit(vectors, labels, recipe.strength, recipe.seed)
    return Lexical(names, vocabulary, fitted)


def save(scorer: Lexical, folder: Path, fields: Mapping[str, Any]) -> Artefact:
    """Write a new folder with everything that `load` needs; `fields` are added to its manifest."""
    folder.mkdir(parents=True)
    words = json.dumps(list(scorer.vocabulary.columns), ensure_ascii=False)
    (folder / VOCABULARY).write_text(words + "\n", encoding="utf-8")
    head.write(folder, scorer.head, weights=scorer.vocabulary.weights)
    own = {
        "kind": KIND,
        "format": store.FORMAT,
        "labels": list(scorer.labels),
        "ngrams": list(scorer.vocabulary.lengths),
        "libraries": store.libraries(),
    }
    return artefacts.write_manifest(folder, {**fields, **own})


def load(artefact: Artefact) -> Lexical:
    """The classifier of a folder; ArtefactError for one that is incomplete, changed or older."""
    labels = store.open_labels(artefact, (KIND,))
    fitted, more = head.read(artefact.folder, len(labels))
    words = json.loads((artefact.folder / VOCABULARY).read_text(encoding="utf-8"))
    weights = more.get("weights")
    if weights is None or not len(words) == len(weights) == fitted.coefficients.shape[1]:
        raise ArtefactError(f"`{artefact.folder}`: head and vocabulary differ; {store.RETRAIN}")
    low, high = artefact.manifest["ngrams"]
    columns = {word: place for place, word in enumerate(words)}
    return Lexical(labels, Vocabulary((int(low), int(high)), columns, weights), fitted)
