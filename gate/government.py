"""Government: which verbs a clause's request governs, in the form that it takes."""

from __future__ import annotations

from typing import Final

from gate.clauses import CUES, Clause, skip
from gate.lexicon import (
    DISPOSAL,
    GERUND,
    GERUND_FORM,
    LIGHT,
    PARTICIPLE,
    PARTICIPLE_FORM,
    PASSIVE,
    SOFTENER,
    WRITE,
    Hit,
    Lexicon,
    is_word,
)

VERBS: Final = WRITE | GERUND | PARTICIPLE


def governed(lexicon: Lexicon, clause: Clause, text: str) -> tuple[Hit, ...]:
    """The write cues that the clause's request governs, and declared verbs in the form that it takes.

    A verb must follow the request form directly (skippable words between), or in Han text behind what
    a preposition opens (请把卡冻结) or a light verb carries (提交买入). A read cue ends the government; a
    verb that is done, describes or is part of a noun is no request (冻结了, 冻结的, purchase history).
    """
    if clause.asks_from is None:
        return ()
    if clause.tags & (GERUND | PARTICIPLE) and (formed := _formed(clause, text)):
        return (formed,)
    found: list[Hit] = []
    first = skip(text, clause.asks_from, clause.jumps)
    opened = _opened(lexicon, text, clause.asks_from, first)
    reach, light = first, False
    for hit in clause.hits:
        if hit.start < clause.asks_from or not hit.tags & CUES:
            continue
        if not hit.tags & WRITE:
            break
        noun = _noun(lexicon, text, _completed(lexicon, clause, text, hit))
        if noun and (found or opened > 0) and not is_word(text[hit.start]):
            continue  # 把登记的邮箱改成…
        if hit.start > reach and not light and not (0 < opened < hit.start and not found):
            break
        if noun:
            return ()
        if hit.end > reach:
            reach, light = hit.end, bool(hit.tags & LIGHT)
        found.append(hit)
    return tuple(found)


def _formed(clause: Clause, text: str) -> Hit | None:
    """The gerund right behind a form that takes one (would you mind freezing it), or the first
    participle behind a form that takes one (i want my card frozen), no other cue between."""
    start = clause.asks_from or 0
    form = 0
    for hit in clause.hits:
        form |= hit.tags if hit.end == start else 0
    first = skip(text, start, clause.jumps)
    for hit in clause.hits:
        if hit.start < start:
            continue
        if form & PASSIVE and hit.tags & (PARTICIPLE | GERUND) and hit.start == first:
            return hit
        if form & GERUND_FORM and hit.tags & GERUND and hit.start == first:
            return hit
        if form & PARTICIPLE_FORM and hit.tags & PARTICIPLE:
            return hit
        if hit.tags & CUES:
            break
    return None


def _opened(lexicon: Lexicon, text: str, asks_from: int, first: int) -> int:
    """Where the preposition ends that stands behind the request form, or at its end; or -1."""
    opened = lexicon.prepositions.starting_at(text, first)
    within = opened < 0 and bool(lexicon.prepositions.ending_at(text, asks_from))
    return first if within else opened


def _completed(lexicon: Lexicon, clause: Clause, text: str, verb: Hit) -> int:
    """Behind the words that say how far the verb goes (掉, 住).

    One that tells of what is done (了) belongs to them in a disposal and before a softener alone.
    """
    end, soft = verb.end, {h.start for h in clause.hits if h.tags & SOFTENER}
    disposed = any(h.tags & DISPOSAL and h.end <= verb.start for h in clause.hits)
    while (longest := max(lexicon.completives.all_from(text, end), default=-1)) > 0:
        if lexicon.perfectives.ending_at(text, longest) and not disposed and longest not in soft:
            break
        end = longest
    return end


def _noun(lexicon: Lexicon, text: str, end: int) -> bool:
    """True if the word behind a verb makes it done, a description or part of a noun."""
    gap = text[end : end + 1] == " "
    stop = lexicon.endings.starting_at(text, end + gap)
    return stop > 0 and stop >= max(lexicon.leading_words.all_from(text, end), default=0)
