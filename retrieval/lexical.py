"""BM25 over one partition's chunks: our own words and vocabulary, bm25s for the arithmetic.

The vocabulary is sorted, so the same chunks give the same files (P-17).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bm25s import BM25
    from jieba import Tokenizer

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"[{HAN}]+|(?:(?![{HAN}])[^\W_])+(?:[.,]\d+)*")
IS_HAN = re.compile(f"[{HAN}]")
STOPWORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have how i if in is "
    "it its me my of on or our should so than that the their them then there these they this to "
    "was we were what when where which who will with would you your 的 了 吗 呢 是 我 在 和 有".split()
)


def words(text: str) -> list[str]:
    """Case-folded words and numbers without the most frequent function words.

    English plural endings are taken off; runs of Han characters are broken into words by jieba.
    """
    folded = text.casefold().replace("\u2019", "'").replace("'s", "")
    found: list[str] = []
    for run in WORD.findall(folded):
        found += _han(run) if IS_HAN.match(run) else [run]
    return [_singular(word) for word in found if word not in STOPWORDS]


def _han(run: str) -> list[str]:
    return [word for word in _breaker().lcut_for_search(run) if word.strip()]


@cache
def _breaker() -> Tokenizer:
    """jieba with its own dictionary, read from the package alone.

    Its `initialize` would load a cache from the machine's shared temporary folder.
    """
    import jieba

    breaker = jieba.Tokenizer()
    breaker.FREQ, breaker.total = breaker.gen_pfdict(breaker.get_dict_file())
    breaker.initialized = True
    return breaker


def _singular(word: str) -> str:
    """Harman's S-stemmer (How effective is suffixing?, JASIS 42, 1991)."""
    if len(word) > 3 and word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


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


def covered(index: BM25, tokens: Sequence[str], rows: Sequence[int]) -> NDArray[np.float64]:
    """The share of a request's words that each of these texts holds, a rare word counting more.

    A word weighs as in BM25 (inverse document frequency, smoothed); 0 for a request without words.
    """
    wanted = sorted(set(tokens))
    shares, total = np.zeros(len(rows)), 0.0
    pointers, number = index.scores["indptr"], index.scores["num_docs"]
    for token in wanted:
        column = index.vocab_dict.get(token)
        first, last = (0, 0) if column is None else (pointers[column], pointers[column + 1])
        held = index.scores["indices"][first:last]
        weight = float(np.log(1 + (number - len(held) + 0.5) / (len(held) + 0.5)))
        shares += weight * np.isin(rows, held)
        total += weight
    return shares / total if total else shares


def scores(index: BM25, tokens: Sequence[str]) -> NDArray[np.float32]:
    """One score per text for the words of a request, 0 where no word is shared."""
    if not tokens:
        return np.zeros(index.scores["num_docs"], dtype=np.float32)
    return np.asarray(index.get_scores(list(tokens)), dtype=np.float32)
