"""Numbers of accounts and cards as they are shown: the last four digits, never more."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from typing import NamedTuple

from gate.normalise import is_ignorable
from gate.records import Entry

SHOWN = 4
"""Digits of a number that stay; a shorter number is no secret."""

DOTS = "••••"
APART = 3
"""Most separators in a row that a number may hold."""

_MARKS = "./\u00b7\u2024\u2027\u2219\u30fb\uff0e\uff0f"


class _Number(NamedTuple):
    """A run of digits at [start, end), separators inside left out, as ASCII."""

    start: int
    end: int
    digits: str


def masked(text: str) -> str:
    """`text` with every number of more than four digits cut to `••••` and its last four.

    Digits may be of any script, full-width, raised or circled; spaces, dots, slashes, hyphens and
    hidden characters between them belong to the number.
    """
    return _cut(text, lambda _: True)


def shown_name(entry: Entry) -> str:
    """The display name that may be shown: an own object's numbers are masked, public ones are not."""
    return masked(entry.display_name) if entry.own else entry.display_name


def masked_in(text: str, objects: Iterable[Entry]) -> str:
    """A text of somebody's with the numbers of the own ones among `objects` masked; others stay.

    A number is theirs if one of their names holds it, or ends in the same four digits.
    """
    names = [name for o in objects if o.own for name in (o.display_name, *o.aliases)]
    held = {n.digits for name in names for n in _numbers(name) if len(n.digits) >= SHOWN}
    ends = {digits[-SHOWN:] for digits in held}

    def theirs(digits: str) -> bool:
        return digits[-SHOWN:] in ends or any(digits in other for other in held)

    return _cut(text, theirs) if held else text


def _cut(text: str, secret: Callable[[str], bool]) -> str:
    for number in reversed(_numbers(text)):
        if len(number.digits) > SHOWN and secret(number.digits):
            shown = f"{DOTS}{number.digits[-SHOWN:]}"
            text = f"{text[: number.start]}{shown}{text[number.end :]}"
    return text


def _numbers(text: str) -> list[_Number]:
    found: list[_Number] = []
    apart = 0
    for index, char in enumerate(text):
        digit = unicodedata.digit(char, None)
        if digit is not None:
            if found and found[-1].end + apart == index and apart <= APART:
                found[-1] = _Number(found[-1].start, index + 1, f"{found[-1].digits}{digit}")
            else:
                found.append(_Number(index, index + 1, str(digit)))
        apart = apart + 1 if digit is None and _separates(char) else 0
    return found


def _separates(char: str) -> bool:
    return (
        char in _MARKS
        or char.isspace()
        or is_ignorable(char)
        or unicodedata.category(char) in ("Cc", "Cf", "Mn", "Pc", "Pd")
    )
