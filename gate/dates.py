"""Dates: days in a text, written as `gate.days` has them, or the reason why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from gate import days, numbers
from gate.lexicon import is_word
from gate.slots import Fault
from gate.spot import Span, Spot, Spotted

_NUMERIC: Final = re.compile(
    r"(?<![0-9a-z/.$€£¥-])(?P<a>[0-9]{1,4})(?P<mark>[-/.])(?P<b>[0-9]{1,2})(?:(?P=mark)(?P<c>[0-9]{1,4}))?"
    r"(?![0-9a-z]|[-/.][0-9])"
)
_TH: Final = r"(?:st|nd|rd|th)?"


def read(spot: Spot, taken: Sequence[Span] = ()) -> list[Spotted]:
    """Every day of the text, longest first where they overlap; `taken` are names."""
    found = [*_numeric(spot), *_named(spot), *_han(spot), *_relative(spot), *_spans(spot)]
    kept: list[Spotted] = []
    for one in sorted(found, key=lambda s: (s.start - s.end, s.start)):
        if not any(a < one.end and one.start < b for a, b in taken) and not any(
            k.start < one.end and one.start < k.end for k in kept
        ):
            kept.append(one)
    return [_with_context(spot, one) for one in sorted(kept)]


def written(spot: Spot) -> list[Spotted]:
    """The days that are written in digits or numerals: what no other slot may take a number from."""
    return [*_numeric(spot), *_named(spot), *_han(spot)]


def _day(year: int | None, month: int, day: int) -> tuple[str, str]:
    """Form and fault of a day of a year, or of the next one."""
    if not days.exists(2000 if year is None else year, month, day):
        return "", Fault.MALFORMED
    if year is None:
        return f"--{month:02}-{day:02}", ""
    return f"{year:04}-{month:02}-{day:02}", ""


# ---- digits ------------------------------------------------------------------------------------


def _numeric(spot: Spot) -> Iterator[Spotted]:
    """2026-12-24, 24/12/2026, 24.12.2026, 12/24: one reading, or none."""
    for match in _NUMERIC.finditer(spot.folded):
        a, b, c = match["a"], match["b"], match["c"]
        if c is None and match["mark"] != "/":
            continue
        readings = _readings(a, b, c)
        real = {text for text, fault in readings if not fault}
        clean = spot.is_decimal(*match.span())
        if len(real) == 1 and clean:
            yield Spotted(*match.span(), real.pop(), "")
        else:
            fault = Fault.TWO_READINGS if real and clean else Fault.MALFORMED
            yield Spotted(*match.span(), "", fault)


def _readings(a: str, b: str, c: str | None) -> list[tuple[str, str]]:
    if c is None:
        return [_day(None, int(x), int(y)) for x, y in ((a, b), (b, a))] if len(a) < 3 else []
    if len(a) == 4:
        return [_day(int(a), int(b), int(c))] if len(c) < 3 else []
    if len(c) == 4 and len(a) < 3:
        return [_day(int(c), int(x), int(y)) for x, y in ((a, b), (b, a))]
    if len(a) > 2 or len(c) != 2:
        return []
    orders = ((c, a, b), (c, b, a), (a, b, c))
    return [_day(2000 + int(y), int(m), int(d)) for y, m, d in orders]


# ---- names of months ---------------------------------------------------------------------------


@lru_cache(maxsize=16)
def _month_patterns(months: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    month = rf"(?P<month>{'|'.join(map(re.escape, months))})\.?"
    day = rf"(?P<day>[0-9]{{1,2}}){_TH}"
    year = r"(?:,? (?P<year>[0-9]{4}))?"
    return (
        re.compile(rf"(?<![0-9a-z.,/-])(?:the )?{day}(?: of)?[ -]{month}{year}(?![0-9a-z])"),
        re.compile(rf"(?<![0-9a-z]){month}[ -](?:the )?{day}{year}(?![0-9a-z]|[.,:/-][0-9])"),
        re.compile(rf"(?<![0-9a-z])(?P<first>[0-9]{{4}}) {month} {day}(?![0-9a-z])"),
    )


def _named(spot: Spot) -> Iterator[Spotted]:
    """24 December 2026, December 24th, the 24th of Dec; without a year the next one."""
    values = spot.words.tables["months"].values
    names = tuple(sorted(values, key=len, reverse=True))
    known = spot.may_hold(spot.words.tables["months"].words)
    for pattern in _month_patterns(names) if known else ():
        for match in pattern.finditer(spot.folded):
            got = match.groupdict()
            year = got.get("year") or got.get("first")
            text, fault = _day(
                int(year) if year else None, int(values[got["month"]]), int(got["day"])
            )
            if not spot.is_decimal(*match.span()):
                text, fault = "", Fault.MALFORMED
            yield Spotted(*match.span(), text, fault)
    yield from _day_of_month(spot)


_THE_DAY: Final = re.compile(r"(?<![0-9a-z])the ([0-9]{1,2})(?:st|nd|rd|th)(?![0-9a-z])")


def _day_of_month(spot: Spot) -> Iterator[Spotted]:
    """the 15th; the 5th of next month."""
    for match in _THE_DAY.finditer(spot.folded):
        number, end = int(match[1]), match.end()
        if not 1 <= number <= 31:
            yield Spotted(match.start(), end, "", Fault.MALFORMED)
            continue
        shift = spot.after_table("shifts", end)
        value = spot.table_value("shifts", end, shift).upper() if shift > 0 else ""
        if value.startswith("M"):
            yield Spotted(match.start(), shift, f"M+{value[1:]}-{number:02}", "")
        elif not spot.folded[end : end + 4].startswith(" of "):
            if _ends_phrase(spot, end):
                yield Spotted(match.start(), end, f"---{number:02}", "")


def _ends_phrase(spot: Spot, end: int) -> bool:
    """True if no noun follows (the 15th, not the 15th payment)."""
    rest = spot.folded[end:].lstrip()
    return not rest[:1].isalpha() or spot.after("value_follows", end) > 0


# ---- Han ---------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def _han_pattern(numerals: str, shifts: tuple[str, ...]) -> re.Pattern[str]:
    one = f"[0-9{re.escape(numerals)}]"
    shift = f"(?P<shift>{'|'.join(map(re.escape, shifts))})" if shifts else "(?P<shift>(?!))"
    return re.compile(
        rf"(?:(?P<year>{one}{{4}})年|{shift})?"
        rf"(?:(?P<month>{one}{{1,3}})月(?P<day>{one}{{1,3}})[日号號]?|(?P<only>{one}{{1,3}})[日号號])"
    )


_JOINING: Final = (".", ",", "/", "-")
"""Marks that make one number of the digits on both sides of them."""


def _han(spot: Spot) -> Iterator[Spotted]:
    """2026年12月24日, 12月24号, 24号, 明年一月一日, 下个月5号."""
    if not spot.words.han or spot.folded.isascii():
        return
    shifts = spot.words.tables["shifts"].words.words
    longest = tuple(sorted((w for w in shifts if not is_word(w[0])), key=lambda w: (-len(w), w)))
    for match in _han_pattern(spot.numerals, longest).finditer(spot.folded):
        start, end = match.span()
        found = _han_day(spot, match) if spot.is_decimal(start, end) else ("", Fault.MALFORMED)
        head = spot.folded[max(0, start - 1) : start]
        if found is None or head == "第":
            continue
        joined = head in _JOINING and spot.folded[max(0, start - 2) : start - 1].isdigit()
        if joined or (head and is_word(head)) or spot.is_numeral(head):
            found = ("", Fault.MALFORMED)
        yield Spotted(start, end, *found)


def _han_day(spot: Spot, match: re.Match[str]) -> tuple[str, str] | None:
    day = _han_number(spot, match["day"] or match["only"])
    if match["month"] is None:
        return _han_only(spot, match, day)
    month = _han_number(spot, match["month"])
    if day is None or month is None:
        return "", Fault.MALFORMED
    if match["shift"]:
        value = _shift(spot, match["shift"], "Y")
        if value is None or not days.exists(2000, month, day):
            return "", Fault.MALFORMED
        return f"Y+{value}-{month:02}-{day:02}", ""
    year = _han_year(spot, match["year"]) if match["year"] else None
    if match["year"] and year is None:
        return "", Fault.MALFORMED
    return _day(year, month, day)


def _han_only(spot: Spot, match: re.Match[str], day: int | None) -> tuple[str, str] | None:
    """24号, 下个月5号; other things that end like this (5号楼) are none."""
    if match["year"] or spot.after("address_ends", match.end()) > 0:
        return None
    if day is None or not 1 <= day <= 31:
        return None
    if not match["shift"]:
        behind = spot.folded[match.end() : match.end() + 1]
        return (f"---{day:02}", "") if behind not in ("线", "店", "机") else None
    value = _shift(spot, match["shift"], "M")
    return (f"M+{value}-{day:02}", "") if value is not None else ("", Fault.UNCLEAR)


def _shift(spot: Spot, phrase: str, kind: str) -> int | None:
    value = spot.words.tables["shifts"].values.get(phrase, "").upper()
    return int(value[1:]) if value.startswith(kind) else None


def _han_number(spot: Spot, text: str) -> int | None:
    if text.isascii():
        return int(text)
    if any(c.isascii() for c in text):
        return None
    value = numbers.han(text, spot.words.han).value
    return None if value is None else int(value)


def _han_year(spot: Spot, text: str) -> int | None:
    """2026年, 二〇二六年."""
    if text.isascii():
        return int(text)
    found = "".join(str(spot.words.han.get(c, c)) for c in text)
    return int(found) if len(found) == 4 and found.isdigit() else None


# ---- relative ----------------------------------------------------------------------------------


def _relative(spot: Spot) -> Iterator[Spotted]:
    """today, tomorrow, Friday, Friday next week, 下周五, in three days, 三天后."""
    yield from _near_days(spot)
    yield from _weekdays(spot)
    yield from _distances(spot)


def _near_days(spot: Spot) -> Iterator[Spotted]:
    values = spot.words.tables["relative_days"].values
    for start, end in spot.all_in_table("relative_days"):
        yield Spotted(start, end, f"D{int(values[spot.folded[start:end]]):+d}", "")


def _weekdays(spot: Spot) -> Iterator[Spotted]:
    values = spot.words.tables["weekdays"].values
    for start, end in spot.all_in_table("weekdays"):
        number = values[spot.folded[start:end]]
        before = spot.before_table("shifts", start)
        after = spot.after_table("shifts", end)
        if spot.before("unclear_days", start) >= 0:
            begin = spot.before("unclear_days", start)
            yield Spotted(begin, end, "", Fault.TWO_READINGS)
        elif before >= 0 and spot.table_value("shifts", before, start).upper().startswith("W"):
            weeks = spot.table_value("shifts", before, start)[1:]
            yield Spotted(before, end, f"W{number}+{weeks}", "")
        elif after > 0 and spot.table_value("shifts", end, after).upper().startswith("W"):
            weeks = spot.table_value("shifts", end, after)[1:]
            yield Spotted(start, after, f"W{number}+{weeks}", "")
        else:
            yield Spotted(start, end, f"W{number}", "")


def _distances(spot: Spot) -> Iterator[Spotted]:
    """in 3 days, two weeks from now, 三天后, 再过一个月."""
    for number, start, end in spot.small_numbers():
        unit = spot.after_table("durations", end)
        if unit <= 0:
            continue
        before = spot.before("durations_before", start)
        after = spot.after("durations_after", unit)
        if before < 0 and after < 0:
            continue
        kind = spot.table_value("durations", end, unit).upper()
        first, last = (before if before >= 0 else start), (after if after > 0 else unit)
        if number is None:
            yield Spotted(first, last, "", Fault.NO_DAY)
        else:
            yield Spotted(first, last, f"{kind[0]}{number * int(kind[1:]):+d}", "")


def _spans(spot: Spot) -> Iterator[Spotted]:
    yield from (Spotted(a, b, "", Fault.NO_DAY) for a, b in spot.all_of("spans"))


# ---- what stands around ------------------------------------------------------------------------


def _with_context(spot: Spot, one: Spotted) -> Spotted:
    """The day, or the fault that its neighbours make of it."""
    fault = one.fault or _around(spot, one.start, one.end)
    return one._replace(value="" if fault else one.value, fault=str(fault))


def _counted_from(spot: Spot, start: int) -> bool:
    """True if a distance is counted from the day (a week from Friday, the day after Christmas)."""
    joined = spot.before("day_joiners", start)
    place = joined if joined >= 0 else start
    return spot.before_table("durations", place) >= 0


def _around(spot: Spot, start: int, end: int) -> str:
    if _counted_from(spot, start) or spot.after("unclear_after", end) > 0:
        return Fault.UNCLEAR
    if spot.before("unclear_days", start) >= 0:
        return Fault.TWO_READINGS
    if spot.before("day_bounds", start) >= 0 or spot.after("day_bounds_after", end) > 0:
        return Fault.BOUND
    before, after = spot.before("approximations", start), spot.after("approximations_after", end)
    if before >= 0 or after > 0:
        return Fault.APPROXIMATE
    if _has_end(spot, start, end):
        return Fault.INTERVAL
    return Fault.NEGATED if spot.is_set_aside(start) else ""


_NUMBER_END: Final = re.compile(r"[0-9](?:st|nd|rd|th|日|号|號)?$")


def _has_end(spot: Spot, start: int, end: int) -> bool:
    """True if a number and a word that joins two ends of a range, or two choices, stand beside it."""
    text = spot.folded
    left = spot.before("range_words", start)
    left = left if left >= 0 else spot.before("choice_words", start)
    if left >= 0 and _NUMBER_END.search(text[:left].rstrip()):
        return True
    right = spot.after("range_words", end)
    right = right if right > 0 else spot.after("choice_words", end)
    return right > 0 and re.match(r" ?(?:the )?[0-9]", text[right:]) is not None
