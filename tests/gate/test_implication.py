"""Implication between conditions: recognised pairs, and never a wrong one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
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
    Not,
    Ref,
    holds,
)
from gate.implication import implies, impossible

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)

A, B, C = Is("a", True), Is("b", True), Is("tier", "high")
ONE, FIVE, TEN = Decimal(1), Decimal(5), Decimal(10)


def b(**limits: Any) -> Bounds:
    return Bounds("n", **limits)


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        (A, A),
        (A, Always()),
        (Always(), Always()),
        (All((A, B)), A),
        (All((A, All((B, C)))), All((C, A))),
        (All((Not(Not(A)), B)), A),
        (Not(Is("a", False)), A),
        (A, Not(Is("a", False))),
        (A, AnyOf((B, A))),
        (All((A, B)), AnyOf((C, All((B, A))))),
        (AnyOf((A, B)), AnyOf((B, C, A))),
        (AnyOf((All((A, C)), All((B, C)))), C),
        (AnyOf((A,)), A),
        (Is("tier", "low"), In("tier", ("low", "high"))),
        (In("tier", ("low",)), In("tier", ("low", "high"))),
        (In("tier", ("low",)), Is("tier", "low")),
        (b(gt=FIVE), b(gt=FIVE)),
        (b(gt=FIVE), b(ge=FIVE)),
        (b(gt=FIVE), b(gt=ONE)),
        (b(lt=FIVE), b(le=FIVE)),
        (b(lt=FIVE), b(lt=TEN)),
        (b(gt=FIVE, lt=TEN), b(gt=ONE)),
        (b(gt=FIVE, lt=TEN), b(lt=TEN)),
        (All((b(gt=FIVE), b(lt=TEN))), b(gt=FIVE, lt=TEN)),
        (Is("n", FIVE), b(gt=ONE, lt=TEN)),
        (In("n", (FIVE, TEN)), b(gt=ONE)),
        (All((In("n", (ONE, FIVE, TEN)), b(gt=ONE))), In("n", (FIVE, TEN))),
        (Age("t", older=600), Age("t", older=60)),
        (Age("t", younger=60), Age("t", younger=600)),
        (Age("t", older=60, younger=600), Age("t", younger=600)),
        (b(gt=Ref("m")), b(gt=Ref("m"))),
        (b(gt=Ref("m"), lt=TEN), b(gt=Ref("m"))),
        (Equals("x", Ref("y")), Equals("x", Ref("y"))),
        (IfPresent("slot.s", A), IfPresent("slot.s", A)),
    ],
)
def test_implied_pair_is_recognised(lower: Condition, higher: Condition) -> None:
    assert implies(lower, higher)


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        (A, B),
        (Always(), A),
        (A, All((A, B))),
        (AnyOf((A, B)), A),
        (A, Not(A)),
        (Is("tier", "low"), Is("tier", "high")),
        (In("tier", ("low", "high")), In("tier", ("low",))),
        (b(ge=FIVE), b(gt=FIVE)),
        (b(le=FIVE), b(lt=FIVE)),
        (b(gt=ONE), b(gt=FIVE)),
        (b(gt=ONE), b(lt=FIVE)),
        (b(gt=ONE), In("n", (FIVE,))),
        (In("n", (ONE, FIVE)), b(gt=ONE)),
        (b(gt=Ref("m")), b(gt=Ref("k"))),
        (b(gt=Ref("m")), b(gt=ONE)),
        (b(gt=TEN), b(gt=Ref("m"))),
        (Age("t", older=60), Age("t", older=600)),
        (Age("t", older=60), Age("t", younger=600)),
        (A, IfPresent("slot.s", A)),
        (Equals("x", Ref("y")), Equals("x", Ref("z"))),
    ],
)
def test_other_pair_is_not_claimed(lower: Condition, higher: Condition) -> None:
    assert not implies(lower, higher)


@pytest.mark.parametrize(
    "condition",
    [
        Not(Always()),
        All((A, Not(A))),
        All((A, Is("a", False))),
        All((C, Is("tier", "low"))),
        All((In("tier", ("low",)), In("tier", ("high",)))),
        b(gt=FIVE, lt=ONE),
        b(gt=FIVE, le=FIVE),
        b(ge=FIVE, lt=FIVE),
        AnyOf((b(gt=FIVE, lt=ONE), All((A, Not(A))))),
        All((Is("n", FIVE), b(gt=TEN))),
        All((Is("n", FIVE), b(lt=FIVE))),
        Age("t", older=600, younger=60),
        Age("t", older=60, younger=60),
        All((Equals("x", Ref("y")), Not(Equals("x", Ref("y"))))),
        IfPresent("slot.s", Not(Always())),
        Not(Not(All((A, Is("a", False))))),
    ],
)
def test_contradiction_is_recognised(condition: Condition) -> None:
    assert impossible(condition)


@pytest.mark.parametrize(
    "condition",
    [
        Always(),
        A,
        b(ge=FIVE, le=FIVE),
        b(gt=ONE, lt=FIVE),
        b(gt=ONE, lt=Ref("m")),
        All((A, B)),
        AnyOf((A, All((A, Not(A))))),
        Age("t", older=60, younger=600),
        In("n", (ONE, FIVE)),
        IfPresent("slot.s", A),
        Not(C),
    ],
)
def test_other_condition_is_not_called_contradictory(condition: Condition) -> None:
    assert not impossible(condition)


numbers = st.sampled_from([Decimal(n) for n in range(4)])
limit = st.none() | numbers | st.just(Ref("m"))


def bounds(given: tuple[Any, Any, Any, Any]) -> Condition:
    return Bounds("n", *given) if any(x is not None for x in given) else Always()


leaves = st.one_of(
    st.just(Always()),
    st.builds(Is, st.sampled_from(["a", "b"]), st.booleans()),
    st.builds(Is, st.just("tier"), st.sampled_from(["low", "mid", "high"])),
    st.builds(
        lambda v: In("tier", tuple(v)),
        st.lists(st.sampled_from(["low", "mid", "high"]), min_size=1),
    ),
    st.builds(lambda v: In("n", tuple(v)), st.lists(numbers, min_size=1)),
    st.builds(bounds, st.tuples(limit, limit, limit, limit)),
    st.builds(Age, st.just("t"), st.integers(1, 4), st.integers(1, 4)),
    st.just(Equals("n", Ref("m"))),
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda p: All(tuple(p)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda p: AnyOf(tuple(p)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(Not, inner),
        st.builds(IfPresent, st.just("slot.s"), inner),
    ),
    max_leaves=6,
)


def states() -> list[dict[str, Any]]:
    """Values that reach every side of every leaf's limits."""
    half = [Decimal(n) / 2 for n in range(-1, 8)]
    found = []
    for n in half:
        for m in half[::3]:
            for age in (0.5, 1, 1.5, 2.5, 3.5, 5):
                for index, tier in enumerate(("low", "mid", "high")):
                    a, b = index % 2 == 0, (index + int(age)) % 2 == 0
                    found.append(
                        {
                            "a": a,
                            "b": b,
                            "n": n,
                            "m": m,
                            "tier": tier,
                            "t": NOW - timedelta(seconds=age),
                            **({"slot.s": n} if a != b else {}),
                        }
                    )
    return found


STATES = states()


@settings(max_examples=300)
@given(conditions, conditions)
def test_implication_is_never_wrong(lower: Condition, higher: Condition) -> None:
    if implies(lower, higher):
        assert all(holds(higher, s, NOW) for s in STATES if holds(lower, s, NOW))


@settings(max_examples=300)
@given(conditions)
def test_contradiction_is_never_wrong(condition: Condition) -> None:
    if impossible(condition):
        assert not any(holds(condition, s, NOW) for s in STATES)


@settings(max_examples=200)
@given(conditions)
def test_every_condition_implies_itself(condition: Condition) -> None:
    assert implies(condition, condition)
    assert implies(All((condition, A)), condition)
    assert implies(condition, AnyOf((A, condition)))
