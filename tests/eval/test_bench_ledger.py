"""The ledger benchmark writes what it says, and says so when a figure is missed."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eval import bench_ledger
from eval.bench_ledger import Appends, append, described, measure, prepared, record, table
from eval.timing import Ratio
from gate.ledger.book import open_book
from gate.ledger.receipts import Receipt
from gate.ledger.verify import verify

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 12, 1, tzinfo=UTC)
ALONE = Ratio("one at a time", "32 at once", 19.0, at_least=5.0)
BARE = Ratio("bare", "32 at once", 9.5, at_least=5.0)
APPENDS = Appends(100, 1900, 1500, 200, (ALONE, BARE))


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few records: the figures mean nothing, the way through is the same."""
    monkeypatch.setattr(bench_ledger, "ALONE", 2)
    monkeypatch.setattr(bench_ledger, "TOGETHER", 64)


def test_an_append_is_a_record_with_its_receipt(tmp_path: Path) -> None:
    clear = described()
    assert clear["action_id"] == "FREEZE_CARD"
    with open_book(tmp_path / "ledger.sqlite", tmp_path / "receipts.sqlite") as book:
        append(book, [prepared(book.key or b"", clear, number) for number in range(3)])
        for stored in book.ledger.iterate():
            assert isinstance(book.receipts.get(stored.record["text_commitment"]), Receipt)
    assert verify(tmp_path / "ledger.sqlite").records == 3


def test_a_run_measures_every_figure(tmp_path: Path, hurried: None) -> None:
    result = measure(tmp_path, rounds=1, records=200)
    assert result["verify"]["records"] >= 200
    assert [one["slow"] for one in result["appends"]["ratios"]] == ["one at a time", "bare"]
    assert all(one["times"] > 0 for one in result["appends"]["ratios"])
    for name in ("alone_per_s", "together_per_s", "write_per_s", "bare_per_s"):
        assert result["appends"][name] > 0
    assert json.loads(json.dumps(result)) == result


@pytest.mark.parametrize(
    ("alone", "bare", "rate", "code"),
    [(9.5, 9.5, 30_000, 0), (4.9, 9.5, 30_000, 1), (9.5, 4.9, 30_000, 1), (9.5, 9.5, 19_999, 1)],
)
def test_a_missed_figure_shows_and_ends_in_one(
    alone: float,
    bare: float,
    rate: int,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    measured = replace(APPENDS, ratios=(replace(ALONE, times=alone), replace(BARE, times=bare)))
    result = record(measured, 20_000, rate, 2_100, NOW)
    monkeypatch.setattr(bench_ledger, "measure", lambda folder: result)
    assert bench_ledger.main([str(tmp_path)], tmp_path / "out.json") == code
    assert json.loads((tmp_path / "out.json").read_text()) == result
    assert ("MISSED" in capsys.readouterr().out) == bool(code)
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]


def test_a_ledger_that_does_not_verify_is_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        ok, records, first_problem = False, 1, "record 1: bytes"

    monkeypatch.setattr(bench_ledger, "verify", lambda path: Broken)
    with pytest.raises(SystemExit, match="does not verify: record 1"):
        bench_ledger.verify_per_s(tmp_path)


def test_the_stored_result_says_what_holds_and_names_its_command() -> None:
    stored: dict[str, Any] = json.loads(bench_ledger.STORED.read_text(encoding="utf-8"))
    assert stored["command"] == bench_ledger.COMMAND
    assert [one["slow"] for one in stored["appends"]["ratios"]] == ["one at a time", "bare"]
    ratios = stored["appends"]["ratios"]
    assert [one["holds"] for one in ratios] == [one["times"] >= one["at_least"] for one in ratios]
    assert table(stored).count("MISSED") == sum(not one["holds"] for one in ratios)
    assert stored["verify"]["holds"]
    assert stored["verify"]["records"] >= 20_000
    assert f"@.venv/bin/{bench_ledger.COMMAND}" in (ROOT / "Makefile").read_text(encoding="utf-8")
