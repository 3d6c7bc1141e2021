"""Rule sets: what is refused, who is asked in which order, what decides and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError, replace
from datetime import timedelta
from itertools import permutations, product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.conditions import Age, All, Always, Condition, Is
from gate.errors import ConfigError
from gate.records import Boundary
from gate.rules import (
    AMBIGUOUS_SLOT,
    Outcome,
    Rule,
    RuleReading,
    RuleSet,
    RulesVerdict,
    build,
    evaluate,
)
from gate.state import Broken, Predicate, Reading
from tests.gate.chance import BY_NAME, PREDICATES, random_inputs, random_rules
from tests.gate.engine import NOW, REAL, ago, blocking, dated, decide, default, says, whole

DECLARED = REAL.predicates(PREDICATES)
FLAG = {"predicate": "flag", "is": True}
OTHER = {"predicate": "other", "is": True}
FRESH = {"predicate": "fresh", "is": True}
SUM = {"predicate": "slot.sum", "gt": 100}
PAYEE = {"predicate": "slot.payee", "is": "ann"}
OPTIONAL_SUM = {"if_present": "slot.sum", "then": SUM}
CALM = {"flag": False, "other": False, "fresh": dated(False)}


def verdict(
    *forms: Mapping[str, Any], state: Mapping[str, object] = CALM, **inputs: Any
) -> RulesVerdict:
    """The verdict of these blocking rules and the default."""
    found: RulesVerdict = decide([*forms, default()], PREDICATES, state, **inputs)
    return found


def refused(*forms: Mapping[str, Any]) -> str:
    """The message with which a rule set is refused."""
    with pytest.raises(ConfigError) as error:
        REAL.build(forms)
    assert error.value.fix
    return str(error.value)


# Building


def test_build_orders_by_priority() -> None:
    ruleset = REAL.build([blocking(20, FLAG), default(), blocking(3, FLAG), blocking(100, FLAG)])
    assert [rule.rule_id for rule in ruleset.rules] == ["R-003", "R-020", "R-100", "R-999"]
    assert ruleset.version == "1"
    assert ruleset.collapsed == ()
    assert ruleset.default.rule_id == "R-999"


def test_build_accepts_a_lone_default() -> None:
    assert says(verdict()) == ("ALLOW", "R-999")
    assert [rule.rule_id for rule in REAL.build([default()]).rules] == ["R-999"]


def test_build_takes_any_iterable() -> None:
    rules: Iterator[Rule] = iter([REAL.rule(default()), REAL.rule(blocking(1, FLAG))])
    assert len(build(rules, "7").rules) == 2


def test_build_refuses_no_rules_at_all() -> None:
    assert "the final rule is `none` and does not allow" in refused()


def test_build_refuses_a_missing_default() -> None:
    assert "the final rule is `R-002` and does not allow" in refused(
        blocking(1, FLAG), blocking(2, {})
    )


def test_build_refuses_an_allow_that_is_not_last() -> None:
    assert "`R-002` and does not allow" in refused(default(1), blocking(2, FLAG))
    early = {**default(5), "id": "R-005"}
    assert "rule `R-005` allows before the final rule" in refused(early, default())


def test_build_refuses_a_conditional_allow_above_the_default() -> None:
    early = blocking(5, FLAG, then="ALLOW")
    assert "rule `R-005` allows before the final rule" in refused(early, default())


@pytest.mark.parametrize("when", [FLAG, {"not": {}}, {"all": [{}]}])
def test_build_refuses_a_default_with_a_condition(when: Mapping[str, Any]) -> None:
    assert "rule `R-999` allows under a condition" in refused({**default(), "when": when})


@pytest.mark.parametrize("actions", [["ACT"], ["ACT", "BUY"]])
def test_build_refuses_a_default_for_some_actions(actions: list[str]) -> None:
    assert "for some actions only" in refused({**default(), "applies_to": actions})


def test_build_refuses_equal_priorities() -> None:
    forms = (blocking(7, FLAG), blocking(7, OTHER, id="R-008"), default())
    for order in permutations(forms):
        message = refused(*order)
        assert "share priority `7`" in message
        assert "R-007" in message and "R-008" in message


def test_build_refuses_the_priority_of_the_default() -> None:
    assert "share priority `999`" in refused(blocking(999, FLAG, id="R-1"), default())


@pytest.mark.parametrize(
    "change",
    [
        {"priority": 8},
        {"applies_to": ["ACT"]},
        {"when": OTHER},
        {"then": "DEFER"},
        {"on_error": "DEFER"},
        {"explain": "why"},
    ],
)
def test_build_refuses_one_id_with_two_contents(change: dict[str, Any]) -> None:
    first = blocking(7, FLAG)
    for order in permutations((first, {**first, **change}, default())):
        assert "rule `R-007` is given twice with different contents" in refused(*order)


def test_build_tells_a_boolean_from_the_number_that_it_equals() -> None:
    one = REAL.rule(blocking(7, {"predicate": "flag", "is": True}))
    two = replace(one, when=Is("flag", 1))  # type: ignore[arg-type]
    assert one == two
    with pytest.raises(ConfigError, match="different contents"):
        build([one, two, REAL.rule(default())], "1")


def test_build_collapses_identical_duplicates_and_names_them() -> None:
    forms = [blocking(7, FLAG), default(), blocking(7, FLAG), blocking(3, OTHER), default()]
    ruleset = REAL.build([*forms, blocking(7, FLAG)])
    assert [rule.rule_id for rule in ruleset.rules] == ["R-003", "R-007", "R-999"]
    assert ruleset.collapsed == ("R-007", "R-007", "R-999")


def test_build_collapses_one_rule_given_twice() -> None:
    rule = REAL.rule(blocking(7, FLAG))
    assert build([rule, rule, REAL.rule(default())], "1").collapsed == ("R-007",)


def test_build_refuses_a_missing_on_error() -> None:
    assert "rule `R-007` has no on_error" in refused(blocking(7, FLAG, on_error=None), default())


def test_build_refuses_allow_on_error() -> None:
    assert "`R-007` allows on an error" in refused(blocking(7, FLAG, on_error="ALLOW"), default())
    assert "`R-999` allows on an error" in refused({**default(), "on_error": "ALLOW"})


def test_build_refuses_plain_text_allow_like_the_boundary() -> None:
    final = REAL.rule(default())
    rule = REAL.rule(blocking(7, FLAG))
    for change in ({"then": "ALLOW"}, {"on_error": "ALLOW"}):
        with pytest.raises(ConfigError, match="allows"):
            build([replace(rule, **change), final], "1")


def test_build_accepts_a_bounded_on_error_on_the_default() -> None:
    assert REAL.build([{**default(), "on_error": "DEFER"}]).default.on_error is Boundary.DEFER


@pytest.mark.parametrize("rule_id", ["", "G-SLOT", "G-MINE"])
def test_build_refuses_empty_and_reserved_ids(rule_id: str) -> None:
    assert "is empty or reserved" in refused(blocking(7, FLAG, id=rule_id), default())


def test_build_refuses_a_rule_for_no_action() -> None:
    assert "rule `R-007` applies to nothing" in refused(blocking(7, FLAG, applies_to=[]), default())


def test_a_rule_set_is_frozen_and_equal_by_content() -> None:
    forms = [blocking(7, FLAG), default()]
    ruleset = REAL.build(forms)
    with pytest.raises(FrozenInstanceError):
        ruleset.version = "2"
    with pytest.raises(TypeError):
        ruleset.named["ACT"] = ()
    assert ruleset == REAL.build(forms)
    assert ruleset != REAL.build([*forms, blocking(8, FLAG)])


# Which rules apply


def ids(ruleset: RuleSet, action: str | None) -> list[str]:
    return [rule.rule_id for rule in ruleset.applicable(action)]


MIXED = REAL.build(
    [
        blocking(1, FLAG),
        blocking(2, FLAG, applies_to=["ACT"]),
        blocking(3, FLAG, applies_to=["BUY", "ACT"]),
        blocking(4, FLAG, applies_to=["BUY", "*"]),
        blocking(5, FLAG, applies_to=["BUY", "BUY"]),
        default(),
    ]
)


def test_applicable_lists_rules_for_the_action_in_order_with_the_default_last() -> None:
    assert ids(MIXED, "ACT") == ["R-001", "R-002", "R-003", "R-004", "R-999"]
    assert ids(MIXED, "BUY") == ["R-001", "R-003", "R-004", "R-005", "R-999"]


@pytest.mark.parametrize("action", [None, "NEW", "", "*", "act", "R-002"])
def test_applicable_to_none_or_an_unnamed_action_are_the_rules_for_every_action(
    action: str | None,
) -> None:
    assert ids(MIXED, action) == ["R-001", "R-004", "R-999"]


def test_evaluate_asks_only_applicable_rules() -> None:
    forms = [
        blocking(1, FLAG, applies_to=["BUY"]),
        blocking(2, FLAG, applies_to=["ACT"], then="DEFER"),
    ]
    state = {"flag": True}
    assert says(verdict(*forms, state=state)) == ("DEFER", "R-002")
    assert says(verdict(*forms, state=state, action="BUY")) == ("REJECT", "R-001")
    assert says(verdict(*forms, state=state, action="ASK")) == ("ALLOW", "R-999")
    assert says(verdict(*forms, state=state, action=None)) == ("ALLOW", "R-999")


def test_only_the_applicable_rules_of_a_thousand_are_touched() -> None:
    forms = [blocking(n, FLAG, applies_to=[f"ACT-{n % 50}"]) for n in range(1000, 2000)]
    ruleset = REAL.build([*forms, default(5000)])
    assert len(ruleset.applicable("ACT-7")) == 21
    found = evaluate(ruleset, "ACT-7", DECLARED, {"flag": False}, {}, {}, NOW, trace=True)
    assert [reading.rule_id for reading in found.trace] == [
        *(f"R-{n}" for n in range(1007, 2000, 50)),
        "R-999",
    ]


# What decides


def test_the_default_allows_when_nothing_stands_against_it() -> None:
    found = verdict(blocking(1, FLAG), blocking(2, OTHER))
    assert found == RulesVerdict(Boundary.ALLOW, "R-999", (), (), ())


@pytest.mark.parametrize("then", ["CLARIFY", "DEFER", "HANDOFF", "REJECT"])
def test_a_true_rule_decides_with_its_boundary(then: str) -> None:
    found = verdict(blocking(1, FLAG, then=then), state={"flag": True})
    assert whole(found) == (then, "R-001", (), ())


@pytest.mark.parametrize("on_error", ["CLARIFY", "DEFER", "HANDOFF", "REJECT"])
def test_an_erring_rule_decides_with_its_on_error(on_error: str) -> None:
    found = verdict(blocking(1, FLAG, on_error=on_error), state={})
    assert whole(found) == (on_error, "R-001", ("R-001:flag:ABSENT",), ())


def test_the_first_true_rule_decides_whatever_stands_below() -> None:
    forms = [blocking(1, FLAG), blocking(2, OTHER, then="DEFER"), blocking(3, FRESH)]
    both = {"flag": True, "other": True}
    assert says(verdict(*forms, state=both)) == ("REJECT", "R-001")
    assert says(verdict(*forms, state={**both, "flag": False})) == ("DEFER", "R-002")


def test_an_error_above_hides_a_true_rule_below() -> None:
    found = verdict(blocking(1, FLAG), blocking(2, OTHER), state={"flag": 1, "other": True})
    assert whole(found) == ("HANDOFF", "R-001", ("R-001:flag:MISTYPED",), ())


def test_a_true_rule_above_hides_an_error_below() -> None:
    assert whole(verdict(blocking(1, FLAG), blocking(2, OTHER), state={"flag": True})) == (
        "REJECT",
        "R-001",
        (),
        (),
    )


class Asked(dict[str, object]):
    """A mapping that notes which names it was asked for."""

    def __init__(self, values: Mapping[str, object]) -> None:
        super().__init__(values)
        self.names: list[str] = []

    def get(self, name: str, default: object = None) -> object:  # type: ignore[override]
        self.names.append(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> object:
        self.names.append(name)
        return super().__getitem__(name)


def test_lower_rules_are_not_read() -> None:
    state = Asked({"flag": True})
    verdict(blocking(1, FLAG), blocking(2, OTHER), blocking(3, FRESH), state=state)
    assert state.names == ["flag"]


def test_every_predicate_of_a_rule_is_read_even_when_one_part_settles_it() -> None:
    for word in ("all", "any"):
        for value in (True, False):
            state = Asked({**CALM, "flag": value})
            verdict(blocking(1, {word: [FLAG, OTHER, FRESH]}), state=state)
            assert state.names == ["flag", "other", "fresh"]


def test_a_predicate_is_read_once_in_a_decision() -> None:
    state = Asked(CALM)
    verdict(*(blocking(n, {"all": [FLAG, OTHER]}) for n in range(1, 9)), state=state)
    assert state.names == ["flag", "other"]


def test_values_of_the_gate_are_asked_for_only_when_a_rule_reads_them() -> None:
    resolved = {"predicate": "resolved", "is": False}
    for slots in ({}, {"sum": 5}):
        gate_values = Asked({"resolved": True})
        inputs = {"gate_values": gate_values, "slots": slots}
        verdict(blocking(1, FLAG), blocking(2, resolved), state={"flag": True}, **inputs)
        assert gate_values.names == []
        found = verdict(blocking(1, FLAG), blocking(2, resolved), **inputs)
        assert says(found) == ("ALLOW", "R-999")
        assert gate_values.names == ["resolved"]


# Errors


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (None, "ABSENT"),
        ("true", "MISTYPED"),
        (dated(True, seconds=-9), "FUTURE"),
        ({"value": True}, "MISTYPED"),
    ],
)
@pytest.mark.parametrize("word", ["all", "any"])
@pytest.mark.parametrize("first", [True, False])
def test_one_broken_value_is_an_error_whatever_the_rest_says(
    word: str, first: bool, raw: object, fault: str
) -> None:
    parts = [FLAG, OTHER]
    for value in (True, False):
        found = verdict(
            blocking(1, {word: parts if first else parts[::-1]}),
            state={"flag": value, "other": raw},
        )
        assert whole(found) == ("HANDOFF", "R-001", (f"R-001:other:{fault}",), ())


def test_a_negated_broken_value_is_an_error() -> None:
    assert says(verdict(blocking(1, {"not": FLAG}), state={})) == ("HANDOFF", "R-001")


FAULTS: tuple[tuple[str, dict[str, Any], dict[str, object], dict[str, object]], ...] = (
    ("ABSENT", FLAG, {}, {}),
    ("UNDECLARED", {"predicate": "ghost", "is": True}, {"ghost": True}, {}),
    ("STALE", FRESH, {"fresh": dated(True, seconds=61)}, {}),
    ("FUTURE", {"predicate": "seen", "older_than": "1s"}, {"seen": ago(seconds=-1)}, {}),
    ("MISTYPED", FLAG, {"flag": "true"}, {}),
    ("NOT_A_NUMBER", {"predicate": "amount", "gt": 1}, {"amount": float("nan")}, {}),
    ("UNKNOWN_VALUE", {"predicate": "tier", "is": "low"}, {"tier": "none"}, {}),
    ("AMBIGUOUS", {"predicate": "resolved", "is": True}, {}, {"resolved": AMBIGUOUS_SLOT}),
    ("REFUSED", {"predicate": "resolved", "is": True}, {"resolved": True}, {"resolved": True}),
)


@pytest.mark.parametrize(("fault", "when", "state", "gate_values"), FAULTS)
def test_every_fault_makes_an_error_named_in_the_reason_codes(
    fault: str, when: dict[str, Any], state: dict[str, object], gate_values: dict[str, object]
) -> None:
    found = verdict(blocking(40, when), state=state, gate_values=gate_values)
    assert whole(found) == ("HANDOFF", "R-040", (f"R-040:{when['predicate']}:{fault}",), ())


def test_every_fault_has_a_test() -> None:
    assert {fault for fault, *_ in FAULTS} == {fault.value for fault in Broken}


def test_reason_codes_name_every_broken_value_in_order_of_reading() -> None:
    when = {"any": [FRESH, FLAG, OTHER, {"predicate": "ghost", "is": True}]}
    found = verdict(blocking(1, when), state={"fresh": True, "flag": 1, "other": True})
    assert found.reason_codes == (
        "R-001:fresh:STALE",
        "R-001:flag:MISTYPED",
        "R-001:ghost:UNDECLARED",
    )


def test_a_broken_value_is_an_error_for_every_rule_that_reads_it_first() -> None:
    forms = [
        blocking(1, FLAG, applies_to=["BUY"]),
        blocking(2, FLAG, applies_to=["ACT"], on_error="DEFER"),
    ]
    assert says(verdict(*forms, state={})) == ("DEFER", "R-002")
    assert says(verdict(*forms, state={}, action="BUY")) == ("HANDOFF", "R-001")


def test_broken_and_unknown_values_that_no_rule_reads_do_no_harm() -> None:
    state = {"flag": False, "other": "broken", "fresh": float("nan"), "unheard_of": object()}
    assert says(verdict(blocking(1, FLAG), state=state)) == ("ALLOW", "R-999")


def test_a_rule_that_takes_a_predicate_for_another_type_errs() -> None:
    wrong: tuple[tuple[dict[str, Any], object], ...] = (
        ({"predicate": "flag", "is": 1}, True),
        ({"predicate": "flag", "gt": -5}, True),
        ({"predicate": "amount", "is": True}, 1),
        ({"predicate": "terms", "older_than": "1s"}, "2020-01-01T00:00:00Z"),
        ({"predicate": "opened", "is": "2020-01-01T00:00:00Z"}, "2020-01-01T00:00:00Z"),
        ({"all": [FLAG, {"predicate": "flag", "is": 1}]}, True),
        ({"predicate": "amount", "lt": {"predicate": "terms"}}, 1),
    )
    for when, raw in wrong:
        name = when.get("predicate", "flag")
        found = verdict(blocking(1, when), state={name: raw, "terms": "v1"} | {name: raw})
        assert says(found) == ("HANDOFF", "R-001"), when
        assert found.reason_codes[0].endswith(":MISTYPED")


def test_rules_of_two_types_on_one_predicate_err_each_for_itself() -> None:
    forms = [
        blocking(1, {"predicate": "flag", "is": False}),
        blocking(2, {"predicate": "flag", "is": 1}),
    ]
    assert whole(verdict(*forms, state={"flag": True})) == (
        "HANDOFF",
        "R-002",
        ("R-002:flag:MISTYPED",),
        (),
    )


# Slots


def test_a_slot_is_read_without_its_prefix() -> None:
    for amount, expected in ((101, ("REJECT", "R-001")), ("100", ("ALLOW", "R-999"))):
        assert says(verdict(blocking(1, SUM), slots={"sum": amount})) == expected


@pytest.mark.parametrize(
    ("slots", "fault"),
    [({}, "ABSENT"), ({"sum": None}, "ABSENT"), ({"sum": AMBIGUOUS_SLOT}, "AMBIGUOUS")],
)
def test_allow_with_an_unfilled_slot_asks_for_it(slots: dict[str, object], fault: str) -> None:
    found = verdict(blocking(1, SUM), blocking(2, FLAG), slots=slots)
    assert whole(found) == ("CLARIFY", "G-SLOT", (f"R-001:slot.sum:{fault}",), ("R-001",))


def test_every_pending_rule_is_named() -> None:
    forms = [blocking(1, SUM), blocking(2, {"all": [PAYEE, SUM]}), blocking(3, FLAG)]
    found = verdict(*forms, slots={"payee": AMBIGUOUS_SLOT})
    assert whole(found) == (
        "CLARIFY",
        "G-SLOT",
        ("R-001:slot.sum:ABSENT", "R-002:slot.payee:AMBIGUOUS", "R-002:slot.sum:ABSENT"),
        ("R-001", "R-002"),
    )


def test_a_true_rule_below_a_pending_one_decides() -> None:
    found = verdict(blocking(1, SUM), blocking(2, FLAG, then="DEFER"), state={"flag": True})
    assert whole(found) == ("DEFER", "R-002", (), ("R-001",))


def test_an_erring_rule_below_a_pending_one_decides() -> None:
    found = verdict(blocking(1, SUM), blocking(2, FLAG), state={})
    assert whole(found) == ("HANDOFF", "R-002", ("R-002:flag:ABSENT",), ("R-001",))


def test_a_rule_above_a_pending_one_decides_without_it() -> None:
    found = verdict(blocking(1, FLAG), blocking(2, SUM), state={"flag": True})
    assert whole(found) == ("REJECT", "R-001", (), ())


def test_a_rule_with_an_unfilled_slot_and_another_fault_errs() -> None:
    found = verdict(blocking(1, {"all": [SUM, FLAG]}), state={})
    codes = ("R-001:slot.sum:ABSENT", "R-001:flag:ABSENT")
    assert whole(found) == ("HANDOFF", "R-001", codes, ())


def test_a_rule_with_an_unfilled_slot_and_a_false_part_is_still_pending() -> None:
    found = verdict(blocking(1, {"all": [FLAG, SUM]}), state={"flag": False})
    assert says(found) == ("CLARIFY", "G-SLOT")
    found = verdict(blocking(1, {"any": [FLAG, SUM]}), state={"flag": True})
    assert says(found) == ("CLARIFY", "G-SLOT")


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        ("much", "MISTYPED"),
        (True, "MISTYPED"),
        (float("inf"), "NOT_A_NUMBER"),
    ],
)
def test_a_broken_slot_that_is_there_is_an_error(raw: object, fault: str) -> None:
    found = verdict(blocking(1, SUM), slots={"sum": raw})
    assert whole(found) == ("HANDOFF", "R-001", (f"R-001:slot.sum:{fault}",), ())


def test_a_slot_supplied_as_state_is_refused() -> None:
    for slots in ({}, {"sum": 1}):
        found = verdict(blocking(1, SUM), state={"slot.sum": 1}, slots=slots)
        assert whole(found) == ("HANDOFF", "R-001", ("R-001:slot.sum:REFUSED",), ())


def test_an_undeclared_slot_is_an_error_not_a_question() -> None:
    found = verdict(blocking(1, {"predicate": "slot.colour", "is": "red"}), slots={"colour": "red"})
    assert whole(found) == ("HANDOFF", "R-001", ("R-001:slot.colour:UNDECLARED",), ())


def test_other_missing_values_of_the_gate_are_errors_not_questions() -> None:
    resolved = {"predicate": "resolved", "is": False}
    for gate_values in ({}, {"resolved": AMBIGUOUS_SLOT}):
        found = verdict(blocking(1, resolved), gate_values=gate_values)
        assert says(found) == ("HANDOFF", "R-001")


def test_slots_never_stand_in_for_other_predicates() -> None:
    found = verdict(blocking(1, FLAG), state={}, slots={"flag": True, "slot.flag": True})
    assert whole(found) == ("HANDOFF", "R-001", ("R-001:flag:ABSENT",), ())


@pytest.mark.parametrize(
    ("slots", "expected"),
    [
        ({}, ("ALLOW", "R-999")),
        ({"sum": None}, ("ALLOW", "R-999")),
        ({"sum": 100}, ("ALLOW", "R-999")),
        ({"sum": 101}, ("REJECT", "R-001")),
        ({"sum": AMBIGUOUS_SLOT}, ("CLARIFY", "G-SLOT")),
        ({"sum": "much"}, ("HANDOFF", "R-001")),
    ],
)
def test_an_optional_slot_is_read_only_if_present(
    slots: dict[str, object], expected: tuple[str, str]
) -> None:
    assert says(verdict(blocking(1, OPTIONAL_SUM), slots=slots)) == expected


def test_a_slot_that_is_optional_and_required_is_required() -> None:
    for word in ("all", "any"):
        for parts in ([OPTIONAL_SUM, SUM], [SUM, OPTIONAL_SUM]):
            assert says(verdict(blocking(1, {word: parts}))) == ("CLARIFY", "G-SLOT")


def test_a_slot_optional_for_one_rule_is_required_by_another() -> None:
    for forms in ((OPTIONAL_SUM, SUM), (SUM, OPTIONAL_SUM)):
        found = verdict(*(blocking(n + 1, form) for n, form in enumerate(forms)))
        assert says(found) == ("CLARIFY", "G-SLOT")
        assert found.pending == (f"R-{forms.index(SUM) + 1:03}",)


def test_under_an_absent_slot_everything_else_is_read_all_the_same() -> None:
    guarded = {"if_present": "slot.sum", "then": FLAG}
    assert says(verdict(blocking(1, guarded), state={"flag": True})) == ("ALLOW", "R-999")
    assert says(verdict(blocking(1, guarded), state={})) == ("HANDOFF", "R-001")
    both = {"if_present": "slot.sum", "then": PAYEE}
    assert says(verdict(blocking(1, both))) == ("CLARIFY", "G-SLOT")


def test_a_negated_optional_slot_is_true_when_absent() -> None:
    assert says(verdict(blocking(1, {"not": OPTIONAL_SUM}))) == ("REJECT", "R-001")


def test_an_absent_predicate_of_the_gate_is_not_optional() -> None:
    form = {"if_present": "slot.sum", "then": {"predicate": "resolved", "is": True}}
    assert says(verdict(blocking(1, form), slots={"sum": 1})) == ("HANDOFF", "R-001")


# The clock


def test_the_verdict_follows_the_clock_that_is_passed_in() -> None:
    form = blocking(1, {"predicate": "opened", "older_than": "30m"})
    state = {"opened": ago(minutes=30)}
    assert says(verdict(form, state=state)) == ("ALLOW", "R-999")
    later = NOW + timedelta(microseconds=1)
    assert says(verdict(form, state=state, now=later)) == ("REJECT", "R-001")
    before = NOW - timedelta(minutes=31)
    assert verdict(form, state=state, now=before).reason_codes == ("R-001:opened:FUTURE",)


# The trace


def test_the_trace_is_empty_unless_asked_for() -> None:
    assert verdict(blocking(1, FLAG)).trace == ()
    assert verdict(blocking(1, FLAG), state={}).trace == ()


def test_the_trace_shows_every_rule_read_in_order_and_the_default() -> None:
    found = verdict(blocking(1, FLAG), blocking(2, SUM), blocking(3, OTHER), trace=True)
    assert found.trace == (
        RuleReading("R-001", Outcome.FALSE, (Reading("flag", False, None),)),
        RuleReading("R-002", Outcome.PENDING, (Reading("slot.sum", None, Broken.ABSENT),)),
        RuleReading("R-003", Outcome.FALSE, (Reading("other", False, None),)),
        RuleReading("R-999", Outcome.TRUE, ()),
    )


def test_the_trace_ends_with_the_rule_that_decides() -> None:
    forms = [blocking(1, FLAG), blocking(2, {"all": [OTHER, FRESH]}), blocking(3, FLAG)]
    found = verdict(*forms, state={"flag": False, "other": True}, trace=True)
    assert [(r.rule_id, r.outcome) for r in found.trace] == [("R-001", "FALSE"), ("R-002", "ERROR")]
    assert found.trace[1].readings == (
        Reading("other", True, None),
        Reading("fresh", None, Broken.ABSENT),
    )
    found = verdict(*forms, state={"flag": True}, trace=True)
    assert [(r.rule_id, r.outcome) for r in found.trace] == [("R-001", "TRUE")]


def test_the_trace_shows_an_absent_optional_slot_as_no_fault() -> None:
    found = verdict(blocking(1, OPTIONAL_SUM), trace=True)
    assert found.trace[0] == RuleReading("R-001", Outcome.FALSE, (Reading("slot.sum", None, None),))


def test_the_trace_shows_a_value_of_a_type_that_does_not_fit_as_mistyped() -> None:
    found = verdict(blocking(1, {"predicate": "flag", "is": 1}), trace=True)
    assert found.trace[0].readings == (Reading("flag", None, Broken.MISTYPED),)


@given(st.integers(0, 10**6))
def test_the_trace_changes_nothing_about_the_verdict(seed: int) -> None:
    rng = Random(seed)  # noqa: S311
    ruleset = REAL.build(random_rules(rng))
    state, gate_values, slots = random_inputs(rng, AMBIGUOUS_SLOT)
    plain = evaluate(ruleset, "ACT", DECLARED, state, gate_values, slots, NOW)
    traced = evaluate(ruleset, "ACT", DECLARED, state, gate_values, slots, NOW, trace=True)
    assert plain.trace == ()
    assert traced._replace(trace=()) == plain
    assert traced.trace[-1].rule_id in (plain.rule_id, "R-999")
    assert [r.rule_id for r in traced.trace if r.outcome is Outcome.PENDING] == list(plain.pending)


@given(st.integers(0, 10**6))
def test_evaluation_changes_no_input_and_repeats(seed: int) -> None:
    rng = Random(seed)  # noqa: S311
    ruleset = REAL.build(random_rules(rng))
    inputs = random_inputs(rng, AMBIGUOUS_SLOT)
    before = repr(inputs)
    first = evaluate(ruleset, "ACT", DECLARED, *inputs, NOW)
    assert evaluate(ruleset, "ACT", DECLARED, *inputs, NOW) == first
    assert repr(inputs) == before


# From Python, without any file


def test_the_engine_reads_well_from_python() -> None:
    recent: Condition = All((Is("blocked", False), Age("opened", younger=90 * 86400)))
    everyone = ("*",)
    rules = [
        Rule("R-1", 1, everyone, Is("blocked", True), Boundary.REJECT, Boundary.HANDOFF),
        Rule("R-2", 2, ("CLOSE",), recent, Boundary.HANDOFF, Boundary.HANDOFF, "a new account"),
        Rule("R-9", 9, everyone, Always(), Boundary.ALLOW, None),
    ]
    predicates = {
        "blocked": Predicate("blocked", "boolean", "core"),
        "opened": Predicate("opened", "timestamp", "core"),
    }
    ruleset = build(rules, "2026-12-01")
    expected = {
        (False, 89): ("HANDOFF", "R-2"),
        (False, 91): ("ALLOW", "R-9"),
        (True, 91): ("REJECT", "R-1"),
    }
    for blocked, days in product((True, False), (89, 91)):
        state = {"blocked": blocked, "opened": ago(days=days)}
        found = evaluate(ruleset, "CLOSE", predicates, state, {}, {}, NOW)
        assert says(found) == expected.get((blocked, days), ("REJECT", "R-1"))


def test_the_predicates_of_these_tests_are_those_of_chance() -> None:
    assert set(DECLARED) == set(BY_NAME)
