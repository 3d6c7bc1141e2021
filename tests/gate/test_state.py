"""Raw state becomes a value of exactly the declared type, or a named fault; nothing raises."""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import ConfigError
from gate.state import MAX_SECONDS, TYPES, Broken, Predicate, Reading, read, value_of
from tests.gate.chance import SOUND, STRANGE
from tests.gate.engine import NOW, ago, dated

BOOLEAN = Predicate("p", "boolean", "core")
NUMBER = Predicate("p", "number", "core", unit="USD")
TEXT = Predicate("p", "text", "core")
ENUM = Predicate("p", "enum", "core", values=("low", "high"))
TIMESTAMP = Predicate("p", "timestamp", "core")
FRESH = Predicate("p", "boolean", "core", max_age_s=60)
GATE = Predicate("p", "boolean", "gate")
EVERY_TYPE = (BOOLEAN, NUMBER, TEXT, ENUM, TIMESTAMP)


def got(predicate: Predicate, raw: object, now: datetime = NOW) -> object:
    """Value or fault of one raw value."""
    return value_of({"p": predicate}, "p", {"p": raw}, {}, now)


# Declarations


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"type": "bool"}, "has the unknown type `bool`"),
        ({"type": "enum"}, "of type `enum` has 0 values"),
        ({"type": "text", "values": ("a",)}, "of type `text` has 1 values"),
        ({"type": "boolean", "unit": "USD"}, "has the unit `USD`"),
        ({"type": "text", "skew_s": -1}, "has the skew `-1`"),
        ({"type": "text", "skew_s": 31}, "has the skew `31`"),
        ({"type": "text", "max_age_s": 0}, "has the greatest age `0`"),
        ({"type": "text", "max_age_s": MAX_SECONDS + 1}, f"greatest age `{MAX_SECONDS + 1}`"),
        ({"type": "text", "source": "gate", "max_age_s": 5}, "of source `gate` has a greatest age"),
        ({"name": "slot.x", "type": "text"}, "`slot.x` is a slot with the source `core`"),
    ],
)
def test_predicate_refuses_a_declaration_that_no_value_meets(
    fields: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigError) as error:
        Predicate(**{"name": "p", "source": "core", **fields})
    assert problem in str(error.value)
    assert error.value.fix


@pytest.mark.parametrize("fields", [{"skew_s": 0}, {"skew_s": 30}, {"max_age_s": 1}])
def test_predicate_accepts_the_limits(fields: dict[str, Any]) -> None:
    assert Predicate("p", "text", "core", **fields)


def test_predicate_accepts_the_longest_age_and_every_type() -> None:
    assert Predicate("p", "text", "core", max_age_s=MAX_SECONDS)
    assert {predicate.type for predicate in EVERY_TYPE} == set(TYPES)


def test_predicate_defaults_to_no_age_no_pin_and_two_seconds_of_skew() -> None:
    assert (TEXT.unit, TEXT.values, TEXT.max_age_s, TEXT.pin, TEXT.skew_s) == (
        None,
        (),
        None,
        False,
        2,
    )


# Readings


def test_read_gives_a_value_or_a_fault_never_both() -> None:
    predicates = {"p": BOOLEAN}
    assert read(predicates, "p", {"p": False}, {}, NOW) == Reading("p", False, None)
    assert read(predicates, "p", {"p": 0}, {}, NOW) == Reading("p", None, Broken.MISTYPED)


def test_undeclared_names_are_undeclared_whatever_the_state_holds() -> None:
    assert value_of({}, "p", {"p": True}, {"p": True}, NOW) is Broken.UNDECLARED


@pytest.mark.parametrize("predicate", EVERY_TYPE)
def test_missing_and_null_are_absent(predicate: Predicate) -> None:
    assert value_of({"p": predicate}, "p", {}, {}, NOW) is Broken.ABSENT
    assert got(predicate, None) is Broken.ABSENT
    assert got(predicate, dated(None)) is Broken.ABSENT


@pytest.mark.parametrize("predicate", EVERY_TYPE)
def test_values_of_the_gate_are_never_used_for_other_sources(predicate: Predicate) -> None:
    assert value_of({"p": predicate}, "p", {}, {"p": True}, NOW) is Broken.ABSENT


# Booleans


@pytest.mark.parametrize("value", [True, False])
def test_booleans_are_read_as_they_are(value: bool) -> None:
    assert got(BOOLEAN, value) is value


@pytest.mark.parametrize(
    "raw",
    [1, 0, 1.0, "true", "false", "True", "yes", "", b"true", [], [True], Decimal(1), object()],
)
def test_booleans_are_strict(raw: object) -> None:
    assert got(BOOLEAN, raw) is Broken.MISTYPED


