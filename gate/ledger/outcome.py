"""What became of a decision: records that are chained to it, one end for each write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import takewhile
from typing import Any

from gate.errors import LedgerError
from gate.ledger.formats import EXECUTED, IN_DOUBT, RESOLVED, TOKEN, Kind
from gate.ledger.record import event
from gate.ledger.segment import Appended, DuplicateRequest, Stored
from gate.ledger.store import Ledger
from gate.records import Terminal


class Outcome(StrEnum):
    """What may become of a decision.

    COMPLETED, FAILED and RECORDED_ONLY end the execution of a write: one of them, once. IN_DOUBT
    stands before them at most once. RE_ASKED says that the customer asked for the same again, and
    may stand any number of times; RESOLVED_BY_HUMAN says, once, that somebody took care of it.
    """

    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    RECORDED_ONLY = "RECORDED_ONLY"
    IN_DOUBT = "IN_DOUBT"
    RE_ASKED = "RE_ASKED"
    RESOLVED_BY_HUMAN = "RESOLVED_BY_HUMAN"


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A dispatched write whose execution has no recorded end."""

    decision: Stored
    in_doubt: bool


class OutcomeKnown(LedgerError):
    """The outcome that a record should state is stated already, perhaps otherwise, by `stored`."""

    def __init__(self, problem: str, stored: Stored) -> None:
        self.stored = stored
        super().__init__(problem)

    @property
    def outcome(self) -> Outcome:
        """What is recorded."""
        return Outcome(self.stored.current["status"])


def append_outcome(
    ledger: Ledger,
    decision_id: str,
    outcome: Outcome,
    *,
    at: datetime,
    detail: Mapping[str, Any] | None = None,
    unless_doubted: bool = False,
) -> Appended:
    """Chain an outcome to its decision, whose digest the record names; durable on return.

    `detail` holds codes, ids and digests, never text. OutcomeKnown if the end of the execution is
    recorded already, or with `unless_doubted` that it is in doubt; LedgerError for an unknown
    decision or if the record is not durable.
    """
    decision = ledger.get(decision_id)
    if decision is None:
        raise LedgerError(f"decision `{decision_id}` is not in the ledger; check the id")
    told = {**(detail or {}), "decision": decision.digest}
    record = event(Kind.OUTCOME, at, decision_id=decision_id, status=outcome.value, detail=told)
    doubts = (f"{IN_DOUBT}{decision_id}",) if unless_doubted else ()
    try:
        return ledger.append(record, unless=doubts)
    except DuplicateRequest as known:
        status = known.stored.current["status"]
        problem = f"decision `{decision_id}` is recorded as `{status}`; nothing was added"
        raise OutcomeKnown(problem, known.stored) from known


def standing(ledger: Ledger, decision_id: str) -> Outcome | None:
    """How a write stands: as a human left it, as its execution ended, in doubt, or None."""
    stored = standing_record(ledger, decision_id)
    return None if stored is None else Outcome(stored.current["status"])


def standing_record(ledger: Ledger, decision_id: str) -> Stored | None:
    """The outcome record that says how a write stands; None if there is none yet."""
    keys = [f"{first_part}{decision_id}" for first_part in (RESOLVED, EXECUTED, IN_DOUBT)]
    found = ledger.find_all(keys)
    return next((found[key] for key in keys if key in found), None)


def unfinished(ledger: Ledger) -> Iterator[Unfinished]:
    """Every dispatch that consumed a token and whose end is not recorded, in the order of dispatch.

    After a crash these are to be reconciled by their keys; none of them is sent again.
    """
    ended = {key for end in (EXECUTED, RESOLVED) for key in ledger.keys(end)}
    doubted = set(ledger.keys(IN_DOUBT))
    tokens = sorted(ledger.with_prefix(TOKEN), key=lambda stored: stored.sequence)
    consumed = [stored.current["decision_id"] for stored in tokens if stored.kind == Kind.CONSUMED]
    for decision_id in dict.fromkeys(consumed):
        if ended.isdisjoint((f"{EXECUTED}{decision_id}", f"{RESOLVED}{decision_id}")):
            decision = ledger.get(decision_id)
            if decision is None:
                raise LedgerError(f"decision `{decision_id}` is missing; restore a copy")
            if decision.current["terminal"] == Terminal.DISPATCH:
                yield Unfinished(decision, f"{IN_DOUBT}{decision_id}" in doubted)


def is_unfinished(ledger: Ledger, decision: Stored) -> bool:
    """True for one of those that `unfinished` finds."""
    if decision.current["terminal"] != Terminal.DISPATCH or not _consumed(ledger, decision):
        return False
    decision_id = decision.current["decision_id"]
    return not ledger.find_all([f"{end}{decision_id}" for end in (EXECUTED, RESOLVED)])


def _consumed(ledger: Ledger, decision: Stored) -> bool:
    """True if a decision consumed a token: what it used up follows it in the chain."""
    with closing(ledger.iterate(decision.sequence + 1)) as following:
        uses = takewhile(lambda row: row.kind in (Kind.CONSUMED, Kind.VOIDED), following)
        return any(row.kind == Kind.CONSUMED for row in uses)
