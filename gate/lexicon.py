"""The compiled words of a configuration: every phrase of every language pack with its tags, found in one scan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

from gate.catalog import Action, Catalog
from gate.language import LanguagePack
from gate.normalise import fold
from gate.records import Mode


class Tag(StrEnum):
    """What a phrase does in a clause; one per list of the language pack that clauses are read from."""

    CLAUSE = "clause_words"
    JOINER = "joiners"
    CONJUNCTION = "conjunctions"
    FILLER = "fillers"
    REQUEST = "request_forms"
    WISH = "wishes"
    NEGATION = "negations"
    EXCEPTION = "exceptions"
    CONTRAST = "contrasts"
    CONDITIONAL = "conditionals"
    REPORTED = "reported"
    PAST = "past"
    QUESTION = "questions"
    READ = "read_cues"
    WRITE = "write_cues"
    ANAPHOR = "anaphors"
    THIRD = "third_person"
    CONTEXT = "context_words"
    NUMERAL = "numerals"
    MEASURE = "measure_words"
    UNIT = "amount_units"
    SIGN = "amount_prefixes"
    PREFIX = "name_prefixes"
    SUFFIX = "name_suffixes"
    TYPE_NOUN = "type_nouns"
    ACTION_NOUN = "action_nouns"


@dataclass(frozen=True, slots=True)
class Hit:
    """A phrase found at [start, end) of the folded text."""

    start: int
    end: int
    phrase: str
    tags: frozenset[Tag]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Phrases with their tags, and who declared a verb or a noun.

    `lengths` maps a first character to the phrase lengths that start with it, longest first.
    `verbs` and `nouns` map a phrase to the write actions that declare it.
    """

    tags: Mapping[str, frozenset[Tag]]
    lengths: Mapping[str, tuple[int, ...]]
    marks: frozenset[str]
    ends: frozenset[str]
    quotes: tuple[str, ...]
    scripts: frozenset[str]
    verbs: Mapping[str, frozenset[str]]
    nouns: Mapping[str, frozenset[str]]


def is_word(char: str) -> bool:
    """True for a letter or digit of a script that separates words by spaces (not Han, kana, Hangul)."""
    return char.isalnum() and (char < "\u2e80" or char > "\uffdc")


def touches(text: str, start: int, end: int) -> bool:
    """True if a letter or digit at an edge of [start, end) stands against another one outside it."""
    left = start > 0 and is_word(text[start]) and is_word(text[start - 1])
    return left or (end < len(text) and is_word(text[end - 1]) and is_word(text[end]))


def scan(lexicon: Lexicon, text: str) -> list[Hit]:
    """Every phrase in the folded `text`, by start and then longest first."""
    hits: list[Hit] = []
    for start, char in enumerate(text):
        sizes = lexicon.lengths.get(char)
        if sizes is None or (start and is_word(char) and is_word(text[start - 1])):
            continue
        for size in sizes:
            phrase = text[start : start + size]
            if (
                len(phrase) == size
                and phrase in lexicon.tags
                and not touches(text, start, start + size)
            ):
                hits.append(Hit(start, start + size, phrase, lexicon.tags[phrase]))
    return hits


def compile_lexicon(packs: Iterable[LanguagePack], catalog: Catalog) -> Lexicon:
    """Merge the configured packs with the catalog's verbs and nouns."""
    packs = tuple(packs)
    tags: dict[str, set[Tag]] = {}
    type_nouns = {
        fold(n) for t in catalog.object_types.values() for ns in t.nouns.values() for n in ns
    }
    for pack in packs:
        for tag in Tag:
            for phrase in getattr(pack, tag.value, ()):
                for form in _expand(phrase, type_nouns):
                    tags.setdefault(form, set()).add(tag)
    _add(tags, type_nouns, Tag.TYPE_NOUN)
    writes = [a for a in catalog.actions.values() if a.mode is Mode.WRITE]
    verbs, nouns = _declared(writes, "verbs"), _declared(writes, "nouns")
    _add(tags, verbs, Tag.WRITE)
    _add(tags, nouns, Tag.ACTION_NOUN)
    return Lexicon(
        tags={p: frozenset(t) for p, t in tags.items()},
        lengths=_lengths(tags),
        marks=frozenset(m for pack in packs for m in pack.clause_marks),
        ends=frozenset(m for pack in packs for m in pack.sentence_ends),
        quotes=tuple(dict.fromkeys(q for pack in packs for q in pack.quotes)),
        scripts=frozenset(pack.script for pack in packs),
        verbs=verbs,
        nouns=nouns,
    )


def _add(tags: dict[str, set[Tag]], phrases: Iterable[str], tag: Tag) -> None:
    for phrase in phrases:
        tags.setdefault(phrase, set()).add(tag)


def _expand(phrase: str, nouns: Iterable[str]) -> list[str]:
    if "{noun}" not in phrase:
        return [phrase] if phrase else []
    return [phrase.replace("{noun}", noun) for noun in nouns]


def _declared(writes: Iterable[Action], kind: str) -> dict[str, frozenset[str]]:
    owners: dict[str, set[str]] = {}
    for action in writes:
        for phrases in getattr(action, kind).values():
            for phrase, owner in product(phrases, (action.action_id,)):
                owners.setdefault(fold(phrase), set()).add(owner)
    return {phrase: frozenset(ids) for phrase, ids in owners.items()}


def _lengths(tags: Iterable[str]) -> dict[str, tuple[int, ...]]:
    sizes: dict[str, set[int]] = {}
    for phrase in tags:
        sizes.setdefault(phrase[0], set()).add(len(phrase))
    return {char: tuple(sorted(s, reverse=True)) for char, s in sizes.items()}
