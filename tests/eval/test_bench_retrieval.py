"""The retrieval bench: its questions are whole, and its figures are those counted by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from eval import bench_retrieval as bench
from eval.bench_retrieval import Ranks, figures, fitted, refusal
from eval.suites.reg_e.questions import Question, read, section

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "reg_e"


def asked(name: str, wording: str, split: str = "fit") -> Question:
    answers = () if wording == "none" else (("1005-1", "anchor"),)
    return Question(name, wording, split, answers, name)


def test_questions_are_as_many_as_the_readme_says() -> None:
    counts = Counter(q.wording for q in read())
    assert counts == {"shared": 50, "own": 50, "far": 50, "none": 100}
    assert Counter(q.split for q in read()) == {"fit": 125, "held": 125}
    assert len({q.question_id for q in read()}) == 250


@pytest.mark.skipif(not DATA.is_dir(), reason="the corpus is not part of the repository")
def test_every_anchor_stands_in_its_file() -> None:
    texts = {section(p.name): " ".join(p.read_text().split()) for p in DATA.glob("*.md")}
    answers = [answer for question in read() for answer in question.answers]
    assert [(name, anchor) for name, anchor in answers if anchor not in texts[name]] == []


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("1005-10-preauthorized-transfers.md", "1005-10"),
        ("interp-1005-a-interp.md", "interp-1005-a"),
    ],
)
def test_section_of_a_file(file: str, name: str) -> None:
    assert section(file) == name


def test_figures_count_first_ranks() -> None:
    found = [
        Ranks(asked("a", "own"), 1, 2),
        Ranks(asked("b", "own"), 3, None),
        Ranks(asked("c", "own"), 7, 11),
        Ranks(asked("d", "own"), None, None),
    ]
    result = figures(found)
    assert [result[f"file@{k}"]["share"] for k in bench.DEPTHS] == [0.25, 0.5, 0.75, 0.75]
    assert [result[f"passage@{k}"]["share"] for k in bench.DEPTHS] == [0.0, 0.25, 0.25, 0.5]
    assert result["mrr"] == round((1 / 2 + 1 / 11) / 4, 3)
    assert result["ndcg@10"] == round(0.6309 / 4, 3)
    low, high = result["file@1"]["interval"]
    assert low < 0.25 < high


def test_refusal_counts_both_mistakes_by_split() -> None:
    questions = [
        asked("a", "own"), asked("b", "shared", "held"), asked("c", "far"),
        asked("d", "none"), asked("e", "none", "held"),
    ]  # fmt: skip
    scores = {"a": 0.9, "b": 0.4, "c": 0.1, "d": 0.3, "e": 0.8}
    result = refusal(scores, questions, 0.5)
    counts = {name: value["count"] for name, value in result.items() if name != "threshold"}
    assert counts == {
        "fit_refused": 1, "fit_wrongly_refused": 0,
        "held_refused": 0, "held_wrongly_refused": 1,
        "both_refused": 1, "both_wrongly_refused": 1,
    }  # fmt: skip


def test_threshold_is_fitted_on_its_half_alone() -> None:
    questions = [asked("a", "own"), asked("b", "none"), asked("c", "own", "held")]
    assert fitted({"a": 0.9, "b": 0.5, "c": 0.1}, questions) == pytest.approx(0.7)


def test_missed_figures_are_named() -> None:
    share = {f"{n}@{k}": {"share": 0.9} for n in ("file", "passage") for k in bench.DEPTHS}
    result = {
        "variants": {"as it is": {"counted": share, "own": share}},
        "refusal": {
            "both_refused": {"count": 89, "of": 100},
            "both_wrongly_refused": {"count": 6, "of": 100},
        },
    }
    assert bench.missed(result) == [
        "file@5 is 0.9, required 0.92",
        "refused 89 of 100, required 0.9",
        "wrongly refused 6 of 100, at most 0.05",
    ]
