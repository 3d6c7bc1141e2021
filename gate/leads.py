"""Leads: what the words before a value make of it, and a value cut from the original text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from gate.normalise import is_ignorable
from gate.slots import Fault
from gate.spot import Spot, Spotted

NEW, FORMER, PLAIN, NOTHING = "new", "former", "plain", ""
"""The value to come; the one to be replaced; a noun that may be either (my address ...); no lead."""

_HAN_SPACE: Final = re.compile("(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])")
"""Spaces between Han characters, which mean nothing."""


def written(spot: Spot, start: int, end: int) -> str:
    """The original text behind [start, end): NFKC, ignorable characters out, white space as one space."""
    original = spot.text.original[slice(*spot.text.span(start, end))]
    if original.isascii():
        return " ".join(original.split())
    kept = "".join(c for c in original if not is_ignorable(c))
    return _HAN_SPACE.sub("", " ".join(unicodedata.normalize("NFKC", kept).split()))


def lead(spot: Spot, start: int, end: int, *, alone: bool = False) -> str:
    """What the words right before a value at [start, end), or behind it, make of it.

    A word such as `to` leads to a new value only in a clause that asks for something, or with
    `alone` in the answer to a question.
    """
    place = start
    while place and spot.folded[place - 1] in "<\"'([ :":
        place -= 1
    if spot.before("new_leads", place) >= 0 or spot.after("new_follows", end) > 0:
        return NEW
    if spot.before("former_leads", place) >= 0:
        return FORMER
    asked = alone or ":" in spot.folded[place:start]
    copula = spot.before("copulas", place)
    noun = spot.before("value_nouns", copula if copula >= 0 else place)
    payload = spot.before("payloads", place) >= 0
    if noun >= 0:
        return _of_noun(spot, noun, asked or (payload and spot.asks(start)))
    if copula >= 0 or asked:
        return NEW
    if payload:
        return NEW if spot.asks(start) else PLAIN
    return NOTHING if spot.asks(start) or stands_alone(spot, place, end) else PLAIN


def stands_alone(spot: Spot, start: int, end: int) -> bool:
    """True for a value between marks, or the ends of the text."""
    before, after = spot.folded[:start].rstrip()[-1:], spot.folded[end:].lstrip("\"')]> ")[:1]
    closed = not after.isalnum() or spot.after("value_closers", end) > 0
    return not before.isalnum() and closed


def _of_noun(spot: Spot, noun: int, asked: bool) -> str:
    """My new address, my old address, my address."""
    if spot.before("former_leads", noun) >= 0:
        return FORMER
    return NEW if asked or spot.before("new_leads", noun) >= 0 else PLAIN


def current(spot: Spot, found: Sequence[Spotted], *, alone: bool = False) -> list[Spotted]:
    """The candidates without those that another one is to replace.

    The old value alone (FORMER), and one that may be either (UNCLEAR), are no values.
    """
    led = [(negated(spot, one), lead(spot, one.start, one.end, alone=alone)) for one in found]
    new = {one.value for one, kind in led if kind == NEW and not one.fault}
    kept: list[Spotted] = []
    for one, kind in led:
        if kind not in (FORMER, PLAIN) or one.fault:
            kept.append(one)
        elif len(new) != 1 or one.value in new:
            fault = Fault.FORMER if kind == FORMER else Fault.UNCLEAR
            kept.append(one._replace(value="", fault=str(fault)))
    return kept


def negated(spot: Spot, one: Spotted) -> Spotted:
    """The candidate, or NEGATED in a negated clause or behind a contrast."""
    if one.fault or not spot.is_set_aside(one.start):
        return one
    return one._replace(value="", fault=str(Fault.NEGATED))
