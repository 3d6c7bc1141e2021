"""Unseen scores: kept and read again, made anew only when something changed, sealed as a policy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gate.load import load_institution
from gate.records import Abstain, OutOfScope, Proposal, TierAnswer, Unparsed
from inference import artefacts
from inference.appliance import open_tiers
from inference.calibration.thresholds import ASKS, RIGHT, UNKNOWN, WRONG
from inference.question import Question
from inference.tiers import Reply
from scripts import prepare
from scripts.commands.train import app
from tests.gate.load.folders import GOOD, write
from tests.inference.test_policies import COSTS, FAST, HOW, LEXICAL, WHAT
from tests.models import ROOT
from training import lexical, sealing, unseen
from training.errors import TrainingError
from training.labels import read
from training.thresholds import Rule


@dataclass
class Next:
    """A next tier that gives one answer and remembers what it was asked."""

    says: TierAnswer
    name: str = "next"
    versions: Mapping[str, str] = field(default_factory=lambda: {"model:next": "d1"})
    asked: list[str] = field(default_factory=list)

    def propose(self, question: Question) -> Reply:
        self.asked.append(question.utterance)
        return Reply(self.says)


ASKING = Abstain("low_confidence", "next")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [f'"{h.format(w)}",{label}' for label, ws in WHAT.items() for w in ws for h in HOW]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    return path


def test_scores_survive_their_file(data: Path, tmp_path: Path) -> None:
    found = unseen.ask(unseen.measure("lexical", data, tmp_path), data, Next(ASKING), texts=5)
    unseen.write(found, tmp_path / "unseen.jsonl")
    again = unseen.load(tmp_path / "unseen.jsonl")
    assert again.made_from == found.made_from
    assert again.next_versions == {"model:next": "d1"}
    assert np.abs(again.sample.probabilities - found.sample.probabilities).max() < 1e-6
    assert (again.sample.gold == found.sample.gold).all()
    assert (again.sample.next_tier == found.sample.next_tier).all()
    (tmp_path / "unseen.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(TrainingError, match="holds no scores"):
        unseen.load(tmp_path / "unseen.jsonl")


def test_the_least_sure_texts_are_asked(data: Path, tmp_path: Path) -> None:
    after = Next(ASKING)
    found = unseen.measure("lexical", data, tmp_path)
    asked = unseen.ask(found, data, after, texts=7).sample
    known = asked.next_tier != UNKNOWN
    sure = asked.probabilities.max(axis=1)
    assert known.sum() == 7
    assert sure[known].max() <= sure[~known].min()
    assert set(after.asked) == {e.text for e, k in zip(read(data), known, strict=True) if k}


@pytest.mark.parametrize(
    ("answer", "gold", "outcome"),
    [
        (Proposal("FEES", None, ("FEES",), Decimal("0.9"), "next"), "FEES", RIGHT),
        (Proposal("FEES", None, ("FEES",), Decimal("0.9"), "next"), "FREEZE", WRONG),
        (OutOfScope("next"), "OUT_OF_SCOPE", RIGHT),
        (OutOfScope("next"), "FEES", WRONG),
        (ASKING, "FEES", ASKS),
        (Unparsed("{}", "next"), "FEES", WRONG),
    ],
)
def test_what_the_next_tier_made_of_a_text(answer: TierAnswer, gold: str, outcome: int) -> None:
    assert unseen.outcome(answer, gold) == outcome


def test_file_is_made_anew_only_for_what_changed(data: Path, tmp_path: Path) -> None:
    file, after = tmp_path / "unseen.jsonl", Next(ASKING)

    def scored() -> unseen.Unseen:
        return sealing.scored("lexical", file, data, tmp_path, after, unseen.unwatched)

    scored()
    first = len(after.asked)
    assert first == len(read(data))
    scored()
    assert len(after.asked) == first
    after.versions = {"model:next": "d2"}
    assert scored().next_versions == {"model:next": "d2"}
    assert len(after.asked) == 2 * first
    data.write_text(data.read_text(encoding="utf-8") + "\nwhat do cheques cost,FEES", "utf-8")
    assert len(scored().sample.gold) == first + 1


def test_scores_of_other_labels_are_not_sealed_into_an_artefact(
    data: Path, tmp_path: Path, folder: Path
) -> None:
    made = lexical.train(data, tmp_path / "lexical")
    found = unseen.measure("lexical", data, tmp_path)
    other = unseen.Unseen(found.sample, {**found.made_from, "data": "other"}, {})
    with pytest.raises(TrainingError, match="do not belong"):
        sealing.derived_from(other, made, Rule.of(folder, 0.9))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An institution with a lexical tier whose artefact lies under `tmp_path`."""
    appliance = str(GOOD["appliance.yaml"]).replace(FAST, LEXICAL)
    appliance = appliance.replace("var/models/fast", str(tmp_path / "fast"))
    return write(tmp_path / "corner", {**GOOD, "appliance.yaml": appliance, "costs.yaml": COSTS})


