"""Numbers: digits in the writings of several countries, English number words, Chinese numerals.

Every function reads one whole expression and gives its value, or a reason why it has none. What has
two readings (1.000) is never decided here, and no part of an expression is taken for the whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple


class Number(NamedTuple):
    """A value, or none and why: MALFORMED, TWO_READINGS, APPROXIMATE or SHARE."""

    value: Decimal | None
    fault: str = ""


MALFORMED: Final = Number(None, "MALFORMED")
TWO_READINGS: Final = Number(None, "TWO_READINGS")
APPROXIMATE: Final = Number(None, "APPROXIMATE")
SHARE: Final = Number(None, "SHARE")

DIGITS: Final = 15
"""Digits of the largest number that is read."""

DIGIT_TOKEN: Final = re.compile(
    r"[0-9]{1,3}(?: [0-9]{3})+(?:[.,][0-9]+)?(?![0-9.,' ]*[0-9])|[0-9]+(?:[.,'][0-9]+)*"
)
"""Digits with the marks inside them; spaces only between groups of three."""

_GROUPED: Final = {
    mark: re.compile(rf"[1-9][0-9]{{0,2}}(?:{re.escape(mark)}[0-9]{{3}})+") for mark in ",.' "
}
_PLAIN: Final = re.compile(r"0|[1-9][0-9]*")


def digits(text: str) -> Number:
    """The value of digits with grouping and decimal marks, of any country: 1,000.50 and 1.000,50.

    A lone full stop before three digits has two readings. A lone comma before three digits groups,
    before one or two it is a decimal mark. Groups of other than three digits and leading zeros are
    malformed.
    """
    if sum(map(str.isdigit, text)) > DIGITS:
        return MALFORMED
    marks = [c for c in text if not c.isdigit()]
    if not marks:
        return Number(Decimal(text)) if _PLAIN.fullmatch(text) else MALFORMED
    last, kinds = marks[-1], set(marks)
    if len(kinds) > 2 or (last in "' " and len(kinds) > 1):
        return MALFORMED
    if len(kinds) == 2:
        return _mixed(text, last) if marks.count(last) == 1 and last in ".," else MALFORMED
    if _GROUPED[last].fullmatch(text):
        return TWO_READINGS if last == "." and len(marks) == 1 else _joined(text)
    whole, _, part = text.partition(last)
    if len(marks) > 1 or last in "' " or not _PLAIN.fullmatch(whole):
        return MALFORMED
    if last == "," and len(part) > 2:
        return MALFORMED
    return Number(Decimal(f"{whole}.{part}"))


def _mixed(text: str, last: str) -> Number:
    """Two kinds of marks: the last one is the decimal mark, the other one groups."""
    whole, _, part = text.rpartition(last)
    group = next(c for c in whole if not c.isdigit())
    if len(part) > 2 or not _GROUPED[group].fullmatch(whole):
        return MALFORMED
    return Number(Decimal(_bare(whole) + "." + part))


def _joined(text: str) -> Number:
    return Number(Decimal(_bare(text)))


def _bare(text: str) -> str:
    return "".join(c for c in text if c.isdigit())


def words(parts: Sequence[str], values: Mapping[str, int]) -> Number:
    """The value of English number words: `two thousand five hundred`, `fifteen hundred`, `a million`.

    `parts` hold number words, `a`, `and` and `half`; `values` the value of each word. Digits and
    words are not mixed here. Unusual orders (`two fifty`) have two readings.
    """
    if "half" in parts:
        return _with_half(list(parts), values)
    total, current, largest, seen = 0, 0, 10**12, ""
    for position, part in enumerate(parts):
        if part == "and":
            if seen not in ("hundred", "scale") or position == len(parts) - 1:
                return MALFORMED
            continue
        value = 1 if part == "a" else values[part]
        if part == "a" and position:
            return MALFORMED
        if value >= 1000:
            if not current or value >= largest:
                return MALFORMED
            total, current, largest, seen = total + current * value, 0, value, "scale"
        elif value == 100:
            if not 0 < current < 100 or seen == "hundred":
                return MALFORMED
            current, seen = current * 100, "hundred"
        elif not _fits(seen, value) or _left_out(parts, position, seen, value):
            return TWO_READINGS
        else:
            current += value
            seen = "tens" if value >= 20 else "a" if part == "a" else "unit"
    last = parts[-1] in ("a", "and")
    return MALFORMED if last else Number(Decimal(total + current))


def _fits(seen: str, value: int) -> bool:
    """True if a word below a hundred may follow: `five hundred` + `ten`, `twenty` + `five`."""
    if seen in ("", "hundred", "scale"):
        return True
    return seen == "tens" and 0 < value < 10


def _left_out(parts: Sequence[str], position: int, seen: str, value: int) -> bool:
    """True for the last word of `two thousand five`, which may be hundreds."""
    follows = position > 0 and parts[position - 1] != "and"
    return seen == "scale" and follows and value < 10 and position == len(parts) - 1


def _with_half(parts: list[str], values: Mapping[str, int]) -> Number:
    """`two and a half thousand`; any other half is a share or has two readings."""
    if parts[1:4] == ["and", "a", "half"] and len(parts) == 5:
        first, scale = values.get(parts[0], 0), values.get(parts[4], 0)
        if 0 < first < 100 and scale >= 1000:
            return Number((Decimal(first) + Decimal("0.5")) * scale)
    return SHARE if parts[0] in ("half", "a") else TWO_READINGS


HAN_VAGUE: Final = "几幾多余餘来來数數"
"""Characters that make a Chinese number approximate."""

_MIXED_HAN: Final = re.compile(r"([0-9][0-9,]*(?:\.[0-9]+)?)([^0-9.,]+)?")


def han(text: str, values: Mapping[str, int]) -> Number:
    """The value of Chinese numerals, of digits with numeral units, or of numerals as digits.

    `两千三` leaves the last unit out and is 2300; `五六百` and `五百多` are approximate.
    """
    if any(c in HAN_VAGUE for c in text):
        return APPROXIMATE
    if "半" in text:
        return TWO_READINGS
    if text[:1].isascii():
        return _digits_with_units(text, values)
    if any(c.isascii() for c in text):
        return MALFORMED
    if all(values[c] < 10 for c in text):
        return _as_digits(text, values)
    return _numeral(text, values)


def _as_digits(text: str, values: Mapping[str, int]) -> Number:
    """五〇〇 is 500; two plain digits alone (三五) are three to five."""
    if len(text) == 1:
        return Number(Decimal(values[text]))
    if len(text) == 2 or values[text[0]] == 0:
        return APPROXIMATE if len(text) == 2 and 0 < values[text[0]] else MALFORMED
    return Number(Decimal("".join(str(values[c]) for c in text)))


def _digits_with_units(text: str, values: Mapping[str, int]) -> Number:
    """1.5万, 3千, 2百万, 1万5千, 1万5."""
    total, smallest, position, bare = Decimal(0), Decimal(10**12), 0, False
    while position < len(text):
        part = _MIXED_HAN.match(text, position)
        if part is None or bare:
            return MALFORMED
        number, unit = digits(part[1]), 1
        for char in part[2] or "":
            if values[char] < 10:
                return MALFORMED
            unit *= values[char]
        if number.value is None:
            return number
        bare = not part[2]
        if bare and total:
            if len(part[1]) > 1 or smallest < 100:
                return MALFORMED
            unit = int(smallest) // 10
        value = number.value * unit
        if not 0 < value < smallest or (total and "." in part[1]):
            return MALFORMED
        total, smallest, position = total + value, Decimal(unit), part.end()
    return Number(total)


def _numeral(text: str, values: Mapping[str, int]) -> Number:
    """Chinese numerals with units; every unit smaller than the one before in its section."""
    total = section = 0
    digit: int | None = None
    unit, big, zero = 10**4, 10**12, False
    for position, char in enumerate(text):
        value = values[char]
        if value == 0:
            if digit is not None or position in (0, len(text) - 1):
                return MALFORMED
            zero = True
        elif value < 10:
            if digit is not None:
                return APPROXIMATE
            digit = value
        elif value < 10**4:
            if digit is None and (value != 10 or section % 100 or (section and not zero)):
                return MALFORMED
            if value >= unit:
                return MALFORMED
            section, digit, unit, zero = section + (digit or 1) * value, None, value, False
        else:
            section += digit or 0
            if not section or value >= big:
                return MALFORMED
            total, section, digit = total + section * value, 0, None
            unit, big, zero = value, value, False
    if digit is not None and len(text) > 2 and values[text[-2]] >= 10**4 and values[text[-3]] > 10:
        return TWO_READINGS
    return Number(Decimal(total + section + _last(text, digit, zero, unit, values)))


def _last(text: str, digit: int | None, zero: bool, unit: int, values: Mapping[str, int]) -> int:
    """The last digit: a whole number behind ten or a zero, else in tenths of the unit before it."""
    if digit is None:
        return 0
    before = values[text[-2]] if len(text) > 1 else 1
    return digit if zero or before <= 10 else digit * (unit // 10)
