"""`phrases.yaml`: texts that are decided by exact match, without a model."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from gate.catalog import Catalog
from gate.load.fixes import did_you_mean, shown
from gate.load.model import FileModel, Model, Tag, Text, validate
from gate.load.yamlfile import Document
from gate.normalise import fold

FINAL = " .!?…。！？"
"""Marks that are ignored at the end of a phrase."""


class PhraseModel(Model):
    """Texts of one language that mean one action."""

    action: Text
    """The action that the texts mean."""
    language: Tag
    """Their language."""
    texts: Annotated[list[Text], Field(min_length=1)]
    """The texts; case, punctuation at the end and spacing do not matter."""


class PhrasesFile(FileModel):
    """Texts that are decided by exact match."""

    phrases: list[PhraseModel] = Field(default_factory=list)
    """The texts by action and language."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """One text that means one action; `key` is what an utterance's `phrase_key` must equal."""

    key: str
    action_id: str
    language: str
    text: str


EMPTY: Final[tuple[Phrase, ...]] = ()
"""No phrases: every text goes to the next tier."""


def phrase_key(text: str) -> str:
    """The form in which a text and a phrase are compared: folded, without its final punctuation."""
    return fold(text).rstrip(FINAL)


def read(document: Document, catalog: Catalog, languages: Collection[str]) -> tuple[Phrase, ...]:
    """The phrases in file order; ConfigError with file, line and fix, also for a shared text."""
    file = validate(PhrasesFile, document)
    phrases: dict[str, Phrase] = {}
    for index, model in enumerate(file.phrases):
        loc = ("phrases", index)
        if model.action not in catalog.actions:
            problem = f"phrase names the action `{shown(model.action)}`, which the catalog lacks"
            fix = did_you_mean(model.action, catalog.actions)
            raise document.error(problem, (*loc, "action"), fix)
        if model.language not in languages:
            problem = f"language `{model.language}` is not configured"
            raise document.error(
                problem, (*loc, "language"), did_you_mean(model.language, languages)
            )
        for position, text in enumerate(model.texts):
            phrase = Phrase(phrase_key(text), model.action, model.language, text)
            _claim(document, (*loc, "texts", position), phrases, phrase)
    return tuple(phrases.values())


def _claim(
    document: Document, loc: tuple[str | int, ...], phrases: dict[str, Phrase], phrase: Phrase
) -> None:
    """Add a phrase; a repeated one of the same action is kept once."""
    if not phrase.key:
        raise document.error("phrase without a word", loc, "remove it")
    first = phrases.setdefault(phrase.key, phrase)
    if first.action_id != phrase.action_id:
        raise document.error(
            f"phrase `{shown(phrase.text)}` means `{first.action_id}` and `{phrase.action_id}`",
            loc,
            "remove it from one of the two",
        )
