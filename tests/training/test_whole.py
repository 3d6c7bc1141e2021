"""Tuning for benches: all rows, once, both graphs in one folder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from inference import artefacts
from inference.artefacts import Artefact
from inference.classifiers import encoded
from inference.classifiers.head import Head
from inference.encoder import ONNX_INT8, TORCH
from tests.inference import tiny_encoder
from training import router, tuned, whole
from training.labels import Example
from training.tuned import Recipe

EXAMPLES = [
    *(Example(text, "APPLE") for text in ("freeze my card", "lock the card", "block it")),
    *(Example(text, "ZEBRA") for text in ("my balance", "how much money", "balance please")),
]
TINY = Recipe(max_steps=2, batch_size=3, seed=7)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Artefact:
    return tiny_encoder.write(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture(scope="module")
def made(base: Artefact, tmp_path_factory: pytest.TempPathFactory) -> Artefact:
    return whole.kept(base.folder, EXAMPLES, TINY, tmp_path_factory.mktemp("out"))


def test_it_learns_from_every_row_and_leaves_nothing_beside_the_artefact(made: Artefact) -> None:
    artefacts.verify(made)
    assert made.manifest["texts"] == {"trained": len(EXAMPLES)}
    assert [path.name for path in made.folder.parent.iterdir()] == [made.folder.name]


def test_both_runtimes_score_alike(made: Artefact) -> None:
    texts = [example.text for example in EXAMPLES]
    torch, graph = (encoded.load(made, runtime).scores(texts) for runtime in (TORCH, ONNX_INT8))
    assert np.abs(torch - graph).max() < 0.05


def test_what_is_there_is_not_trained_again_and_another_recipe_is(
    made: Artefact, base: Artefact, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> Artefact:
        raise AssertionError("trained again")

    monkeypatch.setattr(tuned, "build", none)
    again = whole.kept(base.folder, EXAMPLES, TINY, made.folder.parent)
    assert again.digest == made.digest
    with pytest.raises(AssertionError, match="trained again"):
        whole.kept(base.folder, EXAMPLES, replace(TINY, seed=8), made.folder.parent)


def test_command_prints_the_folder(
    made: Artefact,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps([[e.text, e.label] for e in EXAMPLES]), encoding="utf-8")
    given: list[object] = []

    def kept(*arguments: object) -> Artefact:
        given.extend(arguments)
        return made

    monkeypatch.setattr(whole, "kept", kept)
    assert whole.main(["--rows", str(rows), "--out", "out", "--bfloat16"]) == 0
    assert capsys.readouterr().out.strip() == str(made.folder)
    assert given[1:3] == [EXAMPLES, Recipe(bfloat16=True)]
    more = ["--kind", "setfit", "--epochs", "3", "--strength", "50"]
    assert whole.main(["--rows", str(rows), "--out", "out", *more]) == 0
    assert given[5:7] == [EXAMPLES, router.Recipe(epochs=3, head_strength=50.0)]


def test_a_contrastive_encoder_is_kept_by_its_recipe_too(
    base: Artefact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(folder: Path, examples: list[Example], recipe: router.Recipe, out: Path) -> Artefact:
        fitted = Head(np.eye(2, tiny_encoder.DIMENSIONS), np.zeros(2))
        return encoded.save(["APPLE", "ZEBRA"], fitted, base, out, {}, encoded.SETFIT)

    monkeypatch.setattr(router, "build", build)
    first = whole.kept(base.folder, EXAMPLES, router.Recipe(), tmp_path)
    assert first.manifest["kind"] == encoded.SETFIT
    assert whole.kept(base.folder, EXAMPLES, router.Recipe(), tmp_path).digest == first.digest
    other = whole.kept(base.folder, EXAMPLES, router.Recipe(seed=8), tmp_path)
    assert other.folder != first.folder
