"""The tuned subjects: training in a process of its own, the runtime that the kind names, figures kept."""

from __future__ import annotations

import json
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval.errors import ProposerError
from eval.intents import subjects
from eval.intents.__main__ import record
from eval.intents.bench import Report
from eval.intents.data import Texts
from eval.intents.scored import Scored
from inference.artefacts import Artefact
from inference.classifiers import head
from inference.encoder import OnnxEncoder, TorchEncoder
from inference.errors import ArtefactError
from tests.inference import tiny_encoder
from training import whole
from training.labels import Example
from training.tuned import Recipe

KEPT = Texts(
    ("freeze my card", "lock the card", "my balance", "how much money"),
    ("APPLE", "APPLE", "ZEBRA", "ZEBRA"),
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("root")
    tiny_encoder.write(folder / subjects.ENCODER)
    return folder


@pytest.fixture(scope="module")
def made(root: Path) -> Artefact:
    examples = [Example(*row) for row in zip(*KEPT, strict=True)]
    return whole.kept(root / subjects.ENCODER, examples, Recipe(max_steps=2), root / "made")


@pytest.mark.parametrize(
    ("kind", "used"),
    [
        ("tuned", TorchEncoder),
        ("tuned-int8", OnnxEncoder),
        ("setfit", TorchEncoder),
        ("setfit-int8", OnnxEncoder),
    ],
)
def test_it_scores_with_the_runtime_of_its_kind_after_training_on_what_is_kept(
    root: Path, made: Artefact, monkeypatch: pytest.MonkeyPatch, kind: str, used: Any
) -> None:
    seen: list[object] = []

    recipe = kind.partition("-")[0]

    def trained(rows: Path, base: Path, out: Path, more: dict[str, object]) -> Path:
        assert more == {"--kind": recipe, "--strength": subject.strength, "--epochs": 2}
        assert out == root / "var" / "intents" / recipe
        seen.append(json.loads(rows.read_text(encoding="utf-8")))
        return made.folder

    encode = used.encode

    def counted(self: object, texts: list[str]) -> object:
        seen.append(len(texts))
        return encode(self, texts)

    monkeypatch.setattr(subjects, "trained", trained)
    monkeypatch.setattr(used, "encode", counted)
    subject = subjects.choose(kind, root, epochs=2)
    (scored,) = subject.measure(KEPT, [Texts(("lock it",), ("APPLE",))], subject.strength)
    assert seen == [[list(row) for row in zip(*KEPT, strict=True)], 1]
    assert (scored.labels, scored.gold) == (("APPLE", "ZEBRA"), ("APPLE",))


def test_failed_training_is_named(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ProposerError, match="training ended with `1`"):
        subjects.trained(tmp_path / "none.json", root / subjects.ENCODER, tmp_path / "out", {})


def test_epochs_of_a_kind_without_them_are_refused(root: Path) -> None:
    with pytest.raises(ProposerError, match="has no epochs"):
        subjects.choose("lexical", root, epochs=2)


def test_the_kinds_default_strength_is_the_recipes(root: Path) -> None:
    assert subjects.choose("tuned", root).strength == Recipe().strength


def test_an_expected_share_moves_out_of_scope_as_the_heads_intercept_would() -> None:
    labels, vectors = ("A", "OUT_OF_SCOPE", "B"), np.eye(4, 5, dtype=np.float32)
    fitted = head.Head(np.arange(15.0).reshape(3, 5) / 10, np.array([0.1, 0.0, -0.1]))
    kept = Texts(("t",) * 10, ("OUT_OF_SCOPE", *("A",) * 9))

    def measure(kept: Texts, asked: object, strength: float) -> list[Scored]:
        return [Scored(labels, head.apply(fitted, vectors), ("A",) * 4)]

    subject = subjects.expecting(subjects.Subject("any", measure, 1.0, {}), 0.2)
    (scored,) = subject.measure(kept, [], 1.0)
    other = head.apply(head.expecting(fitted, 1, trained=0.1, expected=0.2), vectors)
    assert np.allclose(scored.probabilities, other)
    before = measure(kept, [], 1.0)[0].probabilities
    ratio = (other[:, 1] / other[:, 0]) / (before[:, 1] / before[:, 0])
    assert np.allclose(ratio, (0.2 / 0.8) / (0.1 / 0.9))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_share_of_none_or_all_is_refused(share: float) -> None:
    with pytest.raises(ArtefactError, match="has no odds"):
        head.odds(share)


def test_stored_figures_say_command_date_and_host() -> None:
    given = Namespace(
        bench="few", kind="tuned", strength=2.0, no_out_of_scope=False, expected=0.1, epochs=8
    )
    found = record(given, Report({"accuracy": 0.9}, {}), datetime(2026, 12, 1, tzinfo=UTC))
    assert (
        found["command"]
        == "python -m eval.intents few --kind tuned --strength 2 --epochs 8 --expected 0.1"
    )
    assert (found["date"], found["accuracy"]) == ("2026-12-01T00:00:00+00:00", 0.9)
    assert "cores" in found["host"]
