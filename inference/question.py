"""What a tier may see of a request: its text and the bounded history. No state, session or subject.

That a tier cannot leak or misread what it never gets is easier to keep than a rule not to look.
"""

from __future__ import annotations

from dataclasses import dataclass

from gate.configuration import Configuration
from gate.findings import Findings
from gate.records import Request, Turn
from gate.resolution import Named, closed_lists, named


@dataclass(frozen=True, slots=True)
class ObjectChoice:
    """One object that the text may mean; an own object stands under an opaque id of this call."""

    object_id: str
    object_type: str
    shown_as: str


@dataclass(frozen=True, slots=True)
class Question:
    """A request's text for a tier; `objects` are those of which the findings name several.

    `named` are the places and types of the names that the gate found, `intent` is the action that a
    trusted channel says is meant.
    """

    utterance: str
    history: tuple[Turn, ...] = ()
    language: str | None = None
    objects: tuple[ObjectChoice, ...] = ()
    named: tuple[Named, ...] = ()
    intent: str | None = None


def of(request: Request, configuration: Configuration, findings: Findings) -> Question:
    """Cut a request down to what a tier may see."""
    turns = configuration.history_turns
    history = request.history[-turns:] if turns else ()
    lists = closed_lists(configuration.registry.entries, request.session)
    return Question(
        request.utterance,
        history,
        findings.language,
        named=named(findings, lists),
        intent=request.intent,
    )
