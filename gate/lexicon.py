"""The compiled words of a configuration: every phrase of every pack with its tags, found in one scan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from operator import add
from typing import Final, NamedTuple

from gate.catalog import Action, Catalog
from gate.language import LanguagePack
from gate.normalise import fold
from gate.records import Mode

LISTS: Final = (
    "clause_words", "joiners", "conjunctions", "fillers", "request_forms", "wishes", "negations",
    "exceptions", "contrasts", "conditionals", "reported", "past", "questions", "read_cues",
    "write_cues", "anaphors", "third_person", "topics", "openings", "light_verbs",
    "retractions", "disposals", "softeners", "question_particles", "coaxing",
    "gerund_forms", "participle_forms", "turns", "corrections",
    "passive_forms", "asides",
)  # fmt: skip
"""The lists of a language pack that are looked for all over a text; one bit per list."""

(
    CLAUSE, JOINER, CONJUNCTION, FILLER, REQUEST, WISH, NEGATION, EXCEPTION, CONTRAST, CONDITIONAL,
    REPORTED, PAST, QUESTION, READ, WRITE, ANAPHOR, THIRD, TOPIC, OPENING, LIGHT,
    RETRACTION, DISPOSAL, SOFTENER, PARTICLE, COAXING,
    GERUND_FORM, PARTICIPLE_FORM, TURN, CORRECTION,
    PASSIVE, ASIDE,
) = (1 << i for i in range(len(LISTS)))  # fmt: skip
TYPE_NOUN: Final = 1 << len(LISTS)
ACTION_NOUN: Final = TYPE_NOUN << 1
KIND: Final = TYPE_NOUN << 2
GERUND: Final = TYPE_NOUN << 3
PARTICIPLE: Final = TYPE_NOUN << 4


@dataclass(frozen=True, slots=True)
class WordSet:
    """Words that are looked for only beside something else (a name, a number)."""

    words: frozenset[str]
    sizes: tuple[int, ...]
    firsts: frozenset[str]

    def ending_at(self, text: str, end: int) -> tuple[int, ...]:
        """Where the words that end at `end` start, longest first."""
        return tuple(end - n for n in self.sizes if n <= end and text[end - n : end] in self.words)

    def starting_at(self, text: str, start: int) -> int:
        """Where the longest word that starts at `start` and touches no letter after it ends, or -1."""
        if text[start : start + 1] not in self.firsts:
            return -1
        for size in self.sizes:
            stop = start + size
            if stop <= len(text) and text[start:stop] in self.words and ends_word(text, stop):
                return stop
        return -1

    def all_from(self, text: str, start: int) -> tuple[int, ...]:
        """Where the words that start at `start` end, longest first."""
        if text[start : start + 1] not in self.firsts:
            return ()
        return tuple(start + n for n in self.sizes if text[start : start + n] in self.words)


def word_set(words: Iterable[str]) -> WordSet:
    """A word set, its sizes longest first."""
    found = frozenset(words)
    sizes = tuple(sorted({len(word) for word in found}, reverse=True))
    return WordSet(found, sizes, frozenset(word[:1] for word in found))


class Hit(NamedTuple):
    """A phrase found at [start, end) of the folded text, with the bits of its lists."""

    start: int
    end: int
    phrase: str
    tags: int


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Phrases with their bits, and who declared a verb or a noun.

    `lengths` maps the first two characters of a phrase (or its only one) to the lengths to try,
    longest first, `longer` the first eight of a longer one. `verbs` (in every form, of which `weak`
    need a noun) and `nouns` map a phrase to the write actions that declare it, `types` a noun or kind
    to its object types, `permits` a write action to those that it takes. The sets from `completives`
    on are those of scripts without spaces.
    """

    tags: Mapping[str, int]
    lengths: Mapping[str, tuple[int, ...]]
    longer: Mapping[str, tuple[int, ...]]
    marks: re.Pattern[str]
    ends: frozenset[str]
    quotes: tuple[str, ...]
    verbs: Mapping[str, frozenset[str]]
    nouns: Mapping[str, frozenset[str]]
    weak: frozenset[str]
    endings: WordSet
    prepositions: WordSet
    context: WordSet
    own_marks: WordSet
    measures: WordSet
    numerals: WordSet
    calendar: WordSet
    addresses: re.Pattern[str]
    units: WordSet
    signs: WordSet
    prefixes: WordSet
    suffixes: WordSet
    exact: WordSet
    determiners: frozenset[str]
    followers: frozenset[str]
    genitives: frozenset[str]
    amount_joiners: frozenset[str]
    quantifiers: frozenset[str]
    explainers: frozenset[str]
    payloads: frozenset[str]
    order_units: frozenset[str]
    passing: frozenset[str]
    objectless: frozenset[str]
    types: Mapping[str, frozenset[str]]
    permits: Mapping[str, frozenset[str]]
    spaceless: bool
    completives: WordSet
    perfectives: WordSet
    leading_words: WordSet
    trailing_words: WordSet
    joining_words: WordSet
    payload_words: WordSet
    other_words: WordSet
    order_words: WordSet
    money_words: WordSet
    origins: WordSet
    predicates: WordSet


