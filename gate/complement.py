"""Complements: what a governed verb asks to be done to.

"freeze my card" asks for a card to be frozen, "freeze my credit report" does not, and neither does
"block payments to 5316": the noun phrase behind the verb must end in a noun of the action, in a
name, or in an anaphor. Scripts without spaces are read by `gate.coverage`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from gate.lexicon import (
    ACTION_NOUN,
    ANAPHOR,
    CLAUSE,
    CONJUNCTION,
    CONTRAST,
    EXCEPTION,
    FILLER,
    JOINER,
    KIND,
    PARTICIPLE,
    PARTICIPLE_FORM,
    PASSIVE,
    REQUEST,
    RETRACTION,
    TYPE_NOUN,
    WISH,
    WRITE,
    Hit,
    Lexicon,
)

Span = tuple[int, int]

KNOWN: Final = (
    FILLER
    | TYPE_NOUN
    | ACTION_NOUN
    | KIND
    | ANAPHOR
    | REQUEST
    | WISH
    | JOINER
    | CLAUSE
    | CONJUNCTION
    | EXCEPTION
)
NOUNS: Final = TYPE_NOUN | ACTION_NOUN | KIND
MODIFIERS: Final = 2
"""Words outside every list that may stand before the noun (my stolen blue card)."""

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_ZERO = re.compile(r"\W*[0.,]+(?![0-9])")
_GAP = re.compile(r"[ \"']*")


class Head(NamedTuple):
    """Where a noun phrase ends, and its noun; '' for a name."""

    end: int
    phrase: str


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


def asks_for(
    read: Reading, verb: Hit, clause: Span, topic: Span | None, actions: frozenset[str]
) -> frozenset[str]:
    """Those of `actions` whose object or noun, a name, or an anaphor ends the verb's noun phrase.

    What follows it up to the end of the clause must be known words; for actions without object
    anything may follow a word that opens one (change my address to ...). Where nothing follows the
    verb, its object may be the whole of the clause before it, `topic` (my debit card, please freeze).
    """
    end = clause[1]
    passive = _form(read, clause[0], verb, PASSIVE)
    if passive is not None or (verb.tags & PARTICIPLE and not verb.tags & WRITE):
        return _done(read, verb, clause, passive, actions)
    closed = verb.tags & NOUNS or _closes_with_noun(read, verb)
    head = Head(verb.end, "") if closed else _head(read, verb.end)
    if head is None and topic is not None and _consumed(read, verb.end, end, False):
        named = _head(read, topic[0])
        if named is not None and _consumed(read, named.end, topic[1], False):
            return _fitting(read, actions, named, verb)
    if head is None or not _consumed(read, head.end, end, actions <= read.lexicon.objectless):
        return frozenset()
    return _fitting(read, actions, head, verb)


def _done(
    read: Reading, verb: Hit, clause: Span, passive: Hit | None, actions: frozenset[str]
) -> frozenset[str]:
    """As `asks_for` where the noun phrase stands before the verb: behind the form (i want my card
    frozen), or before it (my card needs to be frozen)."""
    form = _form(read, clause[0], verb, PARTICIPLE_FORM)
    begin = clause[0] if passive is not None else form.end if form is not None else verb.end
    stop = passive.start if passive is not None else verb.start
    head = _head(read, begin)
    if head is None or head.end > stop or not _consumed(read, head.end, stop, False):
        return frozenset()
    free = actions <= read.lexicon.objectless
    known = _consumed(read, verb.end, clause[1], free)
    return _fitting(read, actions, head, verb) if known else frozenset()


def _form(read: Reading, start: int, verb: Hit, tags: int) -> Hit | None:
    """The last form of the clause before the verb that has one of these tags; a passive one right
    before it."""
    found = None
    for at in range(start, verb.start):
        for hit in read.hits.get(at, ()):
            near = tags != PASSIVE or _next(read.text, hit.end) == verb.start
            if hit.tags & tags and hit.end <= verb.start and near:
                found = hit
    return found


def _fitting(read: Reading, actions: frozenset[str], head: Head, verb: Hit) -> frozenset[str]:
    """The actions that take the head; a weak verb takes no anaphor and nothing left out."""
    weak = verb.phrase in read.lexicon.weak
    if weak and head.phrase and head.phrase not in read.lexicon.nouns:
        if not read.lexicon.types.get(head.phrase):
            return frozenset()
    return frozenset(a for a in actions if not head.phrase or fits(read.lexicon, a, head.phrase))


def fits(lexicon: Lexicon, action_id: str, phrase: str) -> bool:
    """True if a noun is one of the action's own or of a type that it takes; an anaphor always is."""
    if action_id in lexicon.nouns.get(phrase, ()):
        return True
    types = lexicon.types.get(phrase)
    return types is None or bool(types & lexicon.permits[action_id])


