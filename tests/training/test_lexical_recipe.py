"""The lexical recipe: a whole artefact that the fast tier runs on, with thresholds from costs."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from gate.load.costs import CostLimits, Costs
from gate.records import Abstain, OutOfScope, Proposal
from inference import artefacts
from inference.artefacts import Artefact
from inference.calibration import policy_file
from inference.calibration.calibrator import Calibrator
from inference.calibration.policy import Policy
from inference.calibration.thresholds import NextTier, derive
from inference.classifiers import lexical
from inference.errors import ArtefactError, AssemblyError, CalibrationError
from inference.question import Question
from inference.tiers import cascade
from inference.tiers.fast import FastTier
from training import lexical as recipe
from training.errors import TrainingError
from training.labels import read
from training.thresholds import Rule
from training.thresholds import derive as derived

WHAT = {
    "ZEBRA": ["my balance", "the balance of my account", "how much money I have"],
    "APPLE": ["freeze my card", "lock the debit card", "block the card at once"],
    "OUT_OF_SCOPE": ["a joke about cats", "the weather tomorrow", "who won the football"],
}
HOW = [
    "please tell me {}",
    "{}",
    "can you do this: {}",
    "{} thanks",
    "I want {}",
    "hey, {}",
    "{} now",
]
COSTS = Costs("cents", 0.0, 0.5, 15.0, {"ZEBRA": 80.0, "APPLE": 900.0, "OUT_OF_SCOPE": 80.0})


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "labels.csv"
    rows = [
        f'"{how.format(what)}",{label}'
        for label, whats in WHAT.items() for what in whats for how in HOW
    ]  # fmt: skip
    rows += ["close it all,RARE", "shut it all down,RARE", "end everything,RARE"]
    path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    return path


RULE = Rule(Costs("cents", 0.0, 0.5, 15.0, {**COSTS.damage, "RARE": 80.0}), next_right=0.9)


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Artefact:
    return recipe.train(data, tmp_path_factory.mktemp("out") / "lexical", rule=RULE)


def test_artefact_is_whole_and_says_what_it_was_made_from(trained: Artefact, data: Path) -> None:
    artefacts.verify(trained)
    manifest = trained.manifest
    assert manifest["labels"] == ["APPLE", "OUT_OF_SCOPE", "RARE", "ZEBRA"]
    assert manifest["inputs"]["data"] == artefacts.sha256(data)
    assert set(manifest["files"]) == {"head.safetensors", "policy.json", "vocabulary.json"}
    assert manifest["calibrated"] is True
    assert manifest["policy"]["next_tier"] == "assumed 0.9"
    assert any("ZEBRA" in line for line in manifest["policy"]["derivation"])


def test_every_training_text_is_predicted_as_the_probabilities_say(
    trained: Artefact, data: Path
) -> None:
    scorer = lexical.load(trained)
    examples = read(data)
    scores = scorer.scores([e.text for e in examples])
    assert np.allclose(scores.sum(axis=1), 1)
    assert [scorer.labels[i] for i in scores.argmax(axis=1)] == [e.label for e in examples]


def test_three_texts_of_an_intent_are_enough(trained: Artefact) -> None:
    (row,) = lexical.load(trained).scores(["close it all"])
    assert lexical.load(trained).labels[row.argmax()] == "RARE"


def test_fast_tier_runs_on_it_by_its_policy(trained: Artefact) -> None:
    tier = FastTier("fast", trained)
    assert isinstance(tier.propose(Question("please tell me my balance")).answer, Proposal)
    assert isinstance(tier.propose(Question("a joke about cats")).answer, OutOfScope)
    assert isinstance(tier.propose(Question("zzzz")).answer, Abstain)
    assert tier.propose(Question("🙂")).answer == Abstain("no_text", "fast")


def test_a_policy_and_a_fixed_threshold_exclude_each_other(
    trained: Artefact, data: Path, tmp_path: Path
) -> None:
    with pytest.raises(AssemblyError, match=r"has the threshold 0\.5, and .* a policy"):
        FastTier("fast", trained, Decimal("0.5"))
    plain = lexical.save(recipe.fit(read(data), recipe.RECIPE), tmp_path / "plain", {})
    with pytest.raises(AssemblyError, match=r"is calibrated, but .* holds no policy"):
        FastTier("fast", plain)
    assert FastTier("fast", plain, Decimal("0.5")).derived is None


def test_decisions_name_the_policy_and_the_costs_that_it_comes_from(trained: Artefact) -> None:
    versions = FastTier("fast", trained).versions
    assert versions["model:fast"] == trained.digest
    assert versions["policy:fast"] == trained.manifest["files"]["policy.json"]
    assert versions["costs:fast"] == trained.manifest["policy"]["costs"]


def test_a_policy_without_its_report_is_refused(trained: Artefact, tmp_path: Path) -> None:
    manifest = {k: v for k, v in trained.manifest.items() if k != "policy"}
    with pytest.raises(ArtefactError, match="does not say where"):
        FastTier("fast", Artefact(trained.folder, trained.digest, manifest))


def with_policy(data: Path, folder: Path, policy: Policy) -> FastTier:
    made = lexical.save(recipe.fit(read(data), recipe.RECIPE), folder, {})
    policy_file.write(folder, policy, "")
    fields = {k: v for k, v in made.manifest.items() if k not in ("files", "schema_version")}
    report = {"policy": {"costs": "", "next_versions": {}}}
    return FastTier("fast", artefacts.write_manifest(folder, {**fields, **report}))


def test_asking_back_names_two_and_no_other_tier_answers(data: Path, tmp_path: Path) -> None:
    measured = dict.fromkeys(RULE.costs.damage, NextTier(0.9, 50))
    policy = Policy(derive(RULE.costs, measured), margin=1.0)
    tier = with_policy(data, tmp_path / "lexical", policy)
    (tried,) = cascade.run([tier, tier], Question("freeze my balance"))
    assert isinstance(tried.reply.answer, Abstain)
    assert tried.reply.answer.reason == "clarify"
    assert set(tried.reply.answer.top2) == {"ZEBRA", "APPLE"}


def test_policy_survives_its_file(data: Path, tmp_path: Path) -> None:
    measured = dict.fromkeys(RULE.costs.damage, NextTier(0.5, 3, True))
    policy = Policy(derive(RULE.costs, measured), Calibrator("platt", (1.5, -0.1)), 0.2, 0.7)
    policy_file.write(tmp_path, policy, "d")
    assert policy_file.read(tmp_path, ["ZEBRA"]) == policy
    with pytest.raises(CalibrationError, match="does not fit"):
        policy_file.read(tmp_path, ["ZEBRA", "OTHER"])
    content = json.loads((tmp_path / "policy.json").read_text(encoding="utf-8"))
    for change in ({"schema_version": 2}, {"margin": None}, {"thresholds": [{"label": "ZEBRA"}]}):
        (tmp_path / "policy.json").write_text(json.dumps({**content, **change}), encoding="utf-8")
        with pytest.raises(CalibrationError, match="no policy"):
            policy_file.read(tmp_path, ["ZEBRA"])
    assert policy_file.read(tmp_path / "nowhere", ["ZEBRA"]) is None


def test_a_changed_policy_is_refused(trained: Artefact, tmp_path: Path) -> None:
    for name in trained.manifest["files"]:
        (tmp_path / name).write_bytes((trained.folder / name).read_bytes())
    (tmp_path / "manifest.json").write_bytes((trained.folder / "manifest.json").read_bytes())
    text = (tmp_path / "policy.json").read_text(encoding="utf-8")
    (tmp_path / "policy.json").write_text(text.replace('"margin": ', '"margin": 0'), "utf-8")
    with pytest.raises(ArtefactError, match=r"policy\.json"):
        FastTier("fast", artefacts.read(tmp_path)).propose(Question("my balance"))


def test_limits_that_cannot_be_kept_leave_no_artefact(data: Path, tmp_path: Path) -> None:
    limits = CostLimits(escalation=0.0, clarify=0.0, wrong_routes=0.0)
    costs = Costs("c", 0.0, 0.5, 15.0, RULE.costs.damage, limits)
    with pytest.raises(CalibrationError, match="no threshold keeps the limits"):
        recipe.train(data, tmp_path / "out", rule=Rule(costs, 0.9))
    assert list(tmp_path.iterdir()) == []


def test_what_was_saved_must_score_as_what_was_trained(data: Path) -> None:
    examples = read(data)
    one = recipe.fit(examples, recipe.RECIPE)
    other = recipe.fit(examples, lexical.Recipe(strength=1.0))
    with pytest.raises(TrainingError, match="scores otherwise"):
        recipe.agree(one, other, examples)


def test_thresholds_are_sealed_with_their_bound(trained: Artefact) -> None:
    bound = trained.manifest["policy"]["bound"]
    assert (bound["alpha"], bound["delta"]) == (0.05, 0.05)
    assert bound["void"] in (None, "too_few")
    assert bound["void"] or bound["upper"] <= 0.05


def test_derivation_needs_a_damage_for_every_label(data: Path) -> None:
    sample = recipe.out_of_fold(read(data), recipe.RECIPE)
    with pytest.raises(CalibrationError, match="RARE"):
        derived(sample, Rule(COSTS, 0.9))


def test_command_prints_the_figures(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert recipe.main(["--data", str(data), "--out", str(tmp_path / "out")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["policy"] is None
    assert printed["out_of_fold"]["accuracy"] > 0.7