@lru_cache(maxsize=65536)
def is_word(char: str) -> bool:
    """True for a letter or digit of a script with spaces between words (not Han, kana, Hangul)."""
    return char.isalnum() and (char < "\u2e80" or char > "\uffdc")


def ends_word(text: str, stop: int) -> bool:
    """False if letters or digits stand on both sides of `stop`."""
    return stop == len(text) or not (is_word(text[stop - 1]) and is_word(text[stop]))


def touches(text: str, start: int, end: int) -> bool:
    """True if a letter or digit at an edge of [start, end) stands against another one outside it."""
    left = start > 0 and is_word(text[start]) and is_word(text[start - 1])
    return left or not ends_word(text, end)


def scan(lexicon: Lexicon, text: str) -> list[Hit]:
    """Every phrase in the folded `text`, by start and then longest first."""
    hits: list[Hit] = []
    lengths, longer, tags, end = lexicon.lengths, lexicon.longer, lexicon.tags, len(text)
    for start, key in enumerate(map(add, text, text[1:] + " ")):
        if key in lengths:
            sizes = lengths[key]
        elif key[0] in tags:
            sizes = ONE
        else:
            continue
        if start and is_word(key[0]) and is_word(text[start - 1]):
            continue
        if (more := text[start : start + LONG]) in longer:
            sizes = longer[more] + sizes
        for size in sizes:
            stop = start + size
            found = tags.get(text[start:stop])
            if found is not None and stop <= end and ends_word(text, stop):
                hits.append(Hit(start, stop, text[start:stop], found))
    return hits


ONE: Final = (1,)
LONG: Final = 8
"""Characters of a phrase that is looked for by its first eight; a shorter one by its first two."""


