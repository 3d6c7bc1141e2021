"""Classifiers on a sentence encoder: `setfit` brings one tuned by contrast, `tuned` one tuned together
with its head by cross-entropy, `linear` a frozen one.

<folder>/manifest.json      see store.py
<folder>/encoder/           weights and tokenizer
<folder>/head.safetensors   coefficients (labels, dimensions), intercepts (labels)
<folder>/reach.safetensors  see reach.py; without it no text is out of distribution
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
from inference.classifiers import Weighed, head, store
from inference.classifiers import reach as reaching
from inference.classifiers.head import Head
from inference.classifiers.reach import Reach
from inference.encoder import MAX_TOKENS, RUNTIMES, TORCH, Encoder, open_encoder
from inference.errors import ArtefactError

SETFIT: Final = "setfit"
LINEAR: Final = "linear"
TUNED: Final = "tuned"
KINDS: Final = (SETFIT, TUNED, LINEAR)
ENCODER: Final = "encoder"
MARKS: Final = 2
"""Pieces that the tokenizer puts at the ends of a text."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A sentence encoder and a logistic head; see `Scorer`."""

    labels: tuple[str, ...]
    encoder: Encoder
    head: Head
    reach: Reach | None = None

    def fits(self, text: str) -> bool:
        """Whether the encoder reads it to its end; a word piece has at least one byte."""
        return len(text.encode()) + MARKS <= MAX_TOKENS or self.encoder.tokens(text) <= MAX_TOKENS

    def weigh(self, texts: Sequence[str]) -> Weighed:
        """Distributions (len(texts), len(labels)), and which texts are close to no label."""
        vectors = self.encoder.encode(texts)
        known = np.zeros(len(texts), dtype=bool)
        far = known if self.reach is None else reaching.far(self.reach, vectors)
        return Weighed(head.apply(self.head, vectors), far)

    def scores(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Distributions, shape (len(texts), len(labels))."""
        return self.weigh(texts).scores


def save(
    labels: Sequence[str],
    fitted: Head,
    encoder: Artefact,
    folder: Path,
    fields: Mapping[str, Any],
    kind: str = LINEAR,
    reach: Reach | None = None,
) -> Artefact:
    """Write a new folder with a copy of the encoder; `fields` are added to its manifest."""
    folder.mkdir(parents=True)
    shutil.copytree(encoder.folder, folder / ENCODER)
    head.write(folder, fitted)
    if reach is not None:
        reaching.write(folder, reach)
    own = {
        "kind": kind,
        "format": store.FORMAT,
        "labels": list(labels),
        "libraries": store.libraries(),
    }
    return artefacts.write_manifest(folder, {**fields, **own})


def load(artefact: Artefact, runtime: str | None = None) -> Encoded:
    """The classifier of a folder; ArtefactError for one that is incomplete, changed or older.

    The encoder runs as the manifest says (torch, where it says nothing) unless `runtime` names
    another; its weights are loaded at its first text.
    """
    labels = store.open_labels(artefact, KINDS)
    chosen = str(artefact.manifest.get("runtime", TORCH)) if runtime is None else runtime
    if chosen not in RUNTIMES:
        raise ArtefactError(
            f"`{artefact.folder}` wants the runtime `{chosen}`, not one of {', '.join(RUNTIMES)}; "
            f"{store.RETRAIN}"
        )
    fitted, _ = head.read(artefact.folder, len(labels))
    opened = open_encoder(artefact, artefact.folder / ENCODER, chosen)
    return Encoded(labels, opened, fitted, reaching.read(artefact.folder, len(labels)))
