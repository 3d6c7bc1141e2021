"""The training labels are complete, of one kind with their README, and nobody else's sentences."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
LABELS = ROOT / "training" / "data" / "demo" / "utterances.csv"
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 "
CLOSE = 0.85


def rows() -> list[dict[str, str]]:
    with LABELS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def folded(text: str) -> str:
    return " ".join(re.sub(r"[^a-z0-9 ]", "", text.lower()).split())


def action_ids() -> set[str]:
    catalog = yaml.safe_load((ROOT / "configs/demo/catalog.yaml").read_text(encoding="utf-8"))
    return {action["id"] for action in catalog["actions"]}


def test_every_action_has_labels_and_nothing_else() -> None:
    counts = Counter(row["label"] for row in rows())
    assert set(counts) == action_ids() | {"OUT_OF_SCOPE"}
    assert sum(counts.values()) >= 650
    assert counts["OUT_OF_SCOPE"] >= 90
    assert min(counts.values()) >= 30


def test_a_third_is_reworded() -> None:
    sources = Counter(row["source"] for row in rows())
    assert set(sources) == {"written", "reworded-banking77"}
    assert sources["reworded-banking77"] >= max(220, len(rows()) / 3)


def test_texts_differ() -> None:
    folded_texts = [folded(row["text"]) or row["text"] for row in rows()]
    assert [text for text, count in Counter(folded_texts).items() if count > 1] == []
    assert all(row["text"] == row["text"].strip() for row in rows())


def test_no_text_is_a_banking77_sentence(data_dir: Path) -> None:
    with (data_dir / "banking77" / "train.csv").open(encoding="utf-8", newline="") as file:
        theirs = sorted({folded(row["text"]) for row in csv.DictReader(file)})
    ours = [folded(row["text"]) for row in rows()]
    assert [
        (a, b) for a, b in near(ours, theirs) if SequenceMatcher(None, b, a).ratio() >= CLOSE
    ] == []


def near(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs whose letters, in any order, could reach the ratio: an upper bound, and fast."""
    counted = letters(theirs)
    lengths = counted.sum(axis=1)
    pairs = []
    for text, counts in zip(ours, letters(ours), strict=True):
        shared = np.minimum(counted, counts).sum(axis=1)
        bound = 2 * shared / np.maximum(lengths + counts.sum(), 1)
        pairs += [(text, theirs[index]) for index in np.flatnonzero(bound >= CLOSE)]
    return pairs


def letters(texts: Sequence[str]) -> NDArray[np.int16]:
    return np.array([[text.count(letter) for letter in LETTERS] for text in texts], dtype=np.int16)
