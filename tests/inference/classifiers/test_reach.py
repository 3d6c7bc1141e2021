"""Reach: what is close to no label is out of distribution, and never proposed by the tier that says so."""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from gate.records import Abstain, Proposal
from inference import artefacts
from inference.artefacts import Artefact
from inference.classifiers import encoded, lexical, reach
from inference.classifiers.reach import Reach
from inference.encoder import TorchEncoder
from inference.errors import ArtefactError
from inference.question import Question
from inference.tiers import scores
from inference.tiers.fast import FastTier
from tests.inference import tiny

AXES = np.eye(3, dtype=np.float32)


def test_centres_are_unit_means_by_label() -> None:
    vectors = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)
    found = reach.centres(vectors, np.array([1, 1, 0]), 3)
    half = np.float32(np.sqrt(0.5))
    assert np.allclose(found, [[0, 0, 1], [half, half, 0], [0, 0, 0]])


def test_a_text_close_to_no_centre_is_far() -> None:
    known = Reach(AXES[:2], 0.8)
    between = np.array([np.sqrt(0.5), np.sqrt(0.5), 0], dtype=np.float32)
    vectors = np.stack([AXES[0], AXES[1], AXES[2], between, np.full(3, np.nan, np.float32)])
    assert reach.far(known, vectors).tolist() == [False, False, True, True, True]


def test_the_least_closeness_itself_is_not_far() -> None:
    known = Reach(AXES[:1], 0.5)
    vectors = np.array([[0.5, 0.5, 0], [0.4999, 0.5, 0]], dtype=np.float32)
    assert reach.far(known, vectors).tolist() == [False, True]


def test_reach_of_another_classifier_is_refused(tmp_path: Path) -> None:
    assert reach.read(tmp_path, 2) is None
    reach.write(tmp_path, Reach(AXES[:2], 0.8))
    found = reach.read(tmp_path, 2)
    assert found is not None and found.least == pytest.approx(0.8)
    with pytest.raises(ArtefactError, match="of another classifier"):
        reach.read(tmp_path, 3)


@pytest.fixture(scope="module")
def artefact(tmp_path_factory: pytest.TempPathFactory, encoder: TorchEncoder) -> Artefact:
    """A trained artefact whose reach is what its own texts need, and no more."""
    folder = tmp_path_factory.mktemp("reach") / "artefact"
    made = tiny.write(folder, encoder)
    labels = [str(label) for label in made.manifest["labels"]]
    texts = [(text, labels.index(label)) for label, own in tiny.TEXTS.items() for text in own]
    vectors = encoder.encode([text for text, _ in texts])
    centres = reach.centres(vectors, np.array([place for _, place in texts]), len(labels))
    least = float(reach.closeness(centres, vectors).min()) - 0.02
    reach.write(folder, Reach(centres, least))
    kept = {k: v for k, v in made.manifest.items() if k not in ("files", "schema_version")}
    return artefacts.write_manifest(folder, kept)


FAR = "lock the garage door"
"""The head takes it for a freeze."""


def test_the_tier_passes_on_what_is_out_of_distribution(artefact: Artefact) -> None:
    tier = FastTier("fast", artefact, Decimal("0"))
    near = tier.propose(Question("please freeze my card")).answer
    assert isinstance(near, Proposal) and near.action_id == "APPLE_FREEZE"
    scorer = encoded.load(artefact)
    assert scorer.weigh([FAR, "please freeze my card"]).far.tolist() == [True, False]
    assert scorer.labels[int(scorer.scores([FAR]).argmax())] == "APPLE_FREEZE"
    far = tier.propose(Question(FAR)).answer
    assert isinstance(far, Abstain) and far.reason == scores.OUT_OF_DISTRIBUTION
    assert far.top2[0] == "APPLE_FREEZE"


def test_a_changed_or_missing_reach_is_refused(artefact: Artefact, tmp_path: Path) -> None:
    for change in ("flip", "delete"):
        folder = tmp_path / change
        shutil.copytree(artefact.folder, folder)
        file = folder / reach.FILE
        if change == "delete":
            file.unlink()
        else:
            data = bytearray(file.read_bytes())
            data[-1] ^= 1
            file.write_bytes(bytes(data))
        with pytest.raises(ArtefactError, match="is not what its"):
            encoded.load(artefacts.read(folder))


def test_lexical_knows_no_text_without_a_learnt_n_gram() -> None:
    rows = [(t, label) for label, texts in tiny.TEXTS.items() for t in texts]
    scorer = lexical.fit([t for t, _ in rows], [label for _, label in rows])
    assert scorer.weigh(["freeze", "冻结", "баланс"]).far.tolist() == [False, True, True]
