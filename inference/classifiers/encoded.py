"""Classifiers on a sentence encoder: `setfit` brings one tuned by contrast, `linear` a frozen one.

<folder>/manifest.json      see store.py
<folder>/encoder/           weights and tokenizer
<folder>/head.safetensors   coefficients (labels, dimensions), intercepts (labels)
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from inference import artefacts
from inference.artefacts import Artefact
from inference.classifiers import head, store
from inference.classifiers.head import Head
from inference.encoder import MAX_TOKENS, TorchEncoder

SETFIT: Final = "setfit"
LINEAR: Final = "linear"
KINDS: Final = (SETFIT, LINEAR)
ENCODER: Final = "encoder"


@dataclass(frozen=True, slots=True)
class Encoded:
    """A sentence encoder and a logistic head; see `Scorer`."""

    labels: tuple[str, ...]
    encoder: TorchEncoder
    head: Head

    def fits(self, text: str) -> bool:
        """Whether the encoder reads it to its end."""
        return self.encoder.tokens(text) <= MAX_TOKENS

    def scores(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Distributions, shape (len(texts), len(labels))."""
        return head.apply(self.head, self.encoder.encode(texts))


def save(
    labels: Sequence[str], fitted: Head, encoder: Artefact, folder: Path, fields: Mapping[str, Any]
) -> Artefact:
    """Write a new `linear` folder with a copy of the encoder; `fields` are added to its manifest."""
    folder.mkdir(parents=True)
    shutil.copytree(encoder.folder, folder / ENCODER)
    head.write(folder, fitted)
    own = {
        "kind": LINEAR,
        "format": store.FORMAT,
        "labels": list(labels),
        "libraries": store.libraries(),
    }
    return artefacts.write_manifest(folder, {**fields, **own})


def load(artefact: Artefact) -> Encoded:
    """The classifier of a folder; ArtefactError for one that is incomplete, changed or older.

    The encoder's weights are loaded at its first text.
    """
    labels = store.open_labels(artefact, KINDS)
    fitted, _ = head.read(artefact.folder, len(labels))
    return Encoded(labels, TorchEncoder(artefact, artefact.folder / ENCODER), fitted)
