"""What goes between the processes comes out as it went in."""

from __future__ import annotations

import io
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlpath.wire import decode, encode, frame, read_frame

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**127), 2**127)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.dates()
    | st.datetimes()
    | st.times()
    | st.timedeltas()
    | st.uuids()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
)


@given(VALUES)
def test_every_value_comes_back(value: Any) -> None:
    sent = read_frame(io.BytesIO(frame(encode(value))))
    back = decode(sent)
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize(
    "value",
    [
        Decimal("1.50"),
        datetime(2026, 1, 1, tzinfo=UTC),
        date(2026, 1, 1),
        time(1, 2),
        timedelta(days=-1, microseconds=1),
        UUID(int=1),
        float("inf"),
        {"f": "1", "nested": [{"d": "2"}]},
    ],
)
def test_text_of_a_value_is_never_taken_for_another(value: Any) -> None:
    assert decode(encode(value)) == value


def test_not_a_number_comes_back() -> None:
    assert str(decode(encode(float("nan")))) == "nan"


def test_tuples_come_back_as_lists() -> None:
    assert decode(encode((1, (2,)))) == [1, [2]]


def test_value_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="complex"):
        encode(1j)


def test_frames_follow_each_other_to_the_end() -> None:
    stream = io.BytesIO(frame([1]) + frame({"a": "\ud800"}))
    assert [read_frame(stream), read_frame(stream), read_frame(stream)] == [
        [1],
        {"a": "\ud800"},
        None,
    ]
