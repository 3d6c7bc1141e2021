"""Reading labelled texts, and holding back a slice of every label."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from training.errors import TrainingError


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled text."""

    text: str
    label: str


def read(path: Path) -> tuple[Example, ...]:
    """The rows of a CSV file with the columns `text` and `label`, others ignored.

    Raises TrainingError for a missing column, an empty field, or one text under two labels.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TrainingError(f"`{path}` cannot be read: {error}") from error
    if not rows or not {"text", "label"} <= rows[0].keys():
        raise TrainingError(f"`{path}` needs rows with the columns `text` and `label`")
    labels: dict[str, str] = {}
    for line, row in enumerate(rows, start=2):
        text, label = (row["text"] or "").strip(), (row["label"] or "").strip()
        if not text or not label:
            raise TrainingError(f"`{path}` row {line}: text or label is empty; fill it in")
        if labels.setdefault(text, label) != label:
            raise TrainingError(f"`{path}` row {line}: `{text}` has two labels; keep one")
    return tuple(Example(text, label) for text, label in labels.items())


def split(
    examples: Sequence[Example], share: float, seed: int
) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """Training and held-back examples; `share` of every label's texts, at least one, is held back.

    Raises TrainingError for a label with fewer than three texts.
    """
    by_label: dict[str, list[Example]] = {}
    for example in sorted(examples, key=lambda e: e.text):
        by_label.setdefault(example.label, []).append(example)
    rng = random.Random(seed)  # noqa: S311 - reproducible, not secret
    kept: list[Example] = []
    held: list[Example] = []
    for label, members in sorted(by_label.items()):
        if len(members) < 3:
            raise TrainingError(f"label `{label}` has {len(members)} texts; give it at least three")
        rng.shuffle(members)
        cut = max(1, round(len(members) * share))
        held.extend(members[:cut])
        kept.extend(members[cut:])
    return tuple(kept), tuple(held)
