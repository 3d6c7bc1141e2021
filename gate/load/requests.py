"""Requests from JSON: one line in, one typed record or one RequestError out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from gate.catalog import ObjectType
from gate.configuration import Configuration
from gate.errors import RequestError
from gate.load import strictjson
from gate.load.fixes import did_you_mean, shown
from gate.load.model import Model, Short, field_of, validate_value
from gate.load.proposals import parse_proposal
from gate.load.strictjson import read_jsonl
from gate.records import NONE, UNRESOLVED, Entry, Request, Session, TierAnswer, Turn
from gate.state import GATE, SLOT_PREFIX

__all__ = ["parse_decide", "parse_proposal", "parse_request", "read_jsonl", "request_of"]


class TurnModel(Model):
    """One earlier turn."""

    role: Literal["user", "assistant", "system"]
    """Who spoke; only `user` turns are evidence."""
    text: str
    """What was said."""


class ObjectModel(Model):
    """One of the customer's own objects."""

    object_id: Short
    """Id of the object."""
    object_type: Short
    """A type that the catalog declares as `own`."""
    display_name: Short
    """Name as the customer knows it."""
    aliases: list[Short] = Field(default_factory=list)
    """Other names."""


class SessionModel(Model):
    """Who is asking; from a trusted channel only."""

    subject: Short
    """The verified customer."""
    entitlements: list[Short] = Field(default_factory=list)
    """What the customer may see."""
    objects: list[ObjectModel] = Field(default_factory=list)
    """The customer's own accounts, cards and the like."""


class ConfirmModel(Model):
    """The confirmation of a write."""

    token: Short
    """The token that asked for it."""


class RequestModel(Model):
    """One request."""

    request_id: Short
    """Unique per channel and subject."""
    channel: Short
    """Where it came in."""
    utterance: str
    """The customer's text."""
    history: list[Any] = Field(default_factory=list)
    """Earlier turns, oldest first: `{role, text}`, or texts where their role is set."""
    state: dict[str, Any] = Field(default_factory=dict)
    """Runtime state by predicate: a value, or `{value, as_of}`."""
    session: SessionModel | None = None
    """Who is asking."""
    candidates: list[Short] | None = None
    """Objects that may be dispatched; null for all, an empty list for none."""
    dialogue_id: Short | None = None
    """The dialogue that this turn answers."""
    confirm: ConfirmModel | None = None
    """The confirmation of a write."""
    language: Short | None = None
    """Language tag, where the channel knows it."""
    intent: Short | None = None
    """Id of the action that a channel trusted for it says is meant; a proposal, no evidence."""


def parse_request(line: str | bytes, configuration: Configuration, where: str) -> Request:
    """The request on one JSON line; RequestError with `where` and a fix for what is wrong."""
    return request_of(
        strictjson.parse(line, configuration.limits.body_bytes, where), configuration, where
    )


def parse_decide(
    line: str | bytes, configuration: Configuration, where: str
) -> tuple[Request, TierAnswer]:
    """A request with its `proposal` on one JSON line, as `gate decide` reads it."""
    value = strictjson.parse(line, configuration.limits.body_bytes, where)
    if not isinstance(value, dict) or "proposal" not in value:
        raise RequestError("field `proposal` is missing", where=where, fix="add `proposal`")
    fields = {name: part for name, part in value.items() if name != "proposal"}
    request = request_of(fields, configuration, where)
    return request, parse_proposal(value["proposal"], field_of(where, "proposal"))


def request_of(value: Any, configuration: Configuration, where: str) -> Request:
    """The request in a parsed JSON value; RequestError as `parse_request`.

    State, session and candidates come from trusted channels only. State values stay raw: they are
    typed when a rule reads them, so a broken one that no rule reads does no harm.
    """
    model = validate_value(RequestModel, value, where)
    _check_trust(model, configuration, where)
    _check_intent(model, configuration, where)
    _check_limits(model, configuration, where)
    _check_state(model.state, configuration, where)
    session = _session(model.session, configuration, where)
    return Request(
        request_id=model.request_id,
        channel=model.channel,
        utterance=model.utterance,
        history=_history(model.history, configuration, where),
        state=model.state,
        session=session,
        candidates=_candidates(model.candidates, session, configuration, where),
        dialogue_id=model.dialogue_id,
        confirm_token=model.confirm.token if model.confirm else None,
        language=model.language,
        intent=model.intent,
    )


def _check_trust(model: RequestModel, configuration: Configuration, where: str) -> None:
    if model.channel in configuration.channels:
        return
    sent = (("state", model.state), ("session", model.session), ("candidates", model.candidates))
    for name, value in sent:
        if value is not None and value != {}:
            raise RequestError(
                f"channel `{shown(model.channel)}` is not trusted to send `{name}`",
                where=field_of(where, name),
                fix="list the channel under `channels:` in appliance.yaml, or leave the field out",
            )


