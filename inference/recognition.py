"""Which language a text is written in, where it may be none that the institution reads.

Asked before findings, outside of the gate; the answer is an input of the decision, so that a replay
needs no recogniser. It falls towards the configured languages: a text counts as another language
only if it has enough words, does not begin like a command, few of its words are known to the
configured packs, and the recogniser finds it very unlikely to be in a configured language.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from gate.configuration import Configuration
from gate.language import LanguagePack
from gate.normalise import fold
from gate.records import Request
from gate.script import LATIN, counts, main_script, primary

if TYPE_CHECKING:
    from lingua import LanguageDetector

LIBRARY: Final = "lingua-language-detector"

OTHERS: Final = (
    "ca", "cs", "da", "de", "en", "es", "fi", "fr", "hr", "hu", "id", "it", "nb", "nl", "pl", "pt",
    "ro", "sv", "tr", "vi",
)  # fmt: skip
"""The languages of Latin script that are told apart; other scripts tell themselves (`gate.script`)."""

WORDS: Final = 4
"""Least number of words; names, that is capitalised words behind the first one, are none, nor are
abbreviations, words without a vowel (pls, chng, nw): they are of no language more than of another."""

KNOWN: Final = 0.4
"""Share of words known to the packs from which a text is in a configured language."""

UNLIKELY: Final = 0.05
"""Greatest probability of all configured languages together at which a text is in another one."""

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_VOWEL: Final = re.compile("[aeiouyæœø\u0131]")
_NO_WORDS: Final = ("language", "script", "templates")


class Recogniser:
    """Recognises languages that an institution has not configured; loads with the first text.

    Off, so that every text is read by its script, where a configured language of Latin script is
    none of those that can be told apart.
    """

    def __init__(self, configuration: Configuration) -> None:
        """Keep what `configuration` says; nothing is loaded yet."""
        packs = [configuration.packs[tag] for tag in configuration.languages]
        self._packs = [pack for pack in packs if pack.script == LATIN]
        self._own = frozenset(primary(pack.language) for pack in self._packs)
        self._catalog = configuration.catalog
        self.on = bool(self._own) and self._own <= set(OTHERS)

    @property
    def versions(self) -> Mapping[str, str]:
        """The digest of library, languages and limits (P-20); nothing where it is off."""
        if not self.on:
            return {}
        made_of = [LIBRARY, version(LIBRARY), *OTHERS, WORDS, KNOWN, UNLIKELY, _VOWEL.pattern]
        return {"recogniser": hashlib.sha256(json.dumps(made_of).encode()).hexdigest()}

    def recognise(self, request: Request) -> str:
        """The tag of the unconfigured language that the text is in, or nothing where that is unsure.

        A stated language is never questioned.
        """
        if not self.on or request.language is not None:
            return ""
        words = _words(request.utterance)
        if len(words) < WORDS or main_script(counts(fold(" ".join(words)))) != LATIN:
            return ""
        if fold(words[0]) in self._openings:
            return ""
        known = sum(fold(word) in self._vocabulary for word in words)
        if known >= KNOWN * len(words):
            return ""
        likely = {
            value.language.iso_code_639_1.name.lower(): value.value
            for value in self._detector.compute_language_confidence_values(" ".join(words))
        }
        best = max(likely, key=lambda tag: likely[tag])
        return best if sum(likely[tag] for tag in self._own) <= UNLIKELY else ""

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        lists = [phrases for pack in self._packs for phrases in _lists(pack)]
        for action in self._catalog.actions.values():
            lists += [*action.verbs.values(), *action.nouns.values()]
        return frozenset(
            word for phrases in lists for phrase in phrases for word in _WORD.findall(phrase)
        )

    @cached_property
    def _openings(self) -> frozenset[str]:
        """What a command begins with: a text that does is read, whoever it names (pay wojciech …)."""
        lists = [(*pack.read_cues, *pack.write_cues, *pack.request_forms) for pack in self._packs]
        lists += [v for action in self._catalog.actions.values() for v in action.verbs.values()]
        first = (phrase.split()[0] for phrases in lists for phrase in phrases)
        return frozenset(word for word in first if len(word) > 2)

    @cached_property
    def _detector(self) -> LanguageDetector:
        from lingua import IsoCode639_1, LanguageDetectorBuilder

        codes = [getattr(IsoCode639_1, tag.upper()) for tag in OTHERS]
        builder = LanguageDetectorBuilder.from_iso_codes_639_1(*codes)
        return builder.with_low_accuracy_mode().build()


def _lists(pack: LanguagePack) -> list[tuple[str, ...]]:
    return [getattr(pack, field.name) for field in fields(pack) if field.name not in _NO_WORDS]


def _words(text: str) -> list[str]:
    """The words of a text but for abbreviations and names; capitals throughout are no names."""
    words: list[str] = [word for word in _WORD.findall(text) if _spoken(word)]
    if text.upper() == text:
        return words
    return [word for at, word in enumerate(words) if not at or not word[0].isupper()]


def _spoken(word: str) -> bool:
    """Whether a word has a vowel, with or without a mark; one letter stands for itself."""
    return len(word) < 2 or bool(_VOWEL.search(unicodedata.normalize("NFD", word.lower())))
