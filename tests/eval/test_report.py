"""The report: complete, escaped, and readable without anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval import metrics, output, report
from eval.errors import OutputError
from eval.report import Section
from tests.eval.examples import ACTIONS, gold, outcome, verdict
from tests.eval.test_metrics import RUN, SIX

RESULT = metrics.measure(SIX, ACTIONS, RUN)
PARTS = report.sections(RESULT, SIX)


def test_report_names_switches_digests_and_command() -> None:
    text = report.markdown("title", PARTS)
    assert "Switches set: no-state." in text
    assert "0" * 64 in text
    assert "Command: c" in text


def test_report_lists_every_wrong_case() -> None:
    text = report.markdown("title", PARTS)
    wrong = next(p for p in PARTS if p.title == "Wrong cases")
    assert [row[0] for row in wrong.table[1:]] == ["blocked", "false", "broken"]
    assert "| blocked | A1 | T_CLARIFY |" in text


def test_report_says_so_when_nothing_is_wrong() -> None:
    right = (SIX[0],)
    parts = report.sections(metrics.measure(right, ACTIONS, RUN), right)
    assert next(p for p in parts if p.title == "Wrong cases").paragraphs == ("None.",)


def test_report_says_how_many_wrong_cases_it_leaves_out() -> None:
    many = [outcome(gold(), verdict("T_DEFER"), case_id=str(n)) for n in range(53)]
    parts = report.sections(metrics.measure(many, ACTIONS, RUN), many)
    wrong = next(p for p in parts if p.title == "Wrong cases")
    assert wrong.paragraphs == ("3 more are in predictions.csv.",)
    assert len(wrong.table) == 1 + report.MAX_WRONG


def test_html_is_self_contained_and_escaped() -> None:
    page = report.html("<t>", [Section("<s>", ("<p>&",), (("<h>",), ("<script>",)))])
    assert "<script" not in page.replace("&lt;script", "")
    assert "http" not in page
    assert "&lt;t&gt;" in page
    assert "<td>&lt;script&gt;</td>" in page


def test_markdown_cell_keeps_its_table() -> None:
    text = report.markdown("t", [Section("s", (), (("a", "b"), ("x|y", "line\nbreak")))])
    assert "| x\\|y | line break |" in text


def test_percent_of_nothing_is_a_dash() -> None:
    assert report.percent(None) == "\N{EN DASH}"
    assert report.percent(0.975) == "97.5 %"


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way", encoding="utf-8")
    with pytest.raises(OutputError, match=r"`.*file` cannot be written"):
        output.write(file, {"a": "b"})
    assert file.read_text(encoding="utf-8") == "in the way"
