"""P-08: every rule is seen true, false and erring in tests; every hand-written mutant of the engine
dies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gate.alerts import NO_ALERT
from gate.conditions import Is, needs, reads
from gate.configuration import Configuration
from gate.load import load
from gate.records import Boundary
from gate.rules import Outcome, Rule, RulesVerdict, build, evaluate
from gate.state import GATE, SLOT_PREFIX, Broken
from tests.gate.demo import CALM, CALM_SLOTS, demo, demo_state
from tests.gate.engine import NOW, PARTS, REAL, ago, changed, dated, says, source_of
from tests.gate.mutants import BATTERIES, MUTANTS, Mutant, survives

# The demo institution: for every rule the smallest change of its calm state that makes it true,
# beside one that just does not.

Change = Mapping[str, object]

DEMO_CASES: Mapping[str, tuple[str, Change, Change]] = {
    "R-010": ("FEE_INFO", {"safety_escalation_required": True}, {}),
    "R-015": ("FEE_INFO", {"alert": "coercion"}, {"alert": NO_ALERT}),
    "R-020": ("FEE_INFO", {"request_supported": False}, {}),
    "R-030": ("CARD_HELP", {"service_available": False}, {}),
    "R-040": ("CARD_HELP", {"request_scope_clear": False}, {}),
    "R-110": (
        "ACCOUNT_BALANCE",
        {"identity_verified": dated(False)},
        {"identity_verified": dated(True, seconds=900)},
    ),
    "R-120": (
        "TRANSACTIONS",
        {"session_started_at": ago(minutes=30, seconds=1)},
        {"session_started_at": ago(minutes=30)},
    ),
    "R-130": ("CHANGE_EMAIL", {"risk_tier": "high"}, {"risk_tier": "medium"}),
    "R-210": ("FREEZE_CARD", {"card_control_permitted": False}, {}),
    "R-220": ("CHANGE_EMAIL", {"contact_change_permitted": False}, {}),
    "R-230": ("FUND_ORDER", {"fund_order_permitted": False}, {}),
    "R-240": ("CLOSE_ACCOUNT", {"account_closure_permitted": False}, {}),
    "R-310": ("FREEZE_CARD", {"card_already_frozen": dated(True)}, {}),
    "R-320": (
        "CHANGE_ADDRESS",
        {"contact_changed_at": ago(hours=23, minutes=59)},
        {"contact_changed_at": ago(hours=24)},
    ),
    "R-330": (
        "CHANGE_ADDRESS",
        {"address_changes_this_year": 6},
        {"address_changes_this_year": 5},
    ),
    "R-410": (
        "FUND_ORDER",
        {"kyc_reviewed_at": ago(days=365, seconds=1)},
        {"kyc_reviewed_at": ago(days=365)},
    ),
    "R-420": (
        "FUND_ORDER",
        {"fund_terms_accepted": "v2"},
        {"fund_terms_accepted": "v4", "fund_terms_current": "v4"},
    ),
    "R-430": (
        "FUND_ORDER",
        {"fund_risk_class": "high"},
        {"fund_risk_class": "very_high", "suitability_confirmed": True},
    ),
    "R-440": ("FUND_ORDER", {"order_limit": "99.99"}, {"order_limit": "100"}),
    "R-450": (
        "FUND_ORDER",
        {"available_balance": dated("99.99")},
        {"available_balance": dated("100.00")},
    ),
    "R-460": ("FUND_ORDER", {"orders_today": dated(5)}, {"orders_today": dated(4)}),
    "R-470": ("FUND_ORDER", {"fund_minimum": "1000.00"}, {"fund_minimum": "100.00"}),
    "R-480": (
        "FUND_ORDER",
        {"order_limit": "99.99", "fund_minimum": "10.00"},
        {"order_limit": "100.00"},
    ),
    "R-490": (
        "FUND_ORDER",
        {"available_balance": dated("99.99"), "fund_minimum": "10.00"},
        {"available_balance": dated("100.00")},
    ),
    "R-510": ("FUND_ORDER", {"available_balance": dated("-0.01")}, {}),
    "R-520": ("CLOSE_ACCOUNT", {"available_balance": dated("0.01")}, {}),
    "R-530": ("CLOSE_ACCOUNT", {"pending_transactions": dated(1)}, {}),
    "R-540": (
        "CLOSE_ACCOUNT",
        {"account_opened_at": ago(days=89, hours=23)},
        {"account_opened_at": ago(days=90)},
    ),
    "R-610": (
        "FUND_PRICE",
        {"price_feed_updated_at": ago(days=4, seconds=1)},
        {"price_feed_updated_at": ago(days=4)},
    ),
}
"""Rule -> an action it applies to, the change that makes it true, one that just does not."""


def decided(
    configuration: Configuration,
    action: str | None,
    state: Mapping[str, object],
    slots: Mapping[str, object] | None = None,
) -> RulesVerdict:
    given = CALM_SLOTS.get(action or "", {}) if slots is None else slots
    told, found = parted(configuration, state)
    return evaluate(
        configuration.rules, action, configuration.predicates, told, found, given, NOW, trace=True
    )


def parted(configuration: Configuration, state: Change) -> tuple[Change, Change]:
    """What a source says, and what the gate itself finds in the text: nothing, if not changed."""
    found = {n for n, p in configuration.predicates.items() if p.source == GATE}
    told = {name: value for name, value in state.items() if name not in found}
    return told, {"alert": NO_ALERT, **{n: v for n, v in state.items() if n in found}}


def outcome_of(verdict: RulesVerdict, rule_id: str) -> Outcome:
    (reading,) = [reading for reading in verdict.trace if reading.rule_id == rule_id]
    return reading.outcome


def test_p08_the_cases_cover_every_demo_rule_and_predicate() -> None:
    rules = demo().rules.rules
    assert set(DEMO_CASES) == {rule.rule_id for rule in rules if rule.then is not Boundary.ALLOW}
    assert set(CALM) == {name for name, p in demo().predicates.items() if p.source != "gate"}
    assert demo().rules.collapsed == ()


def test_p08_every_action_of_the_demo_is_allowed_in_the_calm_state() -> None:
    for action in (*demo().catalog.actions, None):
        verdict = decided(demo(), action, demo_state(action or "", {}))
        assert verdict.boundary is Boundary.ALLOW, (action, verdict.rule_id, verdict.reason_codes)
        assert outcome_of(verdict, verdict.rule_id) is Outcome.TRUE
        others = {r.outcome for r in verdict.trace if r.rule_id != verdict.rule_id}
        assert others <= {Outcome.FALSE}


@pytest.mark.parametrize("rule_id", DEMO_CASES)
def test_p08_every_demo_rule_is_seen_true_where_it_decides(rule_id: str) -> None:
    action, change, _ = DEMO_CASES[rule_id]
    (rule,) = [r for r in demo().rules.rules if r.rule_id == rule_id]
    verdict = decided(demo(), action, demo_state(action, change))
    assert says(verdict) == (rule.then, rule_id)
    assert outcome_of(verdict, rule_id) is Outcome.TRUE


@pytest.mark.parametrize("rule_id", DEMO_CASES)
def test_p08_every_demo_rule_is_seen_false_at_its_limit(rule_id: str) -> None:
    action, _, just_not = DEMO_CASES[rule_id]
    verdict = decided(demo(), action, demo_state(action, just_not))
    assert verdict.boundary is Boundary.ALLOW
    assert outcome_of(verdict, rule_id) is Outcome.FALSE


@pytest.mark.parametrize("rule_id", DEMO_CASES)
def test_p08_every_demo_rule_is_seen_erring_on_everything_it_reads(rule_id: str) -> None:
    action = DEMO_CASES[rule_id][0]
    (rule,) = [r for r in demo().rules.rules if r.rule_id == rule_id]
    assert reads(rule.when)
    for name in (n for n in reads(rule.when) if not n.startswith(SLOT_PREFIX)):
        for raw in (None, object(), dated(CALM.get(name, NO_ALERT), days=-1)):
            state = demo_state(action, {name: raw})
            assert_errs_alone(demo(), rule, action, state)
            first = next(r for r in demo().rules.applicable(action) if name in reads(r.when))
            assert says(decided(demo(), action, state)) == (first.on_error, first.rule_id)


@pytest.mark.parametrize("rule_id", ["R-470", "R-480", "R-490"])
@pytest.mark.parametrize("slots", [{}, {"amount": Broken.AMBIGUOUS}])
def test_p08_a_demo_rule_waits_for_an_amount_that_is_left_open(rule_id: str, slots: Change) -> None:
    verdict = decided(demo(), "FUND_ORDER", demo_state("FUND_ORDER", {}), slots)
    assert says(verdict) == (Boundary.CLARIFY, "G-SLOT")
    assert rule_id in verdict.pending
    assert outcome_of(verdict, rule_id) is Outcome.PENDING


def assert_errs_alone(
    configuration: Configuration, rule: Rule, action: str, state: Mapping[str, object]
) -> None:
    """The rule errs and decides where no other one stands above it."""
    alone = build([rule, configuration.rules.default], "alone")
    slots = CALM_SLOTS.get(action, {})
    told, found = parted(configuration, state)
    verdict = evaluate(alone, action, configuration.predicates, told, found, slots, NOW, trace=True)
    assert outcome_of(verdict, rule.rule_id) is Outcome.ERROR
    assert says(verdict) == (rule.on_error, rule.rule_id)
    assert verdict.reason_codes


def test_p08_every_demo_rule_applies_to_the_actions_it_names() -> None:
    for rule in demo().rules.rules:
        for action in demo().catalog.actions:
            applies = "*" in rule.applies_to or action in rule.applies_to
            assert (rule in demo().rules.applicable(action)) is applies


# RouteBR: nine rules over eight booleans, read as they are.


@pytest.fixture(scope="session")
def routebr(data_dir: Path) -> Configuration:
    return load(data_dir / "routebr", bench=True)


def routebr_calm(configuration: Configuration) -> dict[str, object]:
    """The state in which no RouteBR rule is true."""
    literals = [rule.when for rule in configuration.rules.rules if isinstance(rule.when, Is)]
    assert len(literals) == 8
    return {condition.predicate: not condition.value for condition in literals}


def routebr_actions(configuration: Configuration, rule: Rule) -> list[str]:
    actions = configuration.catalog.actions
    return [a for a in actions if "*" in rule.applies_to or a in rule.applies_to]


def test_p08_every_routebr_rule_is_seen_false(routebr: Configuration) -> None:
    seen: set[str] = set()
    for action in routebr.catalog.actions:
        verdict = decided(routebr, action, routebr_calm(routebr))
        assert says(verdict) == ("ALLOW", "R999")
        seen |= {reading.rule_id for reading in verdict.trace if reading.outcome is Outcome.FALSE}
    assert len(seen) == 8


def test_p08_every_routebr_rule_is_seen_true(routebr: Configuration) -> None:
    calm = routebr_calm(routebr)
    for rule in routebr.rules.rules[:-1]:
        (name,) = reads(rule.when)
        for action in routebr_actions(routebr, rule):
            verdict = decided(routebr, action, {**calm, name: not calm[name]})
            assert says(verdict) == (rule.then, rule.rule_id)
            assert outcome_of(verdict, rule.rule_id) is Outcome.TRUE


def test_p08_every_routebr_rule_is_seen_erring(routebr: Configuration) -> None:
    calm = routebr_calm(routebr)
    for rule in routebr.rules.rules[:-1]:
        (name,) = reads(rule.when)
        for action in routebr_actions(routebr, rule):
            for raw in (None, 1, 0, "true", [], dated(True, days=-1)):
                verdict = decided(routebr, action, {**calm, name: raw})
                assert says(verdict) == (rule.on_error, rule.rule_id)
                assert outcome_of(verdict, rule.rule_id) is Outcome.ERROR


def test_p08_every_routebr_state_gets_the_first_true_rule(routebr: Configuration) -> None:
    calm = routebr_calm(routebr)
    for action in routebr.catalog.actions:
        applicable = routebr.rules.applicable(action)
        for bits in range(256):
            state = {n: bool(bits >> i & 1) for i, n in enumerate(calm)}
            first = next(r for r in applicable if all(state[n] != calm[n] for n in reads(r.when)))
            assert says(decided(routebr, action, state)) == (first.then, first.rule_id)


# Mutants.


@pytest.mark.parametrize("part", BATTERIES)
def test_p08_the_engine_passes_every_battery(part: str) -> None:
    BATTERIES[part](REAL)


@pytest.mark.parametrize("part", BATTERIES)
def test_p08_an_unchanged_copy_of_the_engine_passes_every_battery(part: str) -> None:
    with changed("unchanged", part, source_of(part)) as engine:
        assert vars(engine)[part] is not vars(REAL)[part]
        BATTERIES[part](engine)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.part}-{m.name}")
def test_p08_every_mutant_dies(mutant: Mutant) -> None:
    assert not survives(mutant)


def test_p08_mutants_are_many_and_of_every_module() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 25
    assert {mutant.part for mutant in MUTANTS} == set(BATTERIES) == set(PARTS)


def test_p08_a_mutant_whose_text_is_gone_is_reported() -> None:
    stale = Mutant("rules", "stale", "no such text", "")
    with pytest.raises(ValueError, match="`stale`: its text stands 0 times"):
        survives(stale)


def test_p08_a_harmless_change_survives_the_battery() -> None:
    harmless: Any = Mutant(
        "rules", "harmless", '"""The final rule, which', '"""The last rule, which'
    )
    assert survives(harmless)


def test_p08_needs_of_every_demo_rule_are_declared() -> None:
    for rule in demo().rules.rules:
        assert {need.name for need in needs(rule.when)} <= set(demo().predicates)
