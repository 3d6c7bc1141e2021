"""Route: what a request goes on from, its findings, tiers and gate, and the durable decision."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from gate.errors import LedgerError
from gate.findings import find
from gate.ledger import dialogue as records
from gate.ledger.book import Written, recall
from gate.ledger.continuation import Continuation, continuation_of
from gate.ledger.decision import Decided, decide_and_describe
from gate.ledger.encode import Json, moment
from gate.ledger.pseudonym import new_salt
from gate.ledger.receipts import Receipt, tier_answer_from_receipt
from gate.ledger.store import DuplicateRequest, TokenUsed
from gate.records import (
    UNRESOLVED,
    Abstain,
    Boundary,
    Request,
    Reserved,
    Terminal,
    TierAnswer,
    Verdict,
)
from inference import execution, question, recording, turns
from inference.appliance import Appliance
from inference.execution import Due
from inference.routed import Routed, Timing
from inference.tiers import Reply, cascade
from inference.tiers.cascade import Tried
from inference.turns import Turn

ATTEMPTS: Final = 5
"""How often a decision is made again because another one used up its token meanwhile."""


def route(appliance: Appliance, request: Request) -> Routed:
    """Decide one request and make the decision durable; every request gets exactly one verdict.

    Where the ledger cannot be read or written the verdict is G-STORE; where the request id was
    used for another request it is G-REQUEST. Neither is recorded, and nothing may follow.
    """
    try:
        known = recall(appliance.book, request)
        return (
            _decided(appliance, request) if known is None else _recalled(appliance, request, known)
        )
    except DuplicateRequest as error:
        return _unrecorded(appliance, request, Reserved.REQUEST, error)
    except LedgerError as error:
        return _unrecorded(appliance, request, Reserved.STORE, error)


def _decided(appliance: Appliance, request: Request) -> Routed:
    """Decide and record; again where another decision used up a token meanwhile."""
    asked: tuple[Tried, ...] | None = None
    for _ in range(ATTEMPTS):
        started, now = time.perf_counter(), appliance.clock()
        turn = turns.read(appliance, request, now)
        found_ms, told = _since(started), time.perf_counter()
        if turn.answer is not None:
            tried: tuple[Tried, ...] = (Tried(turns.TIER, Reply(turn.answer), 0.0),)
        else:
            tried = asked = asked or _ask(appliance, turn)
        tiers_ms = _since(told)
        try:
            return _recorded_decision(appliance, request, turn, tried, now, found_ms, tiers_ms)
        except TokenUsed:
            continue
    raise LedgerError("other decisions kept using up the same confirmation; ask again")


def _recorded_decision(
    appliance: Appliance,
    request: Request,
    turn: Turn,
    tried: tuple[Tried, ...],
    now: datetime,
    found_ms: float,
    tiers_ms: float,
) -> Routed:
    told = time.perf_counter()
    reply = tried[-1].reply
    answer = reply.answer
    decided, goes_on = _decide(appliance, request, turn, reply, now)
    gate_ms, written_at = _since(told), time.perf_counter()
    salt = new_salt()
    written = recording.write_decision(appliance, request, tried, decided, turn.voids, salt)
    if written.replayed:
        return _recalled(appliance, request, written)
    decision_id = str(written.record["decision_id"])
    timing = Timing(found_ms, tiers_ms, gate_ms, _since(written_at))
    routed = Routed(request, decided.findings, tried, decided.verdict, decision_id, timing)
    routed = replace(routed, heard=turn.heard)
    return _with_handles(appliance, routed, decided, goes_on, answer, salt)


def _with_handles(
    appliance: Appliance,
    routed: Routed,
    decided: Decided,
    goes_on: Continuation,
    answer: TierAnswer,
    salt: bytes,
) -> Routed:
    """The decision with what the next turn needs: token or dialogue id, or the order to carry out."""
    decision_id, key = str(routed.decision_id), appliance.book.key
    if key is None:
        return routed
    if decided.question is not None:
        token = records.issue(key, records.CONFIRM, decision_id, salt)
        return replace(routed, question=decided.question, token=token)
    if decided.dialogue_until is not None:
        dialogue_id = records.issue(key, records.DIALOGUE, decision_id, salt)
        return replace(routed, dialogue_id=dialogue_id)
    if goes_on.valid_until is None or decided.verdict.terminal is not Terminal.DISPATCH:
        return routed
    configuration, request = appliance.configuration, routed.request
    text = execution.question(configuration, request, decided.findings, decided.verdict)
    order = execution.order(decision_id, request, decided.verdict, goes_on.valid_until, text)
    due = Due(request, decided.findings, answer, goes_on, decided.verdict, order)
    return replace(routed, due=due)


def _decide(
    appliance: Appliance, request: Request, turn: Turn, reply: Reply, now: datetime
) -> tuple[Decided, Continuation]:
    """Decide, look up what the ledger adds, and decide again if that is anything.

    A confirmation is asked for only if its order could be sent.
    """
    goes_on = turn.goes_on
    if goes_on.earlier.confirmed is not None:
        goes_on = replace(goes_on, valid_until=_valid_until(appliance, goes_on, now))
    decided = _describe(appliance, request, turn, reply.answer, now, goes_on, reply.model)
    added = turns.reconsidered(appliance, request, goes_on, decided, now)
    if added is not None:
        goes_on = added
        decided = _describe(appliance, request, turn, reply.answer, now, goes_on, reply.model)
    if decided.question is not None:
        unfit = execution.unfit(appliance, request, decided.verdict, decided.question, now)
        if unfit:
            goes_on = replace(goes_on, earlier=replace(goes_on.earlier, unfit=unfit))
            decided = _describe(appliance, request, turn, reply.answer, now, goes_on, reply.model)
    return decided, goes_on


def _valid_until(appliance: Appliance, goes_on: Continuation, now: datetime) -> datetime | None:
    confirmed = goes_on.earlier.confirmed
    return (
        None
        if confirmed is None
        else execution.valid_until(appliance, confirmed.write.action_id, now)
    )


def _describe(
    appliance: Appliance,
    request: Request,
    turn: Turn,
    answer: TierAnswer,
    now: datetime,
    goes_on: Continuation,
    reported: str = "",
) -> Decided:
    return decide_and_describe(
        appliance.configuration,
        appliance.versions,
        request=request,
        tier_answer=answer,
        now=now,
        findings=turn.findings,
        goes_on=goes_on,
        reported_model=reported or None,
    )


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _ask(appliance: Appliance, turn: Turn) -> tuple[Tried, ...]:
    """The cascade's answers; a text that no configured language reads is not shown to any tier."""
    if turn.findings.language is None:
        return (Tried("", Reply(Abstain("language_not_configured", "")), 0.0),)
    asked = question.of(turn.heard, appliance.configuration, turn.findings)
    return cascade.run(appliance.tiers, asked)


