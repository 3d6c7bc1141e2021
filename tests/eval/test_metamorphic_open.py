"""Look-alikes that the gate still takes for the registered name; a fixed one must leave the list.

When a case here passes, move its row from `open.csv` to `lookalikes.csv`.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from eval import table
from eval.case import Case, request
from eval.routebr import NOW
from eval.suites import routebr
from eval.suites.metamorphic import derive
from gate.controller import decide
from gate.findings import find
from gate.load import load
from gate.records import Proposal, Situation, Terminal
from tests.eval.examples import gold

OPEN = [row["name"] for row in table.read(derive.FOLDER / derive.OPEN, ("name", "note"))]
ACTION = "A5_PROTECTED_ACTION"


@pytest.mark.xfail(strict=True, reason="known and open, see eval/suites/metamorphic/README.md")
@pytest.mark.parametrize("name", OPEN)
def test_open_lookalike_is_bounded(name: str, data_dir: Path) -> None:
    folder = data_dir / "routebr"
    configuration = load(folder, bench=True)
    known = (configuration.catalog.actions, configuration.registry.entries)
    cases = routebr.load(folder / routebr.DEV_FILE, *known)
    state = next(c.state for c in cases if c.gold.allowed)
    case = Case("open", "META", f"请为我的账户提交{name}的买入委托。", gold(ACTION), state=state)
    verdict = decide(
        configuration,
        Situation(state, NOW),
        find(configuration, request(case)),
        Proposal(ACTION, None, (ACTION,), Decimal(1), "right-action"),
    )
    assert verdict.terminal is not Terminal.DISPATCH
