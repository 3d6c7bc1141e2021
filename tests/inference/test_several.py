"""Several requests in one message: asked back by their names, one is chosen, nothing else is done."""

from __future__ import annotations

import pytest

from gate.confirmation import UNANSWERED
from tests.inference.branch import CONFIRM, VISA, Branch, ended

BOTH = "CLARIFY G-ACTION ANOTHER_WRITE_ASKED"
MIXED = "CLARIFY G-DIRECTION DIRECTION_MIXED"
TWO = "Freeze my visa card and change my email to dana@new.example."
READ_AND_WRITE = "Show my balance and freeze my visa card."


def titles(branch: Branch, language: str, *actions: str) -> list[str]:
    catalog = branch.appliance.configuration.catalog
    return [catalog.actions[action].title(language) for action in actions]


@pytest.mark.parametrize(
    ("text", "language", "end", "first", "second"),
    [
        (TWO, "en", BOTH, "FREEZE_CARD", "CHANGE_EMAIL"),
        (TWO, "en", BOTH, "CHANGE_EMAIL", "FREEZE_CARD"),
        (READ_AND_WRITE, "en", MIXED, "ACCOUNT_BALANCE", "FREEZE_CARD"),
        ("冻结我的信用卡并关闭我的储蓄账户。", "zh", BOTH, "FREEZE_CARD", "CLOSE_ACCOUNT"),
        ("查询我的余额，冻结我的信用卡", "zh", MIXED, "ACCOUNT_BALANCE", "FREEZE_CARD"),
    ],
)
def test_both_requests_are_named_whichever_is_proposed(
    branch: Branch, text: str, language: str, end: str, first: str, second: str
) -> None:
    said = branch.says(first, text)
    assert ended(said) == end
    assert all(title in said.message for title in titles(branch, language, first, second))
    assert said.routed.token is None
    assert branch.effects == []


@pytest.mark.parametrize("proposed", ["FREEZE_CARD", "CHANGE_EMAIL"])
def test_the_one_that_is_chosen_is_confirmed_and_the_other_is_left(
    branch: Branch, proposed: str
) -> None:
    said = branch.says(proposed, TWO)
    place = [o.action_id for o in said.routed.verdict.options].index("FREEZE_CARD")
    dialogue_id = said.routed.dialogue_id
    picked = branch.says("FEE_INFO", ("the first", "the second")[place], dialogue_id=dialogue_id)
    assert ended(picked) == CONFIRM
    assert picked.routed.verdict.object_id == VISA
    branch.yes(picked)
    assert branch.effects == [("FREEZE_CARD", VISA)]


def test_choosing_the_question_changes_nothing(branch: Branch) -> None:
    said = branch.says("ACCOUNT_BALANCE", READ_AND_WRITE)
    picked = branch.says("FREEZE_CARD", "the first", dialogue_id=said.routed.dialogue_id)
    assert picked.routed.verdict.action_id == "ACCOUNT_BALANCE"
    assert picked.rule_id not in ("G-DIRECTION", "G-MULTI", "G-ACTION")
    assert picked.routed.token is None
    assert branch.effects == []


def test_a_write_that_is_proposed_is_confirmed_and_says_that_a_question_is_open(
    branch: Branch,
) -> None:
    said = branch.says("FREEZE_CARD", READ_AND_WRITE)
    assert ended(said) == CONFIRM
    remark = branch.appliance.configuration.packs["en"].templates[UNANSWERED]
    assert remark in said.message


@pytest.mark.parametrize(
    "text",
    [
        "Freeze my visa card, but don't close my savings account.",
        "Freeze my visa card because I want it safe, my account stays open.",
        "Freeze my visa card. I closed my savings account yesterday.",
    ],
)
def test_negated_and_explanatory_clauses_are_no_second_request(branch: Branch, text: str) -> None:
    assert len({o.action_id for o in branch.freeze(text).routed.verdict.options}) < 2


@pytest.mark.parametrize(
    "text",
    [
        "Buy the Harbor Balanced Fund and freeze my visa card, I lost 300 dollars.",
        "Buy the Harbor Balanced Fund and close my savings account, it has 300 dollars.",
    ],
)
def test_an_amount_said_behind_the_other_request_is_not_the_chosen_ones(
    branch: Branch, text: str
) -> None:
    said = branch.says("FUND_ORDER", text)
    assert ended(said) == BOTH
    picked = branch.says("FEE_INFO", "the first", dialogue_id=said.routed.dialogue_id)
    assert picked.rule_id == "G-SLOT"
    assert picked.routed.token is None


def test_an_amount_said_with_the_chosen_request_is_its_own(branch: Branch) -> None:
    text = "Freeze my visa card and buy the Harbor Balanced Fund for 300 dollars."
    said = branch.says("FUND_ORDER", text)
    place = [o.action_id for o in said.routed.verdict.options].index("FUND_ORDER")
    dialogue_id = said.routed.dialogue_id
    picked = branch.says("FEE_INFO", ("the first", "the second")[place], dialogue_id=dialogue_id)
    assert ended(picked) == CONFIRM
    assert "300.00 USD" in picked.message
