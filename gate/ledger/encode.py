"""Values of a decision as canonical JSON bytes, and back again without loss.

The bytes are RFC 8785 (https://www.rfc-editor.org/rfc/rfc8785). That form has no place for floats
that mean what they say, for integers beyond 2**53 or for lone surrogates; such values, which a
request may well hold, are written as objects with one key that starts with `$`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import rfc8785

from gate.errors import LedgerError
from gate.records import Entry, Request, Session, Switches, Turn

Json = Any
"""None, bool, int, str, list of Json or dict of str to Json; never a float."""

SAFE_INTEGER = 2**53 - 1
DEEPEST = 64
"""Levels of nesting that a recorded value may have."""


ASTRAL = tuple(bytes([lead]) for lead in range(0xF0, 0xF5))
"""First UTF-8 bytes of characters that sort differently by code point and by UTF-16 unit."""


def canonical(value: Json) -> bytes:
    """The RFC 8785 bytes of a value made by `plain`; LedgerError if it holds anything else.

    The standard library's encoder writes the same bytes several times faster wherever its text
    reads back as an equal value without floats; everything else is left to `rfc8785`.
    """
    try:
        data = _quick(value)
        if data is not None and _DECODER.decode(data.decode()) == value:
            return data
    except (TypeError, ValueError, RecursionError):
        pass  # the reason comes from the library below
    return _slow(value)


def canonical_plain(value: Json) -> bytes:
    """`canonical` of what `plain` returned, or of lists and dicts of that, without a second look."""
    try:
        data = _quick(value)
    except (TypeError, ValueError, RecursionError):
        data = None  # the reason comes from the library below
    return _slow(value) if data is None else data


def _quick(value: Json) -> bytes | None:
    """The bytes; None if a key might sort differently by UTF-16 unit than by code point."""
    data = _ENCODER.encode(value).encode()
    return None if not data.isascii() and any(lead in data for lead in ASTRAL) else data


def _slow(value: Json) -> bytes:
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError as error:
        raise LedgerError(f"cannot be recorded: {error}; pass it through `plain` first") from error


def _safe_integer(text: str) -> int:
    if abs(value := int(text)) > SAFE_INTEGER:
        raise ValueError(f"`{text}` is beyond the safe integers")
    return value


def _no_float(text: str) -> None:
    raise ValueError(f"`{text}` is a float")


_ENCODER = json.JSONEncoder(
    ensure_ascii=False,
    check_circular=False,
    allow_nan=False,
    sort_keys=True,
    separators=(",", ":"),
)
_DECODER = json.JSONDecoder(parse_float=_no_float, parse_int=_safe_integer)
_READER = json.JSONDecoder()


def parse(data: bytes) -> dict[str, Json]:
    """The object in canonical bytes; LedgerError if they are not one JSON object in UTF-8."""
    try:
        text = data.decode()
        value, end = _READER.raw_decode(text)  # canonical bytes have no white space to look for
        if end != len(text):
            raise json.JSONDecodeError("Extra data", text, end)
    except (ValueError, RecursionError) as error:
        raise LedgerError(f"record bytes are not JSON: {error}; the ledger is damaged") from error
    if not isinstance(value, dict):
        raise LedgerError("record bytes are not a JSON object; the ledger is damaged")
    return value


def plain(value: object, depth: int = 0) -> Json:
    """`value` as JSON without floats, so that `unplain` returns an equal value of equal types.

    Tuples come back as lists. LedgerError for a type that no request can hold (a subclass might be
    read differently when it comes back, so it is refused), or more than `DEEPEST` levels.
    """
    if depth > DEEPEST:
        raise LedgerError(f"cannot be recorded: nested deeper than {DEEPEST} levels; flatten it")
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind in _WRITE:
        return _WRITE[kind](value)
    if isinstance(value, Mapping) and kind in (dict, MappingProxyType):
        return _object(value, depth)
    if isinstance(value, Sequence) and kind in (list, tuple):
        return [plain(item, depth + 1) for item in value]
    raise LedgerError(f"cannot be recorded: a `{kind.__name__}`; pass JSON values only")


def _text(value: str) -> Json:
    if value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value):
        return value
    return {"$text": value.encode("utf-8", "surrogatepass").hex()}


def _integer(value: int) -> Json:
    return value if abs(value) <= SAFE_INTEGER else {"$int": hex(value)}


def _object(value: Mapping[Any, Any], depth: int) -> Json:
    if all(type(key) is str and _ordinary(key) for key in value):
        return {key: plain(item, depth + 1) for key, item in value.items()}
    items = [[plain(key, depth + 1), plain(item, depth + 1)] for key, item in value.items()]
    return {"$items": sorted(items, key=lambda item: canonical(item[0]))}


def _ordinary(key: str) -> bool:
    return not key.startswith("$") and isinstance(_text(key), str)


_WRITE: Mapping[type, Callable[[Any], Json]] = {
    str: _text,
    int: _integer,
    float: lambda value: {"$float": repr(value)},
    Decimal: lambda value: {"$decimal": str(value)},
    datetime: lambda value: {"$time": value.isoformat()},
}

_READ: Mapping[str, Callable[[Any], object]] = {
    "$int": lambda text: int(text, 16),
    "$float": float,
    "$decimal": Decimal,
    "$time": datetime.fromisoformat,
    "$text": lambda text: bytes.fromhex(text).decode("utf-8", "surrogatepass"),
    "$items": lambda items: {unplain(key): unplain(item) for key, item in items},
}


def unplain(value: Json) -> Any:
    """The value that `plain` was given; LedgerError for a `$` key that it never writes."""
    if isinstance(value, list):
        return [unplain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and (key := next(iter(value))).startswith("$"):
        if key not in _READ:
            raise LedgerError(f"`{key}` is no value of this record format; upgrade to read it")
        return _READ[key](value[key])
    return {key: unplain(item) for key, item in value.items()}


def instant(moment: datetime) -> str:
    """An aware time as RFC 3339 in UTC with microseconds; LedgerError for a time without a zone."""
    if moment.utcoffset() is None:
        raise LedgerError(f"time `{moment.isoformat()}` has no zone; pass an aware datetime")
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def moment(text: str) -> datetime:
    """The time that `instant` wrote."""
    return datetime.fromisoformat(text)


def request_body(request: Request) -> dict[str, Json]:
    """Every field of a request but its state, which the record itself holds.

    `intent` stands in it only where one was sent, so that older bodies keep their commitments.
    """
    return {
        "request_id": plain(request.request_id),
        "channel": plain(request.channel),
        "utterance": plain(request.utterance),
        "history": [{"role": plain(t.role), "text": plain(t.text)} for t in request.history],
        "session": None if request.session is None else _session(request.session),
        "candidates": None if request.candidates is None else plain(request.candidates),
        "dialogue_id": plain(request.dialogue_id),
        "confirm_token": plain(request.confirm_token),
        "language": plain(request.language),
        **({} if request.intent is None else {"intent": plain(request.intent)}),
    }


def _session(session: Session) -> dict[str, Json]:
    return {
        "subject": plain(session.subject),
        "entitlements": plain(session.entitlements),
        "objects": [
            {
                "object_id": plain(entry.object_id),
                "object_type": plain(entry.object_type),
                "display_name": plain(entry.display_name),
                "aliases": plain(entry.aliases),
                "own": entry.own,
            }
            for entry in session.objects
        ],
    }


def request_of(body: Mapping[str, Json], state: Json) -> Request:
    """The request whose `request_body` is `body` and whose state is `plain(state)`."""
    values = unplain(dict(body))
    session, candidates = values["session"], values["candidates"]
    return Request(
        **{
            **values,
            "history": tuple(Turn(**turn) for turn in values["history"]),
            "state": unplain(state),
            "session": None if session is None else _session_of(session),
            "candidates": None if candidates is None else tuple(candidates),
        }
    )


def _session_of(values: Mapping[str, Any]) -> Session:
    return Session(
        subject=values["subject"],
        entitlements=tuple(values["entitlements"]),
        objects=tuple(
            Entry(**{**entry, "aliases": tuple(entry["aliases"])}) for entry in values["objects"]
        ),
    )


def switches_of(names: list[str]) -> Switches:
    """The switches whose `names()` is `names`; LedgerError for one that no longer exists."""
    known = [name.replace("_", "-") for name in Switches.__dataclass_fields__]
    for name in names:
        if name not in known:
            raise LedgerError(f"switch `{name}` is unknown; this record needs an older release")
    return Switches(**{name.replace("-", "_"): True for name in names})