def _check_intent(model: RequestModel, configuration: Configuration, where: str) -> None:
    """Refuse an intent from a channel that is not trusted for it, beside a confirmation, or unknown."""
    intent, here = model.intent, field_of(where, "intent")
    if intent is None:
        return
    if model.channel not in configuration.intent_channels:
        raise RequestError(
            f"channel `{shown(model.channel)}` is not trusted to send `intent`",
            where=here,
            fix="list the channel under `intent_channels:` in appliance.yaml, or leave the field out",
        )
    if model.confirm is not None:
        fix = "a confirmation goes on with what was asked; leave `intent` out"
        raise RequestError("`intent` stands beside `confirm`", where=here, fix=fix)
    if configuration.catalog.get(intent) is None:
        fix = did_you_mean(intent, configuration.catalog.actions)
        raise RequestError(f"intent `{shown(intent)}` is no action", where=here, fix=fix)


def _check_limits(model: RequestModel, configuration: Configuration, where: str) -> None:
    limits = configuration.limits
    if len(model.utterance) > limits.utterance_chars:
        raise RequestError(
            f"utterance has {len(model.utterance)} characters",
            where=field_of(where, "utterance"),
            fix=f"send at most {limits.utterance_chars}",
        )
    if model.candidates is not None and len(model.candidates) > limits.candidates:
        raise RequestError(
            f"{len(model.candidates)} candidates",
            where=field_of(where, "candidates"),
            fix=f"send at most {limits.candidates}, or null for the whole registry",
        )


def _check_state(state: Mapping[str, Any], configuration: Configuration, where: str) -> None:
    """Refuse what only the gate may say; unknown names stay, because no rule can read them."""
    for name in state:
        declared = configuration.predicates.get(name)
        if name.startswith(SLOT_PREFIX) or (declared is not None and declared.source == GATE):
            raise RequestError(
                f"`{shown(name)}` is computed by the gate and never accepted as input",
                where=field_of(where, f"state.{name}"),
                fix="leave it out",
            )


def _history(turns: list[Any], configuration: Configuration, where: str) -> tuple[Turn, ...]:
    found = tuple(
        _turn(t, configuration, f"{where}, field history.{i}") for i, t in enumerate(turns)
    )
    total = sum(len(t.text) for t in found)
    if total > configuration.limits.history_chars:
        raise RequestError(
            f"history has {total} characters",
            where=field_of(where, "history"),
            fix=f"send at most {configuration.limits.history_chars}",
        )
    return found


def _turn(value: Any, configuration: Configuration, where: str) -> Turn:
    if isinstance(value, str):
        if configuration.history_role is None:
            raise RequestError(
                "turn is a bare text",
                where=where,
                fix='write {"role": "user", "text": ...}, or set `history_role: user`',
            )
        return Turn(configuration.history_role, value)
    model = validate_value(TurnModel, value, where)
    return Turn(model.role, model.text)


def _session(
    model: SessionModel | None, configuration: Configuration, where: str
) -> Session | None:
    if model is None:
        return None
    objects: dict[str, Entry] = {}
    for index, item in enumerate(model.objects):
        here = field_of(where, f"session.objects.{index}")
        if item.object_id in objects or item.object_id in configuration.registry.entries:
            problem = f"object id `{shown(item.object_id)}` is taken"
            raise RequestError(problem, where=here, fix="give every object an id of its own")
        if item.object_id in {NONE, UNRESOLVED}:
            problem = f"object id `{item.object_id}` is reserved"
            raise RequestError(problem, where=here, fix="choose another id")
        _check_own(item, configuration.catalog.object_types, here)
        objects[item.object_id] = Entry(
            item.object_id, item.object_type, item.display_name, tuple(item.aliases), own=True
        )
    return Session(model.subject, tuple(model.entitlements), tuple(objects.values()))


def _check_own(item: ObjectModel, types: Mapping[str, ObjectType], where: str) -> None:
    own = [name for name, declared in types.items() if declared.own]
    if item.object_type not in own:
        raise RequestError(
            f"object type `{shown(item.object_type)}` is not declared as the customer's own",
            where=where,
            fix=did_you_mean(item.object_type, own),
        )


def _candidates(
    ids: list[str] | None, session: Session | None, configuration: Configuration, where: str
) -> tuple[str, ...] | None:
    if ids is None:
        return None
    own = {e.object_id for e in session.objects} if session else set()
    for index, object_id in enumerate(ids):
        if object_id not in configuration.registry.entries and object_id not in own:
            raise RequestError(
                f"candidate `{shown(object_id)}` is neither in the registry nor in the session",
                where=field_of(where, f"candidates.{index}"),
                fix="send ids of known objects",
            )
    return tuple(dict.fromkeys(ids))
