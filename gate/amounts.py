"""Amounts: sums of money in a text, each with its currency, or the reason why it is none.

A number with a currency is an amount. A bare one is only where it is given as a value ("buy 500 of
it"); what names a thing, counts something else or is a day or a time is left out where that is
certain, and unclear otherwise. Nothing is guessed from a share, a bound or an approximate value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from gate.expressions import Expression, expressions, may_group, merged, overlaps
from gate.slots import Fault
from gate.spot import Span, Spot, Spotted

SMALL: Final = 100
"""Number words and numerals below this are amounts only with a currency (one, two, 一)."""


def read(spot: Spot, taken: Sequence[Span], *, alone: bool = False) -> list[Spotted]:
    """Every amount of the text; `taken` are stretches that are something else for certain.

    With `alone` the whole text answers the question for an amount, so that a bare number is one.
    """
    found = expressions(spot, taken)
    shares = [s for s in spot.all_of("shares") if not any(_holds(e, s) for e in found)]
    found = merged(spot, [e for e in found if not overlaps(e, shares)])
    priced = any(e.use == "quantity" for e in found) or bool(spot.all_of("recurrences"))
    spotted = [s for i, e in enumerate(found) for s in _spotted(spot, found, i, priced, alone)]
    parts = (Spotted(a, b, "", Fault.SHARE) for a, b in shares)
    return [*parts, *spotted, *_unread_signs(spot, found)]


def _holds(one: Expression, share: Span) -> bool:
    """True for a number that a word for a share is a part of (two and a half thousand)."""
    return one.number.value is not None and one.start <= share[0] and share[1] <= one.end


def _spotted(
    spot: Spot, found: Sequence[Expression], index: int, priced: bool, alone: bool
) -> Iterator[Spotted]:
    one = found[index]
    if not one.money and one.use:
        return
    fault = one.fault or _context(spot, one) or _beside(spot, found, index)
    if not one.money and not fault:
        fault = _bare(spot, one, alone)
        if fault == _NOTHING:
            return
    if not fault and one.number.value is None:
        fault = one.number.fault
    if not fault and priced:
        fault = Fault.RATE
    if not fault and one.money and spot.after("units", one.end) > 0:
        fault = Fault.UNCLEAR
    if not fault and spot.is_set_aside(one.start):
        fault = Fault.NEGATED
    value, currency = _value(one), sorted(one.codes or ())
    if not fault and value <= 0:
        fault = Fault.NOT_POSITIVE
    if not fault and len(currency) > 1:
        fault = Fault.TWO_READINGS
    text = "" if fault else " ".join((_plain(value), *currency))
    yield Spotted(one.start, one.end, text, fault)


def _value(one: Expression) -> Decimal:
    value = one.number.value or Decimal(0)
    return value * one.minor if one.minor is not None and one.codes is None else value


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_STEPS: Final = 2
"""Words of a value's lead that may stand between it and what qualifies it (at most for $500)."""


def _context(spot: Spot, one: Expression) -> str:
    """The first thing around an amount that makes it none, or nothing."""
    text, start = spot.folded, one.start
    left = text[:start]
    if left.endswith("-") and not left[-2:-1].isalnum():
        return Fault.NOT_POSITIVE
    mark = left.rstrip()[-1:] or " "
    if mark in _MARKS:
        return _MARKS[mark]
    if text[one.end : one.end + 1] in _MARKS_AFTER:
        return _MARKS_AFTER[text[one.end]]
    if left.endswith("- ") and not left[:-2].rstrip()[-1:].isalnum():
        return Fault.UNCLEAR
    end = one.end + (text[one.end : one.end + 2] == " (") * 2
    for name, fault in _AFTER:
        if spot.after(name, end) > 0:
            return fault
    for _ in range(_STEPS + 1):
        for name, fault in _BEFORE:
            if spot.before(name, start) >= 0:
                return fault
        start = spot.before("value_leads", start)
        if start < 0:
            break
    return ""


_MARKS: Final = {
    **dict.fromkeys("~≈", Fault.APPROXIMATE),
    **dict.fromkeys("<>≤≥+", Fault.BOUND),
    **dict.fromkeys("*/^\u00d7", Fault.MALFORMED),
}
_MARKS_AFTER: Final = {"/": Fault.RATE, "+": Fault.BOUND, "*": Fault.RATE, "\u00d7": Fault.RATE}
_BEFORE: Final = (
    ("minus_words", Fault.NOT_POSITIVE),
    ("bounds", Fault.BOUND),
    ("approximations", Fault.APPROXIMATE),
    ("range_openers", Fault.INTERVAL),
    ("rates", Fault.RATE),
)
_AFTER: Final = (
    ("bounds_after", Fault.BOUND),
    ("approximations_after", Fault.APPROXIMATE),
    ("approximations", Fault.APPROXIMATE),
    ("minus_words", Fault.UNCLEAR),
    ("rates", Fault.RATE),
)


def _beside(spot: Spot, found: Sequence[Expression], index: int) -> str:
    """INTERVAL for the ends of a range, UNCLEAR for two numbers that touch."""
    for left, right in ((index - 1, index), (index, index + 1)):
        if left < 0 or right >= len(found):
            continue
        gap = spot.folded[found[left].end : found[right].start]
        if gap.strip() in ("-", "~", "/") or spot.is_phrase("range_words", gap.strip()):
            return Fault.INTERVAL
        if not gap.strip() and found[right].use != "other":
            return Fault.UNCLEAR
    return ""


_NOTHING: Final = "-"


def _bare(spot: Spot, one: Expression, alone: bool) -> str:
    """What stands against a bare number: nothing, UNCLEAR, or that it is no amount at all."""
    value = one.number.value
    if one.kind != "digits" and (value is None or (value < SMALL and not alone)):
        return _NOTHING
    if one.kind == "digits" and may_group(spot, one):
        return Fault.TWO_READINGS
    return "" if spot.stands_alone(one.start, one.end) else Fault.UNCLEAR


def _unread_signs(spot: Spot, found: Sequence[Expression]) -> Iterator[Spotted]:
    """A sign of currency against letters (`$IOO`), where an amount is meant but none can be read."""
    for start, end in spot.signs():
        if any(e.start <= start < e.end for e in found):
            continue
        if spot.folded[end : end + 1].isalpha():
            yield Spotted(start, end, "", Fault.MALFORMED)
