"""The one way through: tiers, gate, durable decision; then, only on DISPATCH, pathway and answer.

route   request -> what it goes on from -> findings -> tiers -> gate -> receipt and decision record
answer  route, then pathway or connector -> evidence check -> outcome record

Nothing is answered or handed over before its decision is durable, and nothing is said that its
evidence does not carry: then the request ends in G-EVIDENCE, never on another pathway.
"""

from __future__ import annotations

import time
from dataclasses import replace
from decimal import Decimal

from gate import evidence
from gate.catalog import Action
from gate.controller import decide
from gate.errors import LedgerError
from gate.records import Mode, Proposal, Request, Reserved, Situation, Terminal
from inference import decision, execution, messages, pathways, recording, turns, writes
from inference.appliance import Appliance
from inference.drafts import Draft
from inference.routed import ANSWERED, BOUNDED, REPLAYED, Answered, Routed
from inference.routing import route
from inference.sources import Untold
from inference.speaking import bounded, closed, entry_of, not_durable, pack_of

__all__ = ["ANSWERED", "BOUNDED", "REPLAYED", "Answered", "Routed", "answer", "route"]


def answer(appliance: Appliance, request: Request) -> Answered:
    """Route one request and, only on DISPATCH, follow its pathway, or carry its write out.

    A replayed request starts nothing: of a write it tells how that stands, and a read is answered
    again only if state and session still allow it.
    """
    routed = route(appliance, request)
    if routed.verdict.terminal is not Terminal.DISPATCH:
        return bounded(appliance, routed)
    started = time.perf_counter()
    action = appliance.configuration.catalog.actions[str(routed.verdict.action_id)]
    if action.mode is Mode.WRITE:
        ended = writes.end(appliance, routed)
    elif routed.replayed:
        ended = _answered_again(appliance, routed, action)
    else:
        ended = _recorded(appliance, _read(appliance, routed, action))
    return replace(ended, pathway_ms=(time.perf_counter() - started) * 1000)


def _answered_again(appliance: Appliance, routed: Routed, action: Action) -> Answered:
    """A read that is asked for again: decided anew on clock, state and session of now."""
    found = execution.reread(appliance, routed.request, action.action_id, routed.verdict.object_id)
    if isinstance(found, Untold):
        ended = closed(appliance, routed, Reserved.STATE, (f"{execution.STATE}{found.reason}",))
        return replace(ended, status=REPLAYED)
    request, routed = found, replace(routed, request=found)
    situation = Situation(request.state, appliance.clock(), request.session, request.candidates)
    proposal = Proposal(action.action_id, None, (action.action_id,), Decimal(1), turns.TIER)
    verdict = decide(appliance.configuration, situation, routed.findings, proposal)
    if (verdict.terminal, verdict.object_id) != (Terminal.DISPATCH, routed.verdict.object_id):
        return replace(bounded(appliance, replace(routed, verdict=verdict)), status=REPLAYED)
    ended = _read(appliance, routed, action)
    return _recorded(appliance, replace(ended, status=REPLAYED))


def _read(appliance: Appliance, routed: Routed, action: Action) -> Answered:
    """Draft, decide over it, check it; whatever fails ends the request in a bounded terminal."""
    try:
        draft = _draft(appliance, routed, action)
    except Exception as error:  # of an index, encoder or database; the request still has to end
        failed = replace(routed, problem=f"{type(error).__name__}: {error}")
        return _without_evidence(appliance, failed, ("PATHWAY_FAILED",))
    choice = decision.choose(draft)
    if choice.reply is decision.Reply.HAND_OFF:
        ended = _without_evidence(appliance, routed, (choice.reason,), draft.said)
        if draft.refusal is None:
            return ended
        return replace(ended, citations=tuple(draft.citations.values()), evidence=draft.evidence)
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
            routed.heard or request,
            action,
            entry_of(appliance, routed, object_id),
            appliance.clock().date(),
        )
    return pathways.from_records(
        appliance.database,
        appliance.institution.queries.get(action.query or ""),
        object_id,
        request.session,
        pack_of(appliance, routed).language,
        appliance.clock().date(),
    )


def _without_evidence(
    appliance: Appliance, routed: Routed, reasons: tuple[str, ...], said: str | None = None
) -> Answered:
    reserved = Reserved.DEADLINE if reasons == ("DEADLINE",) else Reserved.EVIDENCE
    ended = closed(appliance, routed, reserved, reasons, said)
    return replace(ended, basis=decision.BASIS)


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
        return not_durable(appliance, ended.routed, str(error), "OUTCOME_NOT_WRITTEN")
    return ended
