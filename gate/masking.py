"""Masking: of a long number, as accounts and cards have them, only the end is shown."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Final, NamedTuple

from gate.normalise import is_ignorable

KEPT: Final = 4
"""Digits that stay readable; a number no longer than that is no secret."""

DOTS: Final = "\u2022\u2022\u2022\u2022"

APART: Final = 3
"""Most separators in a row that a number may hold."""

_MARKS: Final = "./\u00b7\u2024\u2027\u2219\u30fb\uff0e\uff0f"


class Number(NamedTuple):
    """A run of digits at [start, end), without its separators and in ASCII."""

    start: int
    end: int
    digits: str


def masked(text: str) -> str:
    """`text` with every number of more than four digits cut to its last four, separators or not.

    Digits may be of any script, full-width, raised or circled; spaces, dots, slashes, hyphens and
    hidden characters between them belong to the number.
    """
    return masked_where(text, lambda _: True)


def masked_where(text: str, secret: Callable[[str], bool]) -> str:
    """`text` with those of its long numbers masked whose digits are `secret`."""
    for number in reversed(numbers(text)):
        if len(number.digits) > KEPT and secret(number.digits):
            shown = f"{DOTS}{number.digits[-KEPT:]}"
            text = f"{text[: number.start]}{shown}{text[number.end :]}"
    return text


def numbers(text: str) -> list[Number]:
    """Every number of a text, from left to right."""
    found: list[Number] = []
    apart = 0
    for index, char in enumerate(text):
        digit = unicodedata.digit(char, None)
        if digit is not None:
            if found and found[-1].end + apart == index and apart <= APART:
                found[-1] = Number(found[-1].start, index + 1, f"{found[-1].digits}{digit}")
            else:
                found.append(Number(index, index + 1, str(digit)))
        apart = apart + 1 if digit is None and _separates(char) else 0
    return found


def _separates(char: str) -> bool:
    return (
        char in _MARKS
        or char.isspace()
        or is_ignorable(char)
        or unicodedata.category(char) in ("Cc", "Cf", "Mn", "Pc", "Pd")
    )
