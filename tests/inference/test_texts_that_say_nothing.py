"""Faults of texts and machines through the whole route: nothing to read, typing errors, no network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gate.records import Request, Terminal
from inference.appliance import Appliance
from inference.classifiers import lexical
from inference.classifiers.reading import read
from inference.encoder import TorchEncoder
from inference.tiers.scores import OUT_OF_SCOPE
from inference.way import answer
from tests.inference.test_way import STATE
from tests.models import ROOT

NOTHING = ["", " \t\n\u3000", "🙂🙏🏽", "\u200b\u200d\ufeff", "?!…"]  # fmt: skip

ALONE = """
import pathlib, sys
from gate.records import Request
from inference.appliance import open_appliance
from inference.way import route
with open_appliance(pathlib.Path("configs/demo"), ledger_dir=pathlib.Path(sys.argv[1])) as opened:
    routed = route(opened, Request("1", "web", "how much is a wire transfer, please?"))
    print([tried.tier for tried in routed.tried if tried.problem is None])
"""


@pytest.mark.parametrize("text", NOTHING)
def test_text_that_says_nothing_is_asked_back_before_encoding(
    appliance: Appliance, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a text that says nothing was encoded")

    monkeypatch.setattr(TorchEncoder, "encode", never)
    said = answer(appliance, Request("1", "web", text, state=dict(STATE)))
    assert (said.terminal, said.rule_id) == (Terminal.CLARIFY, "G-ABSTAIN")
    assert all(tried.problem is None for tried in said.routed.tried)


def test_typing_errors_are_less_sure_than_what_they_stand_for() -> None:
    rows = {
        "FREEZE": ["freeze my card", "please freeze my debit card", "lock my card now"],
        "BALANCE": ["what is my balance", "show my balance please", "how much money do i have"],
        OUT_OF_SCOPE: ["what is the weather", "tell me a joke", "who won the match"],
    }
    pairs = [(text, label) for label, texts in rows.items() for text in texts]
    scorer = lexical.fit([text for text, _ in pairs], [label for _, label in pairs])
    right, wrong = read(scorer, ["freeze my card", "frz mi crd"])
    assert right.scores is not None and wrong.scores is not None
    threshold = right.scores.max()
    assert wrong.scores.max() < threshold


def test_route_runs_without_a_network(tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S603
        ("/usr/bin/unshare", "-rn", sys.executable, "-c", ALONE, str(tmp_path)),
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "fast" in done.stdout
