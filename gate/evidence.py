"""The evidence check: an answer may say only what its citations say.

Every cited id must be in the closed list; every number with its sign and unit, every numeral and
calendar word of a statement must stand in one cited passage, together with most of its words; and
the sentence that carries it must not be negated where the statement is not, or the reverse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from gate.clauses import unmasked
from gate.lexicon import NEGATION, Lexicon, is_word, scan
from gate.normalise import fold

SUPPORT: Final = Decimal("0.75")
"""Least share of a statement's words that one cited passage must hold."""

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_SENTENCE = re.compile(r"(?<!\d)[.!?;。!?;]+(?!\d)|[.!?;。](?= |$)|\n")


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
    """What must not be lost or changed: numbers with sign and unit, numerals, calendar words."""

    numbers: frozenset[tuple[str, str, str]]
    exact: frozenset[str]
    words: tuple[str, ...]


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
    text = fold(statement.text)
    if not text:
        return "EMPTY_STATEMENT"
    found = [_unsupported(lexicon, text, known[c]) for c in statement.cites]
    return None if None in found else found[0]


def _unsupported(lexicon: Lexicon, text: str, passage: str) -> str | None:
    """Why one passage does not carry the statement, or None."""
    said, source = _facts(lexicon, text), _facts(lexicon, passage)
    if not said.numbers <= source.numbers:
        return "NUMBER_NOT_IN_EVIDENCE"
    if not said.exact <= source.exact:
        return "WORD_NOT_IN_EVIDENCE"
    if _share(said.words, source.words) < SUPPORT:
        return "NOT_SUPPORTED"
    nearest = max(_sentences(passage), key=lambda s: _overlap(said, _facts(lexicon, s)))
    carried = _facts(lexicon, nearest)
    if not said.numbers <= carried.numbers and len(_sentences(text)) == 1:
        return "NUMBER_FROM_ELSEWHERE"
    negated = text if len(_sentences(text)) == 1 else nearest
    return None if _negations(lexicon, negated) == _negations(lexicon, nearest) else "NEGATION"


def _facts(lexicon: Lexicon, text: str) -> _Facts:
    numbers = frozenset(_quantity(lexicon, text, m) for m in _NUMBER.finditer(text))
    words = tuple(_words(text))
    exact = frozenset(w for w in words if w in lexicon.exact)
    return _Facts(numbers, exact, words)


def _quantity(lexicon: Lexicon, text: str, number: re.Match[str]) -> tuple[str, str, str]:
    """(sign, number, unit) of a number: `$1,000.00 dollars` is ("$", "1000", "dollars")."""
    start, end = number.span()
    value = Decimal(number.group().rstrip(",").replace(",", "")).normalize()
    gap = end + (text[end : end + 1] == " ")
    stop = lexicon.units.starting_at(text, gap)
    sign = lexicon.signs.ending_at(text, start)
    return (text[sign[0] : start] if sign else "", f"{value:f}", text[gap:stop] if stop > 0 else "")


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
    return [s for s in _SENTENCE.split(text) if s.strip()] or [text]


def _overlap(said: _Facts, sentence: _Facts) -> tuple[int, int]:
    return len(said.numbers & sentence.numbers), len(set(said.words) & set(sentence.words))


def _negations(lexicon: Lexicon, text: str) -> int:
    """Negators outside exceptions; one phrase inside another counts once."""
    count, end = 0, 0
    for hit in unmasked(scan(lexicon, text)):
        if hit.tags & NEGATION and hit.start >= end:
            count, end = count + 1, hit.end
    return count