# Numbers


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (0, "0"),
        (-7, "-7"),
        (10**4000, "1" + "0" * 4000),
        (0.1, "0.1"),
        (1e22, "1E+22"),
        (-0.5, "-0.5"),
        ("12.50", "12.50"),
        ("-3", "-3"),
        ("007", "7"),
        ("9" * 40 + "." + "9" * 40, "9" * 40 + "." + "9" * 40),
        (Decimal("1.10"), "1.10"),
    ],
)
def test_numbers_are_exact_decimals(raw: object, value: str) -> None:
    assert got(NUMBER, raw) == Decimal(value)
    assert type(got(NUMBER, raw)) is Decimal


def test_a_float_is_the_number_that_it_prints_as() -> None:
    assert got(NUMBER, 0.1) == Decimal("0.1") != Decimal.from_float(0.1)


@pytest.mark.parametrize("raw", [True, False, dated(True)])
def test_a_boolean_is_never_a_number(raw: object) -> None:
    assert got(NUMBER, raw) is Broken.MISTYPED


@pytest.mark.parametrize(
    "raw",
    [float("nan"), float("inf"), float("-inf"), Decimal("NaN"), Decimal("sNaN"),
     Decimal("Infinity"), Decimal("-Infinity"), "NaN", "nan", "-nan", "sNaN", "inf", "Infinity",
     "+inf", "-INFINITY"],
)  # fmt: skip
def test_nan_and_infinity_are_not_numbers(raw: object) -> None:
    assert got(NUMBER, raw) is Broken.NOT_A_NUMBER


@pytest.mark.parametrize(
    "raw",
    ["", " ", "5 ", " 5", "+5", "1e3", "1E3", "0x1", "1_000", "1,5", "5.", ".5", "-", "-.5",
     "--5", "1.2.3", "٣", "\uff11", "½", "five", "9" * 41, "0." + "9" * 41, "1\n",
     "infinit", "xnan", "nan1", b"5", [5], {}, 1j, Fraction(1, 2), object()],
)  # fmt: skip
def test_what_is_not_a_plain_decimal_is_mistyped(raw: object) -> None:
    assert got(NUMBER, raw) is Broken.MISTYPED


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4))
def test_a_decimal_string_reads_as_that_number(number: Decimal) -> None:
    assert got(NUMBER, f"{number:f}") == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_reads_back(number: float) -> None:
    value = got(NUMBER, number)
    assert isinstance(value, Decimal)
    assert float(value) == number


# Texts and enums


@pytest.mark.parametrize("raw", ["", "v1", "TRUE", "  ", "基金", "1"])
def test_texts_are_read_as_they_are(raw: str) -> None:
    assert got(TEXT, raw) == raw


@pytest.mark.parametrize("predicate", [TEXT, ENUM])
@pytest.mark.parametrize("raw", [1, True, 1.5, b"low", ["low"], Broken.STALE, object()])
def test_texts_and_enums_take_only_strings(predicate: Predicate, raw: object) -> None:
    assert got(predicate, raw) is Broken.MISTYPED


def test_enums_take_their_values() -> None:
    assert got(ENUM, "low") == "low"
    assert got(ENUM, dated("high")) == "high"


@pytest.mark.parametrize("raw", ["Low", "low ", "", "lowhigh", "low,high", "medium"])
def test_unknown_enum_values_are_broken(raw: str) -> None:
    assert got(ENUM, raw) is Broken.UNKNOWN_VALUE


# Timestamps


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("2026-12-01T08:00:00Z", datetime(2026, 12, 1, 8, tzinfo=UTC)),
        ("2026-12-01t08:00:00z", datetime(2026, 12, 1, 8, tzinfo=UTC)),
        ("2026-12-01T09:30:00+01:30", datetime(2026, 12, 1, 8, tzinfo=UTC)),
        ("2026-11-30T23:00:00-09:00", datetime(2026, 12, 1, 8, tzinfo=UTC)),
        ("2026-12-01T08:00:00-00:00", datetime(2026, 12, 1, 8, tzinfo=UTC)),
        ("2026-12-01T08:00:00.5Z", datetime(2026, 12, 1, 8, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-12-01T08:00:00.123456789Z", datetime(2026, 12, 1, 8, 0, 0, 123_456, tzinfo=UTC)),
        ("0001-01-01T00:00:00+23:59", datetime(1, 1, 1, tzinfo=timezone(timedelta(minutes=1439)))),
        (datetime(2026, 12, 1, 8, tzinfo=UTC), datetime(2026, 12, 1, 8, tzinfo=UTC)),
    ],
)
def test_timestamps_are_rfc_3339_with_zone(raw: object, value: datetime) -> None:
    assert got(TIMESTAMP, raw) == value


