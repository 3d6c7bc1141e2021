"""Out-of-fold scores: nobody scores a text that it has seen, and a missing class breaks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inference.calibration.folds import out_of_fold, parts
from inference.classifiers import Weighed


@dataclass(frozen=True)
class Counting:
    """Scores every label by its share of what it was fitted on; knows its texts."""

    labels: tuple[str, ...]
    shares: tuple[float, ...]
    seen: frozenset[str]

    def fits(self, text: str) -> bool:
        return True

    def scores(self, texts: Sequence[str]) -> np.ndarray:
        assert not self.seen & set(texts)
        return np.tile(self.shares, (len(texts), 1))

    def weigh(self, texts: Sequence[str]) -> Weighed:
        return Weighed(self.scores(texts), np.zeros(len(texts), dtype=bool))


def counting(texts: Sequence[str], labels: Sequence[str]) -> Counting:
    names = tuple(sorted(set(labels), reverse=True))
    shares = tuple(list(labels).count(name) / len(labels) for name in names)
    return Counting(names, shares, frozenset(texts))


def test_parts_cover_every_row_once_and_spread_each_stratum() -> None:
    strata = np.repeat([0, 1, 2], [50, 9, 1])
    masks = list(parts(strata, 5, 0))
    assert (np.sum(masks, axis=0) == 1).all()
    assert {int(mask.sum()) for mask in masks} == {12}
    assert {int((mask & (strata == 1)).sum()) for mask in masks} == {1, 2}


def test_each_text_is_scored_by_a_head_that_has_not_seen_it() -> None:
    labels = ["B"] * 20 + ["A"] * 7
    texts = [f"text {i}" for i in range(27)]
    names, scores = out_of_fold(texts, labels, counting)
    assert names == ("A", "B")
    assert np.allclose(scores.sum(axis=1), 1)
    assert np.allclose(scores[:, 1], 20 / 27, atol=0.03)


def test_class_missing_from_a_fold_scores_zero_there() -> None:
    labels = ["A"] * 10 + ["B"] * 10 + ["LONE"]
    names, scores = out_of_fold([f"text {i}" for i in range(21)], labels, counting)
    lone = names.index("LONE")
    assert scores[20, lone] == 0  # the only text of its kind: its own fold has never seen it
    assert (scores[:, lone] > 0).sum() >= 15
