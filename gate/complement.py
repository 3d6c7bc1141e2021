"""Complements: what a governed verb asks to be done to.

"freeze my card" asks for a card to be frozen, "freeze my credit report" does not, and neither does
"block payments to 5316": the noun phrase behind the verb must end in a noun of the action, in a
name, or in an anaphor. Scripts without spaces are not read this way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from gate.lexicon import (
    ACTION_NOUN,
    ANAPHOR,
    FILLER,
    KIND,
    TYPE_NOUN,
    Hit,
    Lexicon,
    is_word,
)

Span = tuple[int, int]

NOUNS: Final = TYPE_NOUN | ACTION_NOUN | KIND
MODIFIERS: Final = 2
"""Words outside every list that may stand before the noun (my stolen blue card)."""

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_GAP = re.compile(r"[ \"']*")


class Reading(NamedTuple):
    """A folded text with its hits by start, its names and its claimed amounts by start."""

    lexicon: Lexicon
    text: str
    hits: Mapping[int, Sequence[Hit]]
    names: Mapping[int, int]
    amounts: Mapping[int, int]


def reading(
    lexicon: Lexicon, text: str, hits: Sequence[Hit], names: Sequence[Span], amounts: Sequence[Span]
) -> Reading:
    """Prepare a text; `names` and `amounts` are folded spans."""
    by_start: dict[int, list[Hit]] = {}
    for hit in hits:
        by_start.setdefault(hit.start, []).append(hit)
    return Reading(lexicon, text, by_start, dict(names), dict(amounts))


def asks_for(read: Reading, verb: Hit) -> bool:
    """True if the verb's noun phrase ends in a noun of an object or action, a name, or an anaphor."""
    if not is_word(read.text[verb.start]):
        return True
    position, spare = _next(read.text, verb.end), MODIFIERS
    if verb.tags & NOUNS or _closes_with_noun(read, verb):
        return True
    while position < len(read.text):
        if position in read.names:
            return True
        if position in read.amounts:
            position, spare = _behind_amount(read, read.amounts[position]), 0
            continue
        head = _longest(read, position, NOUNS | ANAPHOR)
        if head is not None and _is_head(read, head):
            return True
        word = _WORD.match(read.text, position)
        if word is None:
            return False
        if word.group() in read.lexicon.amount_joiners:
            return _next(read.text, word.end()) in read.names
        passable = _longest(read, position, FILLER)
        if word.group() in read.lexicon.determiners:
            position = _next(read.text, word.end())
        elif passable is not None and head is None:
            position = _next(read.text, passable.end)
        elif word.group() in read.lexicon.followers or not (spare or head):
            return False
        else:
            spare -= head is None
            position = _next(read.text, head.end if head is not None else word.end())
    return False


def _next(text: str, position: int) -> int:
    gap = _GAP.match(text, position)
    return gap.end() if gap else position


def _longest(read: Reading, position: int, tags: int) -> Hit | None:
    return next((h for h in read.hits.get(position, ()) if h.tags & tags), None)


def _closes_with_noun(read: Reading, verb: Hit) -> bool:
    """True for a declared phrase that holds its own noun (cancel my account)."""
    inside = (h for start in range(verb.start + 1, verb.end) for h in read.hits.get(start, ()))
    return any(h.tags & TYPE_NOUN and h.end == verb.end for h in inside)


def _behind_amount(read: Reading, end: int) -> int:
    """Behind an amount and what joins it to the thing (500 dollars of, $50 in)."""
    position = _next(read.text, end)
    word = _WORD.match(read.text, position)
    joined = word is not None and word.group() in read.lexicon.amount_joiners
    return _next(read.text, word.end()) if word is not None and joined else position


def _is_head(read: Reading, noun: Hit) -> bool:
    """True if nothing behind the noun makes it a part of another one, or somebody else's."""
    position = _next(read.text, noun.end)
    if position in read.names or position >= len(read.text):
        return True
    word = _WORD.match(read.text, position)
    if word is None or word.group()[0].isdigit():
        return True
    if word.group() in read.lexicon.genitives:
        return _owned(read, _next(read.text, word.end()))
    filler = _longest(read, position, FILLER | ANAPHOR)
    return word.group() in read.lexicon.followers or filler is not None


def _owned(read: Reading, position: int) -> bool:
    """True if what follows a genitive is no third party: a name or a type of object."""
    while position < len(read.text):
        if position in read.names or _longest(read, position, TYPE_NOUN) is not None:
            return True
        word = _WORD.match(read.text, position)
        if word is None or word.group() not in read.lexicon.determiners:
            return False
        position = _next(read.text, word.end())
    return False
