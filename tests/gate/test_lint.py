"""Lint: each warning on the configuration that earns it, and on no other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from gate import lint
from gate.catalog import Action, Catalog
from gate.conditions import All, Always, Bounds, Condition, IfPresent, Is, Not
from gate.configuration import Configuration
from gate.lint import LintWarning
from gate.load import load
from gate.records import Boundary, Mode
from gate.rules import Rule, build
from gate.state import Predicate
from tests.gate.load.folders import MINIMAL, write

PREDICATES = {
    p.name: p
    for p in (
        Predicate("up", "boolean", "core"),
        Predicate("ok", "boolean", "core"),
        Predicate("balance", "number", "core", "USD"),
        Predicate("tier", "enum", "core", values=("low", "high")),
        Predicate("entity_resolved", "boolean", "gate"),
        Predicate("slot.amount", "number", "gate", "USD"),
        Predicate("slot.note", "text", "gate"),
    )
}
ACTIONS = {
    a.action_id: a
    for a in (
        Action("READ", "r", "r", Mode.READ, "none", ("NONE",)),
        Action("WRITE", "w", "w", Mode.WRITE, "connector", ("NONE",), slots=("amount",)),
    )
}
ALLOW = Rule("LAST", 1000, ("*",), Always(), Boundary.ALLOW, None)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Configuration:
    loaded = load(write(tmp_path_factory.mktemp("tiny"), MINIMAL))
    return replace(loaded, catalog=Catalog("1", ACTIONS), predicates={})


def rules(*given: tuple[Condition, Sequence[str]]) -> tuple[Rule, ...]:
    """Rules R-1, R-2, ... in that order of reading, for those actions."""
    return tuple(
        Rule(f"R-{n}", n, tuple(actions), when, Boundary.HANDOFF, Boundary.HANDOFF)
        for n, (when, actions) in enumerate(given, 1)
    )


def found(base: Configuration, *given: Rule) -> tuple[LintWarning, ...]:
    """The warnings about rules; every predicate that they read is declared."""
    configuration = replace(base, rules=build((*given, ALLOW), "1"), predicates=PREDICATES)
    about = {rule.rule_id for rule in configuration.rules.rules}
    return tuple(w for w in lint.lint(configuration) if w.subject in about)


def codes(warnings: Sequence[LintWarning]) -> list[tuple[str, str]]:
    return [(w.code, w.subject) for w in warnings]


UP, OK, DOWN = Is("up", True), Is("ok", True), Is("up", False)


def test_every_code_is_listed_once() -> None:
    assert len(set(lint.CODES)) == len(lint.CODES) == 10


def test_clean_rules_have_no_warning(base: Configuration) -> None:
    assert found(base, *rules((DOWN, ["*"]), (OK, ["WRITE"]), (Not(OK), ["READ"]))) == ()


def test_identical_condition_below_is_unreachable(base: Configuration) -> None:
    warnings = found(base, *rules((DOWN, ["*"]), (DOWN, ["WRITE"])))
    assert codes(warnings) == [(lint.UNREACHABLE, "R-2")]
    assert "`R-1`" in warnings[0].message
    assert warnings[0].fix


def test_everything_below_an_empty_condition_is_unreachable(base: Configuration) -> None:
    warnings = found(base, *rules((Always(), ["WRITE"]), (OK, ["WRITE"]), (OK, ["READ"])))
    assert codes(warnings) == [(lint.UNREACHABLE, "R-2")]


def test_several_rules_together_cover_one(base: Configuration) -> None:
    warnings = found(base, *rules((OK, ["READ"]), (OK, ["WRITE"]), (OK, ["READ", "WRITE"])))
    assert codes(warnings) == [(lint.UNREACHABLE, "R-3")]
    assert "`R-1` or `R-2`" in warnings[0].message


def test_rule_for_every_request_is_covered_only_by_such_a_rule(base: Configuration) -> None:
    # A request without an action reads only the rules for every request.
    assert found(base, *rules((OK, ["READ", "WRITE"]), (OK, ["*"]))) == ()
    assert codes(found(base, *rules((OK, ["*"]), (OK, ["*"])))) == [(lint.UNREACHABLE, "R-2")]


def test_narrower_condition_below_is_shadowed_but_may_err(base: Configuration) -> None:
    narrower = All((DOWN, OK))
    assert codes(found(base, *rules((DOWN, ["*"]), (narrower, ["*"])))) == [(lint.SHADOWED, "R-2")]
    assert found(base, *rules((narrower, ["*"]), (DOWN, ["*"]))) == ()


def test_narrower_range_below_is_unreachable(base: Configuration) -> None:
    wide, narrow = Bounds("balance", lt=Decimal(5)), Bounds("balance", lt=Decimal(0))
    assert codes(found(base, *rules((wide, ["*"]), (narrow, ["*"])))) == [(lint.UNREACHABLE, "R-2")]
    assert found(base, *rules((narrow, ["*"]), (wide, ["*"]))) == ()


def test_rule_that_reads_more_above_still_decides_before(base: Configuration) -> None:
    # Where R-2 is true and `ok` broken, R-1 errs and decides.
    from gate.conditions import AnyOf

    warnings = found(base, *rules((AnyOf((DOWN, OK)), ["*"]), (DOWN, ["*"])))
    assert codes(warnings) == [(lint.UNREACHABLE, "R-2")]


def test_rule_above_with_a_further_slot_does_not_cover(base: Configuration) -> None:
    # Without the slot R-1 is pending and R-2 decides.
    from gate.conditions import AnyOf

    above = AnyOf((DOWN, Bounds("slot.amount", gt=Decimal(1))))
    assert found(base, *rules((above, ["WRITE"]), (DOWN, ["WRITE"]))) == ()


def test_optional_slot_is_not_the_same_as_a_required_one(base: Configuration) -> None:
    high = Bounds("slot.amount", gt=Decimal(9))
    optional = IfPresent("slot.amount", high)
    assert found(base, *rules((high, ["WRITE"]), (optional, ["WRITE"]))) == ()


def test_contradiction_is_reported(base: Configuration) -> None:
    warnings = found(base, *rules((Bounds("balance", gt=Decimal(5), lt=Decimal(3)), ["*"])))
    assert codes(warnings) == [(lint.CONTRADICTION, "R-1")]


def test_value_that_an_enum_lacks_is_reported(base: Configuration) -> None:
    warnings = found(base, *rules((Is("tier", "top"), ["*"])))
    assert codes(warnings) == [(lint.MISFIT, "R-1")]
    assert warnings[0].message == "`top` is not a value of `tier`"


def test_rule_for_an_unknown_action_is_reported(base: Configuration) -> None:
    warnings = found(base, *rules((UP, ["READ", "GONE"])))
    assert codes(warnings) == [(lint.NO_SUCH_ACTION, "R-1")]
    assert "`GONE`" in warnings[0].message


def test_rule_for_every_request_that_needs_an_object_is_reported(base: Configuration) -> None:
    open_object = Is("entity_resolved", False)
    assert codes(found(base, *rules((open_object, ["*"])))) == [(lint.NEEDS_OBJECT, "R-1")]
    assert found(base, *rules((open_object, ["READ"]))) == ()


def test_supplied_entity_resolved_is_no_matter(base: Configuration) -> None:
    supplied = {**PREDICATES, "entity_resolved": Predicate("entity_resolved", "boolean", "state")}
    ruleset = build((*rules((Is("entity_resolved", False), ["*"])), ALLOW), "1")
    warnings = lint.lint(replace(base, rules=ruleset, predicates=supplied))
    assert lint.NEEDS_OBJECT not in {w.code for w in warnings}


def test_undeclared_entity_resolved_is_a_misfit_alone(base: Configuration) -> None:
    ruleset = build((*rules((Is("entity_resolved", False), ["*"])), ALLOW), "1")
    warnings = lint.lint(replace(base, rules=ruleset, predicates={}))
    assert [w.code for w in warnings if w.subject == "R-1"] == [lint.MISFIT]


def test_collapsed_duplicate_is_reported(base: Configuration) -> None:
    one = rules((DOWN, ["*"]))
    assert codes(found(base, *one, *one)) == [(lint.COLLAPSED, "R-1")]


def test_predicate_that_no_rule_reads_is_reported_unless_pinned(base: Configuration) -> None:
    predicates = {
        "up": PREDICATES["up"],
        "lost": Predicate("lost", "boolean", "core"),
        "held": Predicate("held", "boolean", "core", pin=True),
    }
    ruleset = build((*rules((DOWN, ["*"])), ALLOW), "1")
    warnings = lint.lint(replace(base, rules=ruleset, predicates=predicates))
    assert codes([w for w in warnings if w.code == lint.UNREAD]) == [(lint.UNREAD, "lost")]


def test_write_that_no_rule_names_is_reported(base: Configuration) -> None:
    def warned(*given: Rule) -> list[tuple[str, str]]:
        ruleset = build((*given, ALLOW), "1")
        warnings = lint.lint(replace(base, rules=ruleset, predicates=PREDICATES))
        return codes([w for w in warnings if w.code == lint.UNPROTECTED])

    assert warned(*rules((DOWN, ["*"]))) == [(lint.UNPROTECTED, "WRITE")]
    assert warned(*rules((DOWN, ["WRITE"]))) == []


def test_action_without_a_mode_is_reported(base: Configuration) -> None:
    actions = {"READ": replace(ACTIONS["READ"], mode=None)}
    warnings = lint.lint(replace(base, catalog=Catalog("1", actions)))
    assert (lint.NO_MODE, "READ") in codes(warnings)


def test_warnings_come_in_a_fixed_order(tmp_path: Path) -> None:
    configuration = load(write(tmp_path, MINIMAL))
    assert lint.lint(configuration) == lint.lint(configuration)