def _head(read: Reading, start: int) -> Head | None:
    """The noun phrase from `start`, or None."""
    position, spare = _next(read.text, start), MODIFIERS
    while position < len(read.text):
        if position in read.names:
            return Head(read.names[position], noun_of(read, position))
        if position in read.amounts and _ZERO.match(read.text, position):
            return None
        if position in read.amounts:
            position, spare = _behind_amount(read, read.amounts[position]), 0
            continue
        noun = _longest(read, position, NOUNS | ANAPHOR)
        if noun is not None and is_head(read, noun):
            return Head(noun.end, noun.phrase)
        word = _WORD.match(read.text, position)
        if word is None or _is_quantified(read, position):
            return None
        passable = _longest(read, position, FILLER)
        if passable is not None and passable.end > word.end() and noun is None:
            position = _next(read.text, passable.end)  # one of my cards
            continue
        if word.group() in read.lexicon.numerals.words:
            position = _next(read.text, word.end())
            continue
        if word.group() in read.lexicon.order_units and spare == MODIFIERS:
            position, spare = _behind_amount(read, word.end()), 0
            continue
        if word.group() in read.lexicon.amount_joiners:
            position = _next(read.text, word.end())
            if spare and position not in read.names:
                return None
            continue
        if word.group() in read.lexicon.determiners:
            position = _next(read.text, word.end())
        elif passable is not None and noun is None:
            position = _next(read.text, passable.end)
        elif word.group() in read.lexicon.followers or not (spare or noun):
            return None
        else:
            spare -= noun is None
            position = _next(read.text, noun.end if noun is not None else word.end())
    return None


def _consumed(read: Reading, position: int, end: int, payload: bool) -> bool:
    """True if nothing unknown stands between the noun phrase and the end of the clause."""
    lexicon, position = read.lexicon, _next(read.text, position)
    while position < end:
        known = _longest(read, position, KNOWN)
        word = _WORD.match(read.text, position)
        if position in read.names:
            position = _next(read.text, read.names[position])
        elif (counted := _counted(read, position)) > position:
            position = _next(read.text, counted)
        elif position in read.amounts and (payload or _is_order(read, position)):
            position = _next(read.text, read.amounts[position])
        elif _longest(read, position, RETRACTION) is not None:
            return False
        elif known is not None:
            position = _next(read.text, known.end)
        elif word is None:
            position += 1
        elif word.group() in lexicon.explainers or _longest(read, position, CONTRAST) is not None:
            return True
        elif payload and word.group() in lexicon.payloads:
            return not _is_quantified(read, _next(read.text, word.end()))
        elif word.group() in lexicon.passing:
            position = _next(read.text, word.end())
        else:
            return False
    return True


def noun_of(read: Reading, start: int) -> str:
    """The noun that is the whole of the name at `start` (debit card), or ''."""
    hits = (h for h in read.hits.get(start, ()) if h.tags & NOUNS)
    return next((h.phrase for h in hits if h.end == read.names[start]), "")


def _counted(read: Reading, position: int) -> int:
    """Where an amount in words ends that one may order (five hundred dollars), or -1."""
    word = _WORD.match(read.text, position)
    while word is not None and word.group() in read.lexicon.numerals.words:
        position = _next(read.text, word.end())
        word = _WORD.match(read.text, position)
        if word is not None and word.group() in read.lexicon.order_units:
            return word.end()
    return -1


def _is_quantified(read: Reading, position: int) -> bool:
    word = _WORD.match(read.text, position)
    return word is not None and word.group() in read.lexicon.quantifiers


def _is_order(read: Reading, position: int) -> bool:
    """True for an amount that one may order (500 dollars, 20 shares), false for a date or a share."""
    words = _WORD.findall(read.text[position : read.amounts[position]])
    signed = not read.text[position].isalnum()
    return signed or any(word in read.lexicon.order_units for word in words)


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


def is_head(read: Reading, noun: Hit) -> bool:
    """True if nothing behind the noun makes it a part of another one, or somebody else's."""
    position = _next(read.text, noun.end)
    if position in read.names or position >= len(read.text):
        return True
    word = _WORD.match(read.text, position)
    if word is None or word.group()[0].isdigit():
        return True
    if _longest(read, position, FILLER | ANAPHOR | PARTICIPLE | PASSIVE) is not None:
        return True
    if word.group() in read.lexicon.genitives:
        return _owned(read, _next(read.text, word.end()))
    return word.group() in read.lexicon.followers


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
