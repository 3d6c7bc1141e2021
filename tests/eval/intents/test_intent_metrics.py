"""Figures of intent classifiers against counts by hand and scikit-learn."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from eval.intents import metrics
from eval.intents.reliability import diagram
from eval.intents.scored import Scored, mixed
from inference.calibration.measures import Bin, equal_bins

OUT = "OUT_OF_SCOPE"
LABELS = ("B", OUT, "A")  # not in alphabetical order
SCORED = Scored(
    LABELS,
    np.array(
        [
            [0.9, 0.1, 0.0],  # right
            [0.1, 0.1, 0.8],  # right
            [0.7, 0.2, 0.1],  # A taken for B
            [0.2, 0.6, 0.2],  # B called out
            [0.1, 0.8, 0.1],  # right
            [0.6, 0.3, 0.1],  # out taken for B
        ]
    ),
    ("B", "A", "A", "B", OUT, OUT),
)
ONES = np.ones(6)


def test_figures_by_hand() -> None:
    assert metrics.in_scope_accuracy(SCORED, ONES) == 0.5
    assert metrics.out_of_scope_recall(SCORED, ONES) == 0.5
    assert metrics.out_of_scope_precision(SCORED, ONES) == 0.5
    # in scope .9 .8 .7 .2 against out of scope .1 .6: seven of eight pairs
    assert metrics.auroc(SCORED, ONES) == pytest.approx(7 / 8)
    found = metrics.per_class(SCORED, ONES)
    assert list(found) == ["A", "B", OUT]
    assert found["B"] == (pytest.approx(1 / 3), 0.5, 2)
    assert found["A"] == (1.0, 0.5, 2)
    assert metrics.macro_precision(SCORED, ONES) == pytest.approx((1 / 3 + 1 + 0.5) / 3)
    assert metrics.macro_recall(SCORED, ONES) == pytest.approx(0.5)


def test_coverage_counts_routes_of_out_of_scope_texts_as_wrong() -> None:
    assert metrics.coverage_at(SCORED, ONES, 1.0) == 2 / 4  # B and A at .9 and .8
    assert metrics.coverage_at(SCORED, ONES, 0.6) == 3 / 4  # and the wrong one at .7
    assert metrics.coverage_at(SCORED, ONES, 0.5) == 3 / 4  # and the out-of-scope one at .6
    heavy = mixed(SCORED.in_scope, (4, 400))
    assert metrics.coverage_at(SCORED, heavy, 0.6) == 3 / 4
    assert metrics.coverage_at(SCORED, heavy, 0.5) == 3 / 4
    low = np.array([0.5, 0.4, 0.3, 0.1, 0.2, 0.9])  # the out-of-scope text is the surest
    assert metrics.coverage_at(SCORED, ONES, 0.6, low) == 2 / 4
    assert metrics.coverage_at(SCORED, heavy, 0.6, low) == 0


def test_equal_confidences_are_routed_together() -> None:
    same = Scored(("A", OUT), np.array([[0.9, 0.1]] * 4), ("A", "A", "A", OUT))
    assert metrics.coverage_at(same, np.ones(4), 0.9) == 0
    assert metrics.coverage_at(same, np.ones(4), 0.75) == 1


def test_mix_gives_each_kind_its_share() -> None:
    weights = mixed(SCORED.in_scope, (4500, 1000))
    assert weights[SCORED.in_scope].sum() == pytest.approx(4500)
    assert weights[~SCORED.in_scope].sum() == pytest.approx(1000)
    # 1 of the 4 in scope and 1 of the 2 out of scope are called out
    precision = 500 / (500 + 1125)
    assert metrics.out_of_scope_precision(SCORED, weights) == pytest.approx(precision)


def example(seed: int, n: int = 120) -> Scored:
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet([0.5] * 4, n).round(2)
    rows /= rows.sum(axis=1, keepdims=True)
    gold = rng.choice(["A", "B", "C", OUT, "UNKNOWN"], n)
    return Scored((OUT, "C", "A", "B"), rows, tuple(map(str, gold)))


@given(st.integers(0, 2**32 - 1))
def test_figures_equal_scikit_learns(seed: int) -> None:
    scored = example(seed)
    weights = np.random.default_rng(seed).random(120) + 0.1
    best = [scored.labels[i] for i in scored.best]
    names = sorted(set(scored.gold) | set(scored.labels))
    theirs = precision_recall_fscore_support(
        scored.gold, best, labels=names, sample_weight=weights, zero_division=np.nan
    )
    ours = metrics.per_class(scored, weights)
    assert [ours[n].precision for n in names] == pytest.approx(theirs[0].tolist(), nan_ok=True)
    assert [ours[n].recall for n in names] == pytest.approx(theirs[1].tolist(), nan_ok=True)
    top = scored.probabilities[:, 1:].max(axis=1)
    expected = roc_auc_score(scored.in_scope, top, sample_weight=weights)
    assert metrics.auroc(scored, weights) == pytest.approx(expected)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.5, 0.9]))
def test_coverage_equals_the_slow_way(seed: int, precision: float) -> None:
    scored = example(seed)
    sure, routed = scored.probabilities.max(axis=1), scored.best != 0
    best = 0.0
    for threshold in np.unique(sure):
        taken = routed & (sure >= threshold)
        if taken.any() and scored.right[taken].mean() >= precision - 1e-12:
            best = max(best, (taken & scored.in_scope).sum() / scored.in_scope.sum())
    assert metrics.coverage_at(scored, np.ones(120), precision) == pytest.approx(best)


def test_weights_count_as_copies() -> None:
    scored = example(3, 40)
    copies = np.random.default_rng(3).integers(0, 4, 40)
    rows = np.repeat(np.arange(40), copies)
    many = Scored(scored.labels, scored.probabilities[rows], tuple(scored.gold[i] for i in rows))
    for name, figure in metrics.FIGURES.items():
        once, weighted = figure(many, np.ones(len(rows))), figure(scored, copies.astype(float))
        assert once == pytest.approx(weighted, nan_ok=True), name


def test_bootstrap_holds_the_truth_as_often_as_it_says() -> None:
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        right = rng.random(150) < 0.8
        rows = np.where(right[:, None], [0.9, 0.1], [0.1, 0.9])
        scored = Scored(("A", "B"), rows, ("A",) * 150)
        figures = {"accuracy": metrics.in_scope_accuracy}
        found = metrics.intervals(scored, figures=figures, rounds=200, seed=seed)["accuracy"]
        held += found.low <= 0.8 <= found.high
    assert held >= 51


def test_few_out_of_scope_texts_stay_few_whatever_their_weight() -> None:
    rng = np.random.default_rng(0)
    called = rng.random(1020) < 0.5
    gold = ("A",) * 1000 + (OUT,) * 20
    rows = np.where(called[:, None], [0.1, 0.9], [0.9, 0.1])
    scored = Scored(("A", OUT), rows, gold)
    figures = {"recall": metrics.out_of_scope_recall, "accuracy": metrics.in_scope_accuracy}
    found = metrics.intervals(scored, (4500, 1000), figures, rounds=300)
    assert found["recall"].high - found["recall"].low > 0.3
    assert found["accuracy"].high - found["accuracy"].low < 0.08


def test_without_out_of_scope_texts_their_figures_are_nan() -> None:
    scored = Scored(("A", "B"), np.array([[0.9, 0.1], [0.2, 0.8]]), ("A", "A"))
    assert math.isnan(metrics.auroc(scored, np.ones(2)))
    assert math.isnan(metrics.out_of_scope_recall(scored, np.ones(2)))
    assert math.isnan(metrics.intervals(scored, rounds=3)["auroc"].low)


def test_calibration_is_given_in_scope_and_mixed() -> None:
    sure = SCORED.probabilities.max(axis=1)
    found = metrics.calibration(SCORED, sure, mixed(SCORED.in_scope, (1, 99)))
    inside = SCORED.in_scope
    assert found["brier_in_scope"] == pytest.approx(((sure - SCORED.right)[inside] ** 2).mean())
    outside = ((sure - SCORED.right)[~inside] ** 2).mean()
    expected = 0.01 * found["brier_in_scope"] + 0.99 * outside
    assert found["brier_mixed"] == pytest.approx(expected)
    assert set(found) == {
        f"{name}_{part}" for name in ("ece", "ece_adaptive", "brier", "nll")
        for part in ("in_scope", "mixed")
    }  # fmt: skip


def test_diagram_is_sound_and_shows_the_signed_gaps() -> None:
    sure, right = np.array([0.95] * 10 + [0.55] * 10), np.array([True] * 15 + [False] * 5)
    text = diagram("a <b> & c", equal_bins(sure, right))
    root = ET.fromstring(text)  # noqa: S314 - our own text
    told = [e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}title")]
    assert told[0].startswith("a <b> & c: calibration error")
    assert [t.split("gap ")[1] for t in told[1:]] == ["+0.050", "-0.050"]
    assert text == diagram("a <b> & c", equal_bins(sure, right))
    assert ET.fromstring(diagram("none", (Bin(0, 1, 1, 0.5, 0.5),))) is not None  # noqa: S314
