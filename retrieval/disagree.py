"""Two documents that say the same with another number or date, or the opposite.

Nothing is understood here: two sentences that answer the request about equally well, in almost the
same words, are compared in what remains: numbers, months and negations. It misses contradictions in
other words and should never see one where there is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from retrieval import lexical
from retrieval.evidence import About, Names, Passage, nothing_named

LEADING = 4
"""How many of the closed list's first passages are compared."""
ALIKE = 0.85
"""Least share of common words among all words of two sentences, numbers and negations apart."""
LEAST_WORDS = 5
NEAR = 0.8
"""A sentence counts if its cosine reaches this share of the best one's."""
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
MONTHS = frozenset(
    "january february march april may june july august september october november december".split()
)
NEGATION = re.compile(
    r"\b(?:not|no|never|cannot|neither|nor|without|none)\b|n['\u2019]t\b|[不没無无未非]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two passages and the sentences in which they differ; `kind` is `NUMBER` or `NEGATION`."""

    kind: str
    first: Passage
    second: Passage
    sentences: tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Said:
    passage: Passage
    text: str
    words: frozenset[str]
    numbers: frozenset[str]
    negated: bool


def disagreement(passages: Sequence[Passage], names: Names = nothing_named) -> Disagreement | None:
    """The first pair of leading passages of two documents that disagree; None where none do.

    Sentences about another object than the one asked about are not compared.
    """
    leading = passages[:LEADING]
    best = max((score for p in leading for *_, score in p.sentences), default=0.0)
    said = [
        _said(passage, text)
        for passage in leading
        for _, text, score in passage.sentences
        if score >= NEAR * best and names(text) is not About.OTHER
    ]
    for first, second in combinations(said, 2):
        if first.passage.source.file != second.passage.source.file and _alike(first, second):
            kind = _kind(first, second)
            if kind is not None:
                texts = first.text, second.text
                return Disagreement(kind, first.passage, second.passage, texts)
    return None


def _said(passage: Passage, text: str) -> _Said:
    words = set(lexical.words(NEGATION.sub(" ", text)))
    numbers = {_plain(number) for number in NUMBER.findall(text)} | (words & MONTHS)
    rest = {word for word in words - MONTHS if not NUMBER.fullmatch(word)}
    negated = len(NEGATION.findall(text)) % 2 == 1
    return _Said(passage, text, frozenset(rest), frozenset(numbers), negated)


def _plain(number: str) -> str:
    """The same digits for `1,000`, `1000` and `1000.00`."""
    whole, _, part = number.replace(",", "").partition(".")
    return f"{whole.lstrip('0') or '0'}.{part.rstrip('0')}"


def _alike(first: _Said, second: _Said) -> bool:
    common, every = first.words & second.words, first.words | second.words
    return len(common) >= LEAST_WORDS and len(common) >= ALIKE * len(every)


def _kind(first: _Said, second: _Said) -> str | None:
    if first.numbers and second.numbers and first.numbers != second.numbers:
        return "NUMBER"
    return "NEGATION" if first.negated != second.negated else None
