"""Typed conditions of state rules: what they read, what fits them, and whether they hold.

A condition is a small frozen tree. It is built once, checked against the declared predicates, and
then only ever applied to values that `gate.state` has typed; it cannot fail.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, cast

from gate.errors import ConfigError
from gate.state import (
    BOOLEAN,
    ENUM,
    MAX_SECONDS,
    NUMBER,
    SLOT_PREFIX,
    TEXT,
    TIMESTAMP,
    TYPES,
    Broken,
    Predicate,
    Value,
)

Literal = bool | Decimal | str

_ANY: Final = frozenset(TYPES)
_NUMBER: Final = frozenset({NUMBER})
_TIMESTAMP: Final = frozenset({TIMESTAMP})
_OF_LITERAL: Final[Mapping[type, frozenset[str]]] = {
    bool: frozenset({BOOLEAN}),
    Decimal: _NUMBER,
    str: frozenset({TEXT, ENUM}),
}


@dataclass(frozen=True, slots=True)
class Ref:
    """The value of another predicate."""

    predicate: str


@dataclass(frozen=True, slots=True)
class Always:
    """`{}`: true, and reads nothing."""


@dataclass(frozen=True, slots=True)
class Is:
    """`{predicate: P, is: literal}`."""

    predicate: str
    value: Literal

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _literal(self.predicate, self.value))


@dataclass(frozen=True, slots=True)
class In:
    """`{predicate: P, in: [literal, ...]}`, all of one type."""

    predicate: str
    values: tuple[Literal, ...]

    def __post_init__(self) -> None:
        values = tuple(_literal(self.predicate, v) for v in self.values)
        if len({type(v) for v in values}) != 1:
            raise ConfigError(
                f"`in` of `{self.predicate}` has no values or mixed ones",
                fix="list values of one type",
            )
        object.__setattr__(self, "values", values)


@dataclass(frozen=True, slots=True)
class Bounds:
    """`{predicate: P, gt|ge|lt|le: number or {predicate: Q}}`; every given bound must hold."""

    predicate: str
    gt: Decimal | Ref | None = None
    ge: Decimal | Ref | None = None
    lt: Decimal | Ref | None = None
    le: Decimal | Ref | None = None

    def __post_init__(self) -> None:
        for name in ("gt", "ge", "lt", "le"):
            bound = getattr(self, name)
            if bound is not None and not isinstance(bound, Ref):
                object.__setattr__(self, name, _decimal(self.predicate, bound))
        if not self.limits:
            raise ConfigError(
                f"bounds of `{self.predicate}` are empty", fix="give gt, ge, lt or le"
            )

    @property
    def limits(self) -> tuple[tuple[str, Decimal | Ref], ...]:
        """The bounds that are given, each with its word, in the order gt, ge, lt, le."""
        words = (("gt", self.gt), ("ge", self.ge), ("lt", self.lt), ("le", self.le))
        return tuple((word, bound) for word, bound in words if bound is not None)


@dataclass(frozen=True, slots=True)
class Equals:
    """`{predicate: P, equals: {predicate: Q}}`; both of one type and unit."""

    predicate: str
    ref: Ref


@dataclass(frozen=True, slots=True)
class Age:
    """`{predicate: T, older_than|younger_than: age}` in seconds before the passed-in clock."""

    predicate: str
    older: int | None = None
    younger: int | None = None

    def __post_init__(self) -> None:
        given = [s for s in (self.older, self.younger) if s is not None]
        if not given or not all(type(s) is int and 0 < s <= MAX_SECONDS for s in given):
            raise ConfigError(
                f"age limit of `{self.predicate}` is not usable",
                fix=f"give older_than or younger_than, 1 to {MAX_SECONDS} seconds",
            )


@dataclass(frozen=True, slots=True)
class All:
    """`{all: [...]}`."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        _require_parts("all", self.parts)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """`{any: [...]}`."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        _require_parts("any", self.parts)


@dataclass(frozen=True, slots=True)
class Not:
    """`{not: condition}`."""

    part: Condition


