"""Clauses: where a text asks for something, and where it only talks about it.

A *request clause* is an imperative, a request form or a first-person wish that is neither negated
nor conditional, quoted, reported, past, or a how/whether/what-if question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gate.lexicon import Hit, Lexicon, Tag, is_word

OPENERS = frozenset({Tag.REQUEST, Tag.WISH})
CUES = frozenset({Tag.READ, Tag.WRITE})
MASKED = frozenset(
    {
        Tag.NEGATION,
        Tag.CONDITIONAL,
        Tag.QUESTION,
        Tag.PAST,
        Tag.REPORTED,
        Tag.CONTRAST,
        Tag.CONJUNCTION,
        Tag.THIRD,
        Tag.ANAPHOR,
    }
)
SKIPPED = frozenset({Tag.FILLER, Tag.CLAUSE, Tag.JOINER, Tag.CONJUNCTION})


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of folded text [start, end) of sentence `sentence` and what it is.

    `asks_from` is where a request begins to govern verbs (None: the clause asks for nothing);
    `bare` tells an imperative without a request form; `joined` that a joiner opened the clause.
    """

    start: int
    end: int
    sentence: int
    hits: tuple[Hit, ...] = ()
    negated: bool = False
    conditional: bool = False
    reported: bool = False
    past: bool = False
    question: bool = False
    quoted: bool = False
    bare: bool = False
    joined: bool = False
    inherited: bool = False
    asks_from: int | None = None

    @property
    def request(self) -> bool:
        """True if the clause asks for something to be done now."""
        set_aside = self.negated or self.conditional or self.reported or self.past or self.question
        return self.asks_from is not None and not (set_aside or self.quoted or self.inherited)


def split(lexicon: Lexicon, text: str, hits: Sequence[Hit]) -> tuple[Clause, ...]:
    """The clauses of a folded text, in order, each with its hits and its flags."""
    hits = unmasked(hits)
    quotes = quoted_spans(lexicon, text)
    edges = frozenset(p for a, b in quotes for p in (a, b))
    bounds = _bounds(lexicon, text, hits, edges)
    clauses = [_clause(lexicon, text, b, hits, quotes) for b in bounds]
    return tuple(_inherit(_spread(clauses)))


def unmasked(hits: Sequence[Hit]) -> list[Hit]:
    """Hits without those that stand inside an exception (`not only`, `if possible`, 是不是, ...)."""
    exceptions = [h for h in hits if Tag.EXCEPTION in h.tags]
    if not exceptions:
        return list(hits)
    kept: list[Hit] = []
    for hit in hits:
        inside = any(e.start < hit.end and hit.start < e.end for e in exceptions if e is not hit)
        tags = hit.tags - MASKED if inside else hit.tags
        if tags:
            kept.append(replace(hit, tags=tags))
    return kept


def quoted_spans(lexicon: Lexicon, text: str) -> tuple[tuple[int, int], ...]:
    """The stretches between quotation marks; an unclosed double quote runs to the end of the text."""
    spans: list[tuple[int, int]] = []
    for pair in lexicon.quotes:
        opening, closing = pair[0], pair[-1]
        position = _open_quote(text, opening, 0)
        while position >= 0:
            end = _close_quote(text, closing, position + 1)
            if end < 0 and opening == "'":
                break
            end = len(text) if end < 0 else end
            spans.append((position, end))
            position = _open_quote(text, opening, end + 1)
    return tuple(spans)


def _open_quote(text: str, mark: str, start: int) -> int:
    position = text.find(mark, start)
    while mark == "'" and position > 0 and is_word(text[position - 1]):
        position = text.find(mark, position + 1)
    return position


def _close_quote(text: str, mark: str, start: int) -> int:
    position = text.find(mark, start)
    while mark == "'" and 0 <= position < len(text) - 1 and is_word(text[position + 1]):
        position = text.find(mark, position + 1)
    return position


def _is_mark(lexicon: Lexicon, text: str, position: int) -> bool:
    if text[position] not in lexicon.marks:
        return False
    inner = 0 < position < len(text) - 1
    return not (inner and text[position - 1].isdigit() and text[position + 1].isdigit())


