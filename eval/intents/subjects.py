"""The classifiers under measurement: from texts and labels to scores of other texts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval.errors import ProposerError
from eval.intents.data import Texts
from eval.intents.scored import Scored, score
from inference import artefacts
from inference.classifiers import encoded, head, lexical
from inference.encoder import TorchEncoder
from training import tuned
from training.labels import Example

ENCODER = Path("var/models/all-minilm-l6-v2")
CACHE = Path("var/intents/vectors")
TUNED = Path("var/intents/tuned")
KINDS = ("lexical", "linear", "tuned")
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
    if kind == "tuned":
        base = artefacts.read(root / ENCODER)
        return Subject(kind, _tuned(root), tuned.RECIPE.strength, {"base": base.digest})
    near = get_close_matches(kind, KINDS, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"use one of {', '.join(KINDS)}"
    raise ProposerError(f"no classifier is called `{kind}`; {hint}")


def _lexical(kept: Texts, asked: Sequence[Texts], strength: float) -> list[Scored]:
    recipe = lexical.Recipe(NGRAMS.ngrams, NGRAMS.at_least, strength)
    scorer = lexical.fit(kept.texts, kept.labels, recipe)
    return [score(scorer, part.texts, part.labels) for part in asked]


def _tuned(root: Path) -> Measure:
    """Encoder and head tuned together, on a processor with bfloat16; kept, by digest, once trained."""

    def measure(kept: Texts, asked: Sequence[Texts], strength: float) -> list[Scored]:
        recipe = replace(tuned.RECIPE, strength=strength, bfloat16=True)
        examples = [Example(*row) for row in zip(*kept, strict=True)]
        name = tuned.key(artefacts.read(root / ENCODER), examples, recipe)[:16]
        folder = root / TUNED / name
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not folder.exists():
            checkpoint = folder.with_name(f".{name}.checkpoint")
            with TemporaryDirectory(dir=folder.parent, prefix=".new-") as scratch:
                new = Path(scratch) / name
                tuned.build(root / ENCODER, examples, recipe, new, checkpoint).folder.rename(folder)
            checkpoint.unlink()
        scorer = encoded.load(artefacts.read(folder))
        return [score(scorer, part.texts, part.labels) for part in asked]

    return measure


class Vectors:
    """A frozen encoder whose vectors are kept, by text, in one file per encoder."""

    def __init__(self, encoder: TorchEncoder, folder: Path) -> None:
        self._encoder = encoder
        self._path = folder / f"{encoder.digest[:16]}.npz"
        self._known: dict[bytes, NDArray[np.float32]] = {}
        if self._path.exists():
            with np.load(self._path, allow_pickle=False) as file:
                self._known = dict(zip(map(bytes, file["texts"]), file["vectors"], strict=True))

    def measure(self, kept: Texts, asked: Sequence[Texts], strength: float) -> list[Scored]:
        """A logistic head on the vectors; see `Measure`."""
        fitted, labels = head.fit(self.of(kept.texts), kept.labels, strength, 0)
        return [
            Scored(labels, head.apply(fitted, self.of(part.texts)), part.labels) for part in asked
        ]

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (len(texts), dimensions); texts that the file lacks are encoded and added."""
        names = [hashlib.sha256(text.encode()).digest() for text in texts]
        new = {
            name: text for name, text in zip(names, texts, strict=True) if name not in self._known
        }
        if new:
            vectors = self._encoder.encode(list(new.values()))
            self._known.update(zip(new, vectors, strict=True))
            self._write()
        return np.stack([self._known[name] for name in names])

    def _write(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        names = np.frombuffer(b"".join(self._known), dtype=np.uint8).reshape(-1, 32)
        np.savez(self._path, texts=names, vectors=np.stack(list(self._known.values())))
