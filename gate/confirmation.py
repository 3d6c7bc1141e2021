"""Confirmation: what is read back before a write, what two equal writes are, what may not have changed.

The texts come from the catalog, so that whoever declares a write also says how it is read back.
No model takes part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

from gate.catalog import Action
from gate.configuration import Configuration
from gate.masking import masked
from gate.records import (
    Direction,
    Entry,
    Money,
    Reserved,
    Situation,
    SlotValue,
    Terminal,
    Verdict,
    Write,
)
from gate.state import Broken, Value, value_of

NEEDED: Final = "CONFIRMATION_NEEDED"
CHANGED: Final = "WRITE_CHANGED"
DONE_MEANWHILE: Final = "EQUAL_WRITE_DONE"

ASKING: Final = (NEEDED, CHANGED, DONE_MEANWHILE)
"""Reasons of a `G-CONFIRM` that asks, and for which a token is given out."""

UNANSWERED, AGAIN = "CONFIRM-UNANSWERED", "CONFIRM-AGAIN"
"""Templates that follow the question: a second question was not answered; the same was done before."""

_PLACE: Final = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_OPTIONAL: Final = re.compile(r"\[([^\[\]]*)\]")


def asks(verdict: Verdict) -> bool:
    """True if the verdict asks for a confirmation; never where an institution gives it another terminal."""
    asking = verdict.rule_id == Reserved.CONFIRM and verdict.reason_codes[0] in ASKING
    return asking and verdict.terminal is Terminal.CLARIFY


def write_of(action_id: str, object_id: str, slots: Mapping[str, SlotValue]) -> Write:
    """What a write would do, in the form in which two writes are compared."""
    texts = ((name, canonical(value)) for name, value in sorted(slots.items()))
    return Write(action_id, object_id, tuple(texts))


def write(verdict: Verdict) -> Write:
    """What the committed write of a verdict would do."""
    return write_of(str(verdict.action_id), verdict.object_id, verdict.slots)


def canonical(value: SlotValue) -> str:
    """One text per value: `1250.5 USD`, `2026-12-24`, a text as it is."""
    if isinstance(value, Money):
        return f"{_plain(value.value)} {value.currency}"
    return value.isoformat() if isinstance(value, date) else value


def as_json(value: SlotValue) -> Any:
    """A slot's value for a record or an order: `{"value": "500.00", "currency": "USD"}`, or a text."""
    if isinstance(value, Money):
        return {"value": f"{value.value:f}", "currency": value.currency}
    return canonical(value)


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def shown(value: SlotValue) -> str:
    """A slot's value as a person reads it: `1,250.50 USD`, `2026-12-24`."""
    if isinstance(value, Money):
        decimals = max(2, len(_plain(value.value).partition(".")[2]))
        return f"{value.value:,.{decimals}f} {value.currency}"
    return value.isoformat() if isinstance(value, date) else value


def text(
    configuration: Configuration,
    verdict: Verdict,
    entry: Entry | None,
    language: str,
    direction: Direction,
    own: Sequence[Entry] = (),
) -> str | None:
    """The question that reads a write back; None where the action's text cannot read all of it back.

    A part in square brackets is left out if a slot in it is not filled. `own` are the session's
    objects, of which one may fill a slot; long numbers in their names are masked.
    """
    action = configuration.catalog.actions[str(verdict.action_id)]
    template = action.confirm.get(language)
    if template is None:
        return None
    values = {n: slot_text(configuration, n, v, own) for n, v in verdict.slots.items()}
    if entry is not None:
        values["object"] = _named(entry)
    template = _OPTIONAL.sub(lambda part: _part(part[1], values), template)
    if places(template) != values.keys():
        return None
    question = _PLACE.sub(lambda place: values[place[1]], template)
    return " ".join((question, *_remarks(configuration, verdict, language, direction)))


def slot_text(
    configuration: Configuration, name: str, value: SlotValue, own: Sequence[Entry]
) -> str:
    """A slot's value as a person reads it, an own object by its masked name."""
    spec = configuration.catalog.slots.get(name)
    if spec is None or spec.type != "object":
        return shown(value)
    return next((_named(e) for e in own if e.object_id == value), shown(value))


def _named(entry: Entry) -> str:
    return masked(entry.display_name) if entry.own else entry.display_name


def _part(part: str, values: Mapping[str, str]) -> str:
    return part if places(part) <= values.keys() else ""


def _remarks(
    configuration: Configuration, verdict: Verdict, language: str, direction: Direction
) -> Iterator[str]:
    templates = configuration.packs[language].templates
    if direction is Direction.MIXED:
        yield templates[UNANSWERED]
    if DONE_MEANWHILE in verdict.reason_codes:
        yield templates[AGAIN]


def places(template: str) -> frozenset[str]:
    """The names of the places in a template."""
    return frozenset(_PLACE.findall(template))


def wanted(action: Action) -> frozenset[str]:
    """The places that the text of a write must have, so that all of it is read back."""
    return frozenset((*(("object",) if action.types else ()), *action.slots))


def pins(configuration: Configuration, action: Action, situation: Situation) -> dict[str, str]:
    """The pinned predicates that the action's rules read, each with its value as text."""
    names = {
        name
        for step in configuration.rules.steps(action.action_id)
        for name, _ in step.needs
        if name in configuration.predicates and configuration.predicates[name].pin
    }
    return {name: _value(configuration, name, situation) for name in sorted(names)}


def _value(configuration: Configuration, name: str, situation: Situation) -> str:
    value = value_of(configuration.predicates, name, situation.state, {}, situation.now)
    return _pin_text(value)


def _pin_text(value: Value | Broken) -> str:
    if isinstance(value, Decimal):
        return _plain(value)
    return value.isoformat() if isinstance(value, datetime) else str(value)
