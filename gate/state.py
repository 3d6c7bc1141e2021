"""Runtime state: raw values from a trusted source become typed values, or a named fault.

Every read ends in one of two ways: a value of exactly the declared type, or a `Broken` code that
says why there is none. Nothing is coerced, nothing raises, and no other value stands in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gate.errors import ConfigError

Value = bool | Decimal | str | datetime

BOOLEAN, NUMBER, TEXT, ENUM, TIMESTAMP = "boolean", "number", "text", "enum", "timestamp"
TYPES: Final = (BOOLEAN, NUMBER, TEXT, ENUM, TIMESTAMP)
GATE: Final = "gate"
SLOT_PREFIX: Final = "slot."
MAX_SKEW_S: Final = 30
MAX_SECONDS: Final = 100 * 366 * 86_400
"""No age limit is longer than a century; longer ones are typing errors."""

_NUMERAL = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")
_NO_NUMBER = re.compile(r"[+-]?(s?nan|inf(inity)?)", re.IGNORECASE)
_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]([01][0-9]|2[0-3])(:[0-5][0-9]){2}(\.[0-9]{1,9})?"
    r"([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
)


class Broken(StrEnum):
    """Why a predicate has no usable value."""

    ABSENT = "ABSENT"
    UNDECLARED = "UNDECLARED"
    STALE = "STALE"
    FUTURE = "FUTURE"
    MISTYPED = "MISTYPED"
    NOT_A_NUMBER = "NOT_A_NUMBER"
    UNKNOWN_VALUE = "UNKNOWN_VALUE"
    AMBIGUOUS = "AMBIGUOUS"
    """A slot or another gate value with more than one candidate; as a raw value, its marker."""
    REFUSED = "REFUSED"
    """A predicate that only the gate computes was supplied as input."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """One declared fact that rules may read.

    `type` is boolean, number, text, enum or timestamp; `values` are an enum's members; `source`
    names who supplies it, `gate` being the gate itself. `max_age_s` is the greatest age in seconds
    (such a value must carry `as_of`), `skew_s` how far the source's clock may run ahead, `pin`
    whether a change before execution stops it. Raises ConfigError on a declaration that no value
    could meet.
    """

    name: str
    type: str
    source: str
    unit: str | None = None
    values: tuple[str, ...] = ()
    max_age_s: int | None = None
    pin: bool = False
    skew_s: int = 2

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise ConfigError(f"predicate `{self.name}` {problem[0]}", fix=problem[1])


def _problem(predicate: Predicate) -> tuple[str, str] | None:
    """What is wrong with a declaration and what to do about it, or None."""
    if predicate.type not in TYPES:
        return f"has the unknown type `{predicate.type}`", f"use one of {', '.join(TYPES)}"
    if (predicate.type == ENUM) != bool(predicate.values):
        return f"of type `{predicate.type}` has {len(predicate.values)} values", (
            "list the values of an enum, and of nothing else"
        )
    if predicate.unit is not None and predicate.type != NUMBER:
        return f"of type `{predicate.type}` has the unit `{predicate.unit}`", "remove the unit"
    if not 0 <= predicate.skew_s <= MAX_SKEW_S:
        return f"has the skew `{predicate.skew_s}`", f"use 0 to {MAX_SKEW_S} seconds"
    if predicate.max_age_s is not None and not 0 < predicate.max_age_s <= MAX_SECONDS:
        return f"has the greatest age `{predicate.max_age_s}`", f"use 1 to {MAX_SECONDS} seconds"
    if predicate.source == GATE and predicate.max_age_s is not None:
        return "of source `gate` has a greatest age", "remove max_age_s: it is computed on the spot"
    if predicate.name.startswith(SLOT_PREFIX) and predicate.source != GATE:
        return f"is a slot with the source `{predicate.source}`", "declare its source as `gate`"
    return None


@dataclass(frozen=True, slots=True)
class Reading:
    """One predicate as read: a typed value, or None and the reason why there is none."""

    name: str
    value: Value | None
    broken: Broken | None


def read(
    predicates: Mapping[str, Predicate],
    name: str,
    state: Mapping[str, object],
    gate_values: Mapping[str, object],
    now: datetime,
) -> Reading:
    """Read one predicate at the clock `now` (with zone), for a record or a trace."""
    value = value_of(predicates, name, state, gate_values, now)
    if isinstance(value, Broken):
        return Reading(name, None, value)
    return Reading(name, value, None)


def value_of(
    predicates: Mapping[str, Predicate],
    name: str,
    state: Mapping[str, object],
    gate_values: Mapping[str, object],
    now: datetime,
) -> Value | Broken:
    """The typed value of one predicate at the clock `now` (with zone), or why there is none."""
    predicate = predicates.get(name)
    if predicate is None:
        return Broken.UNDECLARED
    if predicate.source == GATE:
        if name in state:
            return Broken.REFUSED
        return _computed(predicate, gate_values.get(name), now)
    raw = state.get(name)
    if type(raw) is dict or type(raw) is MappingProxyType:
        return _dated(predicate, raw, now)
    if predicate.max_age_s is not None and raw is not None:
        return Broken.STALE
    return _typed(predicate, raw, now)


def _computed(predicate: Predicate, value: object, now: datetime) -> Value | Broken:
    """What the gate itself computed: a day that a customer names may well be to come."""
    if predicate.type == TIMESTAMP and type(value) is datetime and value.utcoffset() is not None:
        return value
    return _typed(predicate, value, now)


def _dated(predicate: Predicate, raw: Mapping[object, object], now: datetime) -> Value | Broken:
    """The value of `{"value": v, "as_of": t}`, once t is a time neither ahead nor too old."""
    if raw.keys() != {"value", "as_of"}:
        return Broken.MISTYPED
    as_of = _timestamp(raw["as_of"], predicate.skew_s, now)
    if isinstance(as_of, Broken):
        return as_of
    limit = predicate.max_age_s
    if limit is not None and now - as_of > timedelta(seconds=limit):
        return Broken.STALE
    return _typed(predicate, raw["value"], now)


def _typed(predicate: Predicate, raw: object, now: datetime) -> Value | Broken:
    """`raw` as a value of exactly the declared type; null counts as absent."""
    kind = predicate.type
    if kind == BOOLEAN and (raw is True or raw is False):
        return raw
    if raw is None:
        return Broken.ABSENT
    if raw is Broken.AMBIGUOUS:
        return Broken.AMBIGUOUS
    if kind == NUMBER:
        return _number(raw)
    if kind == TIMESTAMP:
        return _timestamp(raw, predicate.skew_s, now)
    if kind == BOOLEAN or type(raw) is not str:
        return Broken.MISTYPED
    return raw if kind == TEXT or raw in predicate.values else Broken.UNKNOWN_VALUE


def _number(raw: object) -> Decimal | Broken:
    """An integer, a float by its shortest digits, a Decimal, or a plain decimal string of at most
    40 digits on either side of the point."""
    if type(raw) is int:
        return Decimal(raw)
    if type(raw) is float:
        raw = Decimal(repr(raw))
    if type(raw) is Decimal:
        return raw if raw.is_finite() else Broken.NOT_A_NUMBER
    if type(raw) is not str:
        return Broken.MISTYPED
    if _NUMERAL.fullmatch(raw):
        return Decimal(raw)
    return Broken.NOT_A_NUMBER if _NO_NUMBER.fullmatch(raw) else Broken.MISTYPED


def _timestamp(raw: object, skew_s: int, now: datetime) -> datetime | Broken:
    """An RFC 3339 time with zone that is at most `skew_s` ahead; below a microsecond is cut off."""
    if type(raw) is str and _RFC3339.fullmatch(raw):
        try:
            raw = datetime.fromisoformat(raw.upper())
        except ValueError:
            return Broken.MISTYPED
    if type(raw) is not datetime or raw.utcoffset() is None:
        return Broken.MISTYPED
    return Broken.FUTURE if raw - now > timedelta(seconds=skew_s) else raw
