"""Every figure of a result against counts made by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from eval import metrics
from eval.outcome import Outcome, final_path
from eval.result import Errors, Pairs, Result, Run, Share, host_class, to_json
from tests.eval.examples import ACTIONS, NO_ACTION, answer, gold, outcome, verdict

RUN = Run("suite", "system", "backend", ("no-state",), (), {"f": "0" * 64}, {}, "host", "t", "c")

# Six cases: three may be dispatched, three are bounded.
RIGHT = outcome(gold("A1"), verdict("A1"), case_id="right", pair="P1")
BOUNDED = outcome(gold("A2", "UNRESOLVED", "CLARIFY"), verdict("T_CLARIFY", "A2", "UNRESOLVED"),
                  case_id="bounded", pair="P1", split="FLIP", true_rules=("R-1", "R-2"))  # fmt: skip
BLOCKED = outcome(gold("A1"), verdict("T_CLARIFY", "A1", "UNRESOLVED"), case_id="blocked")
FALSE = outcome(gold("A3", "O:2", "REJECT"), verdict("A3", object_id="O:2"), case_id="false",
                pair="P2", true_rules=("R-1",))  # fmt: skip
MASKED = outcome(gold("A1", "O:1", "DEFER"), verdict("T_DEFER", "A2"), case_id="masked", pair="P2")
BROKEN = outcome(gold("A2"), NO_ACTION, case_id="broken", split="FLIP", pair="P3")
SIX = (RIGHT, BOUNDED, BLOCKED, FALSE, MASKED, BROKEN)


def measure(*outcomes: Outcome) -> Result:
    return metrics.measure(outcomes, ACTIONS, RUN)


def test_main_figures_by_hand() -> None:
    result = measure(*SIX)
    assert result.cases == 6
    assert result.final_path_exact == 3 / 6  # right, bounded, masked
    assert result.action_accuracy == 4 / 6  # not masked, not broken
    assert result.object_accuracy == 4 / 6  # not blocked, not broken
    assert result.masked_action_errors == 1
    assert result.coverage == 5 / 6


def test_false_dispatch_is_over_bounded_and_false_block_over_allowed() -> None:
    result = measure(*SIX)
    assert result.false_dispatch == Share(1, 3)
    assert result.false_block == Share(2, 3)


def test_macro_f1_is_over_actions_and_terminals() -> None:
    # gold: A1 CLARIFY A1 REJECT DEFER A2; given: A1 CLARIFY CLARIFY A3 DEFER CLARIFY
    # A1 2/3, A2 0, A3 0, CLARIFY 2/4, REJECT 0, DEFER 1; HANDOFF is absent
    assert measure(*SIX).final_path_macro_f1 == pytest.approx((2 / 3 + 0.5 + 1) / 6)


def test_flip_pair_is_exact_only_if_both_members_are() -> None:
    result = measure(*SIX)
    assert result.flip_pairs == Pairs(exact=1, of=2)
    assert metrics.incomplete_pairs(SIX) == ("P3",)


def test_dispatch_of_another_object_is_counted_apart() -> None:
    other = outcome(gold("A1", "O:1"), verdict("A1", object_id="O:2"))
    result = measure(RIGHT, other)
    assert result.final_path_exact == 1.0
    assert result.wrong_objects == Share(1, 2)
    assert result.object_accuracy == 0.5


def test_slices_hold_their_own_cases() -> None:
    result = measure(*SIX)
    assert list(result.by_split) == ["MAIN", "FLIP"]
    assert result.by_split["FLIP"].cases == 2
    assert result.by_split["FLIP"].final_path_exact == 0.5
    assert result.by_split["FLIP"].false_block == Share(1, 1)
    assert result.by_tier["tier"].cases == 6


def test_each_wrong_path_has_one_owner() -> None:
    wrong_object = outcome(gold("A1"), verdict("T_CLARIFY", "A1", "UNRESOLVED"))
    wrong_action = outcome(gold("A1"), verdict("A2"))
    wrong_rule = outcome(gold("A1"), verdict("T_DEFER"), with_gold="T_DEFER")
    wrong_check = outcome(gold("A1"), verdict("T_CLARIFY"))
    found = metrics.errors_by_owner(
        (RIGHT, BROKEN, wrong_action, wrong_object, wrong_rule, wrong_check)
    )
    assert found == Errors(adapter=1, catalog_or_proposer=1, registry=1, state=1, controller=1)


def test_effort_is_averaged_over_what_was_recorded() -> None:
    cheap = answer(tokens_in=100, tokens_out=10, latency_ms=5.0, cost_usd=0.001)
    dear = answer(tokens_in=300, latency_ms=15.0, cost_usd=0.003, repairs=1, calls=2, fallback=True,
                  valid_first_pass=False)  # fmt: skip
    result = measure(*(outcome(gold(), verdict("A1"), answered=a) for a in (cheap, dear)))
    assert (result.tokens_per_case.into, result.tokens_per_case.out) == (200, 10)
    assert (result.latency_ms.p50, result.latency_ms.p95) == (5.0, 15.0)
    assert result.cost_per_1k == pytest.approx(2.0)
    assert (result.repairs, result.fallbacks, result.calls_per_case) == (1, 1, 1.5)
    assert result.valid_first_pass == 0.5


def test_cost_is_unknown_unless_every_case_states_it() -> None:
    half = (answer(cost_usd=0.001), answer())
    result = measure(*(outcome(gold(), verdict("A1"), answered=a) for a in half))
    assert result.cost_per_1k is None


def test_failed_contract_is_not_valid_at_first_pass() -> None:
    assert measure(RIGHT, BROKEN).valid_first_pass == 0.5


def test_repair_by_the_gate_is_counted() -> None:
    repaired = outcome(gold(), replace(verdict("A1"), repair="fence"))
    result = measure(repaired)
    assert (result.repairs, result.valid_first_pass) == (1, 0.0)


def test_several_true_rules_are_counted_once_per_case() -> None:
    assert measure(*SIX).multi_rule_matches == 1


def test_published_paths_are_compared_where_stated() -> None:
    same = outcome(gold(), verdict("A1"), answered=answer(published_path="A1"))
    other = outcome(gold(), verdict("A1"), answered=answer(published_path="T_DEFER"))
    assert measure(same, other, RIGHT).published_paths == Share(1, 2)
    assert measure(RIGHT).published_paths is None


def test_intervals_stand_beside_every_share() -> None:
    intervals = measure(*SIX).intervals
    assert set(intervals) == {*metrics.SHARES, "flip_pairs"}
    low, high = intervals["false_dispatch"] or (1.0, 0.0)
    assert 0.0 < low < 1 / 3 < high < 1.0


def test_nothing_measured_is_none_not_zero() -> None:
    result = measure()
    assert result.final_path_exact is None
    assert result.intervals["false_dispatch"] is None
    assert result.latency_ms.p50 is None
    assert json.loads(to_json(result))["final_path_macro_f1"] is None


def test_dispatch_without_action_is_no_path_of_an_action() -> None:
    assert final_path(replace(verdict("A1"), action_id=None)) == "T_DISPATCH"


def test_json_has_the_documented_fields_and_rounds_shares() -> None:
    found = json.loads(to_json(measure(*SIX)))
    documented = (
        "cases final_path_exact final_path_macro_f1 action_accuracy object_accuracy"
        " masked_action_errors false_dispatch false_block flip_pairs valid_first_pass repairs"
        " fallbacks multi_rule_matches calls_per_case tokens_per_case latency_ms cost_per_1k"
        " coverage by_split by_tier errors_by_owner intervals run"
    )
    assert set(documented.split()) <= set(found)
    assert found["false_dispatch"] == {"count": 1, "of": 3}
    assert found["flip_pairs"] == {"exact": 1, "of": 2}
    assert found["tokens_per_case"] == {"in": None, "out": None}
    assert found["action_accuracy"] == 0.666667
    assert found["run"]["switches"] == ["no-state"]


def test_host_class_names_no_host() -> None:
    import socket

    assert socket.gethostname() not in host_class()