def _unrecorded(
    appliance: Appliance, request: Request, reserved: Reserved, error: LedgerError
) -> Routed:
    terminal = appliance.configuration.terminals[reserved]
    reason = "REQUEST_ID_REUSED" if reserved is Reserved.REQUEST else "LEDGER_NOT_WRITTEN"
    boundary = Boundary(terminal.value)
    verdict = Verdict(terminal, boundary, reserved.value, (reason,), None, UNRESOLVED)
    findings = find(appliance.configuration, request)
    return Routed(request, findings, (), verdict, None, problem=str(error))


def _recalled(appliance: Appliance, request: Request, known: Written) -> Routed:
    """The stored decision of this very request; in the clear where it can be made again."""
    record, book = known.record, appliance.book
    receipt = book.receipts.get(record["text_commitment"])
    if isinstance(receipt, Receipt) and (answer := tier_answer_from_receipt(receipt)) is not None:
        goes_on, at = continuation_of(receipt.context), moment(record["decided_at"])
        heard = turns.heard(appliance, request, goes_on)
        found = goes_on.findings or find(appliance.configuration, request, goes_on.recognised)
        turn = Turn(heard, found)
        decided = _describe(appliance, request, turn, answer, at, goes_on)
        if _is_stored(decided.verdict, record):
            decision_id = str(record["decision_id"])
            routed = Routed(
                request, decided.findings, (), decided.verdict, decision_id, heard=heard
            )
            handled = _with_handles(appliance, routed, decided, goes_on, answer, receipt.salt)
            return replace(handled, replayed=True)
    verdict = Verdict(
        terminal=Terminal(record["terminal"]),
        boundary=Boundary(record["boundary"]),
        rule_id=record["rule_id"],
        reason_codes=tuple(record["reason_codes"]),
        action_id=record["action_id"],
        object_id=record["object_id"],
    )
    findings = find(appliance.configuration, request)
    return Routed(request, findings, (), verdict, str(record["decision_id"]), replayed=True)


def _is_stored(verdict: Verdict, record: Mapping[str, Json]) -> bool:
    """True if a decision that was made again ended as the stored one did."""
    stored = (record["terminal"], record["rule_id"], record["action_id"])
    return stored == (verdict.terminal.value, verdict.rule_id, verdict.action_id)
