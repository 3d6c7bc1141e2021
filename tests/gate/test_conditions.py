"""Conditions: what they hold for, what they read, what they refuse to be built of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.conditions import (
    Age,
    All,
    Always,
    AnyOf,
    Bounds,
    Condition,
    Equals,
    IfPresent,
    In,
    Is,
    Need,
    Ref,
    compile_condition,
    holds,
    misfits,
    needs,
    reads,
)
from gate.errors import ConfigError
from gate.state import MAX_SECONDS, Broken
from tests.gate import reference
from tests.gate.chance import BY_NAME, PREDICATES, random_condition
from tests.gate.engine import NOW, REAL


def made(form: Mapping[str, Any]) -> Condition:
    condition: Condition = REAL.condition(form)
    return condition


def true(form: Mapping[str, Any], **values: Any) -> bool:
    """Whether a condition holds; `slot_x` stands for `slot.x`."""
    named = {name.replace("slot_", "slot."): value for name, value in values.items()}
    return holds(made(form), named, NOW)


# Literals


def test_always_holds_and_reads_nothing() -> None:
    assert true({})
    assert reads(Always()) == ()


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("literal", [True, False])
def test_is_compares_booleans(value: bool, literal: bool) -> None:
    assert true({"predicate": "p", "is": literal}, p=value) == (value is literal)


@pytest.mark.parametrize(
    ("literal", "value", "expected"),
    [
        ("high", "high", True),
        ("high", "low", False),
        ("", "", True),
        (5, Decimal("5.00"), True),
        (0.1, Decimal("0.1"), True),
        (Decimal("1.5"), Decimal("1.50"), True),
        (5, Decimal("5.01"), False),
        (-0.0, Decimal(0), True),
    ],
)
def test_is_compares_texts_and_numbers(literal: Any, value: Any, expected: bool) -> None:
    assert true({"predicate": "p", "is": literal}, p=value) is expected


def test_a_number_literal_becomes_an_exact_decimal() -> None:
    assert Is("p", 5) == Is("p", Decimal(5))  # type: ignore[arg-type]
    assert repr(Is("p", 0.1).value) == "Decimal('0.1')"  # type: ignore[arg-type]
    assert Bounds("p", gt=5, le=7.5).limits == (("gt", Decimal(5)), ("le", Decimal("7.5")))  # type: ignore[arg-type]


def test_a_boolean_literal_stays_a_boolean() -> None:
    assert Is("p", True).value is True
    assert In("p", (True, False)).values == (True, False)


@pytest.mark.parametrize(
    "literal",
    [
        None,
        float("nan"),
        float("inf"),
        Decimal("NaN"),
        Decimal("Infinity"),
        [],
        (1,),
        b"x",
        1j,
        NOW,
    ],
)
def test_other_literals_are_refused(literal: Any) -> None:
    for build in (Is, lambda p, v: In(p, (v,)), lambda p, v: In(p, (1, v))):
        with pytest.raises(ConfigError, match="`p` is compared with"):
            build("p", literal)


@pytest.mark.parametrize("bound", [True, False, "5", float("nan"), Decimal("-Infinity"), [], NOW])
@pytest.mark.parametrize("word", ["gt", "ge", "lt", "le"])
def test_bounds_take_only_numbers_and_references(word: str, bound: Any) -> None:
    with pytest.raises(ConfigError, match="`p` is compared with"):
        Bounds("p", **{word: bound})


def test_bounds_without_a_bound_are_refused() -> None:
    with pytest.raises(ConfigError, match="bounds of `p` are empty"):
        Bounds("p")


# Membership


@pytest.mark.parametrize(("value", "expected"), [("low", True), ("high", True), ("mid", False)])
def test_in_holds_for_any_of_its_values(value: str, expected: bool) -> None:
    assert true({"predicate": "p", "in": ["low", "high"]}, p=value) is expected


def test_in_compares_numbers_by_value() -> None:
    assert true({"predicate": "p", "in": [1, 2.5]}, p=Decimal("2.50"))
    assert not true({"predicate": "p", "in": [1, 2.5]}, p=Decimal("2.51"))


@pytest.mark.parametrize("values", [(), (1, "1"), (True, 1), ("a", True)])
def test_in_refuses_no_values_and_mixed_ones(values: tuple[Any, ...]) -> None:
    with pytest.raises(ConfigError, match="no values or mixed ones"):
        In("p", values)


# Ranges


@pytest.mark.parametrize(
    ("word", "below", "at", "above"),
    [
        ("gt", False, False, True),
        ("ge", False, True, True),
        ("lt", True, False, False),
        ("le", True, True, False),
    ],
)
def test_each_bound_at_and_around_its_limit(word: str, below: bool, at: bool, above: bool) -> None:
    for form in ({"predicate": "p", word: 10}, {"predicate": "p", word: {"predicate": "q"}}):
        for value, expected in (("9.999999999999999999", below), ("10.0", at), ("10.01", above)):
            assert true(form, p=Decimal(value), q=Decimal(10)) is expected


@pytest.mark.parametrize(
    ("value", "expected"), [("0", True), ("-0.01", False), ("100", False), ("99.99", True)]
)
def test_every_given_bound_must_hold(value: str, expected: bool) -> None:
    assert true({"predicate": "p", "ge": 0, "lt": 100}, p=Decimal(value)) is expected


def test_all_four_bounds_may_be_given() -> None:
    form = {"predicate": "p", "gt": 0, "ge": 1, "lt": 5, "le": {"predicate": "q"}}
    assert [n for n in range(7) if true(form, p=Decimal(n), q=Decimal(3))] == [1, 2, 3]


@given(
    st.decimals(allow_nan=False, allow_infinity=False),
    st.decimals(allow_nan=False, allow_infinity=False),
)
def test_bounds_order_any_two_numbers_like_decimal(one: Decimal, two: Decimal) -> None:
    holding = {w for w in ("gt", "ge", "lt", "le") if true({"predicate": "p", w: two}, p=one)}
    expected = {"gt", "ge"} if one > two else {"lt", "le"} if one < two else {"ge", "le"}
    assert holding == expected


# Two fields


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("v1", "v1", True),
        ("v1", "V1", False),
        (Decimal("1.0"), Decimal(1), True),
        (Decimal(1), Decimal(2), False),
        (True, True, True),
        (True, False, False),
        (NOW, NOW.astimezone(timezone(timedelta(hours=8))), True),
        (NOW, NOW + timedelta(microseconds=1), False),
    ],
)
def test_equals_compares_two_fields(one: Any, two: Any, expected: bool) -> None:
    assert true({"predicate": "p", "equals": {"predicate": "q"}}, p=one, q=two) is expected


# Age


@pytest.mark.parametrize(
    ("age", "older", "younger"),
    [
        (timedelta(seconds=899, microseconds=999_999), False, True),
        (timedelta(seconds=900), False, False),
        (timedelta(seconds=900, microseconds=1), True, False),
        (timedelta(0), False, True),
        (timedelta(days=9000), True, False),
    ],
)
def test_age_is_compared_strictly_against_the_clock(
    age: timedelta, older: bool, younger: bool
) -> None:
    assert true({"predicate": "p", "older_than": "15m"}, p=NOW - age) is older
    assert true({"predicate": "p", "younger_than": "15m"}, p=NOW - age) is younger


def test_a_time_within_the_skew_has_age_zero() -> None:
    ahead = NOW + timedelta(seconds=2)
    assert not true({"predicate": "p", "older_than": "1s"}, p=ahead)
    assert true({"predicate": "p", "younger_than": "1s"}, p=ahead)


def test_age_follows_the_clock_that_is_passed_in() -> None:
    old = Age("p", older=60)
    assert not holds(old, {"p": NOW}, NOW + timedelta(seconds=60))
    assert holds(old, {"p": NOW}, NOW + timedelta(seconds=61))
    assert holds(old, {"p": datetime(1, 1, 1, tzinfo=UTC)}, NOW)


def test_an_age_may_have_two_limits() -> None:
    window = Age("p", older=60, younger=120)
    ages = [
        s
        for s in (59, 60, 61, 119, 120, 121)
        if holds(window, {"p": NOW - timedelta(seconds=s)}, NOW)
    ]
    assert ages == [61, 119]


@pytest.mark.parametrize(
    "limits",
    [{}, {"older": 0}, {"younger": -1}, {"older": 1.5}, {"older": True}, {"younger": "60"},
     {"older": MAX_SECONDS + 1}, {"older": 5, "younger": 0}],
)  # fmt: skip
def test_age_refuses_limits_that_are_not_whole_positive_seconds(limits: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="age limit of `p` is not usable"):
        Age("p", **limits)


def test_the_longest_age_is_accepted_and_compared() -> None:
    assert not holds(Age("p", older=MAX_SECONDS), {"p": NOW}, NOW)


# Combinations

TABLE = [(a, b) for a in (True, False) for b in (True, False)]
P, Q = {"predicate": "p", "is": True}, {"predicate": "q", "is": True}


@pytest.mark.parametrize(("p", "q"), TABLE)
def test_all_any_and_not_follow_their_truth_tables(p: bool, q: bool) -> None:
    assert true({"all": [P, Q]}, p=p, q=q) is (p and q)
    assert true({"any": [P, Q]}, p=p, q=q) is (p or q)
    assert true({"not": P}, p=p) is (not p)
    assert true({"not": {"any": [{"not": P}, {"not": Q}]}}, p=p, q=q) is (p and q)


def test_one_part_alone_is_itself() -> None:
    for word in ("all", "any"):
        assert true({word: [P]}, p=True)
        assert not true({word: [P]}, p=False)


@pytest.mark.parametrize("kind", [All, AnyOf])
def test_an_empty_list_is_refused(kind: Any) -> None:
    with pytest.raises(ConfigError, match="is empty"):
        kind(())


def test_deep_nesting_holds() -> None:
    form: dict[str, Any] = P
    for _ in range(50):
        form = {"not": form}
    assert true(form, p=True)


# Optional slots

PAID = {"if_present": "slot.sum", "then": {"predicate": "slot.sum", "gt": 100}}


def test_if_present_is_false_when_the_slot_is_absent() -> None:
    assert not true(PAID)
    assert not holds(made(PAID), {"slot.sum": Broken.ABSENT}, NOW)
    assert true({"not": PAID})


def test_if_present_reads_the_slot_when_it_is_there() -> None:
    assert true(PAID, slot_sum=Decimal(101))
    assert not true(PAID, slot_sum=Decimal(100))


def test_if_present_may_guard_another_condition() -> None:
    form = {"if_present": "slot.sum", "then": P}
    assert true(form, slot_sum=Decimal(0), p=True)
    assert not true(form, slot_sum=Decimal(0), p=False)
    assert not true(form, p=True)


@pytest.mark.parametrize("name", ["sum", "slots.sum", "", "identity_verified"])
def test_if_present_names_only_slots(name: str) -> None:
    with pytest.raises(ConfigError, match="if_present names"):
        IfPresent(name, Always())


# What is read


@pytest.mark.parametrize(
    ("form", "names"),
    [
        (P, ("p",)),
        ({"predicate": "p", "in": ["a"]}, ("p",)),
        ({"predicate": "p", "gt": 1, "le": 5}, ("p",)),
        ({"predicate": "p", "le": {"predicate": "r"}, "gt": {"predicate": "q"}}, ("p", "q", "r")),
        ({"predicate": "p", "equals": {"predicate": "q"}}, ("p", "q")),
        ({"predicate": "p", "equals": {"predicate": "p"}}, ("p",)),
        ({"predicate": "p", "older_than": "1s"}, ("p",)),
        ({"all": [Q, P, Q]}, ("q", "p")),
        ({"any": [{"not": Q}, {"all": [P]}]}, ("q", "p")),
        (PAID, ("slot.sum",)),
        ({"if_present": "slot.sum", "then": {"all": [P, PAID]}}, ("slot.sum", "p")),
    ],
)
def test_reads_names_everything_once_in_order_of_mention(
    form: dict[str, Any], names: tuple[str, ...]
) -> None:
    assert reads(made(form)) == names


@pytest.mark.parametrize(
    ("form", "types"),
    [
        (P, {"boolean"}),
        ({"predicate": "p", "is": 1}, {"number"}),
        ({"predicate": "p", "is": "a"}, {"text", "enum"}),
        ({"predicate": "p", "in": [1, 2]}, {"number"}),
        ({"predicate": "p", "lt": 1}, {"number"}),
        ({"predicate": "p", "younger_than": "1s"}, {"timestamp"}),
        ({"all": [P, {"predicate": "p", "is": 1}]}, set()),
    ],
)
def test_needs_says_which_types_fit(form: dict[str, Any], types: set[str]) -> None:
    assert needs(made(form)) == (Need("p", frozenset(types)),)


def test_needs_of_a_reference_is_a_number_too() -> None:
    form = {"predicate": "p", "lt": {"predicate": "q"}}
    assert needs(made(form)) == (
        Need("p", frozenset({"number"})),
        Need("q", frozenset({"number"})),
    )


def test_equals_fits_every_type() -> None:
    assert [len(need.types) for need in needs(Equals("p", Ref("q")))] == [5, 5]


SUM = {"predicate": "slot.sum", "gt": 100}
LIMIT = {"predicate": "slot.sum", "le": {"predicate": "slot.cap"}}


@pytest.mark.parametrize(
    ("form", "optional"),
    [
        (SUM, set()),
        (PAID, {"slot.sum"}),
        ({"not": PAID}, {"slot.sum"}),
        ({"all": [PAID, PAID]}, {"slot.sum"}),
        ({"all": [PAID, SUM]}, set()),
        ({"any": [SUM, PAID]}, set()),
        ({"if_present": "slot.sum", "then": {"all": [{"not": SUM}]}}, {"slot.sum"}),
        ({"if_present": "slot.sum", "then": LIMIT}, {"slot.sum"}),
        (
            {"if_present": "slot.cap", "then": {"if_present": "slot.sum", "then": LIMIT}},
            {"slot.sum", "slot.cap"},
        ),
        ({"if_present": "slot.cap", "then": SUM}, {"slot.cap"}),
        ({"all": [{"if_present": "slot.cap", "then": P}, LIMIT]}, set()),
    ],
)  # fmt: skip
def test_a_slot_is_optional_only_where_every_mention_is_under_its_if_present(
    form: dict[str, Any], optional: set[str]
) -> None:
    assert {need.name for need in needs(made(form)) if need.optional} == optional


# What does not fit the declared predicates

DECLARED = REAL.predicates(PREDICATES)


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"predicate": "flag", "is": True},
        {"predicate": "tier", "is": "low"},
        {"predicate": "tier", "in": ["low", "high"]},
        {"predicate": "terms", "is": "anything"},
        {"predicate": "terms", "equals": {"predicate": "current"}},
        {"predicate": "amount", "ge": {"predicate": "limit"}, "lt": 5},
        {"predicate": "slot.sum", "gt": {"predicate": "limit"}},
        {"predicate": "opened", "older_than": "30d"},
        {"predicate": "opened", "equals": {"predicate": "seen"}},
        {"if_present": "slot.payee", "then": {"predicate": "slot.payee", "in": ["x"]}},
    ],
)
def test_conditions_that_fit_have_no_misfits(form: dict[str, Any]) -> None:
    assert misfits(made(form), DECLARED) == ()


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"predicate": "flagg", "is": True}, "`flagg` is not declared"),
        ({"predicate": "amount", "lt": {"predicate": "cap"}}, "`cap` is not declared"),
        ({"if_present": "slot.x", "then": {}}, "`slot.x` is not declared"),
        ({"predicate": "flag", "is": 1}, "`flag` is of type boolean, used as number"),
        ({"predicate": "amount", "is": True}, "`amount` is of type number, used as boolean"),
        ({"predicate": "seen", "is": "x"}, "`seen` is of type timestamp, used as text or enum"),
        ({"predicate": "terms", "gt": 1}, "`terms` is of type text, used as number"),
        ({"predicate": "terms", "older_than": "1s"}, "`terms` is of type text, used as timestamp"),
        ({"all": [{"predicate": "tier", "is": "low"}, {"predicate": "tier", "gt": 1}]},
         "`tier` is used as values of two types"),
        ({"predicate": "tier", "is": "lo"}, "`lo` is not a value of `tier`"),
        ({"not": {"predicate": "tier", "in": ["low", "no"]}}, "`no` is not a value of `tier`"),
        ({"any": [{"predicate": "tier", "is": "Low"}]}, "`Low` is not a value of `tier`"),
        ({"if_present": "slot.sum", "then": {"predicate": "tier", "is": "x"}},
         "`x` is not a value of `tier`"),
        ({"predicate": "terms", "equals": {"predicate": "tier"}}, "`terms` and `tier` differ"),
        ({"predicate": "amount", "gt": {"predicate": "count"}}, "`amount` and `count` differ"),
        ({"all": [{"predicate": "count", "equals": {"predicate": "limit"}}]},
         "`count` and `limit` differ"),
    ],
)  # fmt: skip
def test_misfits_says_what_a_predicate_cannot_give(form: dict[str, Any], problem: str) -> None:
    (found,) = misfits(made(form), DECLARED)
    assert found.startswith(problem)


def test_misfits_names_every_problem() -> None:
    form = {"all": [{"predicate": "tier", "in": ["a", "b"]}, {"predicate": "tier", "is": "c"}]}
    assert len(misfits(made(form), DECLARED)) == 3


# The whole language against the reference


def test_random_conditions_read_what_the_reference_reads() -> None:
    rng = Random(20261201)  # noqa: S311
    for _ in range(3000):
        form = random_condition(rng, depth=3)
        required, optional = reference.mentioned(form, ())
        found = needs(made(form))
        assert [n.name for n in found] == list(dict.fromkeys(reference.order_of_mention(form)))
        assert {n.name for n in found if n.optional} == set(optional) - set(required)


def test_random_conditions_have_no_misfits() -> None:
    rng = Random(20261202)  # noqa: S311
    for _ in range(3000):
        found = misfits(made(random_condition(rng, depth=3)), DECLARED)
        assert set(found) <= {"`ghost` is not declared"}


def test_a_condition_made_ready_holds_like_the_condition() -> None:
    ready = compile_condition(made({"any": [P, Q]}))
    for p, q in TABLE:
        assert ready({"p": p, "q": q}, NOW) is holds(made({"any": [P, Q]}), {"p": p, "q": q}, NOW)


@pytest.mark.parametrize(
    "condition", [Is("p", True), In("p", ("a",)), Bounds("p", gt=Decimal(1)), Age("p", older=1)]
)  # fmt: skip
def test_conditions_are_frozen_values(condition: Condition) -> None:
    with pytest.raises(FrozenInstanceError):
        condition.predicate = "q"  # type: ignore[union-attr, misc]
    assert condition == condition
    assert hash(condition) == hash(condition)


def test_the_predicates_of_chance_cover_every_type() -> None:
    assert {p["type"] for p in BY_NAME.values()} == {
        "boolean",
        "number",
        "enum",
        "text",
        "timestamp",
    }
