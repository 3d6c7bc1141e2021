"""Objects: which names stand in a text, and which one of them a decision may use.

`mentions` reads a text against the closed lists; `resolve` picks the object of a committed action
from the findings alone. Both are pure; neither trusts a proposal (DESIGN.md, gate semantics 4).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from gate.clauses import Clause
from gate.lexicon import Hit, Lexicon, Tag, is_word, touches
from gate.normalise import Text
from gate.registry import NameIndex, Occurrence, find, unit_after, unit_before


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


@dataclass(frozen=True, slots=True)
class Mention:
    """A name at folded [start, end) and the ids that own it."""

    start: int
    end: int
    owners: tuple[str, ...]
    status: Status


_CLAIMS = (
    re.compile(
        r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{2,4}|\d{4}年(?:\d{1,2}月(?:\d{1,2}[日号])?)?"
    ),
    re.compile(r"\d{1,2}月\d{1,2}[日号]|(?:(?:in|since|by|of|until) )(?:19|20)\d\d(?!\d)"),
    re.compile(
        r"\+?\(?\d{2,4}\)?[ -]\d{3,4}[ -]\d{3,4}(?:[ -]\d{2,4})?|(?<!\d)1[3-9]\d{9}(?!\d)|\+\d{8,15}"
    ),
)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_LETTERS = re.compile(r"[^\W\d_]+")


def claims(lexicon: Lexicon, text: str, hits: Sequence[Hit]) -> tuple[tuple[int, int], ...]:
    """Stretches claimed as amounts, quantities, dates or telephone numbers; never object evidence."""
    spans = [m.span() for pattern in _CLAIMS for m in pattern.finditer(text)]
    units = {h.start: h.end for h in reversed(hits) if Tag.UNIT in h.tags}
    signs = {h.end: h.start for h in hits if Tag.SIGN in h.tags}
    for number in _NUMBER.finditer(text):
        end = number.end() + (text[number.end() : number.end() + 1] == " ")
        if end in units:
            spans.append((number.start(), units[end]))
        elif number.start() in signs:
            spans.append((signs[number.start()], number.end()))
    return tuple(spans)


def mentions(
    lexicon: Lexicon,
    indexes: Sequence[NameIndex],
    text: Text,
    hits: Sequence[Hit],
    clauses: Sequence[Clause],
) -> tuple[Mention, ...]:
    """Every name of the closed lists in the text, longest first, with its status; in order of position."""
    folded = text.folded
    found = [
        o for index in indexes for o in find(index, folded) if not touches(folded, o.start, o.end)
    ]
    if not found:
        return ()
    kept, overlapped = _longest(_merge(found))
    claimed = claims(lexicon, folded, hits)
    judged: list[Mention] = []
    for name in kept:
        clause = next((c for c in clauses if c.start <= name.start < c.end), None)
        status = (
            _claimed(name, claimed)
            or (Status.OVERLAP if name in overlapped else None)
            or _in_name(lexicon, indexes, text, hits, kept, name)
            or (Status.SHARED if len(name.owners) > 1 else None)
            or (Status.NEGATED if clause and _set_aside(clause, name) else Status.OK)
        )
        judged.append(Mention(name.start, name.end, name.owners, status))
    return tuple(judged)


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


def _claimed(name: Occurrence, claimed: Sequence[tuple[int, int]]) -> Status | None:
    return Status.AMOUNT if any(a < name.end and name.start < b for a, b in claimed) else None


def _set_aside(clause: Clause, name: Occurrence) -> bool:
    contrast = any(Tag.CONTRAST in h.tags and h.end <= name.start for h in clause.hits)
    return clause.negated or contrast


def _in_name(
    lexicon: Lexicon,
    indexes: Sequence[NameIndex],
    text: Text,
    hits: Sequence[Hit],
    kept: Sequence[Occurrence],
    name: Occurrence,
) -> Status | None:
    """Why the occurrence may be part of another or a longer name, or None."""
    folded = text.folded
    if _mixed(folded, name):
        return Status.MIXED
    before, after = unit_before(folded, name.start), unit_after(folded, name.end)
    for index in indexes:
        if before in index.before.get(name.alias, ()) or after in index.after.get(name.alias, ()):
            return Status.EXTENDED
    if not _left_is_free(folded, hits, kept, name):
        return Status.LONGER
    return Status.AFFIX if _affixed(text, hits, kept, name) else None


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


def _left_is_free(
    folded: str, hits: Sequence[Hit], kept: Sequence[Occurrence], name: Occurrence
) -> bool:
    """Han, kana or Hangul to the left must be another name or end in context words back to a boundary."""
    ends = {k.end for k in kept if k.end <= name.start}
    by_end: dict[int, list[Hit]] = {}
    for hit in hits:
        if hit.tags & {Tag.CONTEXT, Tag.MEASURE, Tag.NUMERAL} and hit.end <= name.start:
            by_end.setdefault(hit.end, []).append(hit)
    return _free(folded, name.start, by_end, ends)


def _free(
    folded: str, position: int, by_end: dict[int, list[Hit]], ends: set[int], counted: bool = False
) -> bool:
    """A boundary, another name's end, a context word of two characters, or a shorter one that is itself free.

    `counted` is set behind a measure word: only there may a numeral or digit stand.
    """
    if position == 0 or position in ends or not folded[position - 1].isalnum():
        return True
    if is_word(folded[position - 1]):
        return counted and folded[position - 1].isdigit()
    for hit in by_end.get(position, ()):
        context = Tag.CONTEXT in hit.tags or (counted and Tag.NUMERAL in hit.tags)
        if context and (hit.end - hit.start > 1 or _free(folded, hit.start, by_end, ends)):
            return True
        if Tag.MEASURE in hit.tags and _free(folded, hit.start, by_end, ends, counted=True):
            return True
    return False


def _affixed(text: Text, hits: Sequence[Hit], kept: Sequence[Occurrence], name: Occurrence) -> bool:
    """A declared name prefix or suffix beside the name, or a capitalised neighbour in a spaced script."""
    folded = text.folded
    gap_after = name.end + (folded[name.end : name.end + 1] in (" ", "-"))
    gap_before = name.start - (name.start > 0 and folded[name.start - 1] in " -")
    for hit in hits:
        if Tag.SUFFIX in hit.tags and hit.start in (name.end, gap_after):
            return True
        if Tag.PREFIX in hit.tags and hit.end in (name.start, gap_before):
            return True
    return _capital_beside(text, kept, name)


_BEFORE = re.compile(r"([^\W_]+)[ -]$")
_AFTER = re.compile(r"[ -]([^\W_]+)")


def _capital_beside(text: Text, kept: Sequence[Occurrence], name: Occurrence) -> bool:
    """True if the neighbouring word is capitalised in the original, not at a sentence's start."""
    if not any(c.islower() for c in text.original):
        return False
    folded = text.folded
    before, after = (
        _BEFORE.search(folded, max(0, name.start - 40), name.start),
        _AFTER.match(folded, name.end),
    )
    taken = [(k.start, k.end) for k in kept if k is not name]
    for word in (before, after):
        if (
            word is None
            or not is_word(folded[word.start(1)])
            or any(a <= word.start(1) < b for a, b in taken)
        ):
            continue
        original = text.original[text.starts[word.start(1)] : text.ends[word.end(1) - 1]]
        if (
            original[:1].isupper()
            and original != "I"
            and not _starts_sentence(folded, word.start(1))
        ):
            return True
    return False


def _starts_sentence(folded: str, position: int) -> bool:
    before = folded[:position].rstrip(" \"'(")
    return not before or before[-1] in ".!?;:。"


def shapes(
    patterns: Sequence[str], folded: str, taken: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """Stretches that look like an identifier of a declared shape (9 digit, A letter) and are no known name."""
    found: list[tuple[int, int]] = []
    for pattern in patterns:
        for match in _shape(pattern).finditer(folded):
            start, end = match.span()
            if not any(a < end and start < b for a, b in (*taken, *found)):
                found.append((start, end))
    return tuple(sorted(found))


def _shape(pattern: str) -> re.Pattern[str]:
    body = "".join({"9": r"[0-9]", "A": r"[a-z]"}.get(c, re.escape(c.casefold())) for c in pattern)
    return re.compile(rf"(?<![a-z0-9]){body}(?![a-z0-9])")
