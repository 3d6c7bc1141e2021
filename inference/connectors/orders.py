"""Orders as bytes: what may stand in one, its canonical body, and what makes two orders the same."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from gate.records import NONE, UNRESOLVED
from inference.connectors.protocol import Order, Prepared, Reason, Refused

FORMAT: Final = 1
BODY_BYTES: Final = 16_384
"""Largest body of an order."""
DEPTH: Final = 4
"""Deepest nesting of a slot."""
WHOLE: Final = 2**53 - 1
"""Largest whole number that every JSON reader keeps exactly."""

KEY = re.compile(r"[A-Za-z0-9_-]{8,100}")
"""An idempotency key."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}")
_SLOT = re.compile(r"[a-z][a-z0-9_]{0,62}")
_TEXTS: Final = (("subject", 200), ("object_id", 200), ("text", 4000), ("decision_id", 100))


def body(order: Order) -> bytes:
    """The order as canonical JSON: sorted keys, no white space, UTF-8, times in UTC."""
    return _canonical(
        {
            "format": FORMAT,
            "decision_id": order.decision_id,
            "valid_until": moment(order.valid_until),
            "text": order.text,
            **_content(order),
        }
    )


def content_digest(order: Order) -> str:
    """SHA-256 over what the order asks for: action, object, slots and subject.

    Two orders under one key must agree in it. When and by which decision it is sent may differ.
    """
    return hashlib.sha256(_canonical(_content(order))).hexdigest()


def parse(text: bytes) -> Order:
    """The order of a body that this module wrote; ValueError or KeyError for anything else."""
    value = json.loads(text)
    return Order(
        decision_id=value["decision_id"],
        action_id=value["action_id"],
        object_id=value["object_id"] or NONE,
        slots=value["slots"],
        subject=value["subject"],
        valid_until=datetime.fromisoformat(value["valid_until"]),
        text=value["text"],
    )


def until(order: Order, end: datetime) -> Order:
    """The order, valid until `end` at most."""
    return replace(order, valid_until=min(order.valid_until, end))


def prepare(connector: str, order: Order, actions: frozenset[str]) -> Prepared | Refused:
    """The body that `connector`, which serves `actions`, would send, or why it would not."""
    if order.action_id not in actions:
        problem = f"connector `{connector}` does not serve `{order.action_id}`"
        return Refused(Reason.UNKNOWN_ACTION, problem)
    problem = next(faults(order), "")
    if problem:
        return Refused(Reason.MALFORMED_ORDER, problem)
    data = body(order)
    if len(data) > BODY_BYTES:
        return Refused(
            Reason.MALFORMED_ORDER, f"order has `{len(data)}` bytes; {BODY_BYTES} is most"
        )
    return Prepared(connector, data, hashlib.sha256(data).hexdigest())


def faults(order: Order) -> Iterator[str]:
    """What must not stand in an order, in words; values are not repeated, they are personal."""
    if not _ID.fullmatch(order.action_id):
        yield "`action_id` is no id"
    for name, most in _TEXTS:
        value = getattr(order, name)
        if not isinstance(value, str) or not value or len(value) > most or not _whole(value):
            yield f"`{name}` is empty, longer than {most} characters, or no text"
    if order.object_id == UNRESOLVED:
        yield "`object_id` is not resolved"
    if order.valid_until.utcoffset() is None:
        yield "`valid_until` has no time zone"
    for name, value in order.slots.items():
        if not isinstance(name, str) or not _SLOT.fullmatch(name):
            yield "a slot's name is not in small letters"
        elif not _json(value, DEPTH):
            yield f"slot `{name}` holds no JSON value; write decimals as strings"


def moment(time: datetime) -> str:
    """A time as RFC 3339 in UTC with microseconds."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _content(order: Order) -> dict[str, Any]:
    return {
        "action_id": order.action_id,
        "object_id": None if order.object_id == NONE else order.object_id,
        "slots": _plain(order.slots),
        "subject": order.subject,
    }


def _canonical(value: Mapping[str, Any]) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def _plain(value: Any) -> Any:
    """Mappings and sequences of any kind as dicts and lists."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


def _json(value: Any, depth: int) -> bool:
    """True for texts, whole numbers, true, false and null, and for lists and mappings of them."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, str):
        return len(value) <= 2000 and _whole(value)
    if isinstance(value, int):
        return abs(value) <= WHOLE
    if depth == 0:
        return False
    if isinstance(value, Mapping):
        named = all(isinstance(n, str) and _SLOT.fullmatch(n) for n in value)
        return named and all(_json(part, depth - 1) for part in value.values())
    return isinstance(value, list | tuple) and all(_json(part, depth - 1) for part in value)


def _whole(text: str) -> bool:
    """True without lone surrogates and NUL, which not every system keeps."""
    return not any("\ud800" <= c <= "\udfff" or c == "\0" for c in text)
