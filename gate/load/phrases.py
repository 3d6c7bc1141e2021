"""`phrases.yaml`: texts and commands that are decided without a model, and words that end a request."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from gate.alerts import NO_ALERT, Alert, find
from gate.catalog import Action, Catalog
from gate.errors import ConfigError
from gate.load import commands
from gate.load.fixes import did_you_mean, shown
from gate.load.model import FileModel, Model, Tag, Text, validate
from gate.load.yamlfile import Document, Loc
from gate.normalise import fold
from gate.resolution import Named

FINAL = " .!?…。！？"
"""Marks that are ignored at the end of a phrase."""

_SPACE = re.compile(r"(?<=[\u2e80-\uffdc]) | (?=[\u2e80-\uffdc])")

OUT_OF_SCOPE: Final = "OUT_OF_SCOPE"
"""Where a pattern leads that is not the name of an alert."""

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


@dataclass(frozen=True, slots=True)
class Phrase:
    """One text that means one action; `key` is what an utterance's `phrase_key` must equal."""

    key: str
    action_id: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """One form of a command: folded words around a name of `object_type`."""

    before: str
    object_type: str
    after: str
    action_id: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled text: whether it must (`meant`) or must not lead to an action, an alert or OUT_OF_SCOPE.

    `own` are names of own objects by type; `line` is where it stands.
    """

    text: str
    leads_to: str
    meant: bool
    own: tuple[tuple[str, str], ...] = ()
    line: int = 1


@dataclass(frozen=True, slots=True)
class PhraseBook:
    """Everything of one file; `scope` are words that nothing is offered for, folded."""

    phrases: tuple[Phrase, ...] = ()
    commands: tuple[Command, ...] = ()
    scope: tuple[str, ...] = ()
    alerts: tuple[Alert, ...] = ()
    examples: tuple[Example, ...] = ()
    file: str = "phrases.yaml"
    _texts: Mapping[str, str] = field(init=False, repr=False)
    _forms: Mapping[tuple[str, str, str], str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Index what every text is looked up in."""
        texts = {p.key: p.action_id for p in self.phrases}
        forms = {(c.before, c.object_type, c.after): c.action_id for c in self.commands}
        object.__setattr__(self, "_texts", MappingProxyType(texts))
        object.__setattr__(self, "_forms", MappingProxyType(forms))

    def meant(self, utterance: str, named: Iterable[Named]) -> tuple[str, ...]:
        """The actions that the whole text means: one, none, or several that contradict each other.

        `named` are the places and types of the names that the gate found in this very text.
        """
        found = [self._texts.get(phrase_key(utterance))]
        for name in named if self._forms else ():
            before, after = words_of(utterance[: name.start]), phrase_key(utterance[name.end :])
            found.append(self._forms.get((before, name.object_type, after)))
        return tuple(dict.fromkeys(action for action in found if action is not None))

    def out_of_scope(self, utterance: str) -> bool:
        """True for a text that holds words that nothing is offered for, whatever else it holds."""
        return bool(self.scope) and bool(find((Alert("", self.scope),), fold(utterance)))


EMPTY: Final = PhraseBook()
"""No phrases: every text goes to the next tier."""


def phrase_key(text: str) -> str:
    """The form in which a text and a phrase are compared: folded, without its final punctuation, and
    without spaces beside characters of a script that has none."""
    return words_of(text).rstrip(FINAL)


def words_of(text: str) -> str:
    """As `phrase_key`, with the punctuation at the end."""
    return _SPACE.sub("", fold(text))


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
