"""The classifiers under measurement: from texts and labels to scores of other texts."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval.errors import ProposerError
from eval.intents.data import Texts
from eval.intents.economics import megabytes
from eval.intents.scored import Scored, score
from inference import artefacts
from inference.artefacts import Artefact
from inference.classifiers import Scorer, encoded, head, lexical
from inference.encoder import ONNX_INT8, TORCH, TorchEncoder
from inference.tiers.scores import OUT_OF_SCOPE

ENCODER = Path("var/models/all-minilm-l6-v2")
CACHE = Path("var/intents/vectors")
TRAINED = Path("var/intents")


class Trained(NamedTuple):
    """A kind whose encoder is trained too: by which recipe, in which runtime, its head's strength."""

    recipe: str
    runtime: str
    strength: float


TRAINED_KINDS = {
    "tuned": Trained(encoded.TUNED, TORCH, 1.0),
    "tuned-int8": Trained(encoded.TUNED, ONNX_INT8, 1.0),
    "setfit": Trained(encoded.SETFIT, TORCH, 50.0),
    "setfit-int8": Trained(encoded.SETFIT, ONNX_INT8, 50.0),
}
KINDS = ("lexical", "linear", *TRAINED_KINDS)
NGRAMS = lexical.Recipe(ngrams=(1, 4), at_least=2, strength=20.0)

Measure = Callable[[Texts, Sequence[Texts], float], list[Scored]]
"""From training texts, texts to score and the head's strength (C) to scored texts."""


Serve = Callable[[Texts, float], tuple[Scorer, float]]
"""From training texts and the head's strength to what would be served, and the megabytes it reads."""


class Subject(NamedTuple):
    """One kind: how it is fitted and applied, its default strength, digests of what it builds on."""

    kind: str
    measure: Measure
    strength: float
    digests: dict[str, str]
    serve: Serve | None = None


def choose(kind: str, root: Path = Path(), epochs: int | None = None) -> Subject:
    """The subject of a kind; ProposerError on any other name, or on `epochs` where none are counted."""
    if epochs is not None and kind not in TRAINED_KINDS:
        raise ProposerError(f"`{kind}` has no epochs; leave --epochs out")
    if kind == "lexical":
        return Subject(kind, _lexical, NGRAMS.strength, {}, _serve_lexical)
    if kind == "linear":
        found = artefacts.read(root / ENCODER)
        vectors = Vectors(TorchEncoder(found), root / CACHE)
        return Subject(
            kind, vectors.measure, 20.0, {"encoder": found.digest}, _linear(vectors, found)
        )
    if kind in TRAINED_KINDS:
        base = artefacts.read(root / ENCODER)
        found_kind = TRAINED_KINDS[kind]
        digests = {"base": base.digest}
        serve = _trained(root, found_kind, epochs)
        return Subject(kind, _measure_with(serve), found_kind.strength, digests, serve)
    near = get_close_matches(kind, KINDS, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"use one of {', '.join(KINDS)}"
    raise ProposerError(f"no classifier is called `{kind}`; {hint}")


def expecting(subject: Subject, share: float) -> Subject:
    """The subject told that this share of all messages is out of scope, whatever the share in training."""

    def measure(kept: Texts, asked: Sequence[Texts], strength: float) -> list[Scored]:
        trained = kept.labels.count(OUT_OF_SCOPE) / len(kept.labels)
        factor = head.odds(share) / head.odds(trained)
        return [_shifted(one, factor) for one in subject.measure(kept, asked, strength)]

    return subject._replace(measure=measure)


def _shifted(scored: Scored, factor: float) -> Scored:
    """As `head.expecting` would score: out-of-scope's odds multiplied, rows summing to 1."""
    odds = np.where(scored.actions, scored.probabilities, factor * scored.probabilities)
    return Scored(scored.labels, odds / odds.sum(axis=1, keepdims=True), scored.gold)


def _measure_with(serve: Serve) -> Measure:
    """Scores by what would be served."""

    def measure(kept: Texts, asked: Sequence[Texts], strength: float) -> list[Scored]:
        scorer, _ = serve(kept, strength)
        return [score(scorer, part.texts, part.labels) for part in asked]

    return measure


def _serve_lexical(kept: Texts, strength: float) -> tuple[Scorer, float]:
    recipe = lexical.Recipe(NGRAMS.ngrams, NGRAMS.at_least, strength)
    scorer = lexical.fit(kept.texts, kept.labels, recipe)
    with TemporaryDirectory() as scratch:
        made = lexical.save(scorer, Path(scratch) / "lexical", {})
        return scorer, megabytes(made.folder)


_lexical = _measure_with(_serve_lexical)


def _linear(vectors: Vectors, base: Artefact) -> Serve:
    """The frozen encoder with the head that `Vectors.measure` fits."""

    def serve(kept: Texts, strength: float) -> tuple[Scorer, float]:
        fitted, labels = head.fit(vectors.of(kept.texts), kept.labels, strength, 0)
        return encoded.Encoded(labels, TorchEncoder(base), fitted), megabytes(base.folder)

    return serve


def _trained(root: Path, kind: Trained, epochs: int | None) -> Serve:
    """Encoder and head trained in a process of their own; trained once, then kept."""

    def serve(kept: Texts, strength: float) -> tuple[Scorer, float]:
        with TemporaryDirectory() as scratch:
            rows = Path(scratch) / "rows.json"
            rows.write_text(json.dumps(list(zip(*kept, strict=True))), encoding="utf-8")
            counted = {} if epochs is None else {"--epochs": epochs}
            given = {"--kind": kind.recipe, "--strength": strength, **counted}
            made = trained(rows, root / ENCODER, root / TRAINED / kind.recipe, given)
        return encoded.load(artefacts.read(made), kind.runtime), megabytes(made, kind.runtime)

    return serve


def trained(rows: Path, base: Path, out: Path, more: Mapping[str, object]) -> Path:
    """The folder of an artefact of these rows; ProposerError where training fails.

    Nothing in eval imports training, so that the code under test stays apart from what it is made by.
    """
    given = {"--rows": rows, "--base": base, "--out": out, **more}
    words = [str(word) for pair in given.items() for word in pair]
    command = [sys.executable, "-m", "training.whole", *words, "--bfloat16"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - our own
    if done.returncode != 0:
        raise ProposerError(f"training ended with `{done.returncode}`; its message stands above")
    return Path(done.stdout.strip().splitlines()[-1])


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
