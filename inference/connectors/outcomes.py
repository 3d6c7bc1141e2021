"""Outcomes in the ledger: recorded once, and settled later for every dispatch that has no end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gate.ledger import outcome as book
from gate.ledger.segment import Stored
from gate.ledger.store import Ledger
from inference.connectors.protocol import Outcome, Status
from inference.connectors.roster import Dispatched, Roster, reconcile

RECORDED: Final = {
    Status.DONE: book.Outcome.COMPLETED,
    Status.FAILED: book.Outcome.FAILED,
    Status.RECORDED: book.Outcome.RECORDED_ONLY,
    Status.IN_DOUBT: book.Outcome.IN_DOUBT,
    Status.UNKNOWN: book.Outcome.IN_DOUBT,
}
"""What the ledger calls a connector's outcome."""


@dataclass(frozen=True, slots=True)
class Settled:
    """One dispatch that was asked about: what its connector says, and how it stands in the ledger."""

    decision_id: str
    outcome: Outcome
    recorded: book.Outcome

    @property
    def agrees(self) -> bool:
        """False where the ledger holds another end than the service: a person has to look."""
        return RECORDED[self.outcome.status] is self.recorded or not self.outcome.settled


def record(
    ledger: Ledger,
    decision_id: str,
    outcome: Outcome,
    at: datetime,
    *,
    unless_doubted: bool = False,
) -> book.Outcome:
    """Chain an outcome to its decision; how the ledger states it on return.

    That is another one where the end, or the doubt, was recorded before. `unless_doubted` is for a
    failure that only its own process knows of: whoever recorded the doubt may be handing the order
    over. LedgerError where nothing could be made durable.
    """
    detail = {"reference": outcome.reference, "reason": outcome.reason}
    told = {name: text for name, text in detail.items() if text}
    try:
        book.append_outcome(
            ledger,
            decision_id,
            RECORDED[outcome.status],
            at=at,
            detail=told,
            unless_doubted=unless_doubted,
        )
    except book.OutcomeKnown as known:
        return known.outcome
    return RECORDED[outcome.status]


def settle(
    roster: Roster, ledger: Ledger, dispatched_of: Callable[[Stored], Dispatched]
) -> tuple[Settled, ...]:
    """Ask about every dispatch without a recorded end, and record what there is to record.

    `dispatched_of` reads a decision's record and receipt: key, action, `valid_until` as it was
    decided, and the order where its text is still there. Nothing that may be on its way is sent
    again. LedgerError where the ledger cannot be read or written.
    """
    return tuple(
        _settle(
            roster, ledger, str(one.decision.record["decision_id"]), dispatched_of(one.decision)
        )
        for one in list(book.unfinished(ledger))
    )


def _settle(roster: Roster, ledger: Ledger, decision_id: str, dispatched: Dispatched) -> Settled:
    outcome = reconcile(roster, dispatched)
    return Settled(decision_id, outcome, record(ledger, decision_id, outcome, roster.clock()))
