"""One confirmation has one effect: however often, from however many places and at whatever moment."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from gate.ledger import dialogue as records
from gate.load.requests import request_of
from inference.sources import Unread
from inference.way import answer
from tests.inference.asking import proposing
from tests.inference.branch import (
    BOUGHT,
    BUSY,
    BUY,
    CARD,
    COMPLETED,
    CONFIRM,
    FROZEN,
    OPEN,
    SESSIONS,
    TOO_OFTEN,
    USED,
    VISA,
    Branch,
    at_once,
    confirming,
    ended,
)
from tests.inference.elsewhere import elsewhere


@pytest.fixture
def unseeing(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A question does not see the tokens of others, as if all were asked at the same moment."""
    with monkeypatch.context() as patch:
        patch.setattr(records, "_unused", lambda *_: iter(()))
        yield patch


# ---- one token, one effect -----------------------------------------------------------------------


def test_used_token_confirms_nothing(branch: Branch) -> None:
    first = branch.freeze()
    assert ended(branch.yes(first)) == COMPLETED
    assert ended(branch.yes(first)) == USED
    assert branch.effects == [FROZEN]


def test_parallel_confirms_of_one_token_have_one_effect(branch: Branch) -> None:
    first = branch.freeze()
    calls = [confirming(branch, first.routed.token) for _ in range(6)]
    found = at_once(calls)
    assert found.count(COMPLETED) == 1
    assert set(found) <= {COMPLETED, USED, TOO_OFTEN}
    assert branch.effects == [FROZEN]


def test_parallel_calls_of_one_request_have_one_effect(branch: Branch) -> None:
    first = branch.freeze()
    call = confirming(branch, first.routed.token)
    found = at_once([call] * 6)
    assert set(found) <= {COMPLETED, "DISPATCH R-999 IN_DOUBT"}
    assert COMPLETED in found
    assert branch.effects == [FROZEN]


def test_token_confirms_once_over_all_processes(branch: Branch) -> None:
    first = branch.freeze()
    again = branch.fields("yes", token=first.routed.token)
    assert elsewhere(branch, again) == COMPLETED
    assert ended(branch.yes(first)) == USED
    assert elsewhere(branch, {**again, "request_id": "new"}) == USED
    assert branch.effects == [FROZEN]


@pytest.mark.parametrize("first_used", [True, False])
def test_of_two_tabs_only_the_newer_token_works(branch: Branch, first_used: bool) -> None:
    old, new = branch.freeze(), branch.freeze("Please freeze my debit card now.")
    assert (ended(old), ended(new)) == (CONFIRM, CONFIRM)
    order = (old, new) if first_used else (new, old)
    found = [ended(branch.yes(tab)) for tab in order]
    assert sorted(found) == [USED, COMPLETED]
    assert branch.effects == [FROZEN]


@pytest.mark.parametrize("tabs", [2, 6])
def test_tabs_that_asked_at_the_same_moment_have_one_effect(
    branch: Branch, unseeing: pytest.MonkeyPatch, tabs: int
) -> None:
    asked = [branch.buy() for _ in range(tabs)]
    unseeing.undo()
    found = at_once([confirming(branch, tab.routed.token) for tab in asked])
    assert found.count(COMPLETED) == 1
    assert set(found) <= {COMPLETED, USED, TOO_OFTEN}
    assert branch.effects == [BOUGHT]


