"""BM25 over one partition's chunks: our own words and vocabulary, bm25s for the arithmetic.

The vocabulary is sorted, so the same chunks give the same files (P-17).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bm25s import BM25

WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
STOPWORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have how i if in is "
    "it its me my of on or our should so than that the their them then there these they this to "
    "was we were what when where which who will with would you your".split()
)


def words(text: str) -> list[str]:
    """Case-folded words and numbers without the most frequent function words."""
    folded = text.casefold().replace("\u2019", "'").replace("'s", "")
    return [word for word in WORD.findall(folded) if word not in STOPWORDS]


def build(texts: Sequence[str], folder: Path) -> None:
    """Write the BM25 files of these texts into `folder`."""
    from bm25s import BM25

    tokens = [words(text) for text in texts]
    vocabulary = {w: i for i, w in enumerate(sorted({w for text in tokens for w in text} | {""}))}
    ids = [[vocabulary[word] for word in text] for text in tokens]
    index = BM25(backend="numpy")
    index.index((ids, vocabulary), show_progress=False)
    index.save(folder, show_progress=False)


def load(folder: Path) -> BM25:
    """Open the files that `build` wrote."""
    from bm25s import BM25

    return BM25.load(folder, show_progress=False)


def scores(index: BM25, query: str) -> NDArray[np.float32]:
    """One score per text, 0 where no word is shared."""
    tokens = words(query)
    if not tokens:
        return np.zeros(index.scores["num_docs"], dtype=np.float32)
    return np.asarray(index.get_scores(tokens), dtype=np.float32)
