"""Faults of texts and machines through the whole route: nothing to read, typing errors, no network."""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from gate.records import Abstain, Request, Terminal
from inference.appliance import Appliance
from inference.encoder import TorchEncoder
from inference.question import Question
from inference.tiers import scores
from inference.way import answer
from tests.inference.test_way import STATE
from tests.models import ROOT

THRESHOLD = Decimal("0.70")
"""That of the demo's fast tier."""

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


MISTYPED = ["frz mi crd pls", "hw mcuh is teh wier fe", "blance chkng acct shw", "dispt chrge tht isnt myn",
            "adrs chng nw hse", "wht fnds prc tdy hlgrx", "crdt crd lst hlp", "clos acnt nw"]  # fmt: skip


def test_typing_errors_below_the_threshold_are_not_routed(appliance: Appliance) -> None:
    (tier,) = [t for t in appliance.tiers if t.name == "fast"]
    below = 0
    for text in MISTYPED:
        reply = tier.propose(Question(text, language="en"))
        best = max(map(Decimal, json.loads(reply.raw).values()))
        if best < THRESHOLD:
            below += 1
            assert isinstance(reply.answer, Abstain)
            assert reply.answer.reason in (scores.LOW_CONFIDENCE, scores.OUT_OF_DISTRIBUTION)
            said = answer(appliance, Request(text, "web", text, state=dict(STATE)))
            assert said.terminal is Terminal.CLARIFY
    assert below


def test_route_runs_without_a_network(tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S603
        ("/usr/bin/unshare", "-rn", sys.executable, "-c", ALONE, str(tmp_path)),
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "fast" in done.stdout
