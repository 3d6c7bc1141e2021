"""What a run of the demo costs, by hand: tiers asked, wrong routes, questions, members turned away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from eval import demo_economics
from eval.ended import Ended
from gate.load import load_institution
from gate.load.costs import OUT_OF_SCOPE
from gate.records import Terminal
from inference import artefacts
from inference.tiers import Reply
from inference.tiers.cascade import Tried
from tests.eval.test_demo_suite import READ, ended

DEMO = Path(__file__).resolve().parents[2] / "configs" / "demo"


def asked(one: Ended, *tiers: str) -> Ended:
    tried = tuple(Tried(name, Reply(one.answer), 10.0 * (i + 1)) for i, name in enumerate(tiers))
    return replace(one, tried=tried)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for tier in load_institution(DEMO).appliance.tiers:
        if tier.model:
            encoder = tmp_path / tier.model / "encoder"
            encoder.mkdir(parents=True)
            for name in ("model.safetensors", "model.int8.onnx"):
                (encoder / name).write_bytes(bytes(2**20 * (4 if name.endswith("rs") else 1)))
            artefacts.write_manifest(tmp_path / tier.model, {"runtime": "onnx-int8"})
    return tmp_path


def test_costs_and_shares_by_hand(root: Path) -> None:
    institution = load_institution(DEMO)
    assert institution.costs is not None
    run = [
        asked(ended(READ, READ), "phrases"),
        asked(ended(READ, "LOAN_INFO"), "phrases", "fast"),
        asked(ended(READ, None, Terminal.CLARIFY), "phrases", "fast", "proposer"),
        asked(ended(READ, OUT_OF_SCOPE, Terminal.REJECT), "phrases", "fast"),
    ]
    found = demo_economics.measure(run, institution, root)
    costs = institution.costs
    wrong, turned_away = costs.damage["LOAN_INFO"], costs.damage[OUT_OF_SCOPE]
    total = 3 * costs.small + costs.large + wrong + costs.clarify + turned_away
    assert found.cost_per_1000 == pytest.approx(1000 * total / 4, abs=0.1)
    assert (found.escalation, found.clarify) == (0.25, 0.25)
    assert {name: (t.asked, t.p50_ms) for name, t in found.tiers.items()} == {
        "phrases": (4, 10.0),
        "fast": (3, 20.0),
        "proposer": (1, 30.0),
    }
    assert (found.tiers["phrases"].megabytes, found.tiers["fast"].megabytes) == (0.0, 1.0)


def test_without_the_cheap_tiers_every_message_is_passed_on(root: Path) -> None:
    institution = load_institution(DEMO)
    assert institution.costs is not None
    found = demo_economics.measure([asked(ended(READ, READ), "proposer")], institution, root)
    assert found.escalation == 1.0
    assert found.cost_per_1000 == 1000 * institution.costs.large
    assert list(found.tiers) == ["proposer"]
