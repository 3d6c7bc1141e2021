"""The dumbest second implementation of DESIGN's "Gate semantics" 3, to compare the engine with.

Written from the text alone: nothing of the engine is imported, rules and predicates are plain
dictionaries in the form of `rules.yaml` and `state.yaml`, every number is a fraction, every time
an integer count of microseconds, every rule of a verdict is looked at from scratch.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

MICRO = 1_000_000
NO_NUMBERS = ("nan", "snan", "inf", "infinity")
DIGITS = frozenset("0123456789")
UNITS = {"s": 1, "m": 60, "h": 60 * 60, "d": 24 * 60 * 60}


class Bad(Exception):
    """A value that cannot be used, with the name of what is wrong."""


def combine(
    outcomes: Iterable[tuple[str, str, str, str]], default_id: str
) -> tuple[str, str, tuple[str, ...]]:
    """(boundary, deciding id, pending ids) of rules given as (id, outcome, then, on_error).

    The rules are the applicable blocking ones in order of priority.
    """
    waiting: list[str] = []
    for rule_id, outcome, then, on_error in outcomes:
        if outcome == "TRUE":
            return then, rule_id, tuple(waiting)
        if outcome == "ERROR":
            return on_error, rule_id, tuple(waiting)
        if outcome == "PENDING":
            waiting.append(rule_id)
    if waiting:
        return "CLARIFY", "G-SLOT", tuple(waiting)
    return "ALLOW", default_id, ()


def verdict(
    rules: Iterable[Mapping[str, Any]],
    action_id: str | None,
    predicates: Mapping[str, Mapping[str, Any]],
    state: Mapping[str, object],
    gate_values: Mapping[str, object],
    slots: Mapping[str, object],
    now: datetime,
    ambiguous: object,
) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    """(boundary, deciding id, reason codes, pending ids); `ambiguous` is the slots' marker."""
    inputs = (predicates, state, gate_values, slots, microseconds(now), ambiguous)
    applicable = [r for r in rules if "*" in r["applies_to"] or action_id in r["applies_to"]]
    applicable.sort(key=lambda r: r["priority"])
    *blocking, default = applicable
    judged = [(r, *outcome(r["when"], inputs)) for r in blocking]
    boundary, rule_id, waiting = combine(
        ((r["id"], o, r["then"], r["on_error"]) for r, o, _ in judged), default["id"]
    )
    blamed = waiting if rule_id == "G-SLOT" else (rule_id,)
    codes = tuple(
        f"{r['id']}:{name}:{fault}"
        for r, _, faults in judged
        if r["id"] in blamed
        for name, fault in faults
    )
    return boundary, rule_id, codes, waiting


def outcome(when: Mapping[str, Any], inputs: tuple[Any, ...]) -> tuple[str, list[tuple[str, str]]]:
    """The outcome of one rule, and (predicate, fault) of everything wrong with what it reads."""
    required, optional = mentioned(when, ())
    values: dict[str, object] = {}
    faults: list[tuple[str, str]] = []
    for name in dict.fromkeys(required + optional):
        try:
            values[name] = value(name, *inputs)
        except Bad as bad:
            if str(bad) == "ABSENT" and name not in required:
                continue
            faults.append((name, str(bad)))
    faults.sort(key=lambda fault: order_of_mention(when).index(fault[0]))
    if not faults:
        return ("TRUE" if true(when, values, inputs[4]) else "FALSE"), []
    for name, fault in faults:
        if not name.startswith("slot.") or fault not in ("ABSENT", "AMBIGUOUS"):
            return "ERROR", faults
    return "PENDING", faults


