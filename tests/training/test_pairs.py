"""Pairs: k per text, never all of them, right about who shares a label, whatever the labels' order."""

from __future__ import annotations

import time
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.errors import TrainingError
from training.pairs import draw

ROWS = 40_000


@given(
    st.lists(st.sampled_from(["ZEBRA", "APPLE", "MOUSE", "10", "9"]), min_size=2, max_size=60),
    st.integers(1, 7),
    st.integers(0, 99),
)
def test_pairs_are_what_they_say(labels: list[str], per_text: int, seed: int) -> None:
    if len(set(labels)) < 2:
        with pytest.raises(TrainingError, match="one label"):
            draw(labels, per_text, seed)
        return
    pairs = draw(labels, per_text, seed)
    alike = (per_text + 1) // 2
    for i, j, same in zip(*pairs, strict=True):
        assert i != j
        assert same == (labels[i] == labels[j])
    counts = Counter((int(i), bool(same)) for i, same in zip(pairs.left, pairs.same, strict=True))
    for i, label in enumerate(labels):
        assert counts[i, True] == (alike if labels.count(label) > 1 else 0)
        assert counts[i, False] == per_text - alike


def test_partners_are_drawn_evenly() -> None:
    labels = ["Z"] * 3 + ["A"] * 5 + ["M"] * 2
    pairs = draw(labels, 2000, 0)
    first = pairs.left == 0
    same = Counter(pairs.right[first & pairs.same].tolist())
    other = Counter(pairs.right[first & ~pairs.same].tolist())
    assert set(same) == {1, 2} and min(same.values()) > 400
    assert set(other) == set(range(3, 10)) and min(other.values()) > 100


def test_same_seed_same_pairs() -> None:
    labels = ["B", "A", "B", "A"] * 5
    one, two, other = (draw(labels, 4, seed) for seed in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(one, two, strict=True))
    assert any((a != b).any() for a, b in zip(one, other, strict=True))


def test_forty_thousand_rows_take_seconds_and_megabytes() -> None:
    rng = np.random.default_rng(0)
    labels = [f"L{n}" for n in rng.permutation(150)[rng.integers(0, 150, ROWS - 3)]] + ["RARE"] * 3
    tracemalloc.start()
    started = time.thread_time()
    pairs = draw(labels, 20, 0)
    seconds = time.thread_time() - started
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(pairs.left) == 20 * ROWS
    assert seconds < 5
    assert peak < 200 * 2**20  # all pairs would take 800 million places of eight bytes
    rare = pairs.left >= ROWS - 3
    assert pairs.same[rare].sum() == 30
    assert set(pairs.right[rare & pairs.same]) == {ROWS - 3, ROWS - 2, ROWS - 1}


def test_memory_grows_with_the_rows_not_their_square() -> None:
    peaks = []
    for rows in (5_000, 20_000):
        labels = [f"L{n % 50}" for n in range(rows)]
        tracemalloc.start()
        draw(labels, 10, 0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 6 * peaks[0]


def test_columns_for_the_trainer() -> None:
    columns = draw(["A", "A", "B"], 2, 0).texts(["a one", "a two", "b"])
    assert set(columns) == {"sentence_1", "sentence_2", "label"}
    for one, two, label in zip(*columns.values(), strict=True):
        assert label == float(str(one)[0] == str(two)[0])


def test_no_pair_per_text_is_refused() -> None:
    with pytest.raises(TrainingError, match="at least one"):
        draw(["A", "B"], 0, 0)
