"""Values come back equal and of the same type; bytes are RFC 8785."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import LedgerError
from gate.ledger.encode import (
    DEEPEST,
    SAFE_INTEGER,
    canonical,
    canonical_plain,
    instant,
    moment,
    parse,
    plain,
    request_body,
    request_of,
    switches_of,
    unplain,
)
from gate.records import Entry, Request, Session, Switches, Turn
from tests.gate.ledger.samples import REQUEST

TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | TEXT
    | st.decimals(allow_nan=False)
    | st.datetimes(timezones=st.just(UTC))
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXT | st.sampled_from(["$int", "$private", "$"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def typed(value: Any) -> Any:
    """`value` with its types spelled out, so that True, 1 and 1.0 are three things."""
    if isinstance(value, dict):
        return {("dict", key): typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return ["list", *map(typed, value)]
    return type(value), repr(value) if isinstance(value, float | Decimal) else value


@given(VALUES)
def test_a_value_comes_back_through_bytes_as_it_was(value: Any) -> None:
    data = canonical(plain({"value": value}))
    assert typed(unplain(parse(data))["value"]) == typed(value)


@given(VALUES)
def test_the_bytes_are_canonical_and_hold_no_float(value: Any) -> None:
    data = canonical(plain(value))

    def refuse(text: str) -> None:
        raise AssertionError(text)

    again = json.loads(data, parse_float=refuse, parse_constant=refuse)
    assert canonical(again) == data


@given(VALUES)
def test_the_quick_encoder_writes_what_the_library_writes(value: Any) -> None:
    flat = plain(value)
    assert canonical(flat) == canonical_plain(flat) == rfc8785.dumps(flat)


@pytest.mark.parametrize(
    "value",
    [
        {"\U00010000": 1, "\uffff": 2},
        {"ﬀ": 1, "\U0001f512": 2, "a": 3},
        ['\x00\x1f\x7f\x80\u2028\u2029\\/"\b\f\n\r\t'],
        {"a": True, "b": 1, "c": None, "d": [], "e": {}, "": -1},
        [SAFE_INTEGER, -SAFE_INTEGER],
        {"a": 1.0},
        [1e21, 1e-7, -0.0],
        (1, 2),
    ],
    ids=str,
)
def test_where_both_encoders_differ_the_library_decides(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [math.nan, Decimal("NaN"), Decimal("sNaN")])
def test_not_a_number_comes_back_as_itself(value: Any) -> None:
    assert repr(unplain(plain(value))) == repr(value)


def test_signed_zero_and_infinity_survive() -> None:
    values = [-0.0, math.inf, -math.inf, Decimal("-0.00"), Decimal("1E+3")]
    assert [repr(v) for v in unplain(plain(values))] == [repr(v) for v in values]


def test_integers_beyond_the_safe_range_survive() -> None:
    values = [SAFE_INTEGER, SAFE_INTEGER + 1, -(10**5000)]
    assert unplain(plain(values)) == values
    assert plain(SAFE_INTEGER) == SAFE_INTEGER
    assert plain(SAFE_INTEGER + 1) == {"$int": "0x20000000000000"}


def test_a_user_key_cannot_pose_as_an_encoded_value() -> None:
    hostile = {"$int": "0x1", "x": {"$private": "me"}, "y": {"$decimal": 1}}
    assert unplain(plain(hostile)) == hostile
    assert "$private" not in plain({"$private": "me"})


def test_mapping_order_does_not_show_in_the_bytes() -> None:
    one = {"b": 1, "a": {"$y": 1, "$x": 2}}
    two = {"a": {"$x": 2, "$y": 1}, "b": 1}
    assert canonical(plain(one)) == canonical(plain(two))


def test_lone_surrogates_survive_in_values_and_keys() -> None:
    value = {"\ud800": "a\udfffb", "ok": "\U0001f512"}
    assert unplain(parse(canonical(plain({"v": value})))) == {"v": value}


def test_a_read_only_mapping_comes_back_as_a_dict() -> None:
    assert unplain(plain(MappingProxyType({"a": (1, 2)}))) == {"a": [1, 2]}


class Colour(StrEnum):
    RED = "red"


class Number(IntEnum):
    ONE = 1


@pytest.mark.parametrize(
    "value", [Colour.RED, Number.ONE, {1}, b"x", object(), OrderedDict(a=1), range(2), 1j]
)
def test_a_value_that_would_come_back_changed_is_refused(value: Any) -> None:
    with pytest.raises(LedgerError, match="cannot be recorded: a `"):
        plain({"state": value})


def test_nesting_is_bounded() -> None:
    deep: Any = 1
    for _ in range(DEEPEST):
        deep = [deep]
    assert plain(deep) == deep
    with pytest.raises(LedgerError, match="nested deeper"):
        plain([deep])


def test_canonical_refuses_what_plain_did_not_make() -> None:
    for value in ({1: 2}, object(), float("nan"), "\ud800", 2**53, {"a": {1}}):
        with pytest.raises(LedgerError, match="cannot be recorded"):
            canonical(value)


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"nul", b"\xff", b"1", b"[" * 100_000, b"{}{}", b"{} ", b" {}", b"\xef\xbb\xbf{}"],
)
def test_bytes_that_are_no_object_are_named(data: bytes) -> None:
    with pytest.raises(LedgerError, match="the ledger is damaged"):
        parse(data)


def test_a_tag_of_a_later_format_is_refused() -> None:
    with pytest.raises(LedgerError, match=r"`\$complex`"):
        unplain({"$complex": [1, 2]})


def test_times_are_utc_with_microseconds() -> None:
    east = datetime(2026, 12, 1, 17, 0, 0, 5, tzinfo=timezone(timedelta(hours=8)))
    assert instant(east) == "2026-12-01T09:00:00.000005Z"
    assert instant(datetime(2026, 12, 1, tzinfo=UTC)) == "2026-12-01T00:00:00.000000Z"


@given(st.datetimes(timezones=st.timezones()))
def test_a_moment_is_the_instant_that_was_written(value: datetime) -> None:
    try:
        written = instant(value)
    except OverflowError:
        return  # the first and last hours of the calendar have no UTC
    assert moment(written) == value.astimezone(UTC)
    assert instant(moment(written)) == written


def test_a_time_without_zone_is_refused() -> None:
    with pytest.raises(LedgerError, match="has no zone"):
        instant(datetime(2026, 12, 1))


def test_a_request_comes_back_whole() -> None:
    again = request_of(request_body(REQUEST), plain(dict(REQUEST.state)))
    assert again == REQUEST


def test_every_optional_field_of_a_request_comes_back() -> None:
    bare = Request("r", "web", "")
    assert request_of(request_body(bare), plain(dict(bare.state))) == bare
    full = replace(
        REQUEST,
        candidates=(),
        dialogue_id="d-1",
        confirm_token="t-1",  # noqa: S106
        language="zh",
        session=Session("客户", (), ()),
    )
    assert request_of(request_body(full), plain(dict(full.state))) == full


@given(TEXT, TEXT, VALUES)
def test_any_text_and_state_of_a_request_comes_back(one: str, two: str, value: Any) -> None:
    session = Session(one, (two,), (Entry(two, one, two, (one, two), True),))
    request = Request(one, two, two, (Turn(one, two),), {"x": value, one: two}, session)
    body = parse(canonical({"b": request_body(request), "s": plain(dict(request.state))}))
    again = request_of(body["b"], body["s"])
    assert replace(again, state={}) == replace(request, state={})
    assert typed(dict(again.state)) == typed(dict(request.state))


def test_every_request_field_is_in_the_body_or_is_the_state() -> None:
    names = {name for name in Request.__dataclass_fields__ if name != "state"}
    assert set(request_body(replace(REQUEST, intent="CARD_HELP"))) == names


def test_a_request_without_an_intent_has_the_body_that_it_always_had() -> None:
    assert "intent" not in request_body(REQUEST)
    assert request_of(request_body(REQUEST), plain(dict(REQUEST.state))) == REQUEST
    meant = replace(REQUEST, intent="CARD_HELP")
    assert request_of(request_body(meant), plain(dict(meant.state))) == meant


def test_switches_come_back_from_their_names() -> None:
    assert switches_of([]) == Switches()
    for name in Switches.__dataclass_fields__:
        one = Switches(**{name: True})
        assert switches_of(list(one.names())) == one


def test_an_unknown_switch_is_an_error() -> None:
    with pytest.raises(LedgerError, match="`no-gravity`"):
        switches_of(["no-gravity"])