def _bounds(
    lexicon: Lexicon, text: str, hits: Sequence[Hit], edges: frozenset[int]
) -> list[tuple[int, int, int, bool]]:
    """(start, end, sentence, joined) of every clause; marks and quotation marks end one, clause words open one."""
    opens = {h.start: Tag.CLAUSE not in h.tags for h in hits if _opens(h, text, hits)}
    bounds: list[tuple[int, int, int, bool]] = []
    start, sentence, joined = 0, 0, False
    for position in range(len(text)):
        if position in opens and position > start:
            bounds.append((start, position, sentence, joined))
            start, joined = position, opens[position]
        elif position in edges or _is_mark(lexicon, text, position):
            bounds.append((start, position + 1, sentence, joined))
            start, joined = position + 1, False
            sentence += text[position] in lexicon.ends
    bounds.append((start, len(text), sentence, joined))
    return [b for b in bounds if text[b[0] : b[1]].strip()]


def _opens(hit: Hit, text: str, hits: Sequence[Hit]) -> bool:
    """True if the hit opens a clause: a clause word always, a joiner only before a request or verb."""
    if Tag.CLAUSE in hit.tags or Tag.CONJUNCTION in hit.tags:
        return True
    if Tag.JOINER not in hit.tags:
        return False
    following = skip(text, hit.end, hits)
    return any(h.start == following and h.tags & (OPENERS | CUES | {Tag.NEGATION}) for h in hits)


def skip(text: str, position: int, hits: Sequence[Hit]) -> int:
    """The position after white space, punctuation and skippable words that start at `position`."""
    moved = True
    while moved:
        moved = False
        while position < len(text) and not text[position].isalnum() and text[position] not in "\"'":
            position += 1
        for hit in hits:
            if hit.start == position and hit.tags & SKIPPED and not hit.tags & (CUES | OPENERS):
                position, moved = hit.end, True
                break
    return position


def _clause(
    lexicon: Lexicon,
    text: str,
    bound: tuple[int, int, int, bool],
    hits: Sequence[Hit],
    quotes: tuple[tuple[int, int], ...],
) -> Clause:
    start, end, sentence, joined = bound
    inside = tuple(h for h in hits if start <= h.start and h.end <= end)
    tags = frozenset(t for h in inside for t in h.tags)
    asks_from, bare = _asks(text, start, inside)
    marked = text[end - 1] == "?" and bare
    return Clause(
        start, end, sentence, inside,
        negated=Tag.NEGATION in tags,
        conditional=Tag.CONDITIONAL in tags,
        reported=Tag.REPORTED in tags,
        past=Tag.PAST in tags,
        question=Tag.QUESTION in tags or marked,
        quoted=any(a < start <= b for a, b in quotes),
        bare=bare, joined=joined, asks_from=asks_from,
    )  # fmt: skip


def _asks(text: str, start: int, inside: Sequence[Hit]) -> tuple[int | None, bool]:
    """Where the clause's request begins to govern verbs, and whether it is a bare imperative."""
    first = skip(text, start, inside)
    forms = [h for h in inside if h.tags & OPENERS]
    if forms:
        return max(h.end for h in forms if h.start == forms[0].start), False
    if any(h.start == first and h.tags & CUES for h in inside):
        return first, True
    return None, False


def _spread(clauses: Sequence[Clause]) -> list[Clause]:
    """A condition makes its whole sentence conditional."""
    conditional = {c.sentence for c in clauses if c.conditional}
    return [replace(c, conditional=True) if c.sentence in conditional else c for c in clauses]


def _inherit(clauses: Sequence[Clause]) -> list[Clause]:
    """A bare imperative goes on with what stands before it in its sentence (do not freeze or cancel it)."""
    done: list[Clause] = []
    for clause in clauses:
        previous = done[-1] if done else None
        if previous and previous.sentence == clause.sentence and (clause.bare or clause.joined):
            aside = previous.negated or previous.question or previous.reported or previous.inherited
            own = clause.asks_from is not None and not clause.bare
            clause = replace(clause, inherited=aside and not own)
        done.append(clause)
    return done


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
        if Tag.WRITE not in hit.tags:
            break
        if not is_word(text[hit.start]) or hit.start <= position:
            found.append(hit)
    return tuple(found)
