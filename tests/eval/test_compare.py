"""Runs side by side: every figure counted by hand, and a page that needs nothing else."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from eval import compare as comparing
from eval import prices, run
from eval.compare import compare
from eval.errors import SuiteError
from eval.metrics import measure
from eval.outcome import Outcome
from eval.result import Run, Share
from tests.eval.examples import ACTIONS, answer, gold, outcome, verdict

PRICES = Path(__file__).resolve().parents[2] / "eval" / "prices.yaml"
TABLE = """\
schema_version: 1
machine: {usd_per_hour: "3.60", as_of: "2026-12-01", note: a <b>machine</b>}
vendors:
  - {backend: "recorded:paid", model: m, input_per_million: "2", output_per_million: "10", as_of: "2026-11-30"}
"""


def about(backend: str, system: str = "routelock", concurrency: int = 1, held: bool = False) -> Run:
    return Run(
        suite="made-up",
        system=system,
        backend=backend,
        switches=(),
        inert=(),
        digests={"cases.csv": "0" * 64, backend: "1" * 64},
        seeds={},
        host="a machine",
        clock="2026-12-01T12:00:00+00:00",
        command="c <script>",
        audit={},
        concurrency=concurrency,
        totals_only=held,
    )


def store(folder: Path, outcomes: Sequence[Outcome], described: Run) -> Path:
    run.write(folder, measure(outcomes, ACTIONS, described), outcomes, described.totals_only)
    return folder


def cases(*given: str, latency: float | None = None, tokens: int | None = None) -> list[Outcome]:
    """Four cases: two alone, and one pair; `given` are the final paths."""
    golds = (gold(), gold(boundary="REJECT"), gold(), gold(boundary="DEFER"))
    pairs = ("", "", "P", "P")
    answered = answer(latency_ms=latency, tokens_in=tokens, tokens_out=tokens)
    return [
        outcome(g, verdict(p), case_id=f"C-{i}", pair=pair, answered=answered)
        for i, (g, p, pair) in enumerate(zip(golds, given, pairs, strict=True))
    ]


RIGHT = ("A1", "T_REJECT", "A1", "T_DEFER")
WRONG = ("T_CLARIFY", "T_REJECT", "A1", "A1")


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    first = store(tmp_path / "one", cases(*RIGHT, latency=1000.0), about("local"))
    second = store(tmp_path / "two", cases(*WRONG, tokens=1000), about("recorded:paid"))
    return first, second


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "prices.yaml"
    file.write_text(TABLE, encoding="utf-8")
    return file


def test_figures_of_each_run(two: tuple[Path, Path], table: Path, tmp_path: Path) -> None:
    first, second = compare(two, table, tmp_path / "out").entries
    assert (first.final_path_exact, second.final_path_exact) == (Share(4, 4), Share(2, 4))
    assert (first.false_dispatch, second.false_dispatch) == (Share(0, 2), Share(1, 2))
    assert (first.false_block, second.false_block) == (Share(0, 2), Share(1, 2))
    assert (first.flip_pairs, second.flip_pairs) == (Share(1, 1), Share(0, 1))
    assert (first.p50_ms, second.p50_ms) == (1000.0, None)


def test_cost_of_time_and_of_tokens(two: tuple[Path, Path], table: Path, tmp_path: Path) -> None:
    first, second = compare(two, table, tmp_path / "out").entries
    # A second of a machine at 3.60 an hour is a tenth of a cent; a case of it, a thousand times.
    assert first.cost_per_1k == pytest.approx(1.0)
    # A thousand tokens each way: 0.2 and 1 cent.
    assert second.cost_per_1k == pytest.approx(12.0)
    assert second.cost_basis == "m, prices of 2026-11-30"


def test_hosted_backend_without_a_price_has_no_cost(table: Path, tmp_path: Path) -> None:
    hosted = store(tmp_path / "h", cases(*RIGHT, latency=9.0), about("recorded:unknown"))
    (only,) = compare([hosted], table, tmp_path / "out").entries
    assert (only.cost_per_1k, only.cost_basis) == (None, "no price in the table")


def test_pairs_are_units_of_the_test(two: tuple[Path, Path], table: Path, tmp_path: Path) -> None:
    (both,) = compare(two, table, tmp_path / "out").pairings
    assert (both.units, both.first_only, both.second_only) == (3, 2, 0)
    assert both.p == 0.5
    assert both.flips == Share(2, 4)


def test_another_object_is_a_flip(table: Path, tmp_path: Path) -> None:
    other = [
        outcome(gold(), verdict("A1", object_id="O:2"), case_id="C-0"),
        outcome(gold(boundary="DEFER"), verdict("T_DEFER", object_id="O:2"), case_id="C-1"),
    ]
    same = [
        outcome(gold(), verdict("A1"), case_id="C-0"),
        outcome(gold(boundary="DEFER"), verdict("T_DEFER"), case_id="C-1"),
    ]
    folders = [store(tmp_path / "a", same, about("x")), store(tmp_path / "b", other, about("y"))]
    assert compare(folders, table, tmp_path / "out").pairings[0].flips == Share(1, 2)


def test_runs_that_differ_in_concurrency_alone_are_named(table: Path, tmp_path: Path) -> None:
    alone = store(tmp_path / "c1", cases(*RIGHT), about("x"))
    many = store(tmp_path / "c32", cases(*WRONG), about("x", concurrency=32))
    other = store(tmp_path / "y32", cases(*RIGHT), about("y", concurrency=32))
    found = compare([alone, many, other], table, tmp_path / "out")
    assert [p.concurrency_only for p in found.pairings] == [True, False, False]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "c1 and c32 differ in concurrency alone: 2/4 cases flip." in page


def test_differing_cases_are_listed_with_every_path(
    two: tuple[Path, Path], table: Path, tmp_path: Path
) -> None:
    found = compare(two, table, tmp_path / "out").differing
    assert [(d.case_id, d.right, d.paths) for d in found] == [
        ("C-0", "A1", ("A1", "T_CLARIFY")),
        ("C-3", "T_DEFER", ("T_DEFER", "A1")),
    ]


def test_held_out_cases_stay_out_of_the_comparison(table: Path, tmp_path: Path) -> None:
    first = store(tmp_path / "a", cases(*RIGHT), about("x", held=True))
    second = store(tmp_path / "b", cases(*WRONG), about("y", held=True))
    assert compare([first, second], table, tmp_path / "out").differing == ()
    for file in (tmp_path / "out").iterdir():
        assert "C-0" not in file.read_text(encoding="utf-8")
    assert "Wrong cases" not in (first / "report.html").read_text(encoding="utf-8")


def test_second_comparison_writes_the_same_bytes(
    two: tuple[Path, Path], table: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    compare(two, table, out)
    before = {f.name: f.read_bytes() for f in out.iterdir()}
    compare(two, table, out)
    assert before == {f.name: f.read_bytes() for f in out.iterdir()}
    assert sorted(before) == ["compare.csv", "compare.json", "report.html"]


def test_page_needs_nothing_from_elsewhere(
    two: tuple[Path, Path], table: Path, tmp_path: Path
) -> None:
    compare(two, table, tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"<script|<link|<img|@import|url\(|https?://|\bsrc=|\bhref=", page)
    assert "c &lt;script&gt;" in page
    assert "a &lt;b&gt;machine&lt;/b&gt;" in page
    assert page.count("<svg") == page.count("</svg>") > 8


def test_csv_has_a_row_per_run(two: tuple[Path, Path], table: Path, tmp_path: Path) -> None:
    compare(two, table, tmp_path / "out")
    text = (tmp_path / "out" / "compare.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [r["name"] for r in rows] == ["one", "two"]
    assert (rows[1]["false_dispatch"], rows[1]["bounded"]) == ("1", "2")
    stored = json.loads((tmp_path / "out" / "compare.json").read_text(encoding="utf-8"))
    assert stored["schema_version"] == comparing.SCHEMA_VERSION


def test_runs_on_other_cases_are_refused(table: Path, tmp_path: Path) -> None:
    first = store(tmp_path / "a", cases(*RIGHT), about("x"))
    fewer = store(tmp_path / "b", cases(*RIGHT)[:2], about("x"))
    with pytest.raises(SuiteError, match="other cases"):
        compare([first, fewer], table, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_result_of_another_version_is_refused(table: Path, tmp_path: Path) -> None:
    first = store(tmp_path / "a", cases(*RIGHT), about("x"))
    figures = json.loads((first / "metrics.json").read_text(encoding="utf-8"))
    figures["run"]["schema_version"] = 1
    (first / "metrics.json").write_text(json.dumps(figures), encoding="utf-8")
    with pytest.raises(SuiteError, match="no result of this version"):
        compare([first], table, tmp_path / "out")


@pytest.mark.parametrize(
    "text",
    [
        "machine: {usd_per_hour: '1', as_of: '2026-12-01'}",
        "machine: {usd_per_hour: '-1', as_of: '2026-12-01'}\nvendors: []",
        "machine: {usd_per_hour: '1', as_of: 'May'}\nvendors: []",
        "machine: {usd_per_hour: 'NaN', as_of: '2026-12-01'}\nvendors: []",
        "[]",
    ],
)
def test_broken_price_table_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError, match="no price table"):
        prices.read(file)


def test_shipped_price_table_dates_every_price() -> None:
    found = prices.read(PRICES)
    assert found.as_of
    assert all(v.as_of and v.model for v in found.vendors.values())
