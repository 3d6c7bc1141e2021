"""Clauses: where a text asks for something, and where it only talks about it.

A *request clause* is an imperative, a request form or a first-person wish that is neither negated
nor conditional, quoted, reported, past, or a how/whether/what-if question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from gate.lexicon import (
    ANAPHOR,
    CLAUSE,
    CONDITIONAL,
    CONJUNCTION,
    CONTRAST,
    EXCEPTION,
    FILLER,
    JOINER,
    NEGATION,
    PAST,
    QUESTION,
    READ,
    REPORTED,
    REQUEST,
    THIRD,
    WISH,
    WRITE,
    Hit,
    Lexicon,
    is_word,
)

OPENERS: Final = REQUEST | WISH
CUES: Final = READ | WRITE
SKIPPED: Final = FILLER | CLAUSE | JOINER | CONJUNCTION
MASKED: Final = (
    NEGATION | CONDITIONAL | QUESTION | PAST | REPORTED | CONTRAST | CONJUNCTION | THIRD | ANAPHOR
)
"""What an exception takes from the phrases inside it."""


class Clause(NamedTuple):
    """A stretch of folded text [start, end) of one sentence and what it is.

    `tags` holds the bits of all its hits. `asks_from` is where a request begins to govern verbs
    (None: the clause asks for nothing); `bare` tells an imperative without a request form; `aside`
    that the clause is negated, a question or somebody's report, by itself or by what it goes on
    with; `talk` that for any reason it only talks about what it names.
    """

    start: int
    end: int
    sentence: int
    hits: Sequence[Hit]
    tags: int
    asks_from: int | None
    bare: bool
    question: bool
    quoted: bool
    aside: bool
    talk: bool

    @property
    def negated(self) -> bool:
        """True if a negator stands in the clause; one negates all its cues."""
        return bool(self.tags & NEGATION)

    @property
    def carries(self) -> bool:
        """True if what goes on from here is set aside too: a question, a report, a negated verb."""
        return self.aside and (self.question or not self.negated or bool(self.tags & CUES))

    @property
    def request(self) -> bool:
        """True if the clause asks for something to be done now."""
        return self.asks_from is not None and not self.talk


class _Bound(NamedTuple):
    start: int
    end: int
    sentence: int
    joined: bool


def unmasked(hits: Sequence[Hit]) -> list[Hit]:
    """Hits without the cues that stand inside an exception (`not only`, `if possible`, 是不是, ...)."""
    exceptions = [h for h in hits if h.tags & EXCEPTION]
    if not exceptions:
        return list(hits)
    kept: list[Hit] = []
    for hit in hits:
        if any(e.start < hit.end and hit.start < e.end for e in exceptions):
            hit = hit._replace(tags=hit.tags & ~MASKED)
        if hit.tags:
            kept.append(hit)
    return kept


def split(lexicon: Lexicon, text: str, hits: Sequence[Hit]) -> tuple[Clause, ...]:
    """The clauses of a folded text, in order, each with its (unmasked) hits and its flags.

    A condition holds for its whole sentence; a bare imperative, or what a joiner adds, goes on with
    what stands before it in the sentence (do not freeze or cancel it; how do i freeze, cancel it).
    """
    quotes = quoted_spans(lexicon, text)
    bounds = _bounds(lexicon, text, hits, quotes)
    clauses: list[Clause] = []
    conditional: set[int] = set()
    position = 0
    for bound in bounds:
        inside: list[Hit] = []
        while position < len(hits) and hits[position].start < bound.end:
            if hits[position].start >= bound.start and hits[position].end <= bound.end:
                inside.append(hits[position])
            position += 1
        clause = _clause(text, bound, inside, quotes, clauses[-1] if clauses else None)
        if clause.tags & CONDITIONAL:
            conditional.add(clause.sentence)
        clauses.append(clause)
    if conditional:
        return tuple(c._replace(talk=c.talk or c.sentence in conditional) for c in clauses)
    return tuple(clauses)


def quoted_spans(lexicon: Lexicon, text: str) -> tuple[tuple[int, int], ...]:
    """The stretches between quotation marks; an unclosed double quote runs to the end of the text."""
    spans: list[tuple[int, int]] = []
    for pair in lexicon.quotes:
        opening, closing = pair[0], pair[-1]
        if opening not in text:
            continue
        position = _quote(text, opening, 0, before=True)
        while position >= 0:
            end = _quote(text, closing, position + 1, before=False)
            if end < 0 and opening == "'":
                break
            end = len(text) if end < 0 else end
            spans.append((position, end))
            position = _quote(text, opening, end + 1, before=True)
    return tuple(spans)


def _quote(text: str, mark: str, start: int, *, before: bool) -> int:
    """The next `mark` from `start`, or -1; a single quote against a letter is an apostrophe."""
    position = text.find(mark, start)
    while mark == "'" and position >= 0:
        beside = text[position - 1 : position] if before else text[position + 1 : position + 2]
        if not beside or not is_word(beside):
            break
        position = text.find(mark, position + 1)
    return position


def _bounds(
    lexicon: Lexicon, text: str, hits: Sequence[Hit], quotes: Sequence[tuple[int, int]]
) -> list[_Bound]:
    """Marks and quotation marks end a clause; clause words, and joiners before a verb, open one."""
    cuts = {m.end(): m.group() in lexicon.ends for m in lexicon.marks.finditer(text)}
    cuts.update((p + 1, False) for span in quotes for p in span if p < len(text))
    opens = {
        h.start: not h.tags & CLAUSE for h in hits if h.tags & SKIPPED and _opens(h, text, hits)
    }
    bounds: list[_Bound] = []
    start, sentence, joined = 0, 0, opens.get(0, False)
    for position in sorted({*cuts, *opens, len(text)}):
        if text[start:position].strip():
            bounds.append(_Bound(start, position, sentence, joined))
        if position > start:
            start, joined = position, False
        joined = opens.get(position, joined)
        sentence += cuts.get(position, False)
    return bounds


def _opens(hit: Hit, text: str, hits: Sequence[Hit]) -> bool:
    """True if the hit opens a clause: a clause word always, a joiner only before a request or verb."""
    if hit.tags & (CLAUSE | CONJUNCTION):
        return True
    if not hit.tags & JOINER:
        return False
    following = skip(text, hit.end, hits)
    return any(h.start == following and h.tags & (OPENERS | CUES | NEGATION) for h in hits)


def skip(text: str, position: int, hits: Sequence[Hit]) -> int:
    """The position after white space, punctuation and skippable words that start at `position`."""
    size = len(text)
    while position < size and not text[position].isalnum() and text[position] not in "\"'":
        position += 1
    for hit in hits:
        if hit.start > position:
            break
        if hit.start == position and hit.tags & SKIPPED and _passable(hit.tags):
            return skip(text, hit.end, hits)
    return position


def _passable(tags: int) -> bool:
    return not tags & CUES and bool(tags & FILLER or not tags & OPENERS)


def _clause(
    text: str,
    bound: _Bound,
    inside: Sequence[Hit],
    quotes: Sequence[tuple[int, int]],
    previous: Clause | None,
) -> Clause:
    start, end, sentence, joined = bound
    tags = 0
    for hit in inside:
        tags |= hit.tags
    asks_from, bare = _asks(text, start, inside, tags)
    question = bool(tags & QUESTION) or (bare and text[end - 1] == "?")
    quoted = any(a < start <= b for a, b in quotes) if quotes else False
    aside = question or bool(tags & (NEGATION | REPORTED))
    if previous is not None and previous.carries and previous.sentence == sentence:
        aside = aside or bare or (joined and asks_from is None)
    talk = aside or quoted or bool(tags & PAST)
    return Clause(
        start, end, sentence, inside, tags, asks_from, bare, question, quoted, aside, talk
    )


def _asks(text: str, start: int, inside: Sequence[Hit], tags: int) -> tuple[int | None, bool]:
    """Where the clause's request begins to govern verbs, and whether it is a bare imperative."""
    if tags & CUES:
        first = skip(text, start, inside)
        if any(h.start == first and h.tags & CUES for h in inside):
            return first, True
    if tags & OPENERS:
        form = next(h for h in inside if h.tags & OPENERS)
        return form.end, False
    return None, False


def governed(clause: Clause, text: str) -> tuple[Hit, ...]:
    """The write cues that the clause's request governs.

    In a script with spaces a verb must follow the request form directly (skippable words between);
    in Han text it may stand anywhere after it. A read cue ends the government.
    """
    if clause.asks_from is None:
        return ()
    found: list[Hit] = []
    position = skip(text, clause.asks_from, clause.hits)
    for hit in clause.hits:
        if hit.start < clause.asks_from or not hit.tags & CUES:
            continue
        if not hit.tags & WRITE:
            break
        if not is_word(text[hit.start]) or hit.start <= position:
            found.append(hit)
    return tuple(found)
