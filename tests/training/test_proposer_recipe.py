"""The proposer's adapter: a few steps on a small random model give a whole artefact that serves."""

from __future__ import annotations

import csv
import json
import shutil
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from gate.load import load_institution
from gate.load.costs import Costs
from gate.records import Abstain
from inference import artefacts, prompts
from inference.artefacts import Artefact
from inference.backends import adapters
from inference.backends.embedded import EmbeddedBackend
from inference.calibration import policy_file
from inference.calibration.selection import Sample
from inference.calibration.thresholds import ASKS
from inference.errors import ArtefactError, AssemblyError
from inference.question import Question
from inference.tiers.proposer import ProposerTier
from tests.inference import tiny_causal
from tests.models import ROOT
from training import proposer, proposer_policy
from training.errors import TrainingError
from training.labels import read
from training.prefix_loss import REFRESH
from training.proposer import Recipe, Task, derive, train

TINY = Recipe(layers=1, rank=2, epochs=1, batch_size=8, max_steps=4, held_back=0.3)
DATA = ROOT / "training/data/demo/utterances.csv"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo without costs: a model that knows nothing can keep no limit."""
    folder = tmp_path_factory.mktemp("configs")
    shutil.copytree(ROOT / "configs/demo", folder / "demo")
    shutil.copytree(ROOT / "configs/languages", folder / "languages")
    (folder / "demo/costs.yaml").unlink()
    return folder / "demo"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three of the demo's texts of every label."""
    with DATA.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kept: dict[str, list[str]] = {}
    for row in rows:
        kept.setdefault(row["label"], []).append(row["text"])
    path = tmp_path_factory.mktemp("data") / "labels.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("text", "label"))
        writer.writerows((text, label) for label, texts in kept.items() for text in texts[:3])
    return path


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Artefact:
    return tiny_causal.write(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture(scope="module")
def trained(
    config: Path, data: Path, base: Artefact, tmp_path_factory: pytest.TempPathFactory
) -> Artefact:
    made = train(config, data, base.folder, tmp_path_factory.mktemp("out") / "proposer", TINY)
    assert made is not None
    return made


def tier(
    artefact: Artefact, config: Path, threshold: Decimal | None = Decimal("0.9")
) -> ProposerTier:
    catalog = load_institution(config).configuration.catalog
    return ProposerTier(
        "proposer", EmbeddedBackend("embedded", artefact), catalog, threshold, artefact
    )


def test_artefact_says_what_it_was_made_from(
    trained: Artefact, config: Path, data: Path, base: Artefact
) -> None:
    artefacts.verify(trained)
    told = trained.manifest
    task = Task.of(load_institution(config).configuration.catalog)
    assert told["kind"] == "adapter"
    assert told["codes_of"]["OUT_OF_SCOPE"] == prompts.CODES[len(task.labels) - 1]
    assert told["prompt"] == prompts.digest(task.static)
    assert told["inputs"]["data"] == artefacts.sha256(data)
    assert told["base"]["files"] == base.manifest["files"]
    assert told["texts"] == {"trained": 34, "held_back": 17}
    assert not list(trained.folder.parent.glob(".*"))
    texts = [example.text for example in read(data)]
    assert sum(adapters.has_learnt(trained, text) for text in texts) == 34
    assert not adapters.has_learnt(base, texts[0])


def test_card_states_digests_recipe_and_figures(trained: Artefact, data: Path) -> None:
    card = (trained.folder / "README.md").read_text(encoding="utf-8")
    assert artefacts.sha256(data) in card
    assert f"accuracy {trained.manifest['held_back']['accuracy']}" in card
    assert "rank 2 on the upper 1 layers" in card


def test_adapter_changes_what_the_base_says(
    trained: Artefact, base: Artefact, config: Path
) -> None:
    catalog = load_institution(config).configuration.catalog
    asked = prompts.prompt(prompts.static_part(catalog, coded=True), Question("freeze my card"))
    plain = Artefact(base.folder, base.digest, {**base.manifest, "codes": True})
    codes = prompts.CODES[: len(catalog.actions) + 1]
    tuned, untuned = (EmbeddedBackend("embedded", a).weigh(asked, codes) for a in (trained, plain))
    assert np.abs(np.subtract(tuned.probabilities, untuned.probabilities)).max() > 1e-4


def test_tier_opens_with_it_and_asks_where_it_is_unsure(trained: Artefact, config: Path) -> None:
    answer = tier(trained, config).propose(Question("freeze my card")).answer
    assert isinstance(answer, Abstain)
    assert answer.reason == "low_confidence"


def test_other_catalog_is_refused(trained: Artefact, config: Path, tmp_path: Path) -> None:
    shutil.copytree(config.parent, tmp_path / "configs")
    changed = tmp_path / "configs/demo/catalog.yaml"
    text = changed.read_text(encoding="utf-8")
    changed.write_text(text.replace("name: Card help", "name: Help with cards"), encoding="utf-8")
    with pytest.raises(AssemblyError, match="another catalog or prompt"):
        tier(trained, tmp_path / "configs/demo")


def test_other_base_is_refused(trained: Artefact, tmp_path: Path) -> None:
    other = tiny_causal.write(tmp_path / "other", layers=3)
    told = {**trained.manifest, "base": {**trained.manifest["base"], "folder": str(other.folder)}}
    with pytest.raises(ArtefactError, match="other weights"):
        EmbeddedBackend("embedded", Artefact(trained.folder, trained.digest, told))


def test_changed_weights_are_refused(trained: Artefact, config: Path, tmp_path: Path) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(trained.folder, folder)
    with (folder / "adapter_model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x01")
    backend = EmbeddedBackend("embedded", artefacts.read(folder))
    with pytest.raises(ArtefactError, match="is not what"):
        backend.weigh(prompts.Prompt("A. x", "Request: y"), "AB")


def test_training_goes_on_from_a_checkpoint(
    config: Path,
    data: Path,
    base: Artefact,
    trained: Artefact,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proposer, "EVERY", REFRESH)
    out = tmp_path / "proposer"
    assert train(config, data, base.folder, out, TINY, minutes=0) is None
    assert not out.exists()
    made = train(config, data, base.folder, out, TINY)
    assert made is not None
    name = "adapter_model.safetensors"
    assert made.manifest["files"][name] == trained.manifest["files"][name]


def test_label_that_the_catalog_lacks_is_refused(
    config: Path, base: Artefact, tmp_path: Path
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("text,label\nhello,SELL_HOUSE\n", encoding="utf-8")
    with pytest.raises(TrainingError, match="SELL_HOUSE"):
        train(config, path, base.folder, tmp_path / "out", TINY)


def test_policy_is_not_derived_from_other_texts(
    trained: Artefact, config: Path, tmp_path: Path
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("text,label\nhello,OUT_OF_SCOPE\n", encoding="utf-8")
    with pytest.raises(TrainingError, match="other texts"):
        derive(config, path, trained.folder)


def costs() -> Costs:
    found = load_institution(ROOT / "configs/demo").costs
    assert found is not None
    return found


def sample(right: float, texts: int = 400) -> Sample:
    """Confident scores of which a share is right."""
    labels = (*costs().damage,)
    rng = np.random.default_rng(5)
    gold = rng.integers(0, len(labels), texts)
    best = np.where(rng.random(texts) < right, gold, (gold + 1) % len(labels))
    rows = np.full((texts, len(labels)), 0.02 / (len(labels) - 1))
    sure = rng.uniform(0.6, 0.999, texts)
    rows = np.repeat(((1 - sure) / (len(labels) - 1))[:, None], len(labels), axis=1)
    rows[np.arange(texts), best] = sure
    return Sample(labels, rows, gold, np.full(texts, ASKS, dtype=np.int64))


def test_policy_keeps_the_limit_on_wrong_routes(tmp_path: Path) -> None:
    policy, report = proposer_policy.choose(sample(0.97), costs())
    assert report["rates"]["wrong_routes"] <= costs().limits.wrong_routes
    assert report["rates"]["routed"] > 0
    assert report["rates"]["escalation"] == 0  # behind the last tier stands a question
    policy_file.write(tmp_path, policy, costs().digest)
    assert json.loads((tmp_path / "policy.json").read_text())["thresholds"]


def test_no_policy_where_the_limit_cannot_be_kept() -> None:
    with pytest.raises(TrainingError, match="wrong routes"):
        proposer_policy.choose(sample(0.3), costs())
