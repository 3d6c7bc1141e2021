"""A text while slots are read from it: what stands before and behind a place, word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gate import numbers, phrases
from gate.clauses import Clause
from gate.lexicon import ends_word, is_word
from gate.normalise import Text
from gate.objects import set_aside
from gate.phrases import Phrases
from gate.slotwords import SlotWords

Span = tuple[int, int]


class Spotted(NamedTuple):
    """A value at folded [start, end), or the fault for which it is none."""

    start: int
    end: int
    value: str
    fault: str


_SMALL: Final = re.compile(r"(?<![0-9a-z.,/])[0-9]{1,4}(?![0-9.,/])")
_LATIN: Final = re.compile(r"(?<![a-z0-9-])[a-z]+(?![a-z0-9-])")
_HAN: Final = re.compile("[\u3400-\u9fff]")
_WIDE: Final = "\uffe5"
"""The yen sign of Chinese keyboards; folded, it is the narrow one."""
_OPENERS: Final = frozenset(",;:(\"'!?。、[{<=")
_CLOSERS: Final = frozenset(",.;:)\"'!?。、]}>…")


@dataclass(frozen=True, slots=True)
class Spot:
    """One normalised text with the words it is read by; all places are folded offsets.

    `begins` and `ends` keep the unit that stands at a place, `runs` the runs of letters, once they
    were looked at.
    """

    text: Text
    words: SlotWords
    language: str | None
    clauses: Sequence[Clause] = ()
    begins: dict[int, tuple[int, str]] = field(default_factory=dict)
    ends: dict[int, tuple[int, str]] = field(default_factory=dict)
    runs: list[tuple[int, str]] = field(default_factory=list)

    @property
    def folded(self) -> str:
        """The normalised text."""
        return self.text.folded

    @property
    def numerals(self) -> str:
        """The characters of Chinese numerals."""
        return "".join(self.words.han)

    def is_numeral(self, char: str) -> bool:
        """True for a numeral character."""
        return char in self.words.han

    def is_decimal(self, start: int, end: int) -> bool:
        """True if every digit in [start, end) was a decimal digit in the original, no ½, ² or ①."""
        if self.text.plain and self.text.original.isascii():
            return True
        original = self.text.original[slice(*self.text.span(start, end))]
        return all(c.isdecimal() or c in self.words.han or not c.isnumeric() for c in original)

    # ---- beside a place ------------------------------------------------------------------------

    def before(self, name: str, position: int) -> int:
        """Where the longest phrase of a list that ends at `position` starts, or -1."""
        return self._before(self.words.sets[name], position)

    def after(self, name: str, position: int) -> int:
        """Where the longest phrase of a list that starts at `position` ends, or -1."""
        words = self.words.units if name == "units" else self.words.sets[name]
        return self._after(words, position)

    def after_table(self, name: str, position: int) -> int:
        """As `after`, for the words of a table."""
        return self._after(self.words.tables[name].words, position)

    def table_value(self, name: str, start: int, end: int) -> str:
        """The value of the table's word between two places."""
        return self.words.tables[name].values[self.folded[start:end].strip()]

    def _before(self, words: Phrases, position: int) -> int:
        known = self.ends.get(position)
        if known is None:
            text = self.folded
            end = position - (text[max(0, position - 1) : position] == " ")
            within = 0 < end < len(text) and is_word(text[end - 1]) and is_word(text[end])
            unit = "" if within and text[end].isalpha() else phrases.unit_before(text, end)
            known = self.ends[position] = (end, unit)
        if known[1] not in words.by_last:
            return -1
        return words.ending_at(self.folded, *known)

    def _after(self, words: Phrases, position: int) -> int:
        known = self.begins.get(position)
        if known is None:
            start = position + (self.folded[position : position + 1] == " ")
            known = self.begins[position] = (start, phrases.unit_at(self.folded, start))
        if known[1] not in words.by_first:
            return -1
        return words.starting_at(self.folded, *known)

    def before_table(self, name: str, position: int) -> int:
        """As `before`, for the words of a table."""
        return self._before(self.words.tables[name].words, position)

    def all_of(self, name: str) -> list[Span]:
        """Every place where a phrase of a list stands, longest first, none inside another."""
        return self._all(self.words.sets[name])

    def all_in_table(self, name: str) -> list[Span]:
        """As `all_of`, for the words of a table."""
        return self._all(self.words.tables[name].words)

    def _all(self, words: Phrases) -> list[Span]:
        return words.all_in(self.folded, self.letters())

    def letters(self) -> list[tuple[int, str]]:
        """The runs of letters of the text with their places."""
        if not self.runs:
            self.runs.extend(phrases.letters(self.folded))
        return self.runs

    def may_hold(self, words: Phrases) -> bool:
        """False if no word of the text opens a phrase of a list."""
        return not words.by_first.keys().isdisjoint(word for _, word in self.letters())

    def is_phrase(self, name: str, phrase: str) -> bool:
        """True for a phrase of a list."""
        return phrase in self.words.sets[name].words

    def is_in(self, name: str, start: int, end: int) -> bool:
        """True if [start, end) is a phrase of a list."""
        return self.folded[start:end].strip() in self.words.sets[name].words

    def stands_alone(self, start: int, end: int) -> bool:
        """True for a value that is given: behind a word that leads to one and before none that goes on."""
        text = self.folded
        left = text[:start].rstrip()[-1:]
        right = text[end:].lstrip()[:1]
        leads = not left or left in _OPENERS or self.before("value_leads", start) >= 0
        follows = not right or right in _CLOSERS or self.after("value_follows", end) > 0
        return leads and follows

    def is_set_aside(self, position: int) -> bool:
        """True if what stands there is negated or contrasted."""
        beside = (self.before(name, position) >= 0 for name in ("negations", "contrasts"))
        return any(beside) or set_aside(self.clauses, position)

    def small_numbers(self) -> Iterator[tuple[int | None, int, int]]:
        """Whole numbers of at most four digits, number words and numerals, as digits where they are one."""
        for match in _SMALL.finditer(self.folded):
            yield (int(match.group()) if self.is_decimal(*match.span()) else None), *match.span()
        for match in _LATIN.finditer(self.folded):
            if match.group() in self.words.latin:
                yield self.words.latin[match.group()], *match.span()
            elif match.group() in ("a", "an"):
                yield 1, *match.span()
        run = 0
        for start, char in enumerate(self.folded):
            if char in self.words.han and start >= run:
                run = start
                while run < len(self.folded) and self.folded[run] in self.words.han:
                    run += 1
                value = numbers.han(self.folded[start:run], self.words.han).value
                yield None if value is None else int(value), start, run

    def is_lower(self) -> bool:
        """True for a text without capital letters."""
        return not any(c.isupper() for c in self.text.original)

    def has_lower(self) -> bool:
        """True for a text with small letters."""
        return any(c.islower() for c in self.text.original)

    def is_capital(self, position: int) -> bool:
        """True for a capital letter of the original."""
        return self.text.original[self.text.starts[position]].isupper()

    def is_line_end(self, position: int) -> bool:
        """True where a line of the original ends."""
        if self.folded[position : position + 1] != " ":
            return False
        return "\n" in self.text.original[slice(*self.text.span(position, position + 1))]

    def asks(self, position: int) -> bool:
        """True in a clause that asks for something to be done."""
        return any(c.request and c.start <= position < c.end for c in self.clauses)

    # ---- numbers and currencies ----------------------------------------------------------------

    def after_scale(self, position: int) -> int:
        """Where a word for hundreds, thousands or more ends that starts at `position`, or -1."""
        text, latin = self.folded, self.words.latin
        start = position + (text[position : position + 1] == " ")
        end = start
        while end < len(text) and text[end].isalpha() and is_word(text[end]):
            end += 1
        return end if latin.get(text[start:end], 0) >= 100 and ends_word(text, end) else -1

    def scale(self, start: int, end: int) -> int:
        """The value of the word between two places."""
        return self.words.latin[self.folded[start:end].strip()]

    def currency_before(self, position: int) -> int:
        """Where the sign or word of a currency that ends at `position` starts, or -1."""
        return self._before(self.words.money, position)

    def money_after(self, position: int) -> int:
        """Where the sign or word of a currency that starts at `position` ends, or -1."""
        return self._after(self.words.money, position)

    def codes(self, start: int, end: int) -> frozenset[str]:
        """The currencies that a sign or word stands for in this text's language."""
        return self._money_words().get(self.folded[start:end].strip(), frozenset())

    def family(self, start: int, end: int) -> frozenset[str]:
        """The currencies of which some sign or word holds the one at [start, end) ($ is in ca$)."""
        word = self.folded[start:end].strip()
        return frozenset(c for w, codes in self._money_words().items() if word in w for c in codes)

    def _money_words(self) -> Mapping[str, frozenset[str]]:
        tables = self.words.currencies
        han = self.words.han_tag is not None and (
            _HAN.search(self.folded) or _WIDE in self.text.original
        )
        return tables.get(self.words.han_tag if han else self.language) or tables[None]

    def signs(self) -> Iterator[Span]:
        """Every one-character sign of a currency that is no letter."""
        yield from (m.span() for m in self.words.signs.finditer(self.folded))
