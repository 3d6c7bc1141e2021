"""Scores kept in a small file, so that tests of the error bound need neither texts nor training.

    banking77-lexical.npz   per text of the pool: gold and best label as places, confidence; the best
                            label and confidence of its rewording

The head learns from 3,000 texts of Banking77's training split; the pool is the rest of it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eval.intents import data, rewording
from inference.classifiers import lexical

FILE = "banking77-lexical.npz"
LEARNT_FROM = 3000
SEED = 20261201
RECIPE = lexical.Recipe(ngrams=(1, 4), at_least=2, strength=20.0)


def write(public: Path, out: Path) -> Path:
    """Train, score and write the file; the same data give the same bytes."""
    texts = data.banking(public)
    order = np.random.default_rng(SEED).permutation(len(texts.texts)).tolist()
    kept, pool = texts.take(order[:LEARNT_FROM]), texts.take(order[LEARNT_FROM:])
    scorer = lexical.fit(kept.texts, kept.labels, RECIPE)
    place = {label: i for i, label in enumerate(scorer.labels)}
    plain = scorer.scores(pool.texts)
    other = scorer.scores(rewording.reworded(pool.texts, SEED))
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        out / FILE,
        gold=np.array([place[label] for label in pool.labels], dtype=np.uint8),
        best=_best(plain),
        confidence=plain.max(axis=1).astype(np.float32),
        reworded_best=_best(other),
        reworded_confidence=other.max(axis=1).astype(np.float32),
    )
    return out / FILE


def _best(scores: NDArray[np.float64]) -> NDArray[np.uint8]:
    return np.asarray(scores.argmax(axis=1), dtype=np.uint8)
