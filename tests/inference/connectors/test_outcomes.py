"""Effects match the ledger exactly: none lost, none twice, wherever either side dies (P-10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from gate.ledger import outcome as book
from gate.ledger.pseudonym import digest
from gate.ledger.segment import Stored
from gate.ledger.store import Ledger
from gate.ledger.verify import verify
from inference.connectors import outcomes, roster
from inference.connectors.http import HttpConnector
from inference.connectors.outbox import Outbox
from inference.connectors.outcomes import RECORDED, Settled, record, settle
from inference.connectors.protocol import UNKNOWN, Reason, Status, done, failed, in_doubt
from inference.connectors.roster import Dispatched, Duty, Roster
from tests.gate.ledger.test_consume import decision
from tests.inference.connectors.offices import BackOffice, new_key, now, order

# fault of the service, where the appliance dies, effects through the service, through the outbox
SCRIPT = (
    ("", "", 1, 1),
    ("", "decided", 0, 1),
    ("", "executed", 1, 1),
    ("error-after", "", 1, 1),
    ("error-after", "executed", 1, 1),
    ("error-before", "", 0, 1),
    ("error-before", "executed", 0, 1),
    ("crash-after", "", 1, 1),
    ("crash-before", "executed", 0, 1),
)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A new ledger; its file must verify when the test is over."""
    with Ledger.open(tmp_path / "ledger.sqlite") as opened:
        yield opened
    assert verify(tmp_path / "ledger.sqlite").ok


def dispatched(ledger: Ledger, number: int) -> str:
    """A durable decision that consumed a token; its id."""
    token = digest(str(number).encode())
    return str(ledger.append(decision(number), consume=(token,)).record["decision_id"])


def play(crew: Roster, ledger: Ledger, office: BackOffice) -> dict[str, Dispatched]:
    """The way through for every line of the script; dying is leaving it in the middle."""
    played = {}
    for number, (fault, dies, *_) in enumerate(SCRIPT):
        given, key = order(valid_until=now() + timedelta(seconds=50)), new_key()
        decision_id = dispatched(ledger, number)
        played[decision_id] = Dispatched(key, "FUND_ORDER", given.valid_until, given)
        if dies == "decided":
            continue
        if fault:
            office.fail_next(fault)
        outcome = roster.execute(crew, given, key)
        if fault.startswith("crash"):
            office.running.process.wait(5)
            office.start_again()
        if dies != "executed":
            record(ledger, decision_id, outcome, now())
    return played


def settle_all(crew: Roster, ledger: Ledger, played: dict[str, Dispatched]) -> list[Settled]:
    """Settle now, then at two later times; every Settled of all three."""

    def of(stored: Stored) -> Dispatched:
        return played[str(stored.record["decision_id"])]

    found = []
    for seconds in (0, 20, 40, 90):
        later = _later(crew, seconds)
        roster.relay(later)
        found += settle(later, ledger, of)
    return found


def _later(crew: Roster, seconds: float) -> Roster:
    def clock() -> datetime:
        return now() + timedelta(seconds=seconds)

    boxes = tuple(replace(box, clock=clock) for box in crew.outboxes)
    duties = dict(crew.duties)
    for box in boxes:
        duties = {a: replace(d, connector=box) for a, d in duties.items()}
    return Roster(duties, boxes, clock)


@pytest.mark.parametrize("kind", ["service", "outbox"])
def test_effects_match_the_ledger_wherever_either_side_dies(
    kind: str, office: BackOffice, connector: HttpConnector, outbox: Outbox, ledger: Ledger
) -> None:
    through = outbox if kind == "outbox" else connector
    boxes = (outbox,) if kind == "outbox" else ()
    crew = Roster({"FUND_ORDER": Duty(through, 2.0, 60.0)}, boxes, now)
    played = play(crew, ledger, office)
    assert list(book.unfinished(ledger)), "the script leaves something to settle"
    found = settle_all(crew, ledger, played)
    assert all(one.agrees for one in found)
    assert list(book.unfinished(ledger)) == []
    for (fault, dies, direct, kept), (decision_id, sent) in zip(
        SCRIPT, played.items(), strict=True
    ):
        effects = office.effects(sent.key)
        standing = book.standing(ledger, decision_id)
        assert effects == (kept if kind == "outbox" else direct), (fault, dies)
        assert standing is (book.Outcome.COMPLETED if effects else book.Outcome.FAILED)


def test_every_status_has_its_word_in_the_ledger() -> None:
    assert set(RECORDED) == set(Status)


def test_outcome_is_recorded_once_with_codes_only(ledger: Ledger) -> None:
    decision_id = dispatched(ledger, 1)
    assert record(ledger, decision_id, in_doubt(Reason.DEADLINE), now()) is book.Outcome.IN_DOUBT
    assert record(ledger, decision_id, UNKNOWN, now()) is book.Outcome.IN_DOUBT
    assert record(ledger, decision_id, done("R-1"), now()) is book.Outcome.COMPLETED
    assert record(ledger, decision_id, failed("NO"), now()) is book.Outcome.COMPLETED
    told = [s.record["detail"] for s in ledger.iterate() if s.record["kind"] == "OUTCOME"]
    named = [{k: v for k, v in detail.items() if k != "decision"} for detail in told]
    assert named == [{"reason": "DEADLINE"}, {"reference": "R-1"}]


def test_contradiction_between_ledger_and_service_is_shown() -> None:
    assert not Settled("d", done("R"), book.Outcome.FAILED).agrees
    assert not Settled("d", failed("NO"), book.Outcome.COMPLETED).agrees
    assert Settled("d", done("R"), book.Outcome.COMPLETED).agrees
    assert Settled("d", in_doubt("X"), book.Outcome.RESOLVED_BY_HUMAN).agrees
    assert outcomes.RECORDED[Status.RECORDED] is book.Outcome.RECORDED_ONLY
