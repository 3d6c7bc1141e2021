"""The encoder: the same vectors as sentence-transformers, and nothing heavy before it is needed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from inference.artefacts import Artefact
from inference.encoder import TorchEncoder
from inference.errors import ArtefactError
from tests.models import ENCODER, ROOT, model

TEXTS = [
    "what is my balance",
    "",
    "freeze my card",
    "a " * 600,
    "Überweisung nach Zürich 🙂",
    "what is my balance",
]


def test_vectors_equal_sentence_transformers(encoder: TorchEncoder) -> None:
    from sentence_transformers import SentenceTransformer

    folder = str(model(ENCODER).folder)
    reference = SentenceTransformer(folder, device="cpu", local_files_only=True)
    expected = reference.encode(TEXTS, show_progress_bar=False)
    assert np.abs(encoder.encode(TEXTS) - expected).max() < 1e-5


def test_vectors_have_length_one(encoder: TorchEncoder) -> None:
    lengths = np.linalg.norm(encoder.encode(TEXTS), axis=1)
    assert np.abs(lengths - 1).max() < 1e-5


def test_rows_are_in_the_order_of_the_texts(encoder: TorchEncoder) -> None:
    together = encoder.encode(TEXTS)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    assert np.abs(together - alone).max() < 1e-5


def test_no_texts_give_no_rows(encoder: TorchEncoder) -> None:
    assert encoder.encode([]).shape == (0, encoder.dimensions)


def test_dimensions_and_digest_need_no_weights() -> None:
    fresh = TorchEncoder(model(ENCODER))
    assert fresh.dimensions == 384
    assert fresh.digest == model(ENCODER).digest


def test_changed_model_is_refused_before_it_is_loaded() -> None:
    true = model(ENCODER)
    files = {**true.manifest["files"], "model.safetensors": "0" * 64}
    changed = Artefact(true.folder, true.digest, {**true.manifest, "files": files})
    with pytest.raises(ArtefactError, match=r"model\.safetensors"):
        TorchEncoder(changed).encode(["text"])


@pytest.mark.parametrize("module", ["inference.way", "inference.appliance", "training.router"])
def test_importing_loads_no_model_library(module: str) -> None:
    heavy = ("torch", "transformers", "faiss", "bm25s", "duckdb", "setfit", "sklearn", "pypdf")
    code = f"import sys, {module}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]")
