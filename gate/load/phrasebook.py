"""What `phrases.yaml` says, made ready: whole texts, forms of commands, words that end a request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from gate.alerts import Alert, find
from gate.normalise import fold
from gate.resolution import Named

FINAL = " .!?…。！？"
"""Marks that are ignored at the end of a phrase."""

_SPACE = re.compile(r"(?<=[\u2e80-\uffdc]) | (?=[\u2e80-\uffdc])")

OUT_OF_SCOPE: Final = "OUT_OF_SCOPE"
"""Where a pattern leads that is not the name of an alert."""


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