@dataclass(frozen=True, slots=True)
class IfPresent:
    """`{if_present: slot.NAME, then: condition}`: false when the slot is absent.

    Under `then` that slot is optional; everything else that `then` reads is read in any case.
    """

    slot: str
    then: Condition

    def __post_init__(self) -> None:
        if not self.slot.startswith(SLOT_PREFIX):
            raise ConfigError(
                f"if_present names `{self.slot}`", fix="only slot.NAME may be optional"
            )


Condition = Always | Is | In | Bounds | Equals | Age | All | AnyOf | Not | IfPresent


def _literal(predicate: str, raw: object) -> Literal:
    """A literal of a rule: a boolean, a text, or a number as Decimal."""
    return raw if type(raw) is bool or type(raw) is str else _decimal(predicate, raw)


def _decimal(predicate: str, raw: object) -> Decimal:
    """A number of a rule (integer, float by its shortest digits, Decimal) as a finite Decimal."""
    if isinstance(raw, float):
        raw = Decimal(repr(raw))
    if isinstance(raw, bool) or not isinstance(raw, int | Decimal) or not Decimal(raw).is_finite():
        raise ConfigError(f"`{predicate}` is compared with `{raw}`", fix="compare it with a number")
    return Decimal(raw)


def _require_parts(word: str, parts: tuple[Condition, ...]) -> None:
    if not parts:
        raise ConfigError(f"`{word}` is empty", fix="list at least one condition")


Values = Mapping[str, Value | Broken]
Compiled = Callable[[Values, datetime], bool]


def holds(condition: Condition, values: Values, now: datetime) -> bool:
    """Whether the condition is true, once; `compile_condition` says what `values` must hold."""
    return compile_condition(condition)(values, now)


def compile_condition(condition: Condition) -> Compiled:
    """The condition as a function of typed values and the clock `now` (with zone).

    Everything in `needs(condition)` must have a value of a type that fits; only an optional slot
    may be missing or `Broken.ABSENT`. Under those terms the function raises nothing.
    """
    match condition:
        case Always():
            return lambda values, now: True
        case Is(predicate, literal):
            return lambda values, now: values[predicate] == literal
        case In(predicate, literals):
            return lambda values, now: values[predicate] in literals
        case Bounds():
            return _compile_bounds(condition)
        case Equals(predicate, ref):
            return lambda values, now: values[predicate] == values[ref.predicate]
        case Age():
            return _compile_age(condition)
        case All(parts):
            tests = tuple(map(compile_condition, parts))
            return lambda values, now: all(test(values, now) for test in tests)
        case AnyOf(parts):
            tests = tuple(map(compile_condition, parts))
            return lambda values, now: any(test(values, now) for test in tests)
        case Not(part):
            test = compile_condition(part)
            return lambda values, now: not test(values, now)
        case _:  # IfPresent, the last of the union
            slot, then = condition.slot, compile_condition(condition.then)
            return lambda values, now: (
                values.get(slot, Broken.ABSENT) is not Broken.ABSENT and then(values, now)
            )


_COMPARE: Final = {"gt": operator.gt, "ge": operator.ge, "lt": operator.lt, "le": operator.le}


def _compile_bounds(bounds: Bounds) -> Compiled:
    predicate = bounds.predicate
    limits = tuple((_COMPARE[word], bound) for word, bound in bounds.limits)

    def test(values: Values, now: datetime) -> bool:
        return all(
            compare(values[predicate], values[b.predicate] if isinstance(b, Ref) else b)
            for compare, b in limits
        )

    return test


def _compile_age(age: Age) -> Compiled:
    older = None if age.older is None else timedelta(seconds=age.older)
    younger = None if age.younger is None else timedelta(seconds=age.younger)

    def test(values: Values, now: datetime) -> bool:
        # A time ahead of the clock has passed `read` only within the skew: it has age 0.
        past = max(now - cast(datetime, values[age.predicate]), timedelta(0))
        return (older is None or past > older) and (younger is None or past < younger)

    return test