def test_command_seals_a_policy_that_the_appliance_opens(
    data: Path, tmp_path: Path, folder: Path
) -> None:
    lexical.train(data, tmp_path / "fast")
    arguments = ["thresholds", "--config", str(folder), "--tier", "fast", "--data", str(data)]
    arguments += ["--unseen", str(tmp_path / "unseen.jsonl"), "--next-right", "0.9"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["policy"]["next_tier"] == "assumed 0.9"
    assert any("FREEZE" in line for line in told["policy"]["derivation"])
    _, fast = open_tiers(load_institution(folder), tmp_path)
    assert fast.versions["model:fast"] == told["digest"]


def test_command_names_the_tiers_that_there_are(data: Path, tmp_path: Path, folder: Path) -> None:
    arguments = ["thresholds", "--config", str(folder), "--tier", "fats", "--data", str(data)]
    done = CliRunner().invoke(app, [*arguments, "--unseen", str(tmp_path / "u")])
    assert done.exit_code == 2
    assert "use one of fast" in done.output


def test_pointless_tier_is_exit_code_1(data: Path, tmp_path: Path, folder: Path) -> None:
    lexical.train(data, tmp_path / "fast")
    cheap = COSTS.replace("FEES: 80", "FEES: 0.001")
    (folder / "costs.yaml").write_text(cheap, encoding="utf-8")
    arguments = ["thresholds", "--config", str(folder), "--tier", "fast", "--data", str(data)]
    arguments += ["--unseen", str(tmp_path / "unseen.jsonl"), "--next-right", "0.9"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1
    assert "every message is routed" in json.loads(done.stdout)["policy"]["problems"][0]


def test_set_up_derives_thresholds_again_only_for_other_costs(
    data: Path,
    tmp_path: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lexical.train(data, tmp_path / "fast")
    for name, path in (("DEMO", folder), ("LABELS", data), ("UNSEEN", tmp_path / "unseen.jsonl")):
        monkeypatch.setattr(prepare, name, path)
    monkeypatch.setattr(prepare, "ENCODER", tmp_path)

    def said() -> str:
        institution = load_institution(folder)
        prepare.thresholds(institution, institution.appliance.tiers[-1], tmp_path)
        return capsys.readouterr().out

    assert "building the policy" in said()
    assert said() == "      policy is up to date\n"
    (folder / "costs.yaml").write_text(COSTS.replace("clarify: 15", "clarify: 16"), "utf-8")
    assert "building the policy" in said()
    assert len(open_tiers(load_institution(folder), tmp_path)) == 2


def test_the_demo_s_unseen_scores_are_of_its_labels() -> None:
    folder = ROOT / "training" / "data" / "demo"
    fast = next(t for t in load_institution(ROOT / "configs" / "demo").appliance.tiers if t.model)
    assert fast.calibrated is (folder / "unseen.jsonl").exists()
    if not fast.calibrated:
        return
    found = unseen.load(folder / "unseen.jsonl")
    examples = read(folder / "utterances.csv")
    assert found.made_from["data"] == artefacts.sha256(folder / "utterances.csv")
    assert [found.sample.labels[gold] for gold in found.sample.gold] == [e.label for e in examples]
    assert (found.sample.next_tier != UNKNOWN).sum() == unseen.ASKED