def test_tabs_that_really_ask_and_confirm_at_the_same_moment_have_one_effect(
    branch: Branch,
) -> None:
    served = proposing(branch.appliance, "FUND_ORDER")
    requests = [branch.request(BUY) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        tabs = list(pool.map(lambda one: answer(served, one), requests))
    assert {ended(tab) for tab in tabs} <= {CONFIRM, BUSY}
    found = at_once([confirming(branch, tab.routed.token) for tab in tabs if tab.routed.token])
    assert found.count(COMPLETED) == 1
    assert branch.effects == [BOUGHT]


def test_token_that_was_asked_for_beside_a_confirmed_one_is_void(
    branch: Branch, unseeing: pytest.MonkeyPatch
) -> None:
    old, new = branch.buy(), branch.buy()
    unseeing.undo()
    assert ended(branch.yes(new)) == COMPLETED
    assert ended(branch.yes(old)) == USED
    assert branch.effects == [BOUGHT]


def test_write_done_since_it_was_asked_for_is_asked_for_again(
    branch: Branch, unseeing: pytest.MonkeyPatch
) -> None:
    """Two tabs that never saw each other: the second is told of the first, and may still go on."""
    old, new = branch.buy(), branch.buy()
    assert ended(branch.yes(old)) == COMPLETED
    unseeing.undo()
    again = branch.yes(new)
    assert ended(again) == "CLARIFY G-CONFIRM EQUAL_WRITE_DONE"
    assert "once more" in again.message
    assert branch.effects == [BOUGHT]
    assert ended(branch.yes(new)) == USED
    assert ended(branch.yes(again)) == COMPLETED
    assert branch.effects == [BOUGHT] * 2


# ---- a write whose end is not known --------------------------------------------------------------


def test_write_in_doubt_is_not_asked_for_again(branch: Branch) -> None:
    first = branch.freeze()
    branch.office.fail_next("error-before")
    assert ended(branch.yes(first)) == "DISPATCH R-999 IN_DOUBT SERVICE_ERROR"
    again = branch.freeze()
    assert ended(again) == OPEN
    assert again.routed.token is None
    assert ended(branch.freeze("Freeze my debit card.", channel="counter")) == OPEN
    assert ended(branch.freeze("Freeze my visa card.")) == CONFIRM, "another card is another write"
    assert branch.effects == []


def test_write_in_doubt_is_not_carried_out_again_by_a_token_of_before(
    branch: Branch, unseeing: pytest.MonkeyPatch
) -> None:
    old, new = branch.freeze(), branch.freeze()
    branch.office.fail_next("error-before")
    assert ended(branch.yes(old)) == "DISPATCH R-999 IN_DOUBT SERVICE_ERROR"
    unseeing.undo()
    assert ended(branch.yes(new)) == OPEN
    assert ended(branch.yes(new)) == USED
    assert branch.effects == []


def test_write_in_doubt_of_another_subject_is_in_nobodys_way(branch: Branch) -> None:
    first = branch.buy()
    branch.office.fail_next("error-before")
    branch.yes(first)
    assert ended(branch.buy(who="marcus")) == CONFIRM


def test_write_that_ended_may_be_asked_for_again(branch: Branch) -> None:
    assert ended(branch.yes(branch.buy())) == COMPLETED
    assert ended(branch.yes(branch.buy())) == COMPLETED
    assert branch.effects == [BOUGHT] * 2
    statuses = [row.record.get("status") for row in branch.appliance.book.ledger.iterate()]
    assert statuses.count("RE_ASKED") == 1


# ---- the same request again ----------------------------------------------------------------------


def test_stored_write_fetched_again_is_told_how_it_stands(branch: Branch) -> None:
    first = branch.freeze()
    call = confirming(branch, first.routed.token)
    done = call()
    count = branch.appliance.book.ledger.head().sequence
    branch.clock.move(100_000)
    for _ in range(2):
        again = call()
        assert ended(again) == COMPLETED
        assert again.routed.replayed
        assert again.routed.decision_id == done.routed.decision_id
        assert again.message == done.message
    assert branch.appliance.book.ledger.head().sequence == count
    assert branch.effects == [FROZEN]


def test_stored_write_fetched_again_after_a_restart_starts_nothing(branch: Branch) -> None:
    first = branch.freeze()
    call = confirming(branch, first.routed.token)
    branch.office.fail_next("error-before")
    assert ended(call()) == "DISPATCH R-999 IN_DOUBT SERVICE_ERROR"
    branch.restarted()
    again = call()
    assert ended(again) == "DISPATCH R-999 IN_DOUBT"
    assert again.routed.replayed
    assert branch.effects == []


def test_stored_question_fetched_again_is_the_same_question(branch: Branch) -> None:
    request = branch.request("Freeze my debit card.")
    served = proposing(branch.appliance, "FREEZE_CARD")
    first, again = answer(served, request), answer(served, request)
    assert ended(again) == CONFIRM
    assert (again.message, again.routed.token) == (first.message, first.routed.token)
    assert ended(branch.yes(again)) == COMPLETED
    assert ended(branch.yes(first)) == USED
    assert branch.effects == [FROZEN]


READ = "what is the status of my debit card?"


def test_stored_read_fetched_again_is_answered_if_it_still_may_be(branch: Branch) -> None:
    request = branch.request(READ)
    served = proposing(branch.appliance, "CARD_STATUS")
    first, again = answer(served, request), answer(served, request)
    assert ended(first).startswith("DISPATCH R-999 ANSWERED")
    assert ended(again).startswith("DISPATCH R-999 REPLAYED")
    assert again.message == first.message


def test_stored_read_fetched_again_is_checked_against_the_clock(branch: Branch) -> None:
    request = branch.request(READ)
    served = proposing(branch.appliance, "CARD_STATUS")
    first = answer(served, request)
    branch.clock.move(3600)
    again = answer(served, request)
    assert ended(again).startswith("CLARIFY R-110 REPLAYED")
    assert first.message not in again.message
    assert again.citations == ()


def test_stored_read_fetched_again_is_checked_against_state_and_session(branch: Branch) -> None:
    request = branch.request(READ)
    first = answer(proposing(branch.appliance, "CARD_STATUS"), request)
    assert "9024" not in first.message
    no_cards = {**SESSIONS["dana"], "objects": SESSIONS["dana"]["objects"][:2]}
    for served, wanted in (
        (branch.telling(identity_verified=None), "CLARIFY R-110 REPLAYED"),
        (branch.telling(service_available=False), "DEFER R-030 REPLAYED"),
        (branch.telling(session=no_cards), "CLARIFY G-OBJECT REPLAYED"),
        (branch.telling(session=None), "CLARIFY G-OBJECT REPLAYED"),
        (branch.telling(reason=Unread.DEADLINE), "DEFER G-STATE REPLAYED STATE_DEADLINE"),
    ):
        again = answer(proposing(served, "CARD_STATUS"), request)
        assert ended(again).startswith(wanted)
        assert first.message not in again.message


def other_bodies(branch: Branch) -> Iterator[tuple[str, Any]]:
    """Each field of a request but its id, with another value than `test_request_id_...` gives it."""
    yield "utterance", "Freeze my visa card."
    yield "utterance", "Freeze my debit card. "
    yield "history", [{"role": "user", "text": "hello"}]
    yield "state", {**branch.state(), "risk_tier": "medium"}
    yield "session", {**SESSIONS["dana"], "objects": SESSIONS["dana"]["objects"][:3]}
    yield "session", {**SESSIONS["dana"], "entitlements": []}
    yield "candidates", [CARD]
    yield "dialogue_id", "some"
    yield "confirm", {"token": "some"}
    yield "language", "en"


def test_request_id_with_another_body_is_refused_and_starts_nothing(branch: Branch) -> None:
    given = branch.fields("Freeze my debit card.", request_id="one")
    served = proposing(branch.appliance, "FREEZE_CARD")
    configuration = branch.appliance.configuration
    first = answer(served, request_of(given, configuration, "test"))
    assert ended(first) == CONFIRM
    count = branch.appliance.book.ledger.head().sequence
    for field, value in other_bodies(branch):
        said = answer(served, request_of({**given, field: value}, configuration, "test"))
        assert ended(said) == "REJECT G-REQUEST REQUEST_ID_REUSED", field
        assert (said.routed.decision_id, said.routed.token) == (None, None)
    assert branch.appliance.book.ledger.head().sequence == count
    assert ended(branch.yes(first)) == COMPLETED


def test_request_id_of_a_confirmed_write_is_refused_for_another_confirmation(
    branch: Branch,
) -> None:
    first = branch.freeze()
    assert ended(branch.yes(first, request_id="one")) == COMPLETED
    visa = branch.state("dana", VISA)
    second = branch.freeze("Freeze my visa card.", state=visa)
    assert ended(branch.yes(second, request_id="one")) == "REJECT G-REQUEST REQUEST_ID_REUSED"
    assert branch.effects == [FROZEN]
    assert ended(branch.yes(second, state=visa)) == COMPLETED, "the refused call used nothing up"


def test_foreign_request_id_gives_nothing_of_its_owner(branch: Branch) -> None:
    first = branch.freeze(request_id="one")
    for foreign in ({"who": "marcus"}, {"channel": "counter"}, {"session": None}):
        said = branch.freeze(request_id="one", **foreign)
        assert not said.routed.replayed
        assert said.routed.decision_id != first.routed.decision_id
    assert branch.effects == []
