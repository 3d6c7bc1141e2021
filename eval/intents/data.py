"""Public intent data as texts and labels; their test splits are neither here nor read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from eval import table
from eval.errors import SuiteError
from inference.tiers.scores import OUT_OF_SCOPE

CLINC = Path("clinc150/clinc150_train_val.json")
BANKING = Path("banking77/train.csv")
TEST_MIX = (4500, 1000)
"""In-scope and out-of-scope texts of CLINC150's test split, which validation stands for."""


class Texts(NamedTuple):
    """Texts and their gold labels."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]

    def take(self, rows: Sequence[int]) -> Texts:
        """Some of them, by place."""
        return Texts(tuple(self.texts[i] for i in rows), tuple(self.labels[i] for i in rows))


def clinc(data: Path) -> tuple[Texts, Texts]:
    """CLINC150 (Larson et al., 2019): train with oos_train, and val with oos_val."""
    path = data / CLINC
    try:
        parts = json.loads(path.read_text(encoding="utf-8"))
        return _clinc(parts, "train", "oos_train"), _clinc(parts, "val", "oos_val")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SuiteError(
            f"no CLINC150 data: {error}", file=str(path), fix="name the folder of the public data"
        ) from error


def _clinc(parts: dict[str, list[list[str]]], *names: str) -> Texts:
    rows = [row for name in names for row in parts[name]]
    labels = tuple(OUT_OF_SCOPE if label == "oos" else label for _, label in rows)
    return Texts(tuple(text for text, _ in rows), labels)


def banking(data: Path) -> Texts:
    """Banking77 (Casanueva et al., 2020), the training split."""
    rows = table.read(data / BANKING, ("text", "category"))
    return Texts(tuple(r["text"] for r in rows), tuple(r["category"] for r in rows))
