"""The registry: closed list of public dispatchable things, and the index that finds their names.

Names are looked up by first two characters and length, so that a text costs the same whether the
list holds forty names or a million.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import add
from types import MappingProxyType
from typing import NamedTuple

from gate.errors import ConfigError
from gate.lexicon import WordSet, word_set
from gate.normalise import fold
from gate.records import Entry

KEY = 2
"""Characters of the index key; also the shortest alias that is accepted."""

_WORD = re.compile(r"[ -]?[a-z0-9]+")
_WORD_BEFORE = re.compile(r"[a-z0-9]+[ -]?$")


class Occurrence(NamedTuple):
    """A name found in a folded text: [start, end) and the ids that own it (one, or several own objects)."""

    start: int
    end: int
    alias: str
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NameIndex:
    """Folded names by owner, with the lengths to try per key and what stands beside them in longer names.

    `before` and `after` are the units beside a name inside longer names; `tails` are the rests that
    make any shorter name a longer one (an issuer, a series), whichever name they were seen behind.
    """

    owners: Mapping[str, tuple[str, ...]]
    lengths: Mapping[str, tuple[int, ...]]
    before: Mapping[str, frozenset[str]]
    after: Mapping[str, frozenset[str]]
    tails: WordSet


@dataclass(frozen=True, slots=True)
class Registry:
    """Entries by id and the index of their names."""

    entries: Mapping[str, Entry]
    names: NameIndex


def unit_after(text: str, end: int) -> str:
    """The word (Latin letters, digits) or the single character that follows `end`; empty at the end."""
    word = _WORD.match(text, end)
    return word.group().strip(" -") if word else text[end : end + 1]


def unit_before(text: str, start: int) -> str:
    """The word or the single character that stands before `start`; empty at the beginning."""
    word = _WORD_BEFORE.search(text, max(0, start - 40), start)
    return word.group().strip(" -") if word else text[max(0, start - 1) : start]


def names_of(entry: Entry) -> tuple[str, ...]:
    """The folded display name and aliases of an entry, without repeats."""
    return tuple(dict.fromkeys(fold(n) for n in (entry.display_name, *entry.aliases)))


def index_names(entries: Iterable[Entry]) -> NameIndex:
    """Index the names of `entries`; a name may have several owners (a session's two savings accounts)."""
    owners: dict[str, tuple[str, ...]] = {}
    lengths: dict[str, set[int]] = {}
    for entry in entries:
        for name in names_of(entry):
            if len(name) < KEY:
                continue
            owners[name] = (*owners.get(name, ()), entry.object_id)
            lengths.setdefault(name[:KEY], set()).add(len(name))
    sorted_lengths = {key: tuple(sorted(sizes, reverse=True)) for key, sizes in lengths.items()}
    before, after, tails = _neighbours(owners, sorted_lengths)
    return NameIndex(owners, sorted_lengths, before, after, word_set(tails))


def _neighbours(
    owners: Mapping[str, tuple[str, ...]], lengths: Mapping[str, tuple[int, ...]]
) -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]], set[str]]:
    """For each name inside longer names: the units before and after it there, and the rests behind it."""
    before: dict[str, set[str]] = {}
    after: dict[str, set[str]] = {}
    tails: set[str] = set()
    for longer in owners:
        for found in occurrences(longer, owners, lengths):
            if found.alias == longer or owners[longer] == found.owners:
                continue
            if found.start:
                before.setdefault(found.alias, set()).add(unit_before(longer, found.start))
            if found.end < len(longer):
                after.setdefault(found.alias, set()).add(unit_after(longer, found.end))
                tails.add(longer[found.end :])
    return (
        {name: frozenset(units) for name, units in before.items()},
        {name: frozenset(units) for name, units in after.items()},
        tails,
    )


def occurrences(
    text: str, owners: Mapping[str, tuple[str, ...]], lengths: Mapping[str, tuple[int, ...]]
) -> list[Occurrence]:
    """Every name in the folded `text`, wherever it starts, longest first at each start."""
    found: list[Occurrence] = []
    for start, key in enumerate(map(add, text, text[1:])):
        if key not in lengths:
            continue
        for size in lengths[key]:
            name = text[start : start + size]
            if len(name) == size and name in owners:
                found.append(Occurrence(start, start + size, name, owners[name]))
    return found


def find(names: NameIndex, text: str) -> list[Occurrence]:
    """Every name of the index in the folded `text`."""
    return occurrences(text, names.owners, names.lengths)


def build(entries: Iterable[Entry]) -> Registry:
    """A registry of public entries; ConfigError for a repeated id, two owners of a name, a short name."""
    by_id: dict[str, Entry] = {}
    owner_of: dict[str, str] = {}
    for entry in entries:
        if entry.object_id in by_id:
            raise ConfigError(
                f"object `{entry.object_id}` is listed twice", fix="remove one of the two rows"
            )
        by_id[entry.object_id] = entry
        for name in names_of(entry):
            _claim(owner_of, name, entry.object_id)
    return Registry(MappingProxyType(by_id), index_names(by_id.values()))


def _claim(owner_of: dict[str, str], name: str, object_id: str) -> None:
    if len(name) < KEY:
        raise ConfigError(
            f"name `{name}` of `{object_id}` is shorter than {KEY} characters",
            fix="give it a longer name or remove the alias",
        )
    other = owner_of.setdefault(name, object_id)
    if other != object_id:
        raise ConfigError(
            f"name `{name}` belongs to both `{other}` and `{object_id}`",
            fix="remove the alias from one of them; a name must have one owner",
        )
