"""A confirmed write, carried out: its order, the last look before it, and what became of it.

The decision is durable before any of this, the outcome before anything is said. What a crash leaves
between the two is settled by asking for the key, never by sending again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from gate import confirmation
from gate.configuration import Configuration
from gate.controller import decide
from gate.errors import LedgerError
from gate.findings import Findings
from gate.ledger import decision
from gate.ledger import outcome as book
from gate.ledger.continuation import Continuation, continuation_of
from gate.ledger.encode import moment
from gate.ledger.receipts import Receipt, request_from_receipt, tier_answer_from_receipt
from gate.ledger.segment import Stored
from gate.records import (
    Request,
    Situation,
    Terminal,
    TierAnswer,
    Verdict,
)
from inference.appliance import Appliance
from inference.connectors import outcomes, roster
from inference.connectors.outcomes import Settled
from inference.connectors.protocol import (
    Order,
    Outcome,
    Reason,
    Refused,
    Status,
    failed,
    in_doubt,
)
from inference.connectors.roster import Dispatched
from inference.sources import Untold

STATE: Final = "STATE_"
"""How the reasons of a last look begin that found something else than when it was decided."""

PROBE: Final = timedelta(minutes=1)
"""Validity of an order that is only looked at."""


@dataclass(frozen=True, slots=True)
class Due:
    """A write that was dispatched: everything that its decision was made from, and its order."""

    request: Request
    findings: Findings
    answer: TierAnswer
    goes_on: Continuation
    verdict: Verdict
    order: Order

    @property
    def key(self) -> str:
        """The connector's key: the decision that asked for the confirmation."""
        return str(self.goes_on.of)


@dataclass(frozen=True, slots=True)
class Executed:
    """What became of a confirmed write, and how the ledger states it."""

    outcome: Outcome
    recorded: book.Outcome


def unfit(
    appliance: Appliance, request: Request, verdict: Verdict, question: str, now: datetime
) -> str:
    """Why the order that a customer would confirm could not be sent, as a code; else empty."""
    probe = order("0" * 32, request, verdict, now + PROBE, question)
    prepared = roster.prepare(appliance.roster, probe)
    return f"ORDER_{prepared.reason}" if isinstance(prepared, Refused) else ""


def valid_until(appliance: Appliance, action_id: str, now: datetime) -> datetime | None:
    """The end of validity of an order that is dispatched at `now`; None if nothing carries it out."""
    duty = appliance.roster.duties.get(action_id)
    return None if duty is None else now + timedelta(seconds=duty.valid_for_s)


def order(
    decision_id: str, request: Request, verdict: Verdict, until: datetime, question: str
) -> Order:
    """The order of a write: what its service gets."""
    session = request.session
    return Order(
        decision_id=decision_id,
        action_id=str(verdict.action_id),
        object_id=verdict.object_id,
        slots={name: confirmation.as_json(value) for name, value in verdict.slots.items()},
        subject="" if session is None else session.subject,
        valid_until=until,
        text=question,
    )


def execute(appliance: Appliance, due: Due) -> Executed:
    """Look once more, hand the order over, and make its outcome durable.

    Raises LedgerError where the outcome is not durable: then nothing may be said of it.
    """
    against = last_look(appliance, due)
    if against:
        outcome = failed(against)
    else:
        outcome = roster.execute(appliance.roster, due.order, due.key)
    ledger, decision_id = appliance.book.ledger, due.order.decision_id
    recorded = outcomes.record(
        ledger, decision_id, outcome, appliance.clock(), unless_doubted=bool(against)
    )
    return Executed(outcome, recorded)


