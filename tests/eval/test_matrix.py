"""Every backend behind every system: what runs, in which order, and that a second time changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.matrix import matrix, plan
from eval.suite import Suite
from eval.suites import routebr
from eval.suites.routebr import DEV_FILE

PRICES = Path(__file__).resolve().parents[2] / "eval" / "prices.yaml"


def test_plan_holds_ablations_over_what_was_said(tmp_path: Path) -> None:
    cells = plan(["recorded:x/paid", "lexical"], ["embedded"], 32, tmp_path)
    assert [(c.name, c.system, c.concurrency) for c in cells] == [
        ("routelock-paid", "routelock", 1),
        ("routelock-lexical", "routelock", 1),
        ("routelock-lexical-c32", "routelock", 32),
        ("b1-embedded", "b1", 1),
        ("b2-embedded", "b2", 1),
        ("no-state-paid", "no-state", 1),
        ("no-state-lexical", "no-state", 1),
        ("no-objects-paid", "no-objects", 1),
        ("no-objects-lexical", "no-objects", 1),
    ]
    assert {c.backend for c in cells if c.system.startswith("no-")} == {
        f"run:{tmp_path / 'routelock-paid'}",
        f"run:{tmp_path / 'routelock-lexical'}",
    }


def test_address_is_no_part_of_a_name(tmp_path: Path) -> None:
    (cell, *_) = plan(["vllm:http://127.0.0.1:8000"], [], 1, tmp_path)
    assert cell.name == "routelock-vllm"


@pytest.fixture
def suite(data_dir: Path) -> Suite:
    folder = data_dir / "routebr"
    return routebr.open_suite(folder, folder / "routebr_select_160.csv")


def test_second_time_changes_no_byte(suite: Suite, data_dir: Path, tmp_path: Path) -> None:
    backend = f"recorded:{data_dir / 'routebr' / 'recorded' / 'deepseek_v4_primary'}"
    found = matrix(suite, "s", [backend, "lexical"], [], tmp_path, PRICES)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    matrix(suite, "s", [backend, "lexical"], [], tmp_path, PRICES)
    assert before == {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert [e.name for e in found.entries] == [
        "routelock-deepseek_v4_primary",
        "routelock-lexical",
        "no-state-deepseek_v4_primary",
        "no-state-lexical",
        "no-objects-deepseek_v4_primary",
        "no-objects-lexical",
    ]
    assert all(e.false_dispatch.count == 0 for e in found.entries if e.system == "routelock")
    assert DEV_FILE not in found.digests  # not every run learns from it
