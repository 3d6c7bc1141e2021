"""The router's recipe: two steps on a handful of texts give a whole, usable artefact."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from gate.records import Proposal
from inference import artefacts
from inference.artefacts import Artefact
from inference.classifiers import head
from inference.errors import ArtefactError
from inference.question import Question
from inference.tiers.fast import FastTier
from tests.models import ENCODER, model
from training import router
from training.errors import TrainingError
from training.labels import read
from training.router import Recipe, agree, inputs, train

TEXTS = {
    "ZEBRA": ["what is my balance", "how much money do I have", "balance please", "my balance now"],
    "OUT_OF_SCOPE": ["tell me a joke", "what is the weather", "who won", "write me a poem"],
    "APPLE": ["freeze my card", "lock the card", "block my card now", "please freeze the card"],
    "MANGO": ["price of the fund", "what is the fund worth", "fund price", "latest price"],
}
TINY = Recipe(max_steps=2, batch_size=8, held_back=0.25, seed=7)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "labels.csv"
    rows = [f"{text},{label}" for label, texts in TEXTS.items() for text in texts]
    path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Artefact:
    out = tmp_path_factory.mktemp("out") / "router"
    return train(data, model(ENCODER).folder, out, TINY)


def test_artefact_is_whole_and_sealed(trained: Artefact) -> None:
    artefacts.verify(trained)
    assert trained.manifest["kind"] == "setfit"
    assert trained.manifest["calibrated"] is False


def test_labels_are_those_of_the_heads_classes(trained: Artefact) -> None:
    assert trained.manifest["labels"] == sorted(TEXTS)
    assert head.read(trained.folder, len(TEXTS))[0].coefficients.shape == (4, 384)


def test_manifest_says_what_it_was_made_from(trained: Artefact, data: Path) -> None:
    assert trained.manifest["inputs"] == inputs(data, model(ENCODER))
    assert trained.manifest["recipe"]["seed"] == 7
    assert trained.manifest["texts"] == {"trained": 12, "held_back": 4}
    assert set(trained.manifest["libraries"]) == set(router.LIBRARIES)
    assert trained.manifest["seconds"] >= 0


def test_nothing_in_it_is_pickled(trained: Artefact) -> None:
    suffixes = {Path(name).suffix for name in trained.manifest["files"]}
    assert suffixes <= {".json", ".safetensors", ".txt", ".md", ".onnx"}


def test_the_runtime_is_chosen_on_held_back_texts(trained: Artefact) -> None:
    figures = trained.manifest["runtimes"]
    gap = figures["accuracy"]["torch"] - figures["accuracy"]["onnx-int8"]
    assert figures["texts"] == trained.manifest["texts"]["held_back"]
    assert (trained.manifest["runtime"] == "onnx-int8") is (gap <= 1 / figures["texts"] + 1e-9)


def test_fast_tier_runs_on_it(trained: Artefact) -> None:
    tier = FastTier("fast", trained, Decimal("0.0"))
    for label, texts in TEXTS.items():
        found = json.loads(tier.propose(Question(texts[0])).raw)
        assert max(found, key=lambda name: float(found[name])) == label
    assert isinstance(tier.propose(Question("freeze my card")).answer, Proposal)


def test_training_moved_the_encoder_but_not_its_word_embeddings(trained: Artefact) -> None:
    from safetensors.numpy import load_file

    before = load_file(model(ENCODER).folder / "model.safetensors")
    after = load_file(trained.folder / "encoder" / "model.safetensors")
    words = "embeddings.word_embeddings.weight"
    layer = "encoder.layer.5.output.dense.weight"
    assert np.array_equal(before[words], after[words])
    assert not np.array_equal(before[layer], after[layer])


def test_training_again_replaces_it_in_one_step_with_the_same_bytes(
    trained: Artefact, data: Path
) -> None:
    (trained.folder / "stray").touch()
    again = train(data, model(ENCODER).folder, trained.folder, TINY)
    artefacts.verify(again)
    assert again.manifest["files"] == trained.manifest["files"]
    assert sorted(p.name for p in trained.folder.parent.iterdir()) == ["router"]


def test_saved_head_that_predicts_otherwise_is_refused(trained: Artefact, data: Path) -> None:
    class Other:
        """A model that is sure of something else."""

        def predict_proba(self, texts: list[str], as_numpy: bool) -> np.ndarray:
            return np.full((len(texts), len(TEXTS)), 1 / len(TEXTS))

        def predict(self, texts: list[str]) -> list[str]:
            return ["APPLE"] * len(texts)

    texts = [example.text for example in read(data)]
    with pytest.raises(TrainingError, match="away from the trained one"):
        agree(Other(), trained.folder, trained.manifest["labels"], texts)


def test_changed_base_model_is_refused(data: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "config.json").write_text("{}")
    artefacts.write_manifest(base, {})
    (base / "config.json").write_text("{} ")
    with pytest.raises(ArtefactError, match=r"config\.json"):
        train(data, base, tmp_path / "out", TINY)
    assert not (tmp_path / "out").exists()


def test_command_prints_the_figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], trained: Artefact
) -> None:
    monkeypatch.setattr(router, "train", lambda data, base, out: trained)
    assert router.main(["--data", "x.csv", "--out", "out"]) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == sorted(TEXTS)