def last_look(appliance: Appliance, due: Due) -> str:
    """Why a write may not begin now although it was dispatched, as a code; empty if it may.

    Everything is decided once more, with the clock as it is now and state and session read anew
    where there is a source; a pinned fact that changed since the customer was asked closes, too.
    """
    order = due.order
    request = reread(appliance, due.request, order.action_id, order.object_id)
    if isinstance(request, Untold):
        return f"{STATE}{request.reason}"
    now = appliance.clock()
    if now >= order.valid_until:
        return f"{STATE}EXPIRED"
    fresh = Situation(request.state, now, request.session, request.candidates, due.goes_on.earlier)
    again = decide(appliance.configuration, fresh, due.findings, due.answer)
    same = confirmation.write(again) == confirmation.write(due.verdict)
    if again.terminal is Terminal.DISPATCH and same:
        return ""
    return f"{STATE}CHANGED:{again.rule_id}"


def reread(
    appliance: Appliance, request: Request, action_id: str, object_id: str
) -> Request | Untold:
    """The request with state and session as they are now, where there is a source to ask."""
    if appliance.source is None or request.session is None:
        return request
    told = appliance.source.read(request.session.subject, action_id, object_id)
    if isinstance(told, Untold):
        return told
    return replace(request, state=told.state, session=told.session)


def question(
    configuration: Configuration, request: Request, findings: Findings, verdict: Verdict
) -> str:
    """What the customer confirmed, as it was read back; LedgerError if nothing reads all of it."""
    text = decision.question(configuration, request, findings, verdict)
    if text is None:
        raise LedgerError(f"action `{verdict.action_id}` has no text that reads it back")
    return text


def due_of(appliance: Appliance, stored: Stored) -> Due | None:
    """A dispatched write, read again from its record and receipt; None if its text was erased."""
    record = stored.current
    receipt = appliance.book.receipts.get(record["text_commitment"])
    if not isinstance(receipt, Receipt):
        return None
    request = request_from_receipt(record, receipt)
    answer = tier_answer_from_receipt(receipt)
    goes_on = continuation_of(receipt.context)
    if answer is None or goes_on.findings is None or goes_on.valid_until is None:
        raise LedgerError(f"decision `{record['decision_id']}` is no confirmed write")
    configuration = appliance.configuration
    situation = Situation(
        request.state,
        moment(record["decided_at"]),
        request.session,
        request.candidates,
        goes_on.earlier,
    )
    verdict = decide(configuration, situation, goes_on.findings, answer)
    if verdict.terminal is not Terminal.DISPATCH:
        return None  # under today's configuration it would not be dispatched: never sent again
    text = question(configuration, request, goes_on.findings, verdict)
    sent = order(str(record["decision_id"]), request, verdict, goes_on.valid_until, text)
    return Due(request, goes_on.findings, answer, goes_on, verdict, sent)


def settle(appliance: Appliance) -> tuple[Settled, ...]:
    """Deliver what outboxes keep, ask about every dispatch without a recorded end, record the ends.

    What never reached its outbox is handed over after a last look of its own. At start, and from
    time to time. LedgerError where ledger or outbox cannot be used.
    """
    roster.relay(appliance.roster)

    def dispatched(stored: Stored) -> Dispatched:
        record = stored.current
        due = due_of(appliance, stored)
        return Dispatched(
            key=str(record["confirm"]["of"]),
            action_id=str(record["action_id"]),
            valid_until=moment(record["confirm"]["valid_until"]),
            order=None if due is None else _to_hand_over(appliance, due),
        )

    return outcomes.settle(appliance.roster, appliance.book.ledger, dispatched)


def _to_hand_over(appliance: Appliance, due: Due) -> Order | None:
    """The order of a dispatch that reached nobody, if it may still be handed over.

    Its doubt is recorded first: another process that is still at it records no failure after that.
    """
    duty = appliance.roster.duties.get(due.order.action_id)
    if duty is None or not duty.connector.may_repeat:
        return None
    if duty.connector.status(due.key).status is not Status.UNKNOWN:
        return None
    doubt, decision_id = in_doubt(Reason.NOT_YET_KNOWN), due.order.decision_id
    recorded = outcomes.record(appliance.book.ledger, decision_id, doubt, appliance.clock())
    if recorded is not book.Outcome.IN_DOUBT or last_look(appliance, due):
        return None
    return due.order
