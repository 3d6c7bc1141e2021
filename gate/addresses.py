"""Postal addresses in a text: a house number and its street, or a box, with the places behind it.

An address ends where a part is certainly none; where that is in doubt, it is no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gate.clauses import CUES, FORMS
from gate.leads import FORMER, NEW, current, lead, stands_alone, written
from gate.lexicon import NEGATION, QUESTION, RETRACTION, is_word
from gate.slots import Fault
from gate.spot import Span, Spot, Spotted

_FIRST: Final = re.compile(
    r"(?<![0-9a-z])(?P<box>p\.? ?o\.? ?box [0-9]{1,6}(?![0-9a-z]))"
    r"|(?<![0-9a-z.,/-])[0-9]{1,5}[a-z]?(?:[-/][0-9]{1,4}[a-z]?)?(?= )"
)
"""A box, or a house number."""
_WORD: Final = re.compile(r"[^\W_]+(?:['.-][^\W_]+)*\.?")
_UNIT: Final = re.compile(
    r"(?:apt|apartment|unit|suite|ste|flat|room|floor|fl|bldg|building)\.? ?#?[0-9a-z-]{1,6}|#[0-9a-z-]{1,6}"
)
_POSTCODE: Final = re.compile(r"[0-9]{3,6}(?:-[0-9]{4})?|[a-z]{1,2}[0-9][0-9a-z]?|[0-9][a-z]{2}")
"""A whole postcode, or one half of a British one."""
_REGION: Final = 2
"""Letters of a region's code (ME), which is written in capitals."""
_SEGMENT: Final = re.compile(r",? ?([^,.;:!?()\n\"]+)")
_STREETS: Final = ("street_words", "street_names")
_SAYING: Final = CUES | FORMS | QUESTION | NEGATION | RETRACTION
_MOST_WORDS: Final = 4
"""Words between a house number and the word for a street, and in a part behind a comma."""


def addresses(spot: Spot, names: Sequence[Span] = (), *, alone: bool = False) -> list[Spotted]:
    """Every postal address; UNCLEAR where nothing leads to it or its end is in doubt.

    `names` are spans of names of objects, which are no places.
    """
    found = [*_streets(spot, names, alone), *_han_addresses(spot, alone)]
    return current(spot, [f for f in found if not any(_inside(f, o) for o in found)], alone=alone)


def _inside(one: Spotted, other: Spotted) -> bool:
    return one != other and other.start <= one.start and one.end <= other.end


def _streets(spot: Spot, names: Sequence[Span], alone: bool) -> Iterator[Spotted]:
    position = 0
    text = spot.folded
    if not any(spot.may_hold(spot.words.sets[n]) for n in _STREETS) and "box" not in text:
        return
    while match := _FIRST.search(text, position):
        stop = match.end() if match["box"] else _street(spot, match.end())
        position = match.end()
        if stop < 0 or any(a < stop and match.start() < b for a, b in names):
            continue
        start = _unit_before(spot, match.start())
        end, clear = _places(spot, stop, names, alone)
        position = end
        clean = clear and _is_given(spot, start, end, alone) and spot.is_decimal(start, end)
        value = written(spot, start, end) if clean else ""
        yield Spotted(start, end, value, "" if clean else str(Fault.UNCLEAR))


def _is_given(spot: Spot, start: int, end: int, alone: bool) -> bool:
    """True behind a lead, or between marks in a text that asks for something.

    What is to be replaced is left to `current`.
    """
    kind = lead(spot, start, end, alone=alone)
    if kind in (NEW, FORMER):
        return True
    return stands_alone(spot, start, end) and any(c.request for c in spot.clauses)


def _street(spot: Spot, position: int) -> int:
    """Where the street behind a house number ends, or -1."""
    text, streets = spot.folded, spot.words.sets["street_words"].words
    more, end = spot.words.sets["street_names"].words, -1
    for index in range(_MOST_WORDS + 2):
        word = _WORD.match(text, position + 1) if text[position : position + 1] == " " else None
        if word is None:
            break
        bare = word.group().rstrip(".")
        position = word.end()
        named = bare in more and spot.is_capital(word.start())
        if (bare in streets and index) or named:
            dotted = word.group().endswith(".") and text[position : position + 1] == ","
            end = position if dotted else word.start() + len(bare)
        elif end > 0 or (bare in spot.words.known and not spot.is_capital(word.start())):
            break
        if word.group().endswith("."):
            if bare not in streets and len(bare) > 2:
                break
            position = word.end()
    return end


def _unit_before(spot: Spot, start: int) -> int:
    """Where a unit before a house number starts (Apt 4, 12 Gull Street), or the number itself."""
    head = spot.folded[:start]
    for match in _UNIT.finditer(head):
        if head[match.end() :].strip() in (",", "") and not is_word(
            head[max(0, match.start() - 1) : match.start()] or " "
        ):
            return match.start()
    return start


