"""The suite to copy is a working suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.errors import SuiteError
from eval.suites.template import suite

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "eval" / "suites" / "template" / "cases.csv"
ACTIONS, OBJECTS = ("FUND_PRICE",), ("FUND:HLVLX",)


def test_template_loads_its_own_cases() -> None:
    first, second = suite.load(CASES, ACTIONS, OBJECTS)
    assert (first.gold.final_path, first.gold.allowed) == ("FUND_PRICE", True)
    assert (second.gold.final_path, second.gold.allowed) == ("T_CLARIFY", False)


def test_template_refuses_what_is_unknown() -> None:
    with pytest.raises(SuiteError, match=r"cases\.csv:2: column `gold_action`"):
        suite.load(CASES, ("OTHER",), OBJECTS)
