"""Phrases: lists of words that are looked up beside a place, or all over a text, at the cost of a glance.

A phrase is filed under its first and its last unit, a unit being a run of letters or one character
of any other kind, so that most places are done with after one look.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gate.lexicon import ends_word, is_word

_LETTERS: Final = re.compile(r"[^\W\d_\u2e80-\uffdc]+")


def unit_at(text: str, position: int) -> str:
    """The run of letters, or the one character, that starts at a place; empty at the end."""
    run = _LETTERS.match(text, position)
    return run.group() if run else text[position : position + 1]


def unit_before(text: str, position: int) -> str:
    """The run of letters, or the one character, that ends at a place; empty at the beginning."""
    start = position
    while start and _is_letter(text[start - 1]):
        start -= 1
    return text[start:position] if start < position else text[max(0, position - 1) : position]


def _is_letter(char: str) -> bool:
    return char.isalpha() and is_word(char)


@dataclass(frozen=True, slots=True)
class Phrases:
    """Folded phrases; `by_first` and `by_last` map a unit to the lengths of its phrases, longest first.

    `others` finds the phrases that begin with no letter of a script with spaces, `foreign` tells that
    no ASCII text holds one of them.
    """

    words: frozenset[str]
    by_first: Mapping[str, tuple[int, ...]]
    by_last: Mapping[str, tuple[int, ...]]
    others: re.Pattern[str] | None
    foreign: bool

    def ending_at(self, text: str, end: int, unit: str) -> int:
        """Where the longest phrase starts that ends at `end` and cuts no word, or -1; `unit` ends there."""
        for size in self.by_last.get(unit, ()):
            start = end - size
            if start >= 0 and text[start:end] in self.words and not _cuts(text, start):
                return start
        return -1

    def starting_at(self, text: str, start: int, unit: str) -> int:
        """Where the longest phrase ends that starts at `start` and cuts no word, or -1; `unit` starts there."""
        for size in self.by_first.get(unit, ()):
            stop = start + size
            if text[start:stop] in self.words and stop <= len(text) and ends_word(text, stop):
                return stop
        return -1

    def all_in(self, text: str, units: Iterable[tuple[int, str]]) -> list[tuple[int, int]]:
        """Every place of a phrase, longest first at each start, none inside another.

        `units` are the runs of letters of the text by position.
        """
        found = [(s, e) for s, u in units if (e := self.starting_at(text, s, u)) > 0]
        if self.others is not None and (not self.foreign or not text.isascii()):
            found += (m.span() for m in self.others.finditer(text))
        if len(found) < 2:
            return found
        kept: list[tuple[int, int]] = []
        for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
            if not kept or start >= kept[-1][1]:
                kept.append((start, end))
        return kept


def _cuts(text: str, start: int) -> bool:
    """True if a letter or digit stands against the beginning of a word."""
    return start > 0 and is_word(text[start]) and is_word(text[start - 1])


def phrases(words: Iterable[str]) -> Phrases:
    """File the phrases."""
    found = frozenset(words)
    other = sorted((w for w in found if not _is_letter(w[0])), key=lambda w: (-len(w), w))
    return Phrases(
        found,
        _filed((unit_at(w, 0), len(w)) for w in found),
        _filed((unit_before(w, len(w)), len(w)) for w in found),
        re.compile("|".join(map(re.escape, other))) if other else None,
        not any(w[0].isascii() for w in other),
    )


def _filed(entries: Iterable[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    sizes: dict[str, set[int]] = {}
    for unit, size in entries:
        sizes.setdefault(unit, set()).add(size)
    return {unit: tuple(sorted(found, reverse=True)) for unit, found in sizes.items()}


def letters(text: str) -> list[tuple[int, str]]:
    """The runs of letters of a text with their places; none that a digit or letter stands against."""
    return [
        (m.start(), m.group())
        for m in _LETTERS.finditer(text)
        if not (m.start() and is_word(text[m.start() - 1]))
    ]