@pytest.mark.parametrize(
    "raw",
    ["", "soon", "2026-12-01", "2026-12-01T08:00:00", "2026-12-01T08:00Z", "2026-12-01 08:00:00Z",
     "20261201T080000Z", "2026-W49-2T08:00:00Z", "2026-12-01T08:00:60Z", "2026-12-01T24:00:00Z",
     "2026-12-01T08:60:00Z", "2026-02-30T08:00:00Z", "2026-13-01T08:00:00Z", "0000-01-01T00:00:00Z",
     "2026-12-01T08:00:00.Z", "2026-12-01T08:00:00,5Z", "2026-12-01T08:00:00.1234567890Z",
     "2026-12-01T08:00:00+24:00", "2026-12-01T08:00:00+01:60", "2026-12-01T08:00:00+0100",
     "2026-12-01T08:00:00Zjunk", "2026-12-01T08:00:00Z\n", " 2026-12-01T08:00:00Z",
     "\uff12026-12-01T08:00:00Z",
     "-2026-12-01T08:00:00Z", 1764576000, 1764576000.5, True, b"2026-12-01T08:00:00Z", [], {},
     datetime(2026, 12, 1, 8), NOW.date(), object()],
)  # fmt: skip
def test_what_is_not_rfc_3339_with_zone_is_mistyped(raw: object) -> None:
    assert got(TIMESTAMP, raw) is Broken.MISTYPED
    assert got(BOOLEAN, {"value": True, "as_of": raw}) is Broken.MISTYPED


@pytest.mark.parametrize("raw", ["9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59Z"])
def test_the_last_moment_of_the_calendar_is_in_the_future(raw: str) -> None:
    assert got(TIMESTAMP, raw) is Broken.FUTURE


@pytest.mark.parametrize("skew", [0, 2, 30])
def test_a_timestamp_may_run_ahead_by_the_declared_skew(skew: int) -> None:
    predicate = Predicate("p", "timestamp", "core", skew_s=skew)
    assert got(predicate, ago(seconds=-skew)) == NOW + timedelta(seconds=skew)
    assert got(predicate, ago(seconds=-skew - 0.000001)) is Broken.FUTURE


@given(st.datetimes(), st.integers(-1439, 1439))
def test_every_time_with_zone_reads_back_or_is_in_the_future(time: datetime, minutes: int) -> None:
    aware = time.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    expected = aware if aware - NOW <= timedelta(seconds=2) else Broken.FUTURE
    assert got(TIMESTAMP, aware.isoformat()) == expected


# Freshness


def test_a_value_is_fresh_up_to_and_including_its_greatest_age() -> None:
    assert got(FRESH, dated(True, seconds=0)) is True
    assert got(FRESH, dated(False, seconds=60)) is False
    assert got(FRESH, dated(True, seconds=60.000001)) is Broken.STALE
    assert got(FRESH, dated(True, days=400)) is Broken.STALE


def test_a_bare_value_of_unknown_age_is_stale() -> None:
    assert got(FRESH, True) is Broken.STALE
    assert got(FRESH, "nonsense") is Broken.STALE
    assert got(FRESH, None) is Broken.ABSENT


def test_a_value_ahead_by_no_more_than_the_skew_has_age_zero() -> None:
    assert got(FRESH, dated(True, seconds=-2)) is True
    assert got(FRESH, dated(True, seconds=-2.000001)) is Broken.FUTURE


def test_the_skew_of_the_source_bounds_as_of() -> None:
    slow = Predicate("p", "boolean", "core", max_age_s=60, skew_s=30)
    exact = Predicate("p", "boolean", "core", max_age_s=60, skew_s=0)
    assert got(slow, dated(True, seconds=-30)) is True
    assert got(slow, dated(True, seconds=-31)) is Broken.FUTURE
    assert got(exact, dated(True, seconds=0)) is True
    assert got(exact, dated(True, seconds=-0.000001)) is Broken.FUTURE


def test_freshness_follows_the_clock_that_is_passed_in() -> None:
    raw = dated(True, seconds=10)
    assert got(FRESH, raw, NOW + timedelta(seconds=50)) is True
    assert got(FRESH, raw, NOW + timedelta(seconds=51)) is Broken.STALE
    assert got(FRESH, raw, NOW - timedelta(seconds=13)) is Broken.FUTURE
    assert got(FRESH, raw, NOW.astimezone(timezone(timedelta(hours=8)))) is True


