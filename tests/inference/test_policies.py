"""Classifier tiers in an appliance: what is declared, what is sealed, and what changed since."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gate.ledger.book import recall
from gate.ledger.receipts import Receipt
from gate.load import load_institution
from gate.records import Abstain, Request
from inference.appliance import Appliance, open_tiers
from inference.artefacts import Artefact
from inference.disclosure import disclosed
from inference.errors import AssemblyError
from inference.question import Question
from inference.way import route
from scripts.commands.serve import routed_line
from tests.gate.load.folders import GOOD, write
from tests.inference.asking import Saying
from training import lexical
from training.thresholds import Rule

WHAT = {
    "FUND_PRICE": ["the price of the fund", "what one share is worth", "today's quote"],
    "FEES": ["what a wire costs", "the fees of an account", "the charge for a transfer"],
    "FREEZE": ["freeze my card", "block the card", "stop my debit card"],
    "OUT_OF_SCOPE": ["a joke about cats", "the weather tomorrow", "who won the football"],
}
HOW = ["please tell me {}", "{}", "hey, {}", "{} thanks", "I want {}", "{} now", "can you do {}"]
COSTS = """\
schema_version: 1
unit: cents
small: 0
large: "0.5"
clarify: 15
damage: {FUND_PRICE: 80, FEES: 80, FREEZE: 900, OUT_OF_SCOPE: 80}
"""
FAST = '{name: fast, kind: setfit, model: var/models/fast, threshold: "0.60"}'
LEXICAL = "{name: fast, kind: lexical, model: var/models/fast, calibrated: true}"


def test_what_was_odd_about_a_text_is_kept_and_told_to_the_channel_alone(
    appliance: Appliance,
) -> None:
    flagged = Saying(Abstain("low_confidence", "saying"), flags=("long_text",))
    request = Request("1", "web", "a long complaint")
    routed = route(replace(appliance, tiers=(flagged,)), request)
    found = recall(appliance.book, request)
    assert found is not None
    receipt = appliance.book.receipts.get(found.record["text_commitment"])
    assert isinstance(receipt, Receipt)
    assert [output["flags"] for output in receipt.outputs] == [["long_text"]]
    line = routed_line(routed)
    assert disclosed(line, "channel")["flags"] == ["long_text"]
    assert "flags" not in disclosed(line, "user")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An institution whose fast tier is lexical and calibrated."""
    appliance = GOOD["appliance.yaml"]
    assert isinstance(appliance, str)
    files = {**GOOD, "appliance.yaml": appliance.replace(FAST, LEXICAL), "costs.yaml": COSTS}
    return write(tmp_path / "corner", files)


def trained(folder: Path, next_versions: dict[str, str] | None = None) -> Artefact:
    """The tier's artefact, where appliance.yaml of `folder` says that it lies."""
    rows = [f'"{h.format(w)}",{label}' for label, ws in WHAT.items() for w in ws for h in HOW]
    data = folder.parent / "labels.csv"
    data.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    rule = Rule.of(folder, None if next_versions else 0.9, next_versions)
    return lexical.train(data, folder.parent / "var/models/fast", rule=rule)


def test_lexical_tier_opens_with_its_policy(folder: Path) -> None:
    made = trained(folder)
    institution = load_institution(folder)
    _, fast = open_tiers(institution, folder.parent)
    assert fast.versions["policy:fast"] == made.manifest["files"]["policy.json"]
    assert fast.versions["costs:fast"] == institution.configuration.digests["costs.yaml"]
    assert "fast" not in institution.configuration.thresholds
    assert fast.propose(Question("a joke about cats")).answer.tier == "fast"


def test_other_costs_than_those_of_the_policy_are_refused(folder: Path) -> None:
    trained(folder)
    (folder / "costs.yaml").write_text(COSTS.replace("clarify: 15", "clarify: 16"), "utf-8")
    with pytest.raises(AssemblyError, match=r"before costs\.yaml changed; derive them again"):
        open_tiers(load_institution(folder), folder.parent)
    (folder / "costs.yaml").unlink()
    with pytest.raises(AssemblyError, match=r"before costs\.yaml changed"):
        open_tiers(load_institution(folder), folder.parent)


def test_another_next_tier_than_the_measured_one_is_refused(folder: Path) -> None:
    trained(folder, {"model:proposer": "digest of before"})
    with pytest.raises(AssemblyError, match="before the tier after it changed"):
        open_tiers(load_institution(folder), folder.parent)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("kind: lexical", "kind: linear", "has the kind `linear`, but .* holds `lexical`"),
        ("calibrated: true", 'threshold: "0.6"', "has the threshold 0.6, and .* a policy"),
    ],
)
def test_what_is_declared_must_be_what_is_there(
    folder: Path, old: str, new: str, problem: str
) -> None:
    trained(folder)
    path = folder / "appliance.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(AssemblyError, match=problem):
        open_tiers(load_institution(folder), folder.parent)
