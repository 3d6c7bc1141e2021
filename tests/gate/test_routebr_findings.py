"""RouteBR with the right action given: path and object come out of the gate's own findings.

The proposer gives the action alone, so every object here is found in the text, its history or not
at all, and every path is the rules' and checks'.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.case import Case, request
from eval.suites import routebr
from gate.controller import decide
from gate.findings import find
from gate.load import load
from gate.records import Proposal, Situation, Switches, Terminal
from tests.gate.texts import NOW

FILES = (("routebr_dev_120.csv", 120), ("routebr_select_160.csv", 160))
SWITCHES = Switches(ignore_confidence=True)


@pytest.mark.parametrize(("file", "count"), FILES)
def test_path_and_object_are_exact(data_dir: Path, file: str, count: int) -> None:
    folder = data_dir / "routebr"
    configuration = load(folder, bench=True)
    cases = routebr.load(
        folder / file, configuration.catalog.actions, configuration.registry.entries
    )
    assert len(cases) == count

    def decided(case: Case) -> tuple[str, str]:
        asked = request(case)
        situation = Situation(asked.state, NOW, asked.session, asked.candidates)
        gold = case.gold.action
        verdict = decide(
            configuration,
            situation,
            find(configuration, asked),
            Proposal(gold, None, (gold,), None, "gold"),
            SWITCHES,
        )
        path = gold if verdict.terminal is Terminal.DISPATCH else f"T_{verdict.terminal.value}"
        return path, verdict.object_id

    wrong = {
        case.case_id: (decided(case), case.gold.final_path, case.gold.object_id)
        for case in cases
        if decided(case) != (case.gold.final_path, case.gold.object_id)
    }
    assert wrong == {}
