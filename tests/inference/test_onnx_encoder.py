"""The 8-bit graph: the same texts, nearly the same vectors, one text at a time, no torch."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from inference import artefacts
from inference.artefacts import Artefact
from inference.classifiers import encoded
from inference.encoder import (
    GRAPH,
    MAX_TOKENS,
    ONNX_INT8,
    TORCH,
    Encoder,
    OnnxEncoder,
    TorchEncoder,
    open_encoder,
)
from inference.errors import ArtefactError
from tests.inference import tiny_encoder
from tests.models import ROOT
from training import runtime

TEXTS = [
    "what is my balance",
    "",
    "freeze my card",
    "a " * 600,
    "Überweisung nach Zürich 🙂",
    "what is my balance",
]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Artefact:
    folder = tmp_path_factory.mktemp("encoder") / "tiny"
    tiny_encoder.write(folder)
    runtime.export(folder)
    return artefacts.write_manifest(folder, {})


def test_vectors_are_near_those_of_torch(both: Artefact) -> None:
    cosines = (TorchEncoder(both).encode(TEXTS) * OnnxEncoder(both).encode(TEXTS)).sum(axis=1)
    assert cosines.min() > 0.98


def test_vectors_have_length_one(both: Artefact) -> None:
    assert np.abs(np.linalg.norm(OnnxEncoder(both).encode(TEXTS), axis=1) - 1).max() < 1e-5


def test_a_text_gets_the_same_vector_alone_and_among_others(both: Artefact) -> None:
    encoder = OnnxEncoder(both)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    assert np.array_equal(encoder.encode(TEXTS), alone)


def test_no_texts_give_no_rows(both: Artefact) -> None:
    assert OnnxEncoder(both).encode([]).shape == (0, tiny_encoder.DIMENSIONS)


@pytest.mark.parametrize("text", TEXTS)
def test_both_runtimes_count_the_same_word_pieces(both: Artefact, text: str) -> None:
    assert OnnxEncoder(both).tokens(text) == TorchEncoder(both).tokens(text)


def test_a_long_text_is_cut_where_torch_cuts_it(both: Artefact) -> None:
    head = "a " * (MAX_TOKENS - 2)
    encoder = OnnxEncoder(both)
    whole, cut, shorter = encoder.encode([head + "balance", head, head[:-2]])
    assert np.array_equal(whole, cut)
    assert not np.array_equal(cut, shorter)


def test_a_changed_graph_is_refused_before_it_is_loaded(both: Artefact) -> None:
    files = {**both.manifest["files"], GRAPH: "0" * 64}
    changed = Artefact(both.folder, both.digest, {**both.manifest, "files": files})
    with pytest.raises(ArtefactError, match=GRAPH):
        OnnxEncoder(changed).encode(["text"])


@pytest.mark.parametrize(("name", "kind"), [(TORCH, TorchEncoder), (ONNX_INT8, OnnxEncoder)])
def test_the_runtime_names_the_encoder(both: Artefact, name: str, kind: type[Encoder]) -> None:
    assert isinstance(open_encoder(both, both.folder, name), kind)


def test_the_graph_runs_without_torch(both: Artefact) -> None:
    code = (
        "import sys; from pathlib import Path; from inference import artefacts\n"
        "from inference.encoder import OnnxEncoder\n"
        f"found = artefacts.read(Path({str(both.folder)!r}))\n"
        "print(OnnxEncoder(found).encode(['what is my balance']).shape)\n"
        "print([m for m in ('torch', 'transformers', 'onnx') if m in sys.modules])"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    expected = [f"(1, {tiny_encoder.DIMENSIONS})", "[]"]
    assert (done.returncode, done.stdout.splitlines()) == (0, expected)


@pytest.mark.parametrize(
    "text", ["a" * 254, "ㄱ가힣" * 28, "é" * 127, "🙂" * 63, "中" * 84, "." * 254]
)
def test_a_text_has_no_more_word_pieces_than_bytes(both: Artefact, text: str) -> None:
    assert OnnxEncoder(both).tokens(text) <= len(text.encode()) + encoded.MARKS <= MAX_TOKENS