def compile_lexicon(packs: Iterable[LanguagePack], catalog: Catalog) -> Lexicon:
    """Merge the configured packs with the catalog's verbs and nouns."""
    packs = tuple(packs)
    nouns = {fold(n) for t in catalog.object_types.values() for ns in t.nouns.values() for n in ns}
    tags: dict[str, int] = dict.fromkeys(sorted(nouns), TYPE_NOUN)
    for pack in packs:
        for position, name in enumerate(LISTS):
            for phrase in getattr(pack, name):
                forms = _expand(phrase, nouns)
                for form in (*forms, *_plain(forms)) if name in ASKING else forms:
                    tags[form] = tags.get(form, 0) | 1 << position
    writes = [a for a in catalog.actions.values() if a.mode is Mode.WRITE]
    verbs, weak = _declared(writes, "verbs", "weak_verbs"), _declared(writes, "weak_verbs")
    action_nouns = _declared(writes, "nouns")
    gerunds, participles = _declared(writes, "gerunds"), _declared(writes, "participles")
    kinds = {fold(k) for t in catalog.object_types.values() for ks in t.kinds.values() for k in ks}
    marked = ((verbs, WRITE), (action_nouns, ACTION_NOUN), (kinds, KIND), (gerunds, GERUND))
    for phrases, bit in (*marked, (participles, PARTICIPLE)):
        for phrase in phrases:
            tags[phrase] = tags.get(phrase, 0) | bit
    return Lexicon(
        tags=tags,
        lengths=_lengths(tags),
        longer=_longer(tags),
        marks=_any_of(m for pack in packs for m in pack.clause_marks),
        ends=frozenset(m for pack in packs for m in pack.sentence_ends),
        quotes=tuple(dict.fromkeys(q for pack in packs for q in pack.quotes)),
        verbs=_declared(writes, "verbs", "weak_verbs", "gerunds", "participles"),
        nouns=action_nouns,
        weak=frozenset(weak),
        endings=word_set(w for pack in packs for w in pack.verb_endings),
        prepositions=word_set(w for pack in packs for w in pack.prepositions),
        context=word_set(_context(packs, verbs)),
        own_marks=word_set(w for pack in packs for w in pack.own_marks),
        measures=word_set(w for pack in packs for w in pack.measure_words),
        numerals=word_set(w for pack in packs for w in pack.numerals),
        calendar=word_set(w for pack in packs for w in pack.calendar),
        addresses=_addresses(w for pack in packs for w in pack.street_words),
        units=word_set(w for pack in packs for w in pack.amount_units),
        signs=word_set(w for pack in packs for w in pack.amount_prefixes),
        prefixes=word_set(w for pack in packs for w in pack.name_prefixes),
        suffixes=word_set(w for pack in packs for w in pack.name_suffixes),
        exact=word_set(w for pack in packs for w in (*pack.numerals, *pack.calendar)),
        determiners=_merged(packs, "determiners"),
        followers=_merged(packs, "followers"),
        genitives=_merged(packs, "genitives"),
        amount_joiners=_merged(packs, "amount_joiners"),
        quantifiers=_merged(packs, "quantifiers"),
        explainers=_merged(packs, "explainers"),
        payloads=_merged(packs, "payloads"),
        order_units=_merged(packs, "order_units"),
        passing=frozenset(
            w for n in ("followers", "determiners", "genitives") for w in _merged(packs, n)
        ),
        objectless=frozenset(a.action_id for a in writes if not a.types),
        types=_types(packs, catalog),
        permits={a.action_id: frozenset(a.types) for a in writes},
        spaceless=any(pack.script == "han" for pack in packs),
        **_spaceless([pack for pack in packs if pack.script == "han"]),
    )


def _types(packs: Iterable[LanguagePack], catalog: Catalog) -> dict[str, frozenset[str]]:
    """The object types of every noun and kind, and of every anaphor that holds a noun."""
    found: dict[str, set[str]] = {}
    anaphors = [phrase for pack in packs for phrase in pack.anaphors if "{noun}" in phrase]
    for name, kind in catalog.object_types.items():
        nouns = [fold(noun) for nouns in kind.nouns.values() for noun in nouns]
        words = (fold(word) for words in kind.kinds.values() for word in words)
        referring = (form for phrase in anaphors for form in _expand(phrase, nouns))
        for word in (*nouns, *words, *referring):
            found.setdefault(word, set()).add(name)
    return {word: frozenset(names) for word, names in found.items()}


def _spaceless(packs: Sequence[LanguagePack]) -> dict[str, WordSet]:
    """The words that are looked for side by side where no spaces part them."""
    return {
        "completives": word_set(w for p in packs for w in (*p.completives, *p.perfectives)),
        "perfectives": word_set(w for p in packs for w in p.perfectives),
        "leading_words": word_set(w for p in packs for w in p.determiners),
        "trailing_words": word_set(w for p in packs for w in p.followers),
        "joining_words": word_set(w for p in packs for w in p.coordinators),
        "payload_words": word_set(w for p in packs for w in p.payloads),
        "money_words": word_set(w for p in packs for w in p.amount_joiners),
        "origins": word_set(w for p in packs for w in p.origins),
        "predicates": word_set(w for p in packs for w in p.predicates),
        "order_words": word_set(w for p in packs for w in p.order_units),
        "other_words": word_set(w for p in packs for w in p.quantifiers),
    }


