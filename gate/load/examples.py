"""Every phrase against its labelled texts, and every alert against the rules: checked at each load.

A phrase tier answers with confidence 1, so it has to be right on every text that somebody labelled,
and an alert has to end every request that holds it, whatever a tier makes of the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gate.alerts import NO_ALERT
from gate.conditions import Is
from gate.configuration import Configuration
from gate.errors import ConfigError
from gate.findings import find
from gate.implication import implies
from gate.load.fixes import shown
from gate.load.phrases import OUT_OF_SCOPE, Example, PhraseBook
from gate.records import Boundary, Entry, Request, Session
from gate.resolution import closed_lists, named
from gate.rules import EVERY_ACTION, RuleSet
from gate.state import GATE, Predicate

ALERT: Final = "alert"
"""The predicate by which rules read alerts."""


@dataclass(frozen=True, slots=True)
class Led:
    """What a text leads to: its alerts, whether it is out of scope, the actions that it means."""

    alerts: tuple[str, ...]
    out_of_scope: bool
    actions: tuple[str, ...]

    @property
    def ends(self) -> tuple[str, ...]:
        """Where it ends: an alert before everything else, then out of scope, then what it means."""
        if self.alerts:
            return self.alerts[:1]
        return (OUT_OF_SCOPE,) if self.out_of_scope else self.actions


@dataclass(frozen=True, slots=True)
class Failure:
    """A labelled text that does not lead where its label says."""

    example: Example
    found: tuple[str, ...]

    @property
    def problem(self) -> str:
        """What is wrong, in one sentence."""
        text, found = shown(self.example.text), " and ".join(f"`{one}`" for one in self.found)
        if not self.example.meant:
            return (
                f"example `{text}` leads to `{self.example.leads_to}`, but is labelled `not_meant`"
            )
        return f"example `{text}` leads to {found or 'nothing'}, not to `{self.example.leads_to}`"


def led(book: PhraseBook, configuration: Configuration, example: Example) -> Led:
    """What an example leads to, in a session that holds its own objects."""
    own = tuple(
        Entry(f"own:{place}", kind, name, own=True)
        for place, (kind, name) in enumerate(example.own)
    )
    session = Session("example", (), own) if own else None
    findings = find(configuration, Request("example", "", example.text, session=session))
    names = named(findings, closed_lists(configuration.registry.entries, session))
    return Led(
        tuple(one.name for one in findings.alerts),
        book.out_of_scope(example.text),
        book.meant(example.text, names),
    )


def failures(book: PhraseBook, configuration: Configuration) -> Iterator[Failure]:
    """Every labelled text, and every whole text of a phrase, that leads elsewhere."""
    texts = (Example(phrase.text, phrase.action_id, meant=True) for phrase in book.phrases)
    for example in (*book.examples, *texts):
        ends = led(book, configuration, example).ends
        right = ends == (example.leads_to,) if example.meant else example.leads_to not in ends
        if not right:
            yield Failure(example, ends)


def check(book: PhraseBook, configuration: Configuration) -> None:
    """Raise ConfigError for the first labelled text that leads elsewhere."""
    for failure in failures(book, configuration):
        raise ConfigError(
            failure.problem,
            file=book.file,
            line=failure.example.line,
            fix="correct the phrase or the label; a phrase has to be right on all of them",
        )


def check_alerts(book: PhraseBook, predicates: Mapping[str, Predicate], rules: RuleSet) -> None:
    """Raise ConfigError for an alert that no rule for every request closes on."""
    for alert in book.alerts:
        declared = predicates.get(ALERT)
        known = declared is not None and {NO_ALERT, alert.name} <= {*declared.values}
        if declared is None or declared.source != GATE or not known:
            raise ConfigError(
                f"alert `{alert.name}` is no value of the predicate `{ALERT}`",
                file=book.file,
                fix=f"declare it in state.yaml: {{name: {ALERT}, type: enum, values: [{NO_ALERT}, "
                f"{', '.join(a.name for a in book.alerts)}], source: {GATE}}}",
            )
        raised = Is(ALERT, alert.name)
        closing = (r for r in rules.rules if r.then is not Boundary.ALLOW)
        if not any(EVERY_ACTION in r.applies_to and implies(raised, r.when) for r in closing):
            raise ConfigError(
                f"no rule for every request closes on the alert `{alert.name}`",
                file=book.file,
                fix=f'add one to rules.yaml: applies_to ["*"], when {{predicate: {ALERT}, is: '
                f"{alert.name}}}, then HANDOFF",
            )
