"""The linear recipe: a frozen encoder and a head, one folder, the tier runs on it."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from gate.records import Proposal
from inference import artefacts
from inference.artefacts import Artefact
from inference.classifiers import encoded, head
from inference.errors import ArtefactError
from inference.question import Question
from inference.tiers.fast import FastTier
from tests.inference.tiny import TEXTS
from tests.models import ENCODER, model
from training import linear
from training.errors import TrainingError
from training.labels import read


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "labels.csv"
    rows = [f"{text},{label}" for label, texts in TEXTS.items() for text in texts]
    path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Artefact:
    return linear.train(data, model(ENCODER).folder, tmp_path_factory.mktemp("out") / "linear")


def test_artefact_is_whole_and_names_its_encoder(trained: Artefact) -> None:
    artefacts.verify(trained)
    assert trained.manifest["kind"] == "linear"
    assert trained.manifest["labels"] == sorted(TEXTS)
    assert trained.manifest["inputs"]["base"] == model(ENCODER).digest
    assert (trained.folder / "encoder" / "model.safetensors").exists()


def test_every_training_text_is_predicted_as_the_probabilities_say(
    trained: Artefact, data: Path
) -> None:
    scorer, examples = encoded.load(trained), read(data)
    scores = scorer.scores([e.text for e in examples])
    assert np.allclose(scores.sum(axis=1), 1)
    assert [scorer.labels[i] for i in scores.argmax(axis=1)] == [e.label for e in examples]


def test_fast_tier_runs_on_it(trained: Artefact) -> None:
    reply = FastTier("fast", trained, Decimal("0.3")).propose(Question("lock my card please"))
    assert isinstance(reply.answer, Proposal)
    assert reply.answer.action_id == "APPLE_FREEZE"
    assert set(json.loads(reply.raw)) == set(TEXTS)


@pytest.mark.parametrize("part", ["head.safetensors", "encoder/model.safetensors"])
def test_a_changed_part_is_refused(trained: Artefact, tmp_path: Path, part: str) -> None:
    for name in ("manifest.json", *trained.manifest["files"]):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((trained.folder / name).read_bytes())
    (tmp_path / part).write_bytes((tmp_path / part).read_bytes()[:-1] + b"\x01")
    with pytest.raises(ArtefactError, match=part):
        encoded.load(artefacts.read(tmp_path))


def test_a_class_missing_from_a_fold_scores_zero_there() -> None:
    vectors = np.eye(21, 8, dtype=np.float32)
    sample = linear.out_of_fold(vectors, ["B"] * 10 + ["A"] * 10 + ["LONE"], linear.RECIPE)
    assert sample.labels == ("A", "B", "LONE")
    assert sample.probabilities[20, 2] == 0
    assert np.allclose(sample.probabilities.sum(axis=1), 1)


def test_a_head_that_predicts_otherwise_is_refused(trained: Artefact, data: Path) -> None:
    examples = read(data)
    vectors = np.zeros((len(examples), 384), dtype=np.float32)
    fitted = head.read(trained.folder, 3)[0]
    with pytest.raises(TrainingError, match="scores otherwise"):
        linear.agree(fitted, vectors, trained, examples)
