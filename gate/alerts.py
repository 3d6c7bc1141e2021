"""Alerts: declared words that a rule has to close on, wherever they stand in a text.

A name of an alert is all that rules and records see of it. More words around an alert's own can
neither hide it nor change which one is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from gate.lexicon import touches

NO_ALERT: Final = "none"
"""What the predicate `alert` says of a text without one."""


@dataclass(frozen=True, slots=True)
class Alert:
    """A name, and the folded words of every language that raise it."""

    name: str
    words: tuple[str, ...]


class Alerted(NamedTuple):
    """An alert whose words stand at [start, end)."""

    start: int
    end: int
    name: str


def find(alerts: Iterable[Alert], folded: str) -> tuple[Alerted, ...]:
    """Every alert that the folded text holds, once, in the order of declaration."""
    places = ((a.name, next(_places(a.words, folded), None)) for a in alerts)
    return tuple(Alerted(*place, name) for name, place in places if place is not None)


def _places(words: Iterable[str], folded: str) -> Iterator[tuple[int, int]]:
    """Where the words stand as words: no letter or digit of a spaced script touches them."""
    for word in words:
        start = folded.find(word)
        while start >= 0:
            if not touches(folded, start, start + len(word)):
                yield start, start + len(word)
            start = folded.find(word, start + 1)
