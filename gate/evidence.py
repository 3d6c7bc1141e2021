"""The evidence check: an answer may say only what its citations say.

Every cited id must be in the closed list, and one sentence of a cited passage must carry each
sentence of a statement: every number with its sign, unit and month, every date as it is written,
every numeral and calendar word, most of its words, and as many negators as it has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from gate.clauses import unmasked
from gate.lexicon import NEGATION, Lexicon, is_word, scan, touches
from gate.normalise import fold

SUPPORT: Final = Decimal("0.75")
"""Least share of a sentence's words that the sentence which carries it must hold."""

_NUMBER = re.compile(r"\d(?:[\d,./:\u2044-]*\d)?")
_PLAIN = re.compile(r"[\d,]+(?:\.\d+)?")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_END = re.compile(r"[!?;。]+|\.+(?= |$)")


class Evidence(NamedTuple):
    """One item of the closed list: an id, its text, and where it comes from."""

    evidence_id: str
    text: str
    source: str = ""


class Statement(NamedTuple):
    """One statement of an answer and the ids it cites."""

    text: str
    cites: tuple[str, ...]


class _Facts(NamedTuple):
    """What a sentence says: numbers with sign and unit, numerals and calendar words, words, negators."""

    numbers: frozenset[tuple[str, str, str]]
    exact: frozenset[str]
    words: tuple[str, ...]
    negations: int


def check(
    lexicon: Lexicon, statements: Sequence[Statement], evidence: Sequence[Evidence]
) -> tuple[str, ...]:
    """Reason codes against an answer, in order; none means that its evidence supports it."""
    known = {e.evidence_id: fold(e.text) for e in evidence}
    if not statements:
        return ("NO_STATEMENT",)
    reasons: list[str] = []
    for position, statement in enumerate(statements, start=1):
        reason = _against(lexicon, statement, known)
        if reason:
            reasons.append(f"{reason}:{position}")
    return tuple(reasons)


def _against(lexicon: Lexicon, statement: Statement, known: dict[str, str]) -> str | None:
    if not statement.cites:
        return "NOT_CITED"
    if any(c not in known for c in statement.cites):
        return "UNKNOWN_EVIDENCE"
    said = _sentences(fold(statement.text))
    if not said:
        return "EMPTY_STATEMENT"
    for sentence in said:
        found = [_unsupported(lexicon, sentence, known[c]) for c in statement.cites]
        if None not in found:
            return found[0]
    return None


def _unsupported(lexicon: Lexicon, sentence: str, passage: str) -> str | None:
    """Why no single sentence of one passage carries the sentence, or None."""
    said = _facts(lexicon, sentence)
    source = [_facts(lexicon, s) for s in _sentences(passage)] or [_facts(lexicon, "")]
    nearest = max(source, key=lambda facts: _overlap(said, facts))
    if not said.numbers <= nearest.numbers:
        held = said.numbers <= frozenset().union(*(facts.numbers for facts in source))
        return "NUMBER_FROM_ELSEWHERE" if held else "NUMBER_NOT_IN_EVIDENCE"
    if not said.exact <= nearest.exact:
        return "WORD_NOT_IN_EVIDENCE"
    if _share(said.words, nearest.words) < SUPPORT:
        return "NOT_SUPPORTED"
    return None if said.negations == nearest.negations else "NEGATION"


def _facts(lexicon: Lexicon, text: str) -> _Facts:
    numbers = frozenset(_quantity(lexicon, text, m) for m in _NUMBER.finditer(text))
    return _Facts(numbers, _exact(lexicon, text), tuple(_words(text)), _negations(lexicon, text))


def _quantity(lexicon: Lexicon, text: str, number: re.Match[str]) -> tuple[str, str, str]:
    """(sign, number, unit): `-$1,000.00` is ("-$", "1000", ""), `3 march` and `march 3` are equal."""
    start, end = number.span()
    behind = end + (text[end : end + 1] == " ")
    unit = max(lexicon.units.starting_at(text, behind), lexicon.calendar.starting_at(text, behind))
    before = start - (text[start - 1 : start] == " ")
    signs = (s for s in lexicon.signs.ending_at(text, before) if not touches(text, s, before))
    first = next(signs, start)
    months = (m for m in lexicon.calendar.ending_at(text, before) if not touches(text, m, before))
    month = next(months, -1)
    sign = _minus(text, first, start) + text[first:before]
    named = text[behind:unit] if unit > 0 else text[month:before] if month >= 0 else ""
    return sign, _value(number.group()), named


def _minus(text: str, first: int, start: int) -> str:
    """A plus or minus before the number, or before its sign."""
    marks = (text[max(0, at - 1) : at] for at in (start, first))
    return next((mark for mark in marks if mark in ("-", "+")), "")


def _value(number: str) -> str:
    """A plain number without separators and idle zeros; a date, time, range or fraction as it is."""
    if not _PLAIN.fullmatch(number):
        return number
    value = f"{Decimal(number.replace(',', '')):f}"
    return value.rstrip("0").rstrip(".") if "." in value else value


def _exact(lexicon: Lexicon, text: str) -> frozenset[str]:
    """Numerals and calendar words, wherever they stand in a script without spaces."""
    inside = (i > 0 and is_word(text[i - 1]) and is_word(c) for i, c in enumerate(text))
    ends = (
        (i, lexicon.exact.starting_at(text, i)) for i, within in enumerate(inside) if not within
    )
    return frozenset(text[i:end] for i, end in ends if end > 0)


def _words(text: str) -> list[str]:
    """Words of a spaced script as they are, Han as single characters."""
    found: list[str] = []
    for word in _WORD.findall(text):
        found.extend([word] if is_word(word[0]) else list(word))
    return found


def _share(said: Sequence[str], source: Sequence[str]) -> Decimal:
    held = frozenset(source)
    return Decimal(sum(w in held for w in said)) / len(said) if said else Decimal(1)


def _sentences(text: str) -> list[str]:
    return [s for s in _END.split(text) if any(map(str.isalnum, s))]


def _overlap(said: _Facts, sentence: _Facts) -> tuple[int, int, bool]:
    numbers, words = said.numbers & sentence.numbers, set(said.words) & set(sentence.words)
    return len(numbers), len(words), said.negations == sentence.negations


def _negations(lexicon: Lexicon, text: str) -> int:
    """Negators outside exceptions; one phrase inside another counts once."""
    count, end = 0, 0
    for hit in unmasked(scan(lexicon, text)):
        if hit.tags & NEGATION and hit.start >= end:
            count, end = count + 1, hit.end
    return count
