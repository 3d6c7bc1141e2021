"""Outcomes are chained to their decision, end an execution once, and tell what is unfinished."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gate.errors import LedgerError
from gate.ledger.formats import ONCE, Kind
from gate.ledger.outcome import (
    Outcome,
    OutcomeKnown,
    append_outcome,
    is_unfinished,
    standing,
    unfinished,
)
from gate.ledger.pseudonym import digest
from gate.ledger.record import Sealed, event
from gate.ledger.store import Ledger
from gate.ledger.verify import verify
from tests.gate.ledger.samples import NOW
from tests.gate.ledger.test_consume import decision

ENDS = (Outcome.COMPLETED, Outcome.FAILED, Outcome.RECORDED_ONLY)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A new ledger; its file must verify when the test is over."""
    with Ledger.open(tmp_path / "ledger.sqlite") as opened:
        yield opened
    assert verify(tmp_path / "ledger.sqlite").ok


def dispatched(ledger: Ledger, number: int = 1) -> str:
    """A decision that consumed a token; its id."""
    token = digest(str(number).encode())
    return str(ledger.append(decision(number), consume=(token,)).record["decision_id"])


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_names_the_decision_it_belongs_to(ledger: Ledger, outcome: Outcome) -> None:
    decision_id = dispatched(ledger)
    appended = append_outcome(
        ledger, decision_id, outcome, at=NOW, detail={"reference": "B-17", "reason": "BUSY"}
    )
    record = list(ledger.iterate())[-1].record
    assert record == appended.record
    assert record["kind"] == "OUTCOME"
    assert (record["decision_id"], record["status"]) == (decision_id, outcome.value)
    first = next(ledger.iterate())
    assert record["detail"] == {"decision": first.digest, "reference": "B-17", "reason": "BUSY"}


@pytest.mark.parametrize("first", ENDS)
@pytest.mark.parametrize("second", ENDS)
def test_an_execution_ends_once(ledger: Ledger, first: Outcome, second: Outcome) -> None:
    decision_id = dispatched(ledger)
    appended = append_outcome(ledger, decision_id, first, at=NOW)
    with pytest.raises(OutcomeKnown, match=f"is recorded as `{first}`; nothing") as known:
        append_outcome(ledger, decision_id, second, at=NOW)
    assert known.value.outcome is first
    assert known.value.stored.digest == appended.digest
    assert standing(ledger, decision_id) is first


def test_of_many_who_end_an_execution_one_does(ledger: Ledger) -> None:
    decision_id = dispatched(ledger)

    def end(number: int) -> bool:
        try:
            append_outcome(ledger, decision_id, ENDS[number % 3], at=NOW)
        except OutcomeKnown:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(end, range(48))) == 1


def test_doubt_comes_before_the_end_and_once(ledger: Ledger) -> None:
    decision_id = dispatched(ledger)
    append_outcome(ledger, decision_id, Outcome.IN_DOUBT, at=NOW)
    assert standing(ledger, decision_id) is Outcome.IN_DOUBT
    with pytest.raises(OutcomeKnown, match="`IN_DOUBT`"):
        append_outcome(ledger, decision_id, Outcome.IN_DOUBT, at=NOW)
    append_outcome(ledger, decision_id, Outcome.COMPLETED, at=NOW)
    assert standing(ledger, decision_id) is Outcome.COMPLETED


@pytest.mark.parametrize("end", [*ENDS, Outcome.RESOLVED_BY_HUMAN])
def test_what_has_ended_is_not_put_in_doubt_again(ledger: Ledger, end: Outcome) -> None:
    decision_id = dispatched(ledger)
    append_outcome(ledger, decision_id, end, at=NOW)
    with pytest.raises(OutcomeKnown) as known:
        append_outcome(ledger, decision_id, Outcome.IN_DOUBT, at=NOW)
    assert known.value.outcome is end
    assert standing(ledger, decision_id) is end


def test_a_human_resolves_once_and_it_stands_above_the_rest(ledger: Ledger) -> None:
    decision_id = dispatched(ledger)
    append_outcome(ledger, decision_id, Outcome.IN_DOUBT, at=NOW)
    append_outcome(ledger, decision_id, Outcome.RESOLVED_BY_HUMAN, at=NOW)
    with pytest.raises(OutcomeKnown):
        append_outcome(ledger, decision_id, Outcome.RESOLVED_BY_HUMAN, at=NOW)
    append_outcome(ledger, decision_id, Outcome.FAILED, at=NOW)
    assert standing(ledger, decision_id) is Outcome.RESOLVED_BY_HUMAN


