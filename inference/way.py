"""The one way through: tiers, gate, durable decision; then, only on DISPATCH, pathway and answer.

route   request -> findings -> tiers -> gate -> receipt and decision record
answer  route, then pathway -> decision over the evidence -> evidence check -> outcome record

Nothing is answered or handed over before its decision is durable, and nothing is said that its
evidence does not carry: then the request ends in G-EVIDENCE, never on another pathway.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from gate import evidence
from gate.catalog import Action
from gate.errors import LedgerError
from gate.evidence import Evidence
from gate.findings import Findings, find
from gate.language import LanguagePack
from gate.ledger.book import Written, recall
from gate.ledger.decision import decide_and_describe
from gate.ledger.store import DuplicateRequest
from gate.records import (
    UNRESOLVED,
    Abstain,
    Boundary,
    Entry,
    Request,
    Reserved,
    Terminal,
    Verdict,
)
from gate.resolution import closed_lists, entry_of
from inference import decision, messages, pathways, question, recording
from inference.appliance import Appliance
from inference.connectors import Order
from inference.drafts import Citation, Draft
from inference.tiers import Reply, cascade
from inference.tiers.cascade import Tried

ANSWERED, BOUNDED, REPLAYED = "ANSWERED", "BOUNDED", "REPLAYED"


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of each stage, outside the record's hash."""

    findings: float = 0.0
    tiers: float = 0.0
    gate: float = 0.0
    ledger: float = 0.0


