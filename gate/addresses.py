"""Postal addresses in a text: a house number and its street, or a box, with the places behind it.

An address ends where a part is certainly none; where that is in doubt, it is no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gate.leads import NEW, current, lead, written
from gate.lexicon import is_word
from gate.slots import Fault
from gate.spot import Span, Spot, Spotted

_HOUSE: Final = re.compile(r"(?<![0-9a-z.,/-])[0-9]{1,5}[a-z]?(?:[-/][0-9]{1,4}[a-z]?)?(?= )")
_BOX: Final = re.compile(r"(?<![0-9a-z])p\.? ?o\.? ?box [0-9]{1,6}(?![0-9a-z])")
_WORD: Final = re.compile(r"[^\W_]+(?:['.-][^\W_]+)*\.?")
_UNIT: Final = re.compile(
    r"(?:apt|apartment|unit|suite|ste|flat|room|floor|fl|bldg|building)\.? ?#?[0-9a-z-]{1,6}|#[0-9a-z-]{1,6}"
)
_POSTCODE: Final = re.compile(r"[0-9]{3,6}(?:-[0-9]{4})?|[a-z]{1,2}[0-9][0-9a-z]? ?[0-9][a-z]{2}")
_SEGMENT: Final = re.compile(r",? ?([^,.;:!?()\n\"]+)")
_MOST_WORDS: Final = 4
"""Words between a house number and the word for a street, and in a part behind a comma."""


def addresses(spot: Spot, names: Sequence[Span] = (), *, alone: bool = False) -> list[Spotted]:
    """Every postal address; UNCLEAR where nothing leads to it or its end is in doubt.

    `names` are spans of names of objects, which are no places.
    """
    found = [*_streets(spot, names, alone), *_han_addresses(spot, alone)]
    return current(spot, [f for f in found if not any(_inside(f, o) for o in found)])


def _inside(one: Spotted, other: Spotted) -> bool:
    return one != other and other.start <= one.start and one.end <= other.end


def _streets(spot: Spot, names: Sequence[Span], alone: bool) -> Iterator[Spotted]:
    position = 0
    text = spot.folded
    while match := (_BOX.search(text, position) or _HOUSE.search(text, position)):
        box = _BOX.match(text, match.start()) is not None
        stop = match.end() if box else _street(spot, match.end())
        position = match.end()
        if stop < 0:
            continue
        start = _unit_before(spot, match.start())
        end, clear = _places(spot, stop, names, alone)
        position = end
        led = lead(spot, start, end) == NEW or (alone and not text[:start].strip())
        clean = clear and led and spot.is_decimal(start, end)
        value = written(spot, start, end) if clean else ""
        yield Spotted(start, end, value, "" if clean else str(Fault.UNCLEAR))


def _street(spot: Spot, position: int) -> int:
    """Where the street behind a house number ends, or -1."""
    text, streets = spot.folded, spot.words.sets["street_words"].words
    end = -1
    for _ in range(_MOST_WORDS + 2):
        word = _WORD.match(text, position + 1) if text[position : position + 1] == " " else None
        if word is None:
            break
        bare = word.group().rstrip(".")
        position = word.end()
        if bare in streets and end != position:
            dotted = word.group().endswith(".") and text[position : position + 1] in (",", "")
            end = position if dotted else word.start() + len(bare)
        elif end > 0:
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
    if not words or _is_said(spot, span, names):
        return 0
    taken = 0
    for word in words:
        original = spot.text.original[slice(*spot.text.span(*word.span()))]
        if not (original[:1].isupper() or _POSTCODE.fullmatch(word.group())):
            break
        taken += 1
    known = [word.group().rstrip(".") in spot.words.known for word in words]
    if taken and not all(known[:taken]) and taken <= _MOST_WORDS + 1:
        closed = taken == len(words) or known[taken]
        return words[taken - 1].end() if closed else None
    coded = _POSTCODE.fullmatch(words[-1].group()) is not None
    if len(words) <= _MOST_WORDS and not any(known[: len(words) - coded]) and (coded or alone):
        return words[-1].end()
    return 0 if known[0] else None


def _is_said(spot: Spot, span: Span, names: Sequence[Span]) -> bool:
    """True for a part that asks for something or holds the name of an object."""
    inside = (
        c for c in spot.clauses if c.start < span[1] and span[0] < c.end and c.start >= span[0] - 2
    )
    asks = any(c.asks_from is not None or c.question for c in inside)
    return asks or any(a < span[1] and span[0] < b for a, b in names)


_HAN_RUN: Final = re.compile(r"[\u3400-\u9fff0-9a-z#-]+(?: ?[\u3400-\u9fff0-9a-z#-]+)*")


def _han_addresses(spot: Spot, alone: bool) -> Iterator[Spotted]:
    """What stands behind a word such as 改成, up to a mark, if it ends as an address does."""
    ends = spot.words.sets["address_ends"]
    if not ends.words or spot.folded.isascii():
        return
    starts = {end for _, end in spot.all_of("new_leads")} | ({0} if alone else set())
    for place in sorted(starts):
        start = place
        while spot.folded[start : start + 1] in (" ", ":") and start < len(spot.folded):
            start += 1
        run = _HAN_RUN.match(spot.folded, start)
        if run is None or not re.search("[\u3400-\u9fff]", run.group()):
            continue
        stop = max((e for w in ends.words for e in _all_ends(run.group(), w)), default=0)
        head = run.group()[:stop]
        if not stop or not any(c.isdigit() or spot.is_numeral(c) for c in head) or len(head) < 4:
            continue
        rest = run.group()[stop:].strip()
        clear = (not rest or spot.is_phrase("value_closers", rest)) and spot.is_decimal(
            start, start + stop
        )
        value = written(spot, start, start + stop) if clear else ""
        yield Spotted(start, start + stop, value, "" if clear else str(Fault.UNCLEAR))


def _all_ends(text: str, word: str) -> Iterator[int]:
    position = text.find(word)
    while position >= 0:
        yield position + len(word)
        position = text.find(word, position + 1)