def test_the_customer_may_ask_again_any_number_of_times(ledger: Ledger) -> None:
    decision_id = dispatched(ledger)
    append_outcome(ledger, decision_id, Outcome.COMPLETED, at=NOW)
    for _ in range(3):
        append_outcome(ledger, decision_id, Outcome.RE_ASKED, at=NOW)
    assert standing(ledger, decision_id) is Outcome.COMPLETED
    assert ledger.head().sequence == 6


def test_one_decisions_outcome_is_not_anothers(ledger: Ledger) -> None:
    one, two = dispatched(ledger, 1), dispatched(ledger, 2)
    append_outcome(ledger, one, Outcome.COMPLETED, at=NOW)
    assert standing(ledger, two) is None
    append_outcome(ledger, two, Outcome.FAILED, at=NOW)
    assert (standing(ledger, one), standing(ledger, two)) == (Outcome.COMPLETED, Outcome.FAILED)


def test_an_outcome_of_no_decision_is_refused(ledger: Ledger) -> None:
    dispatched(ledger)
    for unknown in ("nope", "token:", f"token:{digest(b'1')}"):
        with pytest.raises(LedgerError, match="is not in the ledger; check the id"):
            append_outcome(ledger, unknown, Outcome.COMPLETED, at=NOW)
    assert ledger.head().sequence == 2


def test_a_decision_without_a_write_can_be_resolved(ledger: Ledger) -> None:
    decision_id = str(ledger.append(decision(5)).record["decision_id"])
    append_outcome(ledger, decision_id, Outcome.RESOLVED_BY_HUMAN, at=NOW)
    assert standing(ledger, decision_id) is Outcome.RESOLVED_BY_HUMAN
    assert list(unfinished(ledger)) == []


def test_what_has_no_end_is_unfinished_in_the_order_of_dispatch(ledger: Ledger) -> None:
    ids = [dispatched(ledger, number) for number in range(8)]
    ledger.append(decision(100))
    for number, outcome in enumerate((*ENDS, Outcome.RESOLVED_BY_HUMAN)):
        append_outcome(ledger, ids[number], outcome, at=NOW)
    append_outcome(ledger, ids[5], Outcome.IN_DOUBT, at=NOW)
    append_outcome(ledger, ids[6], Outcome.RE_ASKED, at=NOW)
    found = list(unfinished(ledger))
    told = [row for row in ledger.iterate() if row.kind == Kind.DECISION]
    assert [row for row in told if is_unfinished(ledger, row)] == [one.decision for one in found]
    assert [(one.decision.key, one.in_doubt) for one in found] == [
        (ids[4], False),
        (ids[5], True),
        (ids[6], False),
        (ids[7], False),
    ]


def test_only_a_dispatch_that_consumed_a_token_is_unfinished_and_only_once(ledger: Ledger) -> None:
    tokens = iter(digest(f"token-{number}".encode()) for number in range(9))
    asked_again = {**decision(1), "terminal": "CLARIFY"}
    ledger.append(Sealed(asked_again), consume=(next(tokens),), void=(next(tokens),))
    ledger.append(decision(2), void=(next(tokens),))
    dispatch = ledger.append(
        decision(3), consume=(next(tokens), next(tokens)), void=(next(tokens),)
    )
    (left,) = unfinished(ledger)
    assert left.decision.sequence == dispatch.sequence
    told = [row for row in ledger.iterate() if row.kind == Kind.DECISION]
    assert [is_unfinished(ledger, row) for row in told] == [False, False, True]


def test_an_empty_ledger_has_nothing_unfinished(ledger: Ledger) -> None:
    assert list(unfinished(ledger)) == []


def test_outcomes_of_the_first_release_still_verify_and_may_repeat(ledger: Ledger) -> None:
    """`ANSWERED`, `BOUNDED` and `RECORDED` have no key in ledgers that exist."""
    for status in ("ANSWERED", "BOUNDED", "RECORDED", "RECORDED"):
        record = event(Kind.OUTCOME, NOW, decision_id="d", status=status, detail={})
        ledger.append(record)
    assert {stored.key for stored in ledger.iterate()} == {None}


def test_every_outcome_that_may_stand_once_is_one() -> None:
    assert set(ONCE) == set(Outcome) - {Outcome.RE_ASKED}
