"""The benchmark of the records pathway writes what it says, and says so when a figure is missed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval import bench_sql
from eval.bench_sql import Figure


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rounds: the figures mean nothing, the way through is the same."""
    monkeypatch.setattr(bench_sql.figure, "__defaults__", (3,))
    monkeypatch.setattr(bench_sql.together, "__defaults__", (4, 5))


@pytest.mark.usefixtures("hurried")
def test_result_holds_every_query_and_the_crowd(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "bench_sql.json"
    code = bench_sql.main(out)
    stored = json.loads(out.read_text())
    assert json.loads(capsys.readouterr().out) == stored
    assert {q["query"] for q in stored["queries"]} == set(bench_sql.OBJECTS)
    assert stored["together"]["questions"] == 20
    assert stored["together"]["failures"] == 0
    assert code == (0 if stored["holds"] else 1)
    assert stored["holds"] == all(q["holds"] for q in stored["queries"])


@pytest.mark.usefixtures("hurried")
def test_a_missed_figure_is_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = Figure("q", 1.0, 9.0, 1.0, holds=False)
    monkeypatch.setattr(bench_sql, "figure", lambda *_: slow)
    assert bench_sql.main(tmp_path / "out.json") == 1
    capsys.readouterr()


def test_stored_result_is_of_this_benchmark() -> None:
    stored = json.loads(bench_sql.STORED.read_text())
    assert stored["command"] == bench_sql.COMMAND
    required = {
        "times": bench_sql.TIMES,
        "more_ms": bench_sql.MORE_MS,
        "admission_ms": bench_sql.ADMISSION_MS,
    }
    assert stored["required"] == required
    for query in stored["queries"]:
        fast = query["pathway_ms"] <= required["times"] * query["bare_ms"] + required["more_ms"]
        assert query["holds"] == (fast and query["admission_ms"] <= required["admission_ms"])