def _merged(packs: Iterable[LanguagePack], name: str) -> frozenset[str]:
    return frozenset(word for pack in packs for word in getattr(pack, name))


def _any_of(marks: Iterable[str]) -> re.Pattern[str]:
    """A row of full stops, or one of the marks; not between two digits (1,000), nor a full stop or
    colon between letters or digits (12.50, example.org)."""
    given = {char for mark in marks for char in mark}  # an ellipsis is folded to three full stops
    inner = "".join(sorted(re.escape(mark) for mark in given & {".", ":"}))
    other = "".join(sorted(re.escape(mark) for mark in given - {".", ":"}))
    parts = [r"[.。]{2,}"]
    parts += [rf"[{inner}](?:(?<![a-z0-9].)|(?![a-z0-9]))"] if inner else []
    parts += [rf"[{other}](?:(?<![0-9].)|(?![0-9]))"] if other else []
    return re.compile("|".join(parts), re.DOTALL)


def _context(packs: Iterable[LanguagePack], verbs: Iterable[str]) -> Iterator[str]:
    """Words that may stand before a name: the packs' own, their Han verbs and the catalog's."""
    for pack in packs:
        yield from pack.context_words
        if pack.script == "han":
            yield from (*pack.read_cues, *pack.write_cues, *verbs)


def _addresses(words: Iterable[str]) -> re.Pattern[str]:
    """A house number, at most three words, and a street word."""
    found = "|".join(sorted({re.escape(word) for word in words}))
    return re.compile(rf"\d+(?: [^\W\d_]+){{0,3}} (?:{found})(?![^\W_])" if found else r"(?!)")


ASKING: Final = (
    "request_forms", "wishes", "openings", "gerund_forms", "participle_forms", "exceptions",
)  # fmt: skip
"""The lists whose phrases are found without their apostrophes too (id like to)."""


def _plain(forms: Iterable[str]) -> tuple[str, ...]:
    return tuple(form.replace("'", "") for form in forms if "'" in form and " " in form)


def _expand(phrase: str, nouns: Iterable[str]) -> list[str]:
    if "{noun}" not in phrase:
        return [phrase] if phrase else []
    return [phrase.replace("{noun}", noun) for noun in nouns]


def _declared(writes: Iterable[Action], *kinds: str) -> dict[str, frozenset[str]]:
    owners: dict[str, set[str]] = {}
    for action, kind in product(writes, kinds):
        for phrases in getattr(action, kind).values():
            for phrase in phrases:
                owners.setdefault(fold(phrase), set()).add(action.action_id)
    return {phrase: frozenset(ids) for phrase, ids in owners.items()}


def _lengths(tags: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Lengths of shorter phrases by first two characters; every phrase has its key, which holds the
    length 1 too where its first character is a phrase."""
    sizes: dict[str, set[int]] = {}
    for phrase in tags:
        found = sizes.setdefault(phrase[:2], set())
        if len(phrase) < LONG:
            found.add(len(phrase))
    for key in sizes:
        if key[0] in sizes:
            sizes[key].add(1)
    return {key: tuple(sorted(found, reverse=True)) for key, found in sizes.items()}


def _longer(tags: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Lengths of the other phrases by first characters, longest first."""
    sizes: dict[str, set[int]] = {}
    for phrase in tags:
        if len(phrase) >= LONG:
            sizes.setdefault(phrase[:LONG], set()).add(len(phrase))
    return {key: tuple(sorted(found, reverse=True)) for key, found in sizes.items()}
