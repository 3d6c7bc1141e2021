"""The tuned subjects: training in a process of its own, the runtime that the kind names, figures kept."""

from __future__ import annotations

import json
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval.errors import ProposerError
from eval.intents import subjects
from eval.intents.__main__ import record
from eval.intents.bench import Report
from eval.intents.data import Texts
from inference.artefacts import Artefact
from inference.encoder import OnnxEncoder, TorchEncoder
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


@pytest.mark.parametrize(("kind", "used"), [("tuned", TorchEncoder), ("tuned-int8", OnnxEncoder)])
def test_it_scores_with_the_runtime_of_its_kind_after_training_on_what_is_kept(
    root: Path, made: Artefact, monkeypatch: pytest.MonkeyPatch, kind: str, used: type
) -> None:
    seen: list[object] = []

    def trained(rows: Path, base: Path, out: Path, strength: float) -> Path:
        seen.append(json.loads(rows.read_text(encoding="utf-8")))
        return made.folder

    encode = used.encode

    def counted(self: object, texts: list[str]) -> object:
        seen.append(len(texts))
        return encode(self, texts)

    monkeypatch.setattr(subjects, "trained", trained)
    monkeypatch.setattr(used, "encode", counted)
    subject = subjects.choose(kind, root)
    (scored,) = subject.measure(KEPT, [Texts(("lock it",), ("APPLE",))], subject.strength)
    assert seen == [[list(row) for row in zip(*KEPT, strict=True)], 1]
    assert (scored.labels, scored.gold) == (("APPLE", "ZEBRA"), ("APPLE",))


def test_failed_training_is_named(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ProposerError, match="training ended with `1`"):
        subjects.trained(tmp_path / "none.json", root / subjects.ENCODER, tmp_path / "out", 1.0)


def test_the_kinds_default_strength_is_the_recipes(root: Path) -> None:
    assert subjects.choose("tuned", root).strength == Recipe().strength


def test_stored_figures_say_command_date_and_host() -> None:
    given = Namespace(bench="few", kind="tuned", strength=2.0)
    found = record(given, Report({"accuracy": 0.9}, {}), datetime(2026, 12, 1, tzinfo=UTC))
    assert found["command"] == "python -m eval.intents few --kind tuned --strength 2"
    assert (found["date"], found["accuracy"]) == ("2026-12-01T00:00:00+00:00", 0.9)
    assert "cores" in found["host"]
