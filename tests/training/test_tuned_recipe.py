"""The full tuning recipe: two steps on a small random encoder give a whole, usable artefact."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from gate.records import Proposal
from inference import artefacts
from inference.artefacts import Artefact
from inference.classifiers import encoded, opening
from inference.encoder import ONNX_INT8, TORCH, OnnxEncoder, TorchEncoder
from inference.errors import ArtefactError
from inference.question import Question
from inference.tiers.fast import FastTier
from tests.inference import tiny_encoder
from training import runtime, tuned
from training.errors import TrainingError
from training.labels import Example, read
from training.tuned import Recipe, Rows, build, train

TEXTS = {
    "ZEBRA": ["what is my balance", "how much money do I have", "balance please", "my balance now"],
    "OUT_OF_SCOPE": ["tell me a joke", "what is the weather", "who won", "write me a poem"],
    "APPLE": ["freeze my card", "lock the card", "block my card now", "please freeze the card"],
}
EXAMPLES = [Example(text, label) for label, texts in TEXTS.items() for text in texts]
TINY = Recipe(max_steps=2, batch_size=4, held_back=0.25, strength=20.0, seed=7)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Artefact:
    return tiny_encoder.write(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "labels.csv"
    rows = [f"{example.text},{example.label}" for example in EXAMPLES]
    path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(base: Artefact, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Artefact:
    return train(data, base.folder, tmp_path_factory.mktemp("out") / "tuned", TINY)


def weights(folder: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(folder / "model.safetensors")


def test_artefact_is_whole_and_says_what_it_was_made_from(
    trained: Artefact, base: Artefact, data: Path
) -> None:
    artefacts.verify(trained)
    assert trained.manifest["kind"] == "tuned"
    assert trained.manifest["labels"] == sorted(TEXTS)
    assert trained.manifest["inputs"]["base"] == base.digest
    assert trained.manifest["inputs"]["data"] == artefacts.sha256(data)
    assert trained.manifest["recipe"]["max_steps"] == 2
    assert trained.manifest["held_back"]["texts"] == 3


def test_nothing_in_it_is_pickled(trained: Artefact) -> None:
    suffixes = {Path(name).suffix for name in trained.manifest["files"]}
    assert suffixes <= {".json", ".safetensors", ".txt", ".md", ".onnx"}


def test_both_runtimes_are_measured_and_one_is_named(trained: Artefact) -> None:
    found = trained.manifest["runtimes"]
    assert found["texts"] == 3
    assert set(found["accuracy"]) == {TORCH, ONNX_INT8}
    assert 0.9 < found["cosine"]["lowest"] <= found["cosine"]["median"] <= 1.0001
    assert isinstance(opening.open_scorer(trained), encoded.Encoded)


@pytest.mark.parametrize(("lost", "named"), [(0.0029, ONNX_INT8), (0.0031, TORCH)])
def test_the_graph_serves_only_within_its_limit(
    trained: Artefact, monkeypatch: pytest.MonkeyPatch, lost: float, named: str
) -> None:
    found = {"accuracy": {TORCH: 0.75, ONNX_INT8: 0.75 - lost}, "cosine": {}, "texts": 3}
    monkeypatch.setattr(runtime, "compare", lambda artefact, texts: found)
    chosen = runtime.choose(trained, EXAMPLES)
    kind = {TORCH: TorchEncoder, ONNX_INT8: OnnxEncoder}[named]
    assert isinstance(encoded.load(chosen).encoder, kind)
    artefacts.write_manifest(trained.folder, _fields(trained))


def _fields(artefact: Artefact) -> dict[str, object]:
    return {k: v for k, v in artefact.manifest.items() if k not in ("files", "schema_version")}


def test_an_unknown_runtime_is_refused(trained: Artefact) -> None:
    other = Artefact(trained.folder, "", {**trained.manifest, "runtime": "fast"})
    with pytest.raises(ArtefactError, match="runtime `fast`"):
        encoded.load(other)


def test_runtimes_are_not_compared_on_nothing(trained: Artefact) -> None:
    with pytest.raises(TrainingError, match="no held-back text"):
        runtime.choose(trained, [])


def test_training_moved_the_layers_but_not_the_embeddings(
    trained: Artefact, base: Artefact
) -> None:
    before, after = weights(base.folder), weights(trained.folder / "encoder")
    words = "embeddings.word_embeddings.weight"
    layer = "encoder.layer.1.output.dense.weight"
    assert np.array_equal(before[words], after[words])
    assert not np.array_equal(before[layer], after[layer])


def test_fast_tier_runs_on_it(trained: Artefact) -> None:
    reply = FastTier("fast", trained, Decimal("0.1")).propose(Question("freeze my card"))
    assert isinstance(reply.answer, Proposal)


def test_training_again_replaces_it_with_the_same_bytes(
    trained: Artefact, base: Artefact, data: Path
) -> None:
    again = train(data, base.folder, trained.folder, TINY)
    assert again.manifest["files"] == trained.manifest["files"]
    assert [p.name for p in trained.folder.parent.iterdir()] == [trained.folder.name]


def test_a_stopped_training_goes_on_to_the_same_bytes(
    base: Artefact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = replace(TINY, max_steps=-1, least_steps=1, epochs=3)
    whole = build(base.folder, EXAMPLES, recipe, tmp_path / "whole", tmp_path / "one")
    keep, kept = tuned._keep, []

    def stopping(path: Path, name: str, epochs: int, state: dict[str, object]) -> None:
        keep(path, name, epochs, state)
        kept.append(epochs)
        if epochs == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(tuned, "_keep", stopping)
    with pytest.raises(KeyboardInterrupt):
        build(base.folder, EXAMPLES, recipe, tmp_path / "parts", tmp_path / "two")
    again = build(base.folder, EXAMPLES, recipe, tmp_path / "parts", tmp_path / "two")
    assert kept == [1, 2, 3]
    assert again.manifest["files"] == whole.manifest["files"]


def test_a_checkpoint_of_another_call_is_not_gone_on_from(base: Artefact, tmp_path: Path) -> None:
    recipe = replace(TINY, max_steps=-1, least_steps=1, epochs=1)
    build(base.folder, EXAMPLES, recipe, tmp_path / "one", tmp_path / "checkpoint")
    other = replace(recipe, seed=8)
    fresh = build(base.folder, EXAMPLES, other, tmp_path / "two", tmp_path / "none")
    after = build(base.folder, EXAMPLES, other, tmp_path / "three", tmp_path / "checkpoint")
    assert after.manifest["files"] == fresh.manifest["files"]


def test_batches_hold_every_row_once_in_an_order_of_the_epoch() -> None:
    rows = Rows(tuple([1] * (1 + i % 5) for i in range(403)), np.zeros(403, dtype=np.int64))
    first, again, second = (rows.batches(TINY, epoch) for epoch in (0, 0, 1))
    assert sorted(np.concatenate(first).tolist()) == list(range(403))
    assert [b.tolist() for b in first] == [b.tolist() for b in again]
    assert [b.tolist() for b in first] != [b.tolist() for b in second]
    spread = [len({len(rows.pieces[i]) for i in batch}) for batch in first]
    assert np.mean(spread) < 1.5


def test_a_saved_classifier_that_scores_otherwise_is_refused(
    trained: Artefact, base: Artefact, data: Path
) -> None:
    from inference.classifiers.head import Head

    other = Head(np.zeros((3, tiny_encoder.DIMENSIONS)), np.array([0.0, 1.0, 2.0]))
    texts = [example.text for example in read(data)]
    with pytest.raises(TrainingError, match="away from the trained one"):
        tuned.agree(tuned.Tuned.start(base.folder, other), trained, texts)


def test_command_prints_the_figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], trained: Artefact
) -> None:
    monkeypatch.setattr(tuned, "train", lambda data, base, out, recipe: trained)
    assert tuned.main(["--data", "x.csv", "--out", "out"]) == 0
    assert '"runtime"' in capsys.readouterr().out
