"""Nothing held out may be trained on."""

from __future__ import annotations

import csv
from pathlib import Path

from gate.normalise import fold

ROOT = Path(__file__).resolve().parents[2]


def key(text: str) -> str:
    return fold(text).strip(" .!?")


def texts(path: str) -> set[str]:
    with (ROOT / path).open(encoding="utf-8", newline="") as file:
        return {key(row["text"]) for row in csv.DictReader(file)}


def test_no_held_out_text_is_a_training_text() -> None:
    held, trained = (
        texts("eval/suites/demo/heldout.csv"),
        texts("training/data/demo/utterances.csv"),
    )
    assert held and trained
    assert not held & trained
