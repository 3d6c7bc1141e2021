"""Connectors that fail, processes that die: effects and ledger agree, none lost, none twice (P-10)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from gate.errors import LedgerError
from gate.ledger.book import erase
from gate.ledger.decision import redecide, rejudge
from gate.ledger.replay import Status, replay_all
from gate.load.requests import request_of
from inference import execution
from inference.connectors.http import HttpConnector
from inference.connectors.protocol import Order, Outcome
from inference.way import Answered, answer
from tests.inference.asking import proposing
from tests.inference.branch import (
    BOUGHT,
    COMPLETED,
    FROZEN,
    OPEN,
    USED,
    Branch,
    ended,
    through,
)
from tests.inference.connectors.offices import ACTIONS, endpoint_of
from tests.inference.elsewhere import elsewhere


def test_connector_that_is_down_has_no_effect_and_may_be_asked_again(branch: Branch) -> None:
    first = branch.freeze()
    down = HttpConnector(
        "down", endpoint_of("http://127.0.0.1:9", branch.office.secret_file), ACTIONS, branch.clock
    )
    said = branch.yes(first, by=through(branch.appliance, "FREEZE_CARD", down))
    assert ended(said) == "DISPATCH R-999 FAILED UNREACHABLE"
    assert branch.effects == []
    assert ended(branch.yes(first)) == USED, "to ask again is to confirm again"
    assert ended(branch.yes(branch.freeze())) == COMPLETED
    assert branch.effects == [FROZEN]


def settled(branch: Branch) -> list[str]:
    """What settling says of every open write: by the service, and in the ledger."""
    found = execution.settle(branch.appliance)
    assert all(one.agrees for one in found)
    return [f"{one.outcome.status} {one.recorded}" for one in found]


def test_deadline_after_the_effect_is_settled_by_key(branch: Branch) -> None:
    first = branch.freeze()
    branch.office.fail_next("delay-after:1")
    duty = branch.appliance.roster.duties["FREEZE_CARD"]
    duties = {**branch.appliance.roster.duties, "FREEZE_CARD": replace(duty, deadline_s=0.2)}
    hasty = replace(branch.appliance, roster=replace(branch.appliance.roster, duties=duties))
    assert ended(branch.yes(first, by=hasty)) == "DISPATCH R-999 IN_DOUBT DEADLINE"
    stale = branch.state(card_already_frozen={"value": False, "as_of": branch.now})
    assert ended(branch.freeze(state=stale)) == OPEN
    assert settled(branch) == ["DONE COMPLETED"]
    assert settled(branch) == []
    assert branch.effects == [FROZEN]
    assert ended(branch.freeze()) == "REJECT R-310", "the bank says that it is frozen"


@pytest.mark.parametrize(
    ("fault", "effects", "soon", "later"),
    [
        ("error-after", [FROZEN], "DONE COMPLETED", None),
        ("error-before", [], "IN_DOUBT IN_DOUBT", "FAILED FAILED"),
        ("crash-before", [], "IN_DOUBT IN_DOUBT", "FAILED FAILED"),
        ("crash-inside", [], "IN_DOUBT IN_DOUBT", "FAILED FAILED"),
        ("crash-after", [FROZEN], "DONE COMPLETED", None),
    ],
)
def test_service_that_fails_is_asked_by_key_and_never_sent_to_again(
    branch: Branch, fault: str, effects: list[Any], soon: str, later: str | None
) -> None:
    first = branch.freeze()
    branch.office.fail_next(fault)
    said = branch.yes(first)
    assert said.status == "IN_DOUBT"
    assert branch.effects == effects
    if fault.startswith("crash"):
        branch.office.start_again()
    assert settled(branch) == [soon]
    branch.clock.move(60)
    assert settled(branch) == ([] if later is None else [later])
    assert settled(branch) == []
    assert branch.effects == effects


DEAD = ("decided", "executed")


@pytest.mark.parametrize("dies", DEAD)
def test_killed_process_is_settled_by_the_next_one(branch: Branch, dies: str) -> None:
    first = branch.freeze()
    fields = branch.fields("yes", token=first.routed.token)
    assert elsewhere(branch, fields, dies) == ""
    assert branch.effects == ([] if dies == "decided" else [FROZEN])
    branch.restarted()
    request = request_of(fields, branch.appliance.configuration, "test")
    again = answer(proposing(branch.appliance, "FREEZE_CARD"), request)
    assert ended(again) == "DISPATCH R-999 IN_DOUBT"
    assert ended(branch.yes(first)) == USED
    stale = branch.state(card_already_frozen={"value": False, "as_of": branch.now})
    assert ended(branch.freeze(state=stale)) == OPEN
    done = dies == "executed"
    assert settled(branch) == ["DONE COMPLETED" if done else "IN_DOUBT IN_DOUBT"]
    branch.clock.move(60)
    assert settled(branch) == ([] if done else ["FAILED FAILED"])
    told = answer(proposing(branch.appliance, "FREEZE_CARD"), request)
    assert told.status == ("COMPLETED" if done else "FAILED")
    assert branch.effects == ([FROZEN] if done else [])


@dataclass(frozen=True)
class Leaving:
    """A connector whose process ends before or after the order is carried out."""

    inner: Any
    at: str

    def execute(self, order: Order, key: str, deadline_s: float) -> Outcome:
        if self.at == "executed":
            self.inner.execute(order, key, deadline_s)
        raise SystemExit

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def leaves(branch: Branch, at: str, asked: Answered, action: str) -> None:
    """Confirm a write in an appliance that ends in the middle of it."""
    inner = branch.appliance.roster.duties[action].connector
    with pytest.raises(SystemExit):
        branch.yes(asked, by=through(branch.appliance, action, Leaving(inner, at)))
    branch.restarted()


@pytest.mark.parametrize("dies", DEAD)
def test_order_for_the_outbox_is_delivered_once_wherever_its_process_ended(
    branch: Branch, dies: str
) -> None:
    leaves(branch, dies, branch.buy(), "FUND_ORDER")
    assert branch.effects == ([] if dies == "decided" else [BOUGHT])
    assert settled(branch) == ["DONE COMPLETED"]
    assert settled(branch) == []
    assert branch.effects == [BOUGHT]


def test_order_that_never_reached_its_outbox_is_looked_at_again_before_it_is_sent(
    branch: Branch,
) -> None:
    leaves(branch, "decided", branch.buy(), "FUND_ORDER")
    changed = branch.telling(fund_minimum="300.00")
    branch.appliances.append(changed)
    assert settled(branch) == ["IN_DOUBT IN_DOUBT"]
    assert branch.effects == []
    branch.clock.move(2000)
    assert settled(branch) == ["FAILED FAILED"]
    assert branch.effects == []


def test_order_in_another_process_that_settles_meanwhile_ends_once(branch: Branch) -> None:
    """The other one hands the order over; what this one then finds to be changed is no failure."""
    first = branch.buy()
    told: list[str] = []
    other = branch.appliance

    def settles() -> None:
        told.extend(f"{one.outcome.status} {one.recorded}" for one in execution.settle(other))

    said = branch.yes(first, by=branch.telling(first=settles, fund_minimum="300.00"))
    assert told == ["DONE COMPLETED"]
    assert said.status == "COMPLETED"
    assert branch.effects == [BOUGHT]


def test_doubt_of_another_process_is_not_overruled_by_a_last_look(branch: Branch) -> None:
    first = branch.freeze()
    other = branch.appliance
    late = branch.telling(first=lambda: execution.settle(other), card_control_permitted=False)
    assert branch.yes(first, by=late).status == "IN_DOUBT"
    assert branch.effects == []
    branch.clock.move(60)
    assert settled(branch) == ["FAILED FAILED"]


def test_order_that_waits_in_the_outbox_is_delivered_when_the_bank_is_back(branch: Branch) -> None:
    first = branch.buy()
    branch.office.running.stop()
    said = branch.yes(first, by=branch.telling())
    assert said.status == "IN_DOUBT"
    assert branch.effects == []
    branch.office.start_again()
    branch.clock.move(60)
    assert settled(branch) == ["DONE COMPLETED"]
    assert branch.effects == [BOUGHT]


# ---- what is erased ------------------------------------------------------------------------------


def test_erased_confirmations_replay_as_erased(branch: Branch) -> None:
    first = branch.freeze()
    second = branch.yes(first)
    book = branch.appliance.book
    for said in (first, second):
        erase(book, str(said.routed.decision_id), at=branch.clock(), reason="asked")
    same = branch.appliance.configuration, branch.appliance.versions
    reports = list(replay_all(book, redecide(*same), rejudge(*same)))
    assert [(one.status, one.differing_field) for one in reports] == [(Status.ERASED, None)] * 2


def test_write_without_an_end_is_not_erased(branch: Branch) -> None:
    first = branch.freeze()
    branch.office.fail_next("error-before")
    said = branch.yes(first)
    with pytest.raises(LedgerError, match="reconcile it first"):
        erase(
            branch.appliance.book, str(said.routed.decision_id), at=branch.clock(), reason="asked"
        )


def test_question_that_was_erased_leaves_its_dispatch_whole(branch: Branch) -> None:
    first = branch.freeze()
    branch.office.fail_next("error-after")
    second = branch.yes(first)
    erase(branch.appliance.book, str(first.routed.decision_id), at=branch.clock(), reason="asked")
    assert second.status == "IN_DOUBT"
    assert settled(branch) == ["DONE COMPLETED"]
    assert branch.effects == [FROZEN]
