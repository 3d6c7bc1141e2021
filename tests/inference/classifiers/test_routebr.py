"""RouteBR: the lexical classifier, learnt from DEV, names every action of SELECT."""

from __future__ import annotations

import csv
from pathlib import Path

from inference.classifiers import lexical


def rows(path: Path) -> tuple[list[str], list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        found = list(csv.DictReader(file))
    return [r["utterance"] for r in found], [r["gold_action"] for r in found]


def test_lexical_learnt_from_dev_names_every_action_of_select(data_dir: Path) -> None:
    scorer = lexical.fit(*rows(data_dir / "routebr" / "routebr_dev_120.csv"))
    texts, actions = rows(data_dir / "routebr" / "routebr_select_160.csv")
    scores = scorer.scores(texts)
    assert [scorer.labels[i] for i in scores.argmax(axis=1)] == actions
    assert len(actions) == 160
