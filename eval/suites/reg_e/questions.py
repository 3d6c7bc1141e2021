"""The questions about Regulation E, read and checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eval import table

HERE = Path(__file__).resolve().parent
WORDINGS = ("shared", "own", "far")
COUNTED = ("shared", "own")
"""The wordings that required figures count."""
SPLITS = ("fit", "held")
JOIN = " + "


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `answers` are (section, anchor) pairs, none where the corpus has no answer."""

    question_id: str
    wording: str
    split: str
    answers: tuple[tuple[str, str], ...]
    text: str


def read() -> tuple[Question, ...]:
    """All questions, first those that the corpus answers; SuiteError names file and line."""
    asked = table.read(
        HERE / "questions.csv", ("id", "wording", "split", "files", "anchors", "question")
    )
    found = [
        Question(
            row["id"],
            row.one_of("wording", WORDINGS),
            row.one_of("split", SPLITS),
            tuple(zip(row["files"].split(JOIN), row["anchors"].split(JOIN), strict=True)),
            row["question"],
        )
        for row in asked
    ]
    others = table.read(HERE / "unanswerable.csv", ("id", "split", "question"))
    found += [
        Question(row["id"], "none", row.one_of("split", SPLITS), (), row["question"])
        for row in others
    ]
    return tuple(found)


def section(file: str) -> str:
    """The section that a file of the corpus holds: `1005-10`, `interp-1005-10`."""
    parts = file.split("-")
    return "-".join(parts[: 3 if parts[0] == "interp" else 2])
