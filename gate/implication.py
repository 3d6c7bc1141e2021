"""Which conditions follow from which, and which cannot hold: for lint, never for a decision.

Sound and incomplete: True means that it is so for all values of the declared types, False that it
was not recognised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from gate.conditions import Age, All, Always, AnyOf, Bounds, Condition, IfPresent, In, Is, Not, Ref


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that conditions on one predicate leave: listed members, or an interval.

    An age counts as a number of seconds. None means that there is no such limit.
    """

    members: frozenset[bool | Decimal | str] | None = None
    low: Decimal | None = None
    low_open: bool = False
    high: Decimal | None = None
    high_open: bool = False

    def holds(self, value: object) -> bool:
        """True if the value lies in the domain."""
        if self.members is not None and value not in self.members:
            return False
        if not isinstance(value, Decimal):
            return True
        above = self.low is None or value > self.low or (value == self.low and not self.low_open)
        below = (
            self.high is None or value < self.high or (value == self.high and not self.high_open)
        )
        return above and below

    @property
    def empty(self) -> bool:
        """True if no value is left."""
        if self.members is not None:
            return not any(self.holds(m) for m in self.members)
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    def within(self, outer: Domain) -> bool:
        """True if every value of this domain lies in `outer`."""
        if self.members is not None:
            return all(outer.holds(m) for m in self.members if self.holds(m))
        if outer.members is not None:
            return False
        return _reaches(self.low, self.low_open, outer.low, outer.low_open, 1) and _reaches(
            self.high, self.high_open, outer.high, outer.high_open, -1
        )


def _reaches(
    inner: Decimal | None, inner_open: bool, outer: Decimal | None, outer_open: bool, sign: int
) -> bool:
    """True if an inner limit is at least as narrow as the outer one; `sign` is 1 for low limits."""
    if outer is None:
        return True
    if inner is None:
        return False
    return inner * sign > outer * sign or (inner == outer and (inner_open or not outer_open))


@dataclass(frozen=True, slots=True)
class Facts:
    """A condition made ready for comparison: what all hold where it does.

    `limits` are the domains of predicates limited by constants, `others` the remaining parts, and
    `choices` the alternatives of those among them that are `any`.
    """

    parts: frozenset[Condition]
    limits: Mapping[str, Domain]
    others: frozenset[Condition]
    choices: Mapping[Condition, tuple[Facts, ...]]


def facts(condition: Condition) -> Facts:
    """What must hold where the condition does."""
    parts = frozenset(_conjuncts(condition))
    limits: dict[str, Domain] = {}
    others: set[Condition] = set()
    for part in parts:
        limit = _limit(part)
        if limit is None:
            others.add(part)
        else:
            limits[limit[0]] = _meet(limits.get(limit[0], Domain()), limit[1])
    choices: dict[Condition, tuple[Facts, ...]] = {
        other: tuple(map(facts, other.parts)) for other in others if isinstance(other, AnyOf)
    }
    return Facts(parts, limits, frozenset(others), choices)


def implies(lower: Condition, higher: Condition) -> bool:
    """True only if `higher` holds whenever `lower` does."""
    return entails(facts(lower), facts(higher))


def entails(lower: Facts, higher: Facts) -> bool:
    """As `implies`, of conditions that are compared more than once."""
    limited = all(
        name in lower.limits and lower.limits[name].within(domain)
        for name, domain in higher.limits.items()
    )
    if limited and all(_follows(other, lower, higher) for other in higher.others):
        return True
    return any(all(entails(c, higher) for c in choice) for choice in lower.choices.values())


def _follows(other: Condition, lower: Facts, higher: Facts) -> bool:
    """True only if a part of `higher` without a limit holds where all of `lower` does."""
    if other in lower.others:
        return True
    return any(entails(lower, choice) for choice in higher.choices.get(other, ()))


def impossible(condition: Condition) -> bool:
    """True only if the condition never holds."""
    known = facts(condition)
    return (
        any(_never(part) for part in known.others)
        or any(Not(part) in known.others for part in known.parts)
        or any(domain.empty for domain in known.limits.values())
    )


def _never(part: Condition) -> bool:
    match part:
        case AnyOf(parts):
            return all(impossible(p) for p in parts)
        case Not(Always()):
            return True
        case IfPresent(_, then):
            return impossible(then)
        case _:
            return False


def _conjuncts(condition: Condition) -> Iterator[Condition]:
    """The parts that must all hold, bounds and ages one by one, negations resolved where easy."""
    match condition:
        case Always():
            return
        case All(parts):
            for part in parts:
                yield from _conjuncts(part)
        case Bounds(predicate):
            for word, bound in condition.limits:
                yield Bounds(predicate, **{word: bound})
        case Age(predicate, older, younger) if older is not None and younger is not None:
            yield Age(predicate, older=older)
            yield Age(predicate, younger=younger)
        case Not(Not(part)):
            yield from _conjuncts(part)
        case Not(Is(predicate, bool() as value)):
            yield Is(predicate, not value)
        case AnyOf((part,)):
            yield from _conjuncts(part)
        case _:
            yield condition


def _limit(part: Condition) -> tuple[str, Domain] | None:
    """The predicate that the part limits by constants, and the values it leaves; None for others.

    Bounds and ages are single here.
    """
    match part:
        case Is(predicate, value):
            return predicate, Domain(frozenset({value}))
        case In(predicate, values):
            return predicate, Domain(frozenset(values))
        case Age(predicate, older, younger):
            return predicate, Domain(None, _seconds(older), True, _seconds(younger), True)
        case Bounds(predicate, gt, ge, lt, le) if not any(
            isinstance(b, Ref) for b in (gt, ge, lt, le)
        ):
            low, high = gt if gt is not None else ge, lt if lt is not None else le
            return predicate, Domain(
                None, _number(low), gt is not None, _number(high), lt is not None
            )
        case _:
            return None


def _seconds(age: int | None) -> Decimal | None:
    return None if age is None else Decimal(age)


def _number(bound: Decimal | Ref | None) -> Decimal | None:
    return bound if isinstance(bound, Decimal) else None


def _meet(one: Domain, other: Domain) -> Domain:
    """The values of both domains."""
    members = one.members if other.members is None else other.members
    if one.members is not None and other.members is not None:
        members = one.members & other.members
    low = one if _reaches(one.low, one.low_open, other.low, other.low_open, 1) else other
    high = one if _reaches(one.high, one.high_open, other.high, other.high_open, -1) else other
    return Domain(members, low.low, low.low_open, high.high, high.high_open)