@dataclass(frozen=True, slots=True)
class Need:
    """One predicate that a condition reads: the declared types that fit, and whether it may be
    absent (a slot that is read under its own `if_present` only)."""

    name: str
    types: frozenset[str]
    optional: bool = False


def needs(condition: Condition) -> tuple[Need, ...]:
    """Everything that the condition reads, each name once, in order of first mention."""
    found: dict[str, Need] = {}
    for need in _mentions(condition, frozenset()):
        known = found.get(need.name, need)
        found[need.name] = Need(
            need.name, known.types & need.types, known.optional and need.optional
        )
    return tuple(found.values())


def reads(condition: Condition) -> tuple[str, ...]:
    """The names of everything that the condition reads, in order of first mention."""
    return tuple(need.name for need in needs(condition))


def _mentions(condition: Condition, guarded: frozenset[str]) -> Iterator[Need]:
    """Every mention of a predicate; `guarded` are the slots whose presence is settled here."""

    def mention(name: str, types: frozenset[str]) -> Need:
        return Need(name, types, name in guarded)

    match condition:
        case Always():
            return
        case Is(predicate, literal):
            yield mention(predicate, _OF_LITERAL[type(literal)])
        case In(predicate, literals):
            yield mention(predicate, _OF_LITERAL[type(literals[0])])
        case Bounds(predicate):
            yield mention(predicate, _NUMBER)
            for _, bound in condition.limits:
                if isinstance(bound, Ref):
                    yield mention(bound.predicate, _NUMBER)
        case Equals(predicate, ref):
            yield mention(predicate, _ANY)
            yield mention(ref.predicate, _ANY)
        case Age(predicate):
            yield mention(predicate, _TIMESTAMP)
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from _mentions(part, guarded)
        case Not(part):
            yield from _mentions(part, guarded)
        case _:  # IfPresent, the last of the union
            yield Need(condition.slot, _ANY, optional=True)
            yield from _mentions(condition.then, guarded | {condition.slot})


def misfits(condition: Condition, predicates: Mapping[str, Predicate]) -> tuple[str, ...]:
    """What the condition asks of the declared predicates that they cannot give, for load errors."""
    problems = []
    for need in needs(condition):
        declared = predicates.get(need.name)
        if declared is None:
            problems.append(f"`{need.name}` is not declared")
        elif not need.types:
            problems.append(f"`{need.name}` is used as values of two types")
        elif declared.type not in need.types:
            fitting = " or ".join(t for t in TYPES if t in need.types)
            problems.append(f"`{need.name}` is of type {declared.type}, used as {fitting}")
    return tuple(problems) or tuple(_mismatches(condition, predicates))


def _mismatches(condition: Condition, predicates: Mapping[str, Predicate]) -> Iterator[str]:
    """Literals that an enum does not have, and pairs of fields that must not be compared."""
    match condition:
        case Is(predicate, literal):
            yield from _unknown(predicates[predicate], (literal,))
        case In(predicate, literals):
            yield from _unknown(predicates[predicate], literals)
        case Bounds(predicate):
            for _, bound in condition.limits:
                if isinstance(bound, Ref):
                    yield from _unlike(predicates[predicate], predicates[bound.predicate])
        case Equals(predicate, ref):
            yield from _unlike(predicates[predicate], predicates[ref.predicate])
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from _mismatches(part, predicates)
        case Not(part) | IfPresent(_, part):
            yield from _mismatches(part, predicates)


def _unknown(predicate: Predicate, literals: tuple[Literal, ...]) -> Iterator[str]:
    if predicate.type == ENUM:
        for literal in literals:
            if literal not in predicate.values:
                yield f"`{literal}` is not a value of `{predicate.name}`"


def _unlike(one: Predicate, other: Predicate) -> Iterator[str]:
    if (one.type, one.unit) != (other.type, other.unit):
        yield f"`{one.name}` and `{other.name}` differ in type or unit"