def _places(spot: Spot, position: int, names: Sequence[Span], alone: bool) -> tuple[int, bool]:
    """The end of an address behind its street, and whether that end is certain."""
    text = spot.folded
    while position < len(text):
        gap = len(text[position : position + 2]) - len(text[position : position + 2].lstrip(", "))
        unit = _UNIT.match(text, position + gap)
        if unit and not is_word(text[unit.end() : unit.end() + 1] or " "):
            position = unit.end()
            continue
        if text[position] != "," and not spot.is_line_end(position):
            return position, _ends(spot, position)
        segment = _SEGMENT.match(text, position)
        if segment is None:
            return position, True
        stop = _place(spot, segment.span(1), names, alone)
        if stop is None:
            return position, False
        if stop == 0:
            return position, True
        position = stop
    return position, True


def _ends(spot: Spot, position: int) -> bool:
    """True if what follows an address without a comma is certainly no part of it."""
    rest = spot.folded[position:].lstrip()
    if not rest or not rest[0].isalnum():
        return rest[:1] not in ("#", "-", "/", "&")
    if not is_word(rest[0]):
        return True
    word = rest.split(" ")[0].rstrip(".,;:!?")
    return word in spot.words.known and not spot.is_phrase("address_joiners", word)


def _place(spot: Spot, span: Span, names: Sequence[Span], alone: bool) -> int | None:
    """Where a place between commas ends; 0 if the part is none, None if that is in doubt."""
    words = list(_WORD.finditer(spot.folded, *span))
    if not words or _is_said(spot, words[0].start(), span, names):
        return 0
    known = [_is_known(spot, word) for word in words]
    capital = [_is_name(spot, word) for word in words]
    taken = capital.index(False) if False in capital else len(words)
    if taken and not all(known[:taken]):
        closed = taken <= _MOST_WORDS + 1 and (taken == len(words) or known[taken])
        return words[taken - 1].end() if closed else None
    if known[0]:
        return 0
    taken = known.index(True) if True in known else len(words)
    coded = _POSTCODE.fullmatch(words[taken - 1].group()) is not None
    fits = taken <= _MOST_WORDS and (coded or alone)
    return words[taken - 1].end() if fits else None


def _is_name(spot: Spot, word: re.Match[str]) -> bool:
    """True for a capitalised word or a postcode."""
    return spot.is_capital(word.start()) or _POSTCODE.fullmatch(word.group()) is not None


def _is_known(spot: Spot, word: re.Match[str]) -> bool:
    """True for a word of the language, which a region's code is not."""
    original = spot.text.original[slice(*spot.text.span(*word.span()))]
    if len(original) == _REGION and original.isupper() and spot.has_lower():
        return False
    return word.group().rstrip(".") in spot.words.known


def _is_said(spot: Spot, start: int, span: Span, names: Sequence[Span]) -> bool:
    """True for a part that opens with a cue or a form, or holds the name of an object."""
    hits = (h for c in spot.clauses for h in c.hits if h.start == start)
    said = any(h.tags & _SAYING for h in hits)
    return said or any(a < span[1] and span[0] < b for a, b in names)


_HAN: Final = re.compile("[\u3400-\u9fff]")
_SHORTEST: Final = 4
"""Characters of the shortest Chinese address."""
_HAN_RUN: Final = re.compile(r"[\u3400-\u9fff0-9a-z#-]+(?: ?[\u3400-\u9fff0-9a-z#-]+)*")


def _han_addresses(spot: Spot, alone: bool) -> Iterator[Spotted]:
    """What stands behind a word such as 改成, up to a mark, if it ends as an address does."""
    ends = spot.words.sets["address_ends"]
    if not ends.words or spot.folded.isascii():
        return
    for start in _han_starts(spot, alone):
        run = _HAN_RUN.match(spot.folded, start)
        if run is None or not _HAN.search(run.group()):
            continue
        stop = max((e for w in ends.words for e in _all_ends(run.group(), w)), default=0)
        head = run.group()[:stop]
        if len(head) < _SHORTEST or not any(c.isdigit() or spot.is_numeral(c) for c in head):
            continue
        if any(start < e < start + stop and e - s > 1 for s, e in spot.all_of("new_leads")):
            continue
        rest = run.group()[stop:].strip()
        clear = not rest or spot.is_phrase("value_closers", rest)
        clear = clear and spot.is_decimal(start, start + stop) and not _is_word_of(spot, start)
        clear = clear and _is_given(spot, start, start + stop, alone)
        value = written(spot, start, start + stop) if clear else ""
        yield Spotted(start, start + stop, value, "" if clear else str(Fault.UNCLEAR))


def _han_starts(spot: Spot, alone: bool) -> list[int]:
    """Where an address may begin: behind a lead, a colon, or in an answer at its beginning."""
    text = spot.folded
    leads = [end for name in ("new_leads", "copulas") for _, end in spot.all_of(name)]
    leads += [i + 1 for i, char in enumerate(text) if char in ":,。!?;"]
    if alone and not leads:
        leads = [0]
    starts = set()
    for place in leads:
        while text[place : place + 1] in (" ", ":") and place < len(text):
            place += 1
        starts.add(place)
    return sorted(starts)


def _is_word_of(spot: Spot, start: int) -> bool:
    """True if a word of the language, not a place, opens the stretch."""
    names = ("fillers", "wishes", "request_forms", "no_names", "value_nouns", "new_leads")
    return any(spot.after(name, start) > 0 for name in names)


def _all_ends(text: str, word: str) -> Iterator[int]:
    position = text.find(word)
    while position >= 0:
        yield position + len(word)
        position = text.find(word, position + 1)