def test_as_of_without_a_greatest_age_is_still_checked() -> None:
    assert got(BOOLEAN, dated(True, days=4000)) is True
    assert got(BOOLEAN, dated(True, seconds=-3)) is Broken.FUTURE
    assert got(BOOLEAN, {"value": True, "as_of": "yesterday"}) is Broken.MISTYPED
    assert got(BOOLEAN, {"value": True, "as_of": None}) is Broken.MISTYPED


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"value": True},
        {"as_of": ago()},
        {"value": True, "as_of": ago(), "source": "core"},
        {"Value": True, "as_of": ago()},
        {1: True, None: ago()},
    ],
)
@pytest.mark.parametrize("predicate", [BOOLEAN, FRESH])
def test_an_object_has_exactly_value_and_as_of(predicate: Predicate, raw: object) -> None:
    assert got(predicate, raw) is Broken.MISTYPED


def test_a_frozen_object_reads_like_a_dictionary() -> None:
    assert got(FRESH, MappingProxyType(dated(True))) is True


def test_other_mappings_are_not_objects() -> None:
    assert got(BOOLEAN, OrderedDict(dated(True))) is Broken.MISTYPED


def test_a_value_inside_an_object_is_never_an_object() -> None:
    assert got(BOOLEAN, dated(dated(True))) is Broken.MISTYPED


def test_a_stale_value_is_stale_before_it_is_mistyped() -> None:
    assert got(FRESH, dated("nonsense", seconds=61)) is Broken.STALE
    assert got(FRESH, dated("nonsense", seconds=1)) is Broken.MISTYPED


# What the gate computes


def test_gate_predicates_come_from_the_gate() -> None:
    assert value_of({"p": GATE}, "p", {}, {"p": True}, NOW) is True
    assert value_of({"p": GATE}, "p", {}, {"p": "true"}, NOW) is Broken.MISTYPED
    assert value_of({"p": GATE}, "p", {}, {}, NOW) is Broken.ABSENT


@pytest.mark.parametrize("raw", [True, False, None, dated(True)])
def test_gate_predicates_are_refused_as_input(raw: object) -> None:
    assert value_of({"p": GATE}, "p", {"p": raw}, {"p": True}, NOW) is Broken.REFUSED


def test_gate_values_carry_no_time() -> None:
    assert value_of({"p": GATE}, "p", {}, {"p": dated(True)}, NOW) is Broken.MISTYPED


def test_the_marker_of_two_candidates_reads_as_ambiguous() -> None:
    for type_ in ("boolean", "number", "text", "timestamp"):
        predicate = Predicate("slot.x", type_, "gate")
        raw = {"slot.x": Broken.AMBIGUOUS}
        assert value_of({"slot.x": predicate}, "slot.x", {}, raw, NOW) is Broken.AMBIGUOUS


# Everything else


@pytest.mark.parametrize("predicate", [*EVERY_TYPE, FRESH])
@pytest.mark.parametrize("raw", STRANGE, ids=range(len(STRANGE)))
def test_strange_values_give_a_value_of_the_type_or_a_fault(
    predicate: Predicate, raw: object
) -> None:
    value = got(predicate, raw)
    python = {"boolean": bool, "number": Decimal, "timestamp": datetime}.get(predicate.type, str)
    assert type(value) in (python, Broken)


@pytest.mark.parametrize("predicate", EVERY_TYPE)
def test_sound_values_are_values(predicate: Predicate) -> None:
    for raw in SOUND[predicate.type]:
        if raw != "medium":
            assert type(got(predicate, raw)) is not Broken


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.sampled_from(("value", "as_of")), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.sampled_from((*EVERY_TYPE, FRESH)), JSON)
def test_no_json_value_raises_and_only_the_type_passes(predicate: Predicate, raw: object) -> None:
    value = got(predicate, raw)
    if not isinstance(value, Broken):
        assert predicate is not FRESH or isinstance(raw, dict)
        assert isinstance(value, bool) == (predicate.type == "boolean")


@given(JSON, JSON)
def test_reading_changes_nothing_and_repeats(value: object, as_of: object) -> None:
    raw = {"value": value, "as_of": as_of}
    before = repr(raw)
    first = read({"p": FRESH}, "p", {"p": raw}, {}, NOW)
    assert repr(read({"p": FRESH}, "p", {"p": raw}, {}, NOW)) == repr(first)
    assert repr(raw) == before
