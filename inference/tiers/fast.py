"""The fast tier: a contrastively tuned encoder and a logistic head, stored as one artefact.

    <folder>/manifest.json        labels in the head's order, digests of data and code, figures
    <folder>/encoder/             weights and tokenizer
    <folder>/head.safetensors     coefficients (labels, dimensions) and intercepts (labels)

`training/router.py` writes it. Nothing in it is pickled; a part that differs from the manifest is
refused before it is read.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gate.records import Abstain
from inference import artefacts
from inference.artefacts import Artefact
from inference.encoder import MAX_TOKENS, TorchEncoder
from inference.errors import ArtefactError, AssemblyError
from inference.question import Question
from inference.tiers import Reply, scores

RETRAIN = "train it again with `routelock train router`"


class Head(NamedTuple):
    """A logistic head: probability of label i is softmax(coefficients @ vector + intercepts)[i]."""

    coefficients: NDArray[np.float64]
    intercepts: NDArray[np.float64]


class FastTier:
    """Scores a text with a SetFit artefact; loads it at the first text."""

    def __init__(self, name: str, artefact: Artefact, threshold: Decimal) -> None:
        self.name = name
        self.versions: Mapping[str, str] = {f"model:{name}": artefact.digest}
        self.labels = _labels(artefact)
        self._artefact = artefact
        self._threshold = threshold
        self._encoder = TorchEncoder(artefact, artefact.folder / "encoder")
        self._lock = threading.Lock()
        self._head: Head | None = None

    def propose(self, question: Question) -> Reply:
        """The best label at or above the threshold.

        A text without a letter or digit, or longer than the encoder reads, abstains.
        """
        if not any(char.isalnum() for char in question.utterance):
            return Reply(Abstain("no_text", self.name))
        head = self._loaded_head()  # verifies the whole artefact, the encoder included
        if self._encoder.tokens(question.utterance) > MAX_TOKENS:
            return Reply(Abstain("text_too_long", self.name))
        row = softmax(head, self._encoder.encode([question.utterance]))[0]
        probabilities = dict(zip(self.labels, row.tolist(), strict=True))
        answer = scores.answer(probabilities, self._threshold, self.name)
        return Reply(answer, raw=scores.shown(probabilities))

    def _loaded_head(self) -> Head:
        with self._lock:
            if self._head is None:
                artefacts.verify(self._artefact)
                self._head = read_head(self._artefact.folder, len(self.labels))
            return self._head


def _labels(artefact: Artefact) -> tuple[str, ...]:
    manifest = artefact.manifest
    if manifest.get("kind") != "setfit":
        raise ArtefactError(f"`{artefact.folder}` is no setfit artefact; {RETRAIN}")
    labels = tuple(str(label) for label in manifest["labels"])
    if len(set(labels)) != len(labels):
        raise ArtefactError(f"`{artefact.folder}` names a label twice; {RETRAIN}")
    return labels


def read_head(folder: Path, labels: int) -> Head:
    """The head's arrays; raises ArtefactError where their shapes do not fit `labels`."""
    from safetensors.numpy import load_file

    arrays = load_file(folder / "head.safetensors")
    head = Head(arrays["coefficients"], arrays["intercepts"])
    if head.coefficients.shape[0] != labels or head.intercepts.shape != (labels,):
        raise ArtefactError(f"`{folder}`: head and labels differ in number; {RETRAIN}")
    return head


def softmax(head: Head, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Probabilities, one row per vector, one column per label."""
    logits = vectors.astype(np.float64) @ head.coefficients.T + head.intercepts
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float64)


def check_labels(tier: FastTier, actions: Iterable[str]) -> None:
    """Raise AssemblyError where the artefact knows a label that is no action of the catalog."""
    unknown = sorted({*tier.labels} - {*actions, scores.OUT_OF_SCOPE})
    if unknown:
        raise AssemblyError(
            f"tier `{tier.name}` was trained for `{unknown[0]}`, which catalog.yaml does not have; "
            f"{RETRAIN}"
        )
