"""The words that slots are read by: of every pack of a configuration, compiled once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gate.language import LanguagePack
from gate.lexicon import is_word
from gate.phrases import Phrases, phrases

SETS: Final = (
    "shared_signs", "shares", "approximations", "approximations_after", "bounds", "bounds_after",
    "range_words", "range_openers", "choice_words", "rates", "recurrences", "quantities", "minus_words",
    "identifier_words", "value_leads", "value_follows", "former_leads", "new_leads",
    "durations_before", "durations_after", "unclear_days", "spans", "day_bounds",
    "day_bounds_after", "payee_leads", "payee_verbs", "no_names", "name_parts", "address_ends",
    "street_words", "value_closers", "negations", "contrasts", "new_follows", "copulas",
    "street_names", "fillers", "wishes", "request_forms", "payloads", "value_nouns",
    "address_joiners", "unclear_after", "day_joiners", "own_leads",
)  # fmt: skip
TABLES: Final = ("minor_units", "relative_days", "weekdays", "months", "durations", "shifts")

_WORD: Final = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Table:
    """Words with the value of each, and their set for looking them up in a text."""

    values: Mapping[str, str]
    words: Phrases


@dataclass(frozen=True, slots=True)
class SlotWords:
    """Words to read slots by.

    `latin` and `han` are the values of number words, and of numeral characters. `currencies` maps a
    sign or word to its codes, by language: in an English text ¥ is not what it is in a Chinese one.
    `han_tag` is the first pack of script `han`; its currencies hold in every text with Han letters.
    `units` are what else may be counted. `known` are all words of all packs: what is none of them
    may be a part of a name or of an address. By type of slot, `triggers` and `characters` are the
    words and characters without any of which a text can hold none.
    """

    sets: Mapping[str, Phrases]
    tables: Mapping[str, Table]
    latin: Mapping[str, int]
    han: Mapping[str, int]
    currencies: Mapping[str | None, Mapping[str, frozenset[str]]]
    money: Phrases
    units: Phrases
    known: frozenset[str]
    triggers: Mapping[str, frozenset[str]]
    characters: Mapping[str, re.Pattern[str]]
    han_tag: str | None
    signs: re.Pattern[str]


def compile_words(packs: Iterable[LanguagePack]) -> SlotWords:
    """Merge the configured packs."""
    packs = tuple(packs)
    sets = {name: phrases(w for p in packs for w in getattr(p, name)) for name in SETS}
    tables = {name: _table(packs, name) for name in TABLES}
    numbers = {w: int(v) for p in packs for v, w in pairs(p.numbers)}
    latin = {w: v for w, v in numbers.items() if is_word(w[0])}
    han = {w: v for w, v in numbers.items() if not is_word(w[0])}
    currencies = _currencies(packs)
    money = phrases(w for words in currencies.values() for w in words)
    counted = {w for p in packs for w in (*p.amount_units, *p.measure_words)}
    counted -= {*money.words, *numbers, *tables["minor_units"].values}
    number = {"amount": [*latin, *sets["shares"].words], "address": [], "object": []}
    dated = [
        w for n in ("relative_days", "weekdays", "shifts", "durations") for w in tables[n].values
    ]
    dated += [*latin, *sets["spans"].words]
    opening = {
        **number,
        "date": dated,
        "counterparty": list(sets["payee_leads"].words),
        "email": [],
    }
    common = {w for p in packs for w in (*p.determiners, *p.genitives)}
    return SlotWords(
        sets=sets,
        tables=tables,
        latin=latin,
        han=han,
        currencies=currencies,
        money=money,
        units=phrases(counted),
        known=frozenset(_known(packs)),
        triggers={kind: _triggers(words, common) for kind, words in opening.items()},
        characters={kind: _characters(kind, words, han) for kind, words in opening.items()},
        signs=_signs(money),
        han_tag=next((p.language for p in packs if p.script == "han"), None),
    )


def _signs(money: Phrases) -> re.Pattern[str]:
    """The one-character signs of currencies that are no letters."""
    signs = "".join(sorted(w for w in money.words if len(w) == 1 and not w.isalpha()))
    return re.compile(f"[{re.escape(signs)}]" if signs else "(?!)")


def _triggers(words: Iterable[str], common: Collection[str]) -> frozenset[str]:
    """Of every phrase that has a word, the longest one that is not `common`."""
    found = (_WORD.findall(phrase) for phrase in words if is_word(phrase[0]))
    return frozenset(
        max(reversed(parts), key=lambda w: (len(w) > 2 and w not in common, len(w)))
        for parts in found
        if parts
    )


def _characters(kind: str, words: Iterable[str], han: Iterable[str]) -> re.Pattern[str]:
    """Digits, numerals and the first characters of phrases that begin with no word; @ for e-mail."""
    firsts = {w[0] for w in words if not is_word(w[0])}
    numbers = "" if kind in ("email", "counterparty") else "0123456789" + "".join(han)
    known = "@" if kind == "email" else numbers + "".join(sorted(firsts))
    return re.compile(f"[{re.escape(known)}]" if known else "(?!)")


def pairs(entries: Iterable[str]) -> Iterable[tuple[str, str]]:
    """(value, word) of entries such as `5|five|fife`."""
    for entry in entries:
        value, *words = entry.split("|")
        yield from ((value, word) for word in words)


def _table(packs: Iterable[LanguagePack], name: str) -> Table:
    values = {word: value for pack in packs for value, word in pairs(getattr(pack, name))}
    return Table(values, phrases(values))


def _currencies(packs: tuple[LanguagePack, ...]) -> dict[str | None, dict[str, frozenset[str]]]:
    """By language tag, its own words before those of the others; under None the first pack's."""
    own = {pack.language: _codes(pack) for pack in packs}
    merged: dict[str | None, dict[str, frozenset[str]]] = {}
    for tag, words in own.items():
        others = (item for other in own.values() for item in other.items())
        merged[tag] = {**dict(others), **words}
    return {None: next(iter(merged.values()), {}), **merged}


def _codes(pack: LanguagePack) -> dict[str, frozenset[str]]:
    codes: dict[str, set[str]] = {}
    for code, word in pairs(pack.currencies):
        codes.setdefault(word, set()).add(code.upper())
    return {word: frozenset(found) for word, found in codes.items()}


_NO_WORDS: Final = frozenset({"language", "script", "templates"})


def _known(packs: Iterable[LanguagePack]) -> Iterable[str]:
    """Every single word of every list of the packs."""
    for pack in packs:
        for name in LanguagePack.__slots__:
            if name not in _NO_WORDS:
                for phrase in getattr(pack, name):
                    yield from _WORD.findall(phrase)
