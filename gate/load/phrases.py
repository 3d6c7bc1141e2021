"""`phrases.yaml`: texts and commands that are decided without a model, and words that end a request."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated

from pydantic import Field, StringConstraints

from gate.alerts import NO_ALERT, Alert
from gate.catalog import Action, Catalog
from gate.errors import ConfigError
from gate.load import commands
from gate.load.appliance import Appliance
from gate.load.fixes import did_you_mean, shown
from gate.load.model import FileModel, Model, Tag, Text, validate
from gate.load.phrasebook import (
    EMPTY,
    OUT_OF_SCOPE,
    Command,
    Example,
    Phrase,
    PhraseBook,
    phrase_key,
    words_of,
)
from gate.load.yamlfile import Document, Loc
from gate.normalise import fold

__all__ = ["EMPTY", "OUT_OF_SCOPE", "Command", "Example", "Phrase", "PhraseBook", "phrase_key"]

KIND = "phrases"
"""The kind of the tier that answers from a book of phrases."""

Texts = Annotated[list[Text], Field(min_length=1)]


class ExamplesModel(Model):
    """Labelled texts; a folder in which one of them is taken otherwise does not load."""

    meant: Texts
    """Texts that are meant."""
    not_meant: Texts
    """Texts that are near, and not meant."""
    own: dict[Text, list[Text]] = Field(default_factory=dict)
    """Names of own objects that the session of these examples holds, by object type."""


class PhraseModel(Model):
    """Texts of one language that mean one action."""

    action: Text
    """The action that the texts mean."""
    language: Tag
    """Their language."""
    texts: list[Text] = Field(default_factory=list)
    """Whole texts; case, punctuation at the end and spacing do not matter."""
    commands: list[Text] = Field(default_factory=list)
    """Wordings: `[may be left out]`, `(one | other)`, `{object}` or `{object:TYPE}` for a known name."""
    examples: ExamplesModel
    """Texts that are meant, and texts that are not."""


class PatternModel(Model):
    """Words that end a request wherever they stand in it."""

    leads_to: Annotated[str, StringConstraints(pattern=r"^(OUT_OF_SCOPE|[a-z][a-z0-9_]{0,39})$")]
    """`OUT_OF_SCOPE`, or the name of an alert that a rule of `rules.yaml` closes on."""
    language: Tag
    """The language of the words."""
    texts: Texts
    """The words; whatever else the text holds does not matter."""
    examples: ExamplesModel
    """Texts that are meant, and texts that are not."""


class PhrasesFile(FileModel):
    """Texts that are decided without a model."""

    phrases: list[PhraseModel] = Field(default_factory=list)
    """Whole texts and commands by action and language."""
    contains: list[PatternModel] = Field(default_factory=list)
    """Words that lead to a bounded terminal; never to an action."""


def read(document: Document, catalog: Catalog, languages: Collection[str]) -> PhraseBook:
    """The phrases in file order; ConfigError with file, line and fix, also for a shared text."""
    file = validate(PhrasesFile, document)
    reader = _Reader(document, catalog)
    for index, model in enumerate(file.phrases):
        loc = ("phrases", index)
        _known(document, (*loc, "action"), model.action, catalog.actions)
        _spoken(document, (*loc, "language"), model.language, languages)
        reader.phrase(loc, model)
    for index, pattern in enumerate(file.contains):
        loc = ("contains", index)
        _spoken(document, (*loc, "language"), pattern.language, languages)
        reader.pattern(loc, pattern)
    return reader.book()


def check_tiers(document: Document, appliance: Appliance) -> None:
    """Refuse a cascade of appliance.yaml in which words that end a request could be passed by.

    A phrase tier is the first one and reads every language; without one no channel sends an intent.
    """
    places = [place for place, tier in enumerate(appliance.tiers) if tier.kind == KIND]
    for place in places:
        name = shown(appliance.tiers[place].name)
        if place:
            fix = "list it first: what it ends, no other tier may answer"
            raise document.error(
                f"tier `{name}` of phrases is not the first", ("tiers", place), fix
            )
        if appliance.tiers[place].languages is not None:
            problem = f"tier `{name}` of phrases has languages of its own"
            raise document.error(
                problem, ("tiers", place), "remove them; each phrase has its language"
            )
    if appliance.intent_channels and not places:
        problem = "channels may send intents, but no tier reads them"
        raise document.error(problem, ("intent_channels",), "add the tier `{name: phrases}`")


def _known(document: Document, loc: Loc, action: str, actions: Collection[str]) -> None:
    if action not in actions:
        problem = f"phrase names the action `{shown(action)}`, which the catalog lacks"
        raise document.error(problem, loc, did_you_mean(action, actions))


def _spoken(document: Document, loc: Loc, tag: str, languages: Collection[str]) -> None:
    if tag not in languages:
        problem = f"language `{tag}` is not configured"
        raise document.error(problem, loc, did_you_mean(tag, languages))


class _Reader:
    """Collects one file's entries; what two of them claim differently is an error."""

    def __init__(self, document: Document, catalog: Catalog) -> None:
        self.document, self.catalog = document, catalog
        self.phrases: dict[str, Phrase] = {}
        self.commands: dict[tuple[str, str, str], Command] = {}
        self.words: dict[str, str] = {}
        self.examples: list[Example] = []

    def book(self) -> PhraseBook:
        names = dict.fromkeys(name for name in self.words.values() if name != OUT_OF_SCOPE)
        return PhraseBook(
            tuple(self.phrases.values()),
            tuple(self.commands.values()),
            self._leading_to(OUT_OF_SCOPE),
            tuple(Alert(name, self._leading_to(name)) for name in names),
            tuple(self.examples),
            self.document.path,
        )

    def _leading_to(self, name: str) -> tuple[str, ...]:
        return tuple(words for words, to in self.words.items() if to == name)

    def phrase(self, loc: Loc, model: PhraseModel) -> None:
        if not model.texts and not model.commands:
            raise self.document.error(
                "phrase without texts and commands", loc, "add `texts:` or `commands:`"
            )
        action = self.catalog.actions[model.action]
        for position, text in enumerate(model.texts):
            self._text((*loc, "texts", position), action, model.language, text)
        for position, text in enumerate(model.commands):
            self._command((*loc, "commands", position), action, model.language, text)
        self._examples((*loc, "examples"), model.examples, model.action)

    def _text(self, loc: Loc, action: Action, language: str, text: str) -> None:
        key = phrase_key(text)
        if not key:
            raise self.document.error("phrase without a word", loc, "remove it")
        first = self.phrases.setdefault(key, Phrase(key, action.action_id, language, text))
        self._same(loc, text, first.action_id, action.action_id)

    def _command(self, loc: Loc, action: Action, language: str, text: str) -> None:
        try:
            found = commands.forms(text)
        except ConfigError as error:
            raise self.document.error(error.problem, loc, error.fix) from error
        for before, name, after in found:
            if name is None:
                self._text(loc, action, language, before)
                continue
            start, end = words_of(before), phrase_key(after)
            if not start and not end:
                fix = "put words around the name; a bare name is no command"
                raise self.document.error("command without a word", loc, fix)
            for kind in self._types(loc, action, name):
                one = Command(start, kind, end, action.action_id, language, text)
                first = self.commands.setdefault((start, kind, end), one)
                self._same(loc, text, first.action_id, action.action_id)

    def _types(self, loc: Loc, action: Action, name: commands.Capture) -> tuple[str, ...]:
        """The types that may stand there, all of which the action permits."""
        if not action.types:
            problem = f"action `{action.action_id}` has no object, so no name can stand there"
            raise self.document.error(problem, loc, "remove the place for a name")
        if name.object_type is None:
            return action.types
        if name.object_type not in action.types:
            problem = f"action `{action.action_id}` does not permit `{shown(name.object_type)}`"
            raise self.document.error(problem, loc, did_you_mean(name.object_type, action.types))
        return (name.object_type,)

    def _same(self, loc: Loc, text: str, first: str, second: str) -> None:
        if first != second:
            raise self.document.error(
                f"phrase `{shown(text)}` means `{first}` and `{second}`",
                loc,
                "remove it from one of the two",
            )

    def pattern(self, loc: Loc, model: PatternModel) -> None:
        if model.leads_to == NO_ALERT or model.leads_to in self.catalog.actions:
            raise self.document.error(
                f"words lead to `{model.leads_to}`, which is no bounded end",
                (*loc, "leads_to"),
                f"write `{OUT_OF_SCOPE}`, or the name of an alert that a rule closes on",
            )
        for position, text in enumerate(model.texts):
            here, words = (*loc, "texts", position), fold(text)
            if len(words) < 2 or not any(c.isalnum() for c in words):
                raise self.document.error(
                    "words without a word", here, "write at least two letters"
                )
            self._same(here, text, self.words.setdefault(words, model.leads_to), model.leads_to)
        self._examples((*loc, "examples"), model.examples, model.leads_to)

    def _examples(self, loc: Loc, model: ExamplesModel, leads_to: str) -> None:
        own = self._own((*loc, "own"), model.own)
        for kind, texts in (("meant", model.meant), ("not_meant", model.not_meant)):
            for position, text in enumerate(texts):
                line = self.document.line((*loc, kind, position))
                self.examples.append(Example(text, leads_to, kind == "meant", own, line))

    def _own(self, loc: Loc, given: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
        types = [name for name, one in self.catalog.object_types.items() if one.own]
        for name in given:
            if name not in types:
                problem = f"object type `{shown(name)}` is not declared as the customer's own"
                raise self.document.error(problem, (*loc, name), did_you_mean(name, types))
        return tuple((kind, name) for kind, names in given.items() for name in names)
