"""Objects: which names stand in a text, and which one of them a decision may use.

`mentions` reads a text against the closed lists; `resolve` picks the object of a committed action
from the findings alone. Both are pure; neither trusts a proposal (DESIGN.md, gate semantics 4).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from gate.clauses import CUES, Clause
from gate.lexicon import CONTRAST, TOPIC, Lexicon, is_word, touches
from gate.normalise import Text
from gate.registry import NameIndex, Occurrence, find, unit_after, unit_before

Span = tuple[int, int]


class Status(StrEnum):
    """Whether a mention may serve as evidence, or why not."""

    OK = "OK"
    LONGER = "PART_OF_LONGER_NAME"
    EXTENDED = "EXTENDED_INTO_ANOTHER_NAME"
    AFFIX = "NAME_AFFIX"
    OVERLAP = "OVERLAPPING_NAMES"
    SHARED = "SEVERAL_OWNERS"
    MIXED = "MIXED_SCRIPTS"
    NEGATED = "NEGATED_OR_CONTRASTED"
    AMOUNT = "AMOUNT_DATE_OR_PHONE"


class Mention(NamedTuple):
    """A name at [start, end) and the ids that own it; a run of mixed scripts has no owner."""

    start: int
    end: int
    owners: tuple[str, ...]
    status: Status


_CLAIMS = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{2,4}"  # dates
    r"|\d{4}年(?:\d{1,2}月(?:\d{1,2}[日号])?)?|\d{1,2}月\d{1,2}[日号]"
    r"|(?:in|since|by|of|until) (?:19|20)\d\d(?!\d)"  # years
    r"|\+?\(?\d{2,4}\)?[ -]\d{3,4}[ -]\d{3,4}(?:[ -]\d{2,4})?"  # telephone numbers
    r"|(?<!\d)1[3-9]\d{9}(?!\d)|\+\d{8,15}"
)
_LEAD = 8
"""Characters that a claim may hold before its first digit."""
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_YEAR = re.compile(r"(?:19|20)\d\d$")
_EMAIL = re.compile(r"[^\s@\u2e80-\uffdc]+@[^\s@\u2e80-\uffdc]+")


def claims(lexicon: Lexicon, text: str) -> tuple[Span, ...]:
    """Stretches claimed as amounts, dates, telephone numbers or addresses; never object evidence."""
    spans = [m.span() for m in _EMAIL.finditer(text)] if "@" in text else []
    digit = _DIGIT.search(text)
    if digit is None:
        return tuple(spans)
    first = max(0, digit.start() - _LEAD)
    spans += (m.span() for m in _CLAIMS.finditer(text, first))
    spans += (m.span() for m in lexicon.addresses.finditer(text, first))
    for number in _NUMBER.finditer(text, first):
        start, end = number.span()
        unit = _counted(lexicon, text, end)
        sign = _signed(lexicon, text, start)
        if unit > 0 or sign >= 0:
            spans.append((sign if sign >= 0 else start, max(unit, end)))
        elif _YEAR.match(number.group()) and _dated(lexicon, text, spans, start):
            spans.append((start, end))
    return tuple(spans)


def _counted(lexicon: Lexicon, text: str, end: int) -> int:
    """Where the unit or the month behind a number ends, or -1."""
    behind = end + (text[end : end + 1] == " ")
    return max(lexicon.units.starting_at(text, behind), lexicon.calendar.starting_at(text, behind))


def _signed(lexicon: Lexicon, text: str, start: int) -> int:
    """Where the sign or the month before a number starts, or -1."""
    before = start - (text[max(0, start - 1) : start] == " ")
    starts = (*lexicon.signs.ending_at(text, before), *lexicon.calendar.ending_at(text, before))
    return next((s for s in starts if not touches(text, s, before)), -1)


def _dated(lexicon: Lexicon, text: str, spans: Sequence[Span], start: int) -> bool:
    """True if a claim ends right before a year (march 3, 2026)."""
    return any(not text[b:start].strip(" ,") for _, b in spans if b <= start)


def mentions(
    lexicon: Lexicon,
    indexes: Sequence[NameIndex],
    text: Text,
    clauses: Sequence[Clause],
    claimed: Sequence[Span],
) -> tuple[Mention, ...]:
    """Every name of the closed lists in the text, longest first, each with its status; by position.

    Spans are folded offsets. `claimed` are stretches that are amounts, dates or telephone numbers.
    """
    folded = text.folded
    mixed = [] if folded.isascii() else _mixed(folded)
    found = [o for i in indexes for o in find(i, folded) if not touches(folded, o.start, o.end)]
    if not found:
        return tuple(mixed)
    kept, overlapped = _longest(_merge(found)) if len(found) > 1 else (found, frozenset())
    reading = _Reading(lexicon, indexes, text, clauses, claimed, kept, overlapped)
    named = [Mention(n.start, n.end, n.owners, _status(reading, n)) for n in kept]
    return tuple(sorted((*named, *mixed)) if mixed else named)


class _Reading(NamedTuple):
    """One text being read for names."""

    lexicon: Lexicon
    indexes: Sequence[NameIndex]
    text: Text
    clauses: Sequence[Clause]
    claimed: Sequence[Span]
    names: Sequence[Occurrence]
    overlapped: frozenset[Occurrence]


def _status(reading: _Reading, name: Occurrence) -> Status:
    """The first thing that stands against a name, in order, or OK."""
    if any(_claimed(name, a, b) for a, b in reading.claimed):
        return Status.AMOUNT
    if name in reading.overlapped:
        return Status.OVERLAP
    if _extended(reading, name):
        return Status.EXTENDED
    if _in_token(reading, name) or not _left_is_free(reading, name):
        return Status.LONGER
    if _affixed(reading, name):
        return Status.AFFIX
    if len(name.owners) > 1:
        return Status.SHARED
    return Status.NEGATED if set_aside(reading.clauses, name.start) else Status.OK


def _claimed(name: Occurrence, start: int, end: int) -> bool:
    """True if a claim touches the name, unless it is only a part of it (30 year mortgage)."""
    part = name.start <= start and end <= name.end and end - start < name.end - name.start
    return start < name.end and name.start < end and not part


def _merge(found: Sequence[Occurrence]) -> list[Occurrence]:
    """One occurrence per place; owners of registry and session together."""
    owners: dict[tuple[int, int], tuple[str, ...]] = {}
    for o in found:
        merged = (*owners.get((o.start, o.end), ()), *o.owners)
        owners[o.start, o.end] = tuple(dict.fromkeys(merged))
    aliases = {(o.start, o.end): o.alias for o in found}
    return [
        Occurrence(start, end, aliases[start, end], who) for (start, end), who in owners.items()
    ]


def _longest(found: Sequence[Occurrence]) -> tuple[list[Occurrence], frozenset[Occurrence]]:
    """Drop names inside longer names; names that overlap without one holding the other are ambiguous."""
    kept: list[Occurrence] = []
    overlapped: set[Occurrence] = set()
    for name in sorted(found, key=lambda o: (o.start - o.end, o.start)):
        clashes = [k for k in kept if k.start < name.end and name.start < k.end]
        if any(k.start <= name.start and name.end <= k.end for k in clashes):
            continue
        if any(k.owners != name.owners for k in clashes):
            overlapped.update(clashes, {name})
        kept.append(name)
    return sorted(kept, key=lambda o: o.start), frozenset(overlapped)


def set_aside(clauses: Sequence[Clause], position: int) -> bool:
    """True if what stands at `position` is negated or contrasted, in its clause or as its topic."""
    for index, clause in enumerate(clauses):
        if not clause.start <= position < clause.end:
            continue
        if clause.negated or any(h.tags & CONTRAST and h.end <= position for h in clause.hits):
            return True
        topic = clause.tags & TOPIC and not clause.tags & CUES
        following = clauses[index + 1 : index + 2] if topic else ()
        return any(c.negated and c.sentence == clause.sentence for c in following)
    return False


def _extended(reading: _Reading, name: Occurrence) -> bool:
    """True if adjacent text makes the name a larger part of another registered name."""
    folded, alias = reading.text.folded, name.alias
    for index in reading.indexes:
        if alias in index.before and unit_before(folded, name.start) in index.before[alias]:
            return True
        if alias in index.after and unit_after(folded, name.end) in index.after[alias]:
            return True
    return False


_RUN = re.compile(r"[^\W_]+")
_FOREIGN = re.compile("[\u0370-\u052f\u1c80-\u1c88\u1f00-\u1fff\ua640-\ua69f]")


def _mixed(folded: str) -> list[Mention]:
    """Runs that mix Latin, Greek and Cyrillic letters: they match nothing and are reported."""
    if _FOREIGN.search(folded) is None:
        return []
    runs = (m for m in _RUN.finditer(folded) if mixes_scripts(m.group()))
    return [Mention(*m.span(), (), Status.MIXED) for m in runs]


def mixes_scripts(run: str) -> bool:
    """True if a run of letters holds more than one of Latin, Greek and Cyrillic."""
    if run.isascii():
        return False
    names = {unicodedata.name(c, "?").split(" ")[0] for c in run}
    return len(names & {"LATIN", "GREEK", "CYRILLIC"}) > 1


_GLUE = frozenset("._-/·•@#")
"""Marks that make one token of what stands against them on both sides (510050.5, SZ.510050)."""


def _in_token(reading: _Reading, name: Occurrence) -> bool:
    """True inside a longer token: glued to a letter or digit, or a Han edge with one against it."""
    folded, start, end = reading.text.folded, name.start, name.end
    after = folded[end : end + 2]
    if len(after) == 2 and after[0] in _GLUE and is_word(after[1]) and is_word(folded[end - 1]):
        return True
    before = folded[max(0, start - 2) : start]
    if len(before) == 2 and before[1] in _GLUE and is_word(before[0]) and is_word(folded[start]):
        return True
    numbered = end < len(folded) and is_word(folded[end])
    return numbered and not any(a <= end < b for a, b in reading.claimed)


def _left_is_free(reading: _Reading, name: Occurrence) -> bool:
    """True if the text before the name leads back to a boundary or another name over words that may
    stand there: a context word of two characters or more, a shorter one that is free itself, or
    numerals with their measure word. An own name may stand behind a word for its digits too (尾号)."""
    folded, lexicon = reading.text.folded, reading.lexicon
    own = any(name.alias in index.owners for index in reading.indexes[1:])
    if own and lexicon.own_marks.ending_at(folded, name.start):
        return True
    ends = frozenset(k.end for k in reading.names if k.end <= name.start)
    open_at, seen = [(name.start, False)], set()
    while open_at:
        position, counted = step = open_at.pop()
        if position == 0 or position in ends or not folded[position - 1].isalnum():
            return True
        if step in seen:
            continue
        seen.add(step)
        if is_word(folded[position - 1]):
            if counted and folded[position - 1].isdigit():
                return True
            continue
        for start in lexicon.context.ending_at(folded, position):
            if position - start > 1:
                return True
            open_at.append((start, False))
        numerals = lexicon.numerals.ending_at(folded, position) if counted else ()
        measures = lexicon.measures.ending_at(folded, position)
        open_at += ((start, True) for start in (*numerals, *measures))
    return False


def _affixed(reading: _Reading, name: Occurrence) -> bool:
    """A declared name prefix or suffix beside the name, or a capitalised neighbour."""
    folded, lexicon = reading.text.folded, reading.lexicon
    behind = name.end
    while folded[behind : behind + 1] in _GAPS:
        behind += 1
    if _longer(reading, name.end) or _longer(reading, behind):
        return True
    before = name.start - (folded[max(0, name.start - 1) : name.start] in (" ", "-"))
    prefixes = lexicon.prefixes.ending_at(folded, before)
    return any(not touches(folded, p, before) for p in prefixes) or _capital_beside(reading, name)


_GAPS = frozenset(" -·•(_")
"""Marks that may stand between a name and what makes it a longer one."""


def _longer(reading: _Reading, position: int) -> bool:
    """True if a declared name suffix, or the rest of a longer registered name, starts here."""
    folded = reading.text.folded
    if reading.lexicon.suffixes.starting_at(folded, position) > 0:
        return True
    return any(index.tails.starting_at(folded, position) > 0 for index in reading.indexes)


_BEFORE = re.compile(r"([^\W_]+)[ -]$")
_AFTER = re.compile(r"[ -]([^\W_]+)")


def _capital_beside(reading: _Reading, name: Occurrence) -> bool:
    """True if a neighbouring word is capitalised in the original, not at a sentence's start."""
    text, folded = reading.text, reading.text.folded
    before = _BEFORE.search(folded, max(0, name.start - 40), name.start)
    for word in (before, _AFTER.match(folded, name.end)):
        if word is None or _in_another(reading, name, word.start(1)):
            continue
        original = text.original[slice(*text.span(*word.span(1)))]
        if original[:1].isupper() and original != "I" and not _starts_sentence(text, word.start(1)):
            return any(map(str.islower, text.original))
    return False


def _in_another(reading: _Reading, name: Occurrence, position: int) -> bool:
    return any(k.start <= position < k.end for k in reading.names if k is not name)


def _starts_sentence(text: Text, position: int) -> bool:
    """True behind a stop, or at the start of a line."""
    before = text.folded[:position].rstrip(" \"'(")
    original = text.original[: text.span(position, position + 1)[0]]
    line = "\n" in original[len(original.rstrip()) :]
    return not before or line or before[-1] in ".!?;:。"


def shapes(patterns: Sequence[str], folded: str, taken: Sequence[Span]) -> tuple[Span, ...]:
    """Stretches of a declared identifier shape (9 digit, A letter) that are no known name."""
    found: list[Span] = []
    for pattern in patterns:
        for match in _shape(pattern).finditer(folded):
            start, end = match.span()
            if not any(a < end and start < b for a, b in (*taken, *found)):
                found.append((start, end))
    return tuple(sorted(found))


@lru_cache(maxsize=256)
def _shape(pattern: str) -> re.Pattern[str]:
    body = "".join({"9": r"[0-9]", "A": r"[a-z]"}.get(c, re.escape(c.casefold())) for c in pattern)
    return re.compile(rf"(?<![a-z0-9]){body}(?![a-z0-9])")
