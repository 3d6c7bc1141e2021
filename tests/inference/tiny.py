"""A fast-tier artefact without training: the packaged encoder and a head fitted on a few texts."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression

from inference import artefacts
from inference.artefacts import Artefact
from inference.classifiers import store
from inference.encoder import TorchEncoder
from tests.models import ENCODER, model

TEXTS: Mapping[str, Sequence[str]] = {
    "ZEBRA_BALANCE": ["what is my balance", "how much money is in my account", "balance please"],
    "OUT_OF_SCOPE": ["tell me a joke", "what is the weather", "who won the football match"],
    "APPLE_FREEZE": ["freeze my card", "please lock my card now", "block the card"],
}
"""Labels that are not in alphabetical order."""


def write(folder: Path, encoder: TorchEncoder, order: Sequence[str] = tuple(TEXTS)) -> Artefact:
    """Write an artefact whose labels stand in `order`."""
    labels = [label for label, texts in TEXTS.items() for _ in texts]
    vectors = encoder.encode([text for texts in TEXTS.values() for text in texts])
    head = LogisticRegression(C=100.0).fit(vectors, labels)
    rows = [list(head.classes_).index(label) for label in order]
    shutil.copytree(model(ENCODER).folder, folder / "encoder")
    arrays = {
        "coefficients": np.ascontiguousarray(head.coef_[rows]),
        "intercepts": np.ascontiguousarray(head.intercept_[rows]),
    }
    save_file(arrays, folder / "head.safetensors")
    fields = {
        "kind": "setfit",
        "labels": list(order),
        "calibrated": False,
        "libraries": store.libraries(),
    }
    return artefacts.write_manifest(folder, fields)