@dataclass(frozen=True, slots=True)
class Routed:
    """A decided request. `decision_id` is None where nothing could be recorded.

    `replayed` marks the stored decision of an equal, earlier request: its verdict is the recorded
    one and nothing is started again. `problem` is for the operator.
    """

    request: Request
    findings: Findings
    tried: tuple[Tried, ...]
    verdict: Verdict
    decision_id: str | None
    timing: Timing = Timing()
    replayed: bool = False
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """A request's end: its last terminal with the id that decided it, and what the customer reads.

    `status` is ANSWERED, RECORDED (a write that reached no service), BOUNDED or REPLAYED; `basis`
    tells what kind of decision chose the answer; `reasons` are codes, never for the customer;
    `pathway_ms` is the time after the decision was durable.
    """

    routed: Routed
    terminal: Terminal
    rule_id: str
    status: str
    message: str
    citations: tuple[Citation, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    reasons: tuple[str, ...] = ()
    basis: str = ""
    pathway_ms: float = 0.0


def route(appliance: Appliance, request: Request) -> Routed:
    """Decide one request and make the decision durable; every request gets exactly one verdict.

    Where the ledger cannot be read or written the verdict is G-STORE; where the request id was
    used for another request it is G-REQUEST. Neither is recorded, and nothing may follow.
    """
    started = time.perf_counter()
    findings = find(appliance.configuration, request)
    found_ms = _since(started)
    try:
        known = recall(appliance.book, request)
        if known is not None:
            return _recalled(request, findings, known)
        return _decided(appliance, request, findings, found_ms)
    except DuplicateRequest as error:
        return _unrecorded(appliance, request, findings, Reserved.REQUEST, error)
    except LedgerError as error:
        return _unrecorded(appliance, request, findings, Reserved.STORE, error)


def _decided(appliance: Appliance, request: Request, findings: Findings, found_ms: float) -> Routed:
    asked = time.perf_counter()
    tried = _ask(appliance, request, findings)
    tiers_ms, told = _since(asked), time.perf_counter()
    decided = decide_and_describe(
        appliance.configuration,
        appliance.versions,
        request=request,
        tier_answer=tried[-1].reply.answer,
        now=appliance.clock(),
        findings=findings,
    )
    gate_ms, written_at = _since(told), time.perf_counter()
    written = recording.write_decision(appliance, request, tried, decided)
    if written.replayed:
        return _recalled(request, findings, written)
    timing = Timing(found_ms, tiers_ms, gate_ms, _since(written_at))
    decision_id = str(written.record["decision_id"])
    return Routed(request, findings, tried, decided.verdict, decision_id, timing)


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _ask(appliance: Appliance, request: Request, findings: Findings) -> tuple[Tried, ...]:
    """The cascade's answers; a text that no configured language reads is not shown to any tier."""
    if findings.language is None:
        return (Tried("", Reply(Abstain("language_not_configured", "")), 0.0),)
    asked = question.of(request, appliance.configuration, findings)
    return cascade.run(appliance.tiers, asked)


def _unrecorded(
    appliance: Appliance,
    request: Request,
    findings: Findings,
    reserved: Reserved,
    error: LedgerError,
) -> Routed:
    terminal = appliance.configuration.terminals[reserved]
    reason = "REQUEST_ID_REUSED" if reserved is Reserved.REQUEST else "LEDGER_NOT_WRITTEN"
    boundary = Boundary(terminal.value)
    verdict = Verdict(terminal, boundary, reserved.value, (reason,), None, UNRESOLVED)
    return Routed(request, findings, (), verdict, None, problem=str(error))


def _recalled(request: Request, findings: Findings, known: Written) -> Routed:
    stored = known.record
    verdict = Verdict(
        terminal=Terminal(stored["terminal"]),
        boundary=Boundary(stored["boundary"]),
        rule_id=stored["rule_id"],
        reason_codes=tuple(stored["reason_codes"]),
        action_id=stored["action_id"],
        object_id=stored["object_id"],
    )
    return Routed(request, findings, (), verdict, stored["decision_id"], replayed=True)


def answer(appliance: Appliance, request: Request) -> Answered:
    """Route one request and, only on DISPATCH, follow its pathway to an answer with citations.

    A replayed DISPATCH starts nothing and has no message.
    """
    routed = route(appliance, request)
    verdict = routed.verdict
    if verdict.terminal is not Terminal.DISPATCH:
        return _bounded(appliance, routed)
    if routed.replayed:
        return Answered(routed, verdict.terminal, verdict.rule_id, REPLAYED, "")
    started = time.perf_counter()
    action = appliance.configuration.catalog.actions[str(verdict.action_id)]
    if action.pathway in ("documents", "records"):
        ended = _read(appliance, routed, action)
    else:
        ended = _handed_over(appliance, routed, action)
    return replace(_recorded(appliance, ended), pathway_ms=_since(started))


def _bounded(appliance: Appliance, routed: Routed) -> Answered:
    verdict = routed.verdict
    names = messages.option_names(
        verdict.options, lambda object_id: _entry(appliance, routed.request, object_id)
    )
    message = messages.bounded(_pack(appliance, routed), verdict.terminal, verdict.rule_id, names)
    return Answered(
        routed, verdict.terminal, verdict.rule_id, BOUNDED, message, reasons=verdict.reason_codes
    )


def _pack(appliance: Appliance, routed: Routed) -> LanguagePack:
    configuration = appliance.configuration
    language = routed.findings.language
    return configuration.packs[language] if language else configuration.pack


def _entry(appliance: Appliance, request: Request, object_id: str) -> Entry | None:
    lists = closed_lists(appliance.configuration.registry.entries, request.session)
    return entry_of(lists, object_id)


def _read(appliance: Appliance, routed: Routed, action: Action) -> Answered:
    """Draft, decide over it, check it; whatever fails ends the request in a bounded terminal."""
    try:
        draft = _draft(appliance, routed, action)
    except Exception as error:  # of an index, encoder or database; the request still has to end
        failed = replace(routed, problem=f"{type(error).__name__}: {error}")
        return _without_evidence(appliance, failed, ("PATHWAY_FAILED",))
    choice = decision.choose(draft)
    if choice.reply is decision.Reply.HAND_OFF:
        return _without_evidence(appliance, routed, (choice.reason,), draft.said)
    against = evidence.check(appliance.configuration.lexicon, draft.statements, draft.evidence)
    if against:
        return _without_evidence(appliance, routed, against)
    return Answered(
        routed,
        Terminal.DISPATCH,
        routed.verdict.rule_id,
        ANSWERED,
        messages.answered(draft.statements),
        draft.cited,
        draft.evidence,
        (choice.reason,),
        choice.basis,
    )


def _draft(appliance: Appliance, routed: Routed, action: Action) -> Draft:
    request, object_id = routed.request, routed.verdict.object_id
    if action.pathway == "documents":
        return pathways.from_documents(
            appliance.documents,
            appliance.configuration,
            request,
            action,
            _entry(appliance, request, object_id),
            appliance.clock().date(),
        )
    return pathways.from_records(
        appliance.database,
        appliance.institution.queries.get(action.query or ""),
        object_id,
        request.session,
        _pack(appliance, routed).language,
    )


def _without_evidence(
    appliance: Appliance, routed: Routed, reasons: tuple[str, ...], said: str | None = None
) -> Answered:
    reserved = Reserved.DEADLINE if reasons == ("DEADLINE",) else Reserved.EVIDENCE
    terminal = appliance.configuration.terminals[reserved]
    message = said or messages.bounded(_pack(appliance, routed), terminal, reserved.value)
    return Answered(
        routed, terminal, reserved.value, BOUNDED, message, reasons=reasons, basis=decision.BASIS
    )


def _handed_over(appliance: Appliance, routed: Routed, action: Action) -> Answered:
    verdict = routed.verdict
    order = Order(str(routed.decision_id), action.action_id, verdict.object_id, {})
    handed = appliance.connector.hand_over(order)
    entry = _entry(appliance, routed.request, verdict.object_id)
    message = messages.recorded(_pack(appliance, routed), action, entry)
    return Answered(
        routed, verdict.terminal, verdict.rule_id, handed.status, message, basis="dispatch"
    )


def _recorded(appliance: Appliance, ended: Answered) -> Answered:
    """The end with its outcome record; without one nothing is said."""
    try:
        recording.write_outcome(
            appliance,
            str(ended.routed.decision_id),
            ended.status,
            ended.rule_id,
            ended.basis,
            ended.reasons,
            ended.citations,
        )
    except LedgerError as error:
        terminal = appliance.configuration.terminals[Reserved.STORE]
        pack = _pack(appliance, ended.routed)
        return Answered(
            replace(ended.routed, problem=str(error)),
            terminal,
            Reserved.STORE.value,
            BOUNDED,
            messages.bounded(pack, terminal, Reserved.STORE.value),
            reasons=("OUTCOME_NOT_WRITTEN",),
        )
    return ended
