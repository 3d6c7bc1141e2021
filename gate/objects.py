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
    """A name at folded [start, end) and the ids that own it."""

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
_LETTERS = re.compile(r"[^\W\d_]+")


def claims(lexicon: Lexicon, text: str) -> tuple[Span, ...]:
    """Stretches claimed as amounts, quantities, dates or telephone numbers; never object evidence."""
    digit = _DIGIT.search(text)
    if digit is None:
        return ()
    first = max(0, digit.start() - _LEAD)
    spans = [m.span() for m in _CLAIMS.finditer(text, first)]
    for number in _NUMBER.finditer(text, first):
        start, end = number.span()
        unit = lexicon.units.starting_at(text, end + (text[end : end + 1] == " "))
        sign = lexicon.signs.ending_at(text, start - (text[max(0, start - 1) : start] == " "))
        if unit > 0 or sign:
            spans.append((sign[0] if sign else start, max(unit, end)))
    return tuple(spans)


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
    found = [o for i in indexes for o in find(i, folded) if not touches(folded, o.start, o.end)]
    if not found:
        return ()
    kept, overlapped = _longest(_merge(found)) if len(found) > 1 else (found, frozenset())
    reading = _Reading(lexicon, indexes, text, clauses, claimed, kept, overlapped)
    return tuple(Mention(n.start, n.end, n.owners, _status(reading, n)) for n in kept)


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
    if any(a < name.end and name.start < b for a, b in reading.claimed):
        return Status.AMOUNT
    if name in reading.overlapped:
        return Status.OVERLAP
    if _mixed(reading.text.folded, name):
        return Status.MIXED
    if _extended(reading, name):
        return Status.EXTENDED
    if _in_token(reading, name) or not _left_is_free(reading, name):
        return Status.LONGER
    if _affixed(reading, name):
        return Status.AFFIX
    if len(name.owners) > 1:
        return Status.SHARED
    return Status.NEGATED if set_aside(reading.clauses, name.start) else Status.OK


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
    folded = reading.text.folded
    before, after = unit_before(folded, name.start), unit_after(folded, name.end)
    return any(
        before in index.before.get(name.alias, ()) or after in index.after.get(name.alias, ())
        for index in reading.indexes
    )


def _mixed(folded: str, name: Occurrence) -> bool:
    """True if the run of letters around the name mixes Latin, Greek and Cyrillic."""
    start, end = name.start, name.end
    while start > 0 and is_word(folded[start - 1]):
        start -= 1
    while end < len(folded) and is_word(folded[end]):
        end += 1
    return any(mixes_scripts(run) for run in _LETTERS.findall(folded[start:end]))


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
    """Han to the left must be another name, or end in context words back to a boundary."""
    ends = frozenset(k.end for k in reading.names if k.end <= name.start)
    return _free(reading.lexicon, reading.text.folded, name.start, ends)


def _free(
    lexicon: Lexicon, folded: str, position: int, ends: frozenset[int], counted: bool = False
) -> bool:
    """A boundary, another name's end, a context word of two characters or more, or a free shorter one.

    `counted` is set behind a measure word: only there may a numeral or a digit stand.
    """
    if position == 0 or position in ends or not folded[position - 1].isalnum():
        return True
    if is_word(folded[position - 1]):
        return counted and folded[position - 1].isdigit()
    before = lexicon.context.ending_at(folded, position)
    before += lexicon.numerals.ending_at(folded, position) if counted else ()
    if any(position - s > 1 or _free(lexicon, folded, s, ends) for s in before):
        return True
    measured = lexicon.measures.ending_at(folded, position)
    return any(_free(lexicon, folded, s, ends, counted=True) for s in measured)


def _affixed(reading: _Reading, name: Occurrence) -> bool:
    """A declared name prefix or suffix beside the name, or a capitalised neighbour."""
    folded, lexicon = reading.text.folded, reading.lexicon
    if _longer(reading, name.end):
        return True
    if folded[name.end : name.end + 1] in _GAPS and _longer(reading, name.end + 1):
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
        if (
            original[:1].isupper()
            and original != "I"
            and not _starts_sentence(folded, word.start(1))
        ):
            return any(map(str.islower, text.original))
    return False


def _in_another(reading: _Reading, name: Occurrence, position: int) -> bool:
    return any(k.start <= position < k.end for k in reading.names if k is not name)


def _starts_sentence(folded: str, position: int) -> bool:
    before = folded[:position].rstrip(" \"'(")
    return not before or before[-1] in ".!?;:。"


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
