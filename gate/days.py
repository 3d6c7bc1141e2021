"""Days as a text names them, and which day that is once the clock is known.

A text is read without a clock, so that findings depend on nothing else. What it says is one of:

    2026-12-24   that day                      --12-24   the next 24 December
    ---15        the next 15th of a month      W5        the next Friday
    W5+1         Friday of the week after this one, which begins on Monday
    D+3          in three days                 M+1       the same day of the next month
    M+1-05       the fifth of the next month   Y+1-01-01 the first of January of the next year
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta
from typing import Final

_FORM: Final = re.compile(
    r"(?P<iso>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"|--(?P<month>[0-9]{2})-(?P<mday>[0-9]{2})"
    r"|---(?P<mdays>[0-9]{2})"
    r"|W(?P<weekday>[1-7])(?P<weeks>[+-][0-9]+)?"
    r"|D(?P<days>[+-][0-9]+)"
    r"|M(?P<months>[+-][0-9]+)(?:-(?P<inmonth>[0-9]{2}))?"
    r"|Y(?P<years>[+-][0-9]+)-(?P<inyear>[0-9]{2})-(?P<ydays>[0-9]{2})"
)
MOST: Final = 3700
"""Days, weeks or months ahead of which a text may speak; more is a typing error."""
_LEAP: Final = 8
"""Years within which a 29 February comes again."""


def is_day(text: str) -> bool:
    """True for one of the forms above."""
    return _FORM.fullmatch(text) is not None


def exists(year: int, month: int, day: int) -> bool:
    """True for a day of the calendar."""
    return 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


def day(text: str, today: date) -> date | None:
    """The day that `text`, of one of the forms above, means on `today`; None where that is in doubt.

    A weekday said on that same weekday may be today or a week from now. Never raises.
    """
    form = _FORM.fullmatch(text)
    if form is None:
        return None
    got = {name: value for name, value in form.groupdict().items() if value is not None}
    try:
        return _day(got, today)
    except (ValueError, OverflowError):
        return None


def _day(got: dict[str, str], today: date) -> date | None:
    if "iso" in got:
        return date.fromisoformat(got["iso"])
    if "month" in got:
        return _next_year_day(today, int(got["month"]), int(got["mday"]))
    if "mdays" in got:
        return _next_month_day(today, int(got["mdays"]))
    if "weekday" in got:
        return _weekday(today, int(got["weekday"]), got.get("weeks"))
    if "days" in got:
        return today + timedelta(days=_near(got["days"]))
    if "months" in got:
        return _in_month(today, _near(got["months"]), int(got.get("inmonth", today.day)))
    return date(today.year + _near(got["years"]), int(got["inyear"]), int(got["ydays"]))


def _near(shift: str) -> int:
    """A shift of at most MOST; ValueError beyond."""
    number = int(shift)
    if abs(number) > MOST:
        raise ValueError(shift)
    return number


def _next_year_day(today: date, month: int, day_of_month: int) -> date | None:
    for year in range(today.year, today.year + _LEAP + 1):
        if exists(year, month, day_of_month) and date(year, month, day_of_month) >= today:
            return date(year, month, day_of_month)
    return None


def _next_month_day(today: date, day_of_month: int) -> date | None:
    for months in range(3):
        found = _in_month(today, months, day_of_month)
        if found is not None and found >= today:
            return found
    return None


def _in_month(today: date, months: int, day_of_month: int) -> date | None:
    year, month = divmod(today.year * 12 + today.month - 1 + months, 12)
    return date(year, month + 1, day_of_month) if exists(year, month + 1, day_of_month) else None


def _weekday(today: date, weekday: int, weeks: str | None) -> date | None:
    if weeks is not None:
        monday = today - timedelta(days=today.isoweekday() - 1)
        return monday + timedelta(days=weekday - 1, weeks=_near(weeks))
    ahead = (weekday - today.isoweekday()) % 7
    return today + timedelta(days=ahead) if ahead else None
