"""Slots: typed values that a service needs besides its object, filled from findings alone.

`gate.values` reads the candidates from a text; nothing here sees one. A slot is filled by one clean
value, however often it was said; two values, a value that is only a share, a bound or a guess, or
one outside of what the slot permits leave it open, with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from gate import days
from gate.catalog import Action, SlotSpec
from gate.records import Money, SlotValue
from gate.state import Broken, Value


class Fault(StrEnum):
    """Why what stands in the text cannot fill a slot."""

    SHARE = "SHARE"
    """A share of something (half, all of it), which is never guessed."""
    APPROXIMATE = "APPROXIMATE"
    BOUND = "BOUND"
    """At most, at least, before, after."""
    INTERVAL = "INTERVAL"
    """From one value to another."""
    RATE = "RATE"
    """An amount per piece or per month, or beside a number of pieces."""
    NOT_POSITIVE = "NOT_POSITIVE"
    MALFORMED = "MALFORMED"
    TWO_READINGS = "TWO_READINGS"
    UNCLEAR = "UNCLEAR"
    """A value of whose part in the sentence nothing is known."""
    NEGATED = "NEGATED"
    FORMER = "FORMER"
    """The value that is to be replaced, and no other one."""
    NO_DAY = "NO_DAY"
    """A week, a month or a year where a day is asked for."""
    NO_NAME = "NO_NAME"
    """A pronoun or a relation where a name is asked for."""
    UNKNOWN = "UNKNOWN"
    """No object of the session."""
    SEVERAL = "SEVERAL"
    """Several objects of the session go by what was said."""
    SOMEBODY_ELSES = "SOMEBODY_ELSES"


class SlotFound(NamedTuple):
    """One candidate for a slot at [start, end) of the original text, or why it cannot be one.

    `value` is canonical text: `500 USD`, `500` without a currency, an ISO date or a code of
    `gate.days` that needs the clock, an e-mail address, a postal address, a name, an own
    object's id; empty where `fault` is set. `turn` counts the turns of a dialogue from 0.
    """

    slot: str
    start: int
    end: int
    value: str
    fault: str
    turn: int = 0


class Filled(NamedTuple):
    """What an action's slots hold: for the record, for rules, and reasons for those left open."""

    values: Mapping[str, SlotValue]
    for_rules: Mapping[str, Value | Broken]
    open: tuple[str, ...]


UNFILLED: Final = Filled(MappingProxyType({}), MappingProxyType({}), ())
"""An action without slots."""

PRIVATE: Final = "$private"
"""Key that marks a value as personal; see `gate.ledger.tiers`."""


class _Open(Exception):
    """A slot stays open; the argument is its reason, `SLOT_` left out."""


def fill(
    action: Action,
    specs: Mapping[str, SlotSpec],
    found: Sequence[SlotFound],
    now: datetime,
) -> Filled:
    """The slots of an action; every one without a usable value is open, `SLOT_MISSING:amount`.

    An amount without a currency is in the first one of its slot. A date that depends on the clock
    (a weekday, a day without its year) is the next one seen from `now`. An optional slot that
    nothing was said about is not open. Rules see a text that is there but unusable as AMBIGUOUS.
    """
    values: dict[str, SlotValue] = {}
    for_rules: dict[str, Value | Broken] = {}
    reasons: list[str] = []
    for name in action.slots:
        mine = [f for f in found if f.slot == name]
        if not mine:
            if not specs[name].optional:
                reasons.append(f"SLOT_MISSING:{name}")
            continue
        try:
            values[name] = _value(specs[name], mine, now)
            for_rules[name] = _for_rules(values[name], now)
        except _Open as reason:
            for_rules[name] = Broken.AMBIGUOUS
            reasons.append(f"SLOT_{reason}:{name}")
    return Filled(values, for_rules, tuple(reasons))


def _for_rules(value: SlotValue, now: datetime) -> Value:
    """A number, a text, or the beginning of a day in the zone of the clock."""
    if isinstance(value, Money):
        return value.value
    return datetime.combine(value, time(), now.tzinfo) if isinstance(value, date) else value


def _value(spec: SlotSpec, found: Sequence[SlotFound], now: datetime) -> SlotValue:
    """The one value of a slot; _Open with the reason where there is none."""
    for one in found:
        if one.fault:
            raise _Open(one.fault)
    typed = _TYPED.get(spec.type, _text)
    values = list(dict.fromkeys(typed(spec, one.value, now) for one in found))
    if len(values) > 1:
        raise _Open("AMBIGUOUS")
    if isinstance(values[0], Money):
        _check(spec, values[0])
    return values[0]


def _amount(spec: SlotSpec, text: str, now: datetime) -> Money:
    number, _, currency = text.partition(" ")
    return Money(Decimal(number), currency or next(iter(spec.currencies), ""))


def _check(spec: SlotSpec, money: Money) -> None:
    """_Open unless currency, sign, decimals and bounds are those of the slot."""
    if money.currency not in spec.currencies:
        raise _Open("CURRENCY")
    if money.value <= 0:
        raise _Open(Fault.NOT_POSITIVE)
    exponent = money.value.as_tuple().exponent
    if not isinstance(exponent, int) or -exponent > spec.decimals:
        raise _Open("DECIMALS")
    low, high = spec.minimum, spec.maximum
    if (low is not None and money.value < low) or (high is not None and money.value > high):
        raise _Open("RANGE")


def _date(spec: SlotSpec, text: str, now: datetime) -> date:
    day = days.day(text, now.date())
    if day is None:
        raise _Open(Fault.TWO_READINGS)
    return day


def _text(spec: SlotSpec, text: str, now: datetime) -> str:
    return text


_TYPED: Final[Mapping[str, Callable[[SlotSpec, str, datetime], SlotValue]]] = {
    "amount": _amount,
    "date": _date,
}


def open_in(reasons: Iterable[str]) -> tuple[str, ...]:
    """The slots that reason codes of `fill` name, in order, each once."""
    named = (code.split(":")[1] for code in reasons if code.startswith("SLOT_"))
    return tuple(dict.fromkeys(named))


def merge(earlier: Sequence[SlotFound], later: Sequence[SlotFound]) -> tuple[SlotFound, ...]:
    """The candidates of the turns of one dialogue.

    A later clean reading takes the place of earlier faults of its slot ("about 500", "500"); clean
    readings all stay, so that two values for one slot leave it open.
    """
    turn = max((f.turn for f in earlier), default=-1) + 1
    clean = {f.slot for f in later if not f.fault}
    kept = (f for f in earlier if not (f.fault and f.slot in clean))
    return (*kept, *(f._replace(turn=max(turn, 1)) for f in later))


def to_core(found: Iterable[SlotFound]) -> list[Any]:
    """Candidates for the record; every value but amounts and days is marked personal."""
    return [list(_core(one)) for one in found]


_AMOUNT: Final = re.compile(r"[0-9]+(\.[0-9]+)?( [A-Z]{3})?")


def _core(one: SlotFound) -> Iterator[Any]:
    public = not one.value or _AMOUNT.fullmatch(one.value) or days.is_day(one.value)
    yield from (one.slot, one.start, one.end)
    yield one.value if public else {PRIVATE: one.value}
    yield str(one.fault)
    if one.turn:
        yield one.turn


def from_core(core: Iterable[Sequence[Any]]) -> tuple[SlotFound, ...]:
    """The candidates back from a record; a personal value is its digest there."""
    return tuple(SlotFound(*one) for one in core)
