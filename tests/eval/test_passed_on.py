"""What is measured of the proposer alone, counted by hand on a few texts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from eval.ended import Ended
from eval.errors import SuiteError
from eval.passed_on import FILE, decisions, differing, measure
from eval.result import Share
from eval.suites.demo.labels import OUT_OF_SCOPE
from gate.records import Terminal
from tests.eval.test_demo_suite import READ, WRITE, ended

BEFORE = [ended(READ, READ), ended(READ, "LOAN_INFO"), ended(READ, None, Terminal.CLARIFY)]
MINE = [
    ended(READ, READ),
    ended(WRITE, READ),
    ended(READ, None, Terminal.CLARIFY),
    ended(READ, None, Terminal.CLARIFY),
    ended(OUT_OF_SCOPE, OUT_OF_SCOPE, Terminal.REJECT, allowed=False),
    ended(OUT_OF_SCOPE, READ, allowed=False),
]


def numbered(texts: list[Ended]) -> list[Ended]:
    return [replace(e, label=replace(e.label, label_id=f"H-{i}")) for i, e in enumerate(texts)]


def test_figures_by_hand() -> None:
    found = measure(BEFORE, MINE, "embedded")
    assert (found.texts, found.in_scope) == (6, 4)
    assert found.right_before == Share(1, 2)
    assert found.coverage == Share(2, 4)
    assert found.right_of_covered == Share(1, 3)
    assert found.wrong_routes == Share(2, 3)
    assert found.out_of_scope == Share(1, 2)
    assert found.missed == ("fewer of its actions are right than of the tier's before it",)


def test_a_proposer_that_never_commits_is_no_success() -> None:
    silent = [ended(READ, None, Terminal.CLARIFY)] * 3
    assert "coverage is below 40%" in measure(BEFORE, silent, "embedded").missed


def test_other_answers_than_another_run_are_counted(tmp_path: Path) -> None:
    mine = numbered(MINE)
    (tmp_path / FILE).write_text(decisions(mine), encoding="utf-8")
    assert differing(decisions(mine), tmp_path) == 0
    other = [*mine[:2], replace(mine[2], answer=mine[0].answer), *mine[3:]]
    assert differing(decisions(other), tmp_path) == 1
    assert "1 answers differ" in measure(BEFORE, other, "vllm", 1).missed


def test_run_without_decisions_cannot_be_compared_with(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="run it first"):
        differing("", tmp_path)
