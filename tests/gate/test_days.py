"""Days: what each form means on a given day, where it is in doubt, and that nothing breaks it."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.days import day, exists, is_day

TUESDAY = date(2026, 12, 1)


@pytest.mark.parametrize(
    ("text", "today", "wanted"),
    [
        ("2026-12-24", TUESDAY, date(2026, 12, 24)),
        ("2025-01-01", TUESDAY, date(2025, 1, 1)),
        ("2026-02-30", TUESDAY, None),
        ("--12-24", TUESDAY, date(2026, 12, 24)),
        ("--12-01", TUESDAY, TUESDAY),
        ("--11-30", TUESDAY, date(2027, 11, 30)),
        ("--02-29", TUESDAY, date(2028, 2, 29)),
        ("--02-29", date(2096, 3, 1), date(2104, 2, 29)),
        ("--13-01", TUESDAY, None),
        ("---15", TUESDAY, date(2026, 12, 15)),
        ("---01", TUESDAY, TUESDAY),
        ("---30", date(2027, 1, 31), date(2027, 3, 30)),
        ("---32", TUESDAY, None),
        ("W5", TUESDAY, date(2026, 12, 4)),
        ("W1", TUESDAY, date(2026, 12, 7)),
        ("W2", TUESDAY, None),
        ("W5+0", TUESDAY, date(2026, 12, 4)),
        ("W1+0", TUESDAY, date(2026, 11, 30)),
        ("W7+1", TUESDAY, date(2026, 12, 13)),
        ("D+0", TUESDAY, TUESDAY),
        ("D-1", TUESDAY, date(2026, 11, 30)),
        ("D+31", TUESDAY, date(2027, 1, 1)),
        ("D+3701", TUESDAY, None),
        ("M+1", TUESDAY, date(2027, 1, 1)),
        ("M+1", date(2027, 1, 31), None),
        ("M+1-05", TUESDAY, date(2027, 1, 5)),
        ("Y+1-01-01", TUESDAY, date(2027, 1, 1)),
        ("Y+0-02-29", TUESDAY, None),
        ("Y+3000-01-01", date(9999, 1, 1), None),
        ("soon", TUESDAY, None),
    ],
)
def test_a_form_means_one_day_or_none(text: str, today: date, wanted: date | None) -> None:
    assert day(text, today) == wanted


@given(st.from_regex(r"[-0-9WDMY+]{0,14}", fullmatch=True) | st.text(max_size=12), st.dates())
def test_nothing_raises_and_only_forms_have_a_day(text: str, today: date) -> None:
    found = day(text, today)
    assert found is None or is_day(text)


@given(st.dates(), st.dates())
def test_a_full_date_is_itself_whatever_today_is(wanted: date, today: date) -> None:
    assert day(wanted.isoformat(), today) == wanted
    assert exists(wanted.year, wanted.month, wanted.day)


@given(st.integers(1, 7), st.dates(date(2000, 1, 1), date(2100, 1, 1)))
def test_a_weekday_is_within_a_week_and_never_today(weekday: int, today: date) -> None:
    found = day(f"W{weekday}", today)
    assert (found is None) == (today.isoweekday() == weekday)
    assert found is None or (0 < (found - today).days < 7 and found.isoweekday() == weekday)
