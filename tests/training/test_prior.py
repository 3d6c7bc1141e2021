"""The expected share of out-of-scope messages moves one intercept, once, on the artefact's own labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inference import artefacts
from inference.artefacts import Artefact
from inference.classifiers import encoded, head
from inference.classifiers.head import Head
from tests.inference import tiny_encoder
from training import prior
from training.errors import TrainingError

LABELS = ("APPLE", "OUT_OF_SCOPE", "ZEBRA")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    rows = [f"text {i},{label}" for i, label in enumerate([*["APPLE"] * 9, "OUT_OF_SCOPE"])]
    path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    return path


def made(folder: Path, data: Path, labels: tuple[str, ...] = LABELS, **fields: object) -> Artefact:
    base = tiny_encoder.write(folder / "base")
    fitted = Head(np.eye(len(labels), tiny_encoder.DIMENSIONS), np.zeros(len(labels)))
    own = {"inputs": {"data": artefacts.sha256(data)}, "calibrated": False, **fields}
    return encoded.save(labels, fitted, base, folder / "artefact", own)


def test_only_the_intercept_of_out_of_scope_moves(tmp_path: Path, data: Path) -> None:
    found = prior.expect(made(tmp_path, data), data, 0.5)
    artefacts.verify(found)
    moved, _ = head.read(found.folder, 3)
    assert np.allclose(moved.intercepts, [0.0, np.log(9.0), 0.0])
    assert np.array_equal(moved.coefficients, np.eye(3, tiny_encoder.DIMENSIONS))
    assert found.manifest["prior"] == {"trained": 0.1, "expected": 0.5}


def test_other_labels_are_refused(tmp_path: Path, data: Path) -> None:
    artefact = made(tmp_path, data)
    data.write_text("text,label\na,APPLE\nb,OUT_OF_SCOPE\n", encoding="utf-8")
    with pytest.raises(TrainingError, match="was not trained on"):
        prior.expect(artefact, data, 0.5)


@pytest.mark.parametrize("fields", [{"calibrated": True}, {"prior": {"expected": 0.1}}])
def test_it_is_told_once_and_before_its_policy(
    tmp_path: Path, data: Path, fields: dict[str, object]
) -> None:
    with pytest.raises(TrainingError, match="has a policy or a prior"):
        prior.expect(made(tmp_path, data, **fields), data, 0.5)


def test_an_artefact_without_the_class_is_refused(tmp_path: Path, data: Path) -> None:
    with pytest.raises(TrainingError, match="knows no OUT_OF_SCOPE"):
        prior.expect(made(tmp_path, data, ("APPLE", "ZEBRA")), data, 0.5)


def test_command_prints_both_shares(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(tmp_path, data).folder
    words = ["--artefact", str(folder), "--data", str(data), "--expected", "0.3"]
    assert prior.main(words) == 0
    assert '"expected": 0.3' in capsys.readouterr().out.replace(":0", ": 0")
