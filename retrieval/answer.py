"""The extractive answer: sentences quoted from the evidence, each with the place it stands at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.document import Block
from retrieval.evidence import About, Names, Passage, nothing_named

KEPT = 0.8
"""A neighbouring sentence is quoted too if it scores at least this share of the best one."""

MOST_WORDS = 70


@dataclass(frozen=True, slots=True)
class Quote:
    """Adjoining sentences of one block, word for word, and the passage that they stand in.

    `score` is the best cosine of one of them with the request.
    """

    text: str
    passage: Passage
    block: Block
    score: float


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    passage: Passage
    block: Block
    score: float


def extract(passages: Sequence[Passage], names: Names = nothing_named) -> tuple[Quote, ...]:
    """The best sentence and its like neighbours in one passage; whether to say it is not decided.

    A sentence that names another object than the one asked about is never quoted.
    """
    found = [
        _Sentence(text, passage, block, score)
        for passage in passages
        for block, text, score in passage.sentences
        if names(text) is not About.OTHER
    ]
    if not found:
        return ()
    best = max(range(len(found)), key=lambda i: (found[i].score, -i))
    return tuple(_quotes(_run(found, best)))


def _run(found: Sequence[_Sentence], best: int) -> Sequence[_Sentence]:
    """Grow from the best sentence to the better neighbour while it is like it and short enough."""
    first, last = best, best
    least = found[best].score * KEPT
    words = len(found[best].text.split())
    while True:
        sides = [i for i in (first - 1, last + 1) if _joins(found, i, best, least, words)]
        if not sides:
            return found[first : last + 1]
        side = max(sides, key=lambda i: found[i].score)
        words += len(found[side].text.split())
        first, last = min(first, side), max(last, side)


def _joins(found: Sequence[_Sentence], i: int, best: int, least: float, words: int) -> bool:
    if not 0 <= i < len(found) or found[i].passage is not found[best].passage:
        return False
    return found[i].score >= least and words + len(found[i].text.split()) <= MOST_WORDS


def _quotes(run: Sequence[_Sentence]) -> list[Quote]:
    quotes: list[Quote] = []
    for sentence in run:
        if quotes and quotes[-1].block is sentence.block:
            last = quotes.pop()
            text, score = f"{last.text} {sentence.text}", max(last.score, sentence.score)
            quotes.append(Quote(text, sentence.passage, sentence.block, score))
        else:
            quotes.append(Quote(sentence.text, sentence.passage, sentence.block, sentence.score))
    return quotes