def mentioned(when: Mapping[str, Any], inside: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Names that must be there, and slots that may be absent because an `if_present` asks first."""
    required: list[str] = []
    optional: list[str] = []
    for name in [when[k] for k in ("predicate", "if_present") if k in when] + refs(when):
        (optional if name in inside or name == when.get("if_present") else required).append(name)
    if "if_present" in when:
        inside = (*inside, when["if_present"])
    for part in parts(when):
        more_required, more_optional = mentioned(part, inside)
        required += more_required
        optional += more_optional
    return required, optional


def order_of_mention(when: Mapping[str, Any]) -> list[str]:
    names = [when[k] for k in ("predicate", "if_present") if k in when] + refs(when)
    for part in parts(when):
        names += order_of_mention(part)
    return names


def refs(when: Mapping[str, Any]) -> list[str]:
    """Names of the other predicates that this one is compared with."""
    words = ("gt", "ge", "lt", "le", "equals")
    return [when[w]["predicate"] for w in words if isinstance(when.get(w), Mapping)]


def parts(when: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The conditions inside this one."""
    inner = list(when.get("all", ())) + list(when.get("any", ()))
    return inner + [when[k] for k in ("not", "then") if k in when]


def true(when: Mapping[str, Any], values: Mapping[str, Any], now: int) -> bool:
    """Whether a condition holds on values that are all in order."""
    if "all" in when:
        return False not in [true(part, values, now) for part in when["all"]]
    if "any" in when:
        return True in [true(part, values, now) for part in when["any"]]
    if "not" in when:
        return not true(when["not"], values, now)
    if "if_present" in when:
        return when["if_present"] in values and true(when["then"], values, now)
    if "predicate" not in when:
        return True
    mine = values[when["predicate"]]

    def other(word: str) -> Any:
        given = when[word]
        return values[given["predicate"]] if isinstance(given, Mapping) else literal(given)

    checks = []
    for word in when:
        if word in ("is", "equals"):
            checks.append(mine == other(word))
        elif word == "in":
            checks.append(mine in [literal(item) for item in when["in"]])
        elif word in ("gt", "ge", "lt", "le"):
            sign = (mine > other(word)) - (mine < other(word))
            checks.append(sign in {"gt": (1,), "ge": (0, 1), "lt": (-1,), "le": (-1, 0)}[word])
        elif word in ("older_than", "younger_than"):
            age = now - mine if now > mine else 0
            limit = int(when[word][:-1]) * UNITS[when[word][-1]] * MICRO
            checks.append(age > limit if word == "older_than" else age < limit)
    return False not in checks


def literal(given: Any) -> Any:
    """A literal of a rule in the types that `value` returns."""
    return given if isinstance(given, bool | str) else Fraction(str(given))


def value(
    name: str,
    predicates: Mapping[str, Mapping[str, Any]],
    state: Mapping[str, object],
    gate_values: Mapping[str, object],
    slots: Mapping[str, object],
    now: int,
    ambiguous: object,
) -> Any:
    """The value of one predicate; Bad with the name of the fault otherwise."""
    if name not in predicates:
        raise Bad("UNDECLARED")
    declared = predicates[name]
    skew = declared.get("skew_s", 2) * MICRO
    if declared["source"] == "gate":
        if name in state:
            raise Bad("REFUSED")
        found = slots.get(name[5:]) if name.startswith("slot.") else gate_values.get(name)
        if found is ambiguous:
            raise Bad("AMBIGUOUS")
        return typed(found, declared, skew, now)
    found = state.get(name)
    oldest = declared.get("max_age_s")
    if isinstance(found, dict):
        if sorted(map(str, found)) != ["as_of", "value"]:
            raise Bad("MISTYPED")
        stamped = moment(found["as_of"], skew, now)
        if oldest is not None and now - stamped > oldest * MICRO:
            raise Bad("STALE")
        found = found["value"]
    elif found is not None and oldest is not None:
        raise Bad("STALE")
    return typed(found, declared, skew, now)


def typed(found: object, declared: Mapping[str, Any], skew: int, now: int) -> Any:
    """`found` as the declared type; nothing is coerced."""
    if found is None:
        raise Bad("ABSENT")
    if declared["type"] == "number":
        return number(found)
    if declared["type"] == "timestamp":
        return moment(found, skew, now)
    if not isinstance(found, bool if declared["type"] == "boolean" else str):
        raise Bad("MISTYPED")
    if declared["type"] == "enum" and found not in declared["values"]:
        raise Bad("UNKNOWN_VALUE")
    return found


def number(found: object) -> Fraction:
    if isinstance(found, bool):
        raise Bad("MISTYPED")
    if not isinstance(found, int | float | Decimal | str):
        raise Bad("MISTYPED")
    if not isinstance(found, int) and str(found).lower().lstrip("+-") in NO_NUMBERS:
        raise Bad("NOT_A_NUMBER")
    if isinstance(found, float):
        return Fraction(repr(found))
    if not isinstance(found, str):
        return Fraction(found)
    whole, *fraction = found.removeprefix("-").split(".")
    for digits in (whole, *fraction):
        if not 1 <= len(digits) <= 40 or not DIGITS.issuperset(digits):
            raise Bad("MISTYPED")
    if len(fraction) > 1:
        raise Bad("MISTYPED")
    return Fraction(found)


def moment(found: object, skew: int, now: int) -> int:
    """Microseconds since 1970 of a time with zone that is not ahead of the clock."""
    if isinstance(found, datetime):
        if found.tzinfo is None:
            raise Bad("MISTYPED")
        stamp = microseconds(found)
    elif isinstance(found, str):
        stamp = parsed(found)
    else:
        raise Bad("MISTYPED")
    if stamp > now + skew:
        raise Bad("FUTURE")
    return stamp


def microseconds(when: datetime) -> int:
    return calendar.timegm(when.utctimetuple()) * MICRO + when.microsecond


@lru_cache(maxsize=4096)
def parsed(text: str) -> int:
    """`2026-12-01T09:00:00.5+01:00` character by character."""
    text = text.upper()
    clock, zone = text[:-1], "+00:00"
    if not text.endswith("Z"):
        clock, zone = text[:-6], text[-6:]
    base, _, fraction = clock.partition(".")
    shape = "".join("9" if c in DIGITS else c for c in base + zone[1:])
    if shape != "9999-99-99T99:99:9999:99" or zone[0] not in "+-":
        raise Bad("MISTYPED")
    if "." in clock and not (1 <= len(fraction) <= 9 and DIGITS.issuperset(fraction)):
        raise Bad("MISTYPED")
    year, month, day = int(base[:4]), int(base[5:7]), int(base[8:10])
    hour, minute, second = int(base[11:13]), int(base[14:16]), int(base[17:])
    zone_hour, zone_minute = int(zone[1:3]), int(zone[4:])
    if year < 1 or not 1 <= month <= 12 or max(minute, second, zone_minute) > 59:
        raise Bad("MISTYPED")
    if not 1 <= day <= calendar.monthrange(year, month)[1] or max(hour, zone_hour) > 23:
        raise Bad("MISTYPED")
    offset = (zone_hour * 60 + zone_minute) * (60 if zone[0] == "+" else -60)
    whole = calendar.timegm((year, month, day, hour, minute, second)) - offset
    return whole * MICRO + int((fraction + "000000")[:6])
