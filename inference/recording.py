"""What the way through writes down: the decision with its receipt, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gate.ledger import dialogue as records
from gate.ledger.book import Written, write
from gate.ledger.decision import Decided
from gate.ledger.encode import moment
from gate.ledger.outcome import Outcome, append_outcome
from gate.ledger.record import Kind, event
from gate.ledger.tiers import tier_body
from gate.records import Request, Terminal
from inference import turns
from inference.appliance import Appliance
from inference.drafts import Citation
from inference.tiers.cascade import Tried


def write_decision(
    appliance: Appliance,
    request: Request,
    tried: Sequence[Tried],
    decided: Decided,
    voids: Sequence[str],
    salt: bytes,
) -> Written:
    """Make a decision durable, its receipt first; raises LedgerError where it is not.

    The receipt keeps what every tier said, with its raw output and what it was sent. `voids` are
    digests of tokens that are used up with it, by executing on one or by making it void. Whoever
    asks for a confirmation or executes on one also voids every other open one of an equal write:
    two that were asked for at the same moment, neither of which saw the other, have one effect.
    TokenUsed if another decision used one up meanwhile.
    """
    book, now, asking = appliance.book, appliance.clock(), decided.question is not None
    executes = decided.confirms and decided.verdict.terminal is Terminal.DISPATCH
    writes = asking or executes
    intent = turns.intent_of(appliance, request, decided.verdict) if writes else None
    same = records.same(book, intent, now) if writes else records.Same()
    used = voids if executes else ()
    written = write(
        book,
        request=request,
        tier_answer=tried[-1].reply.answer,
        clear=decided.clear,
        salt=salt,
        outputs=[_output(one) for one in tried],
        prompts=[{"tier": one.tier, "sent": one.reply.sent} for one in tried if one.reply.sent],
        consume=used,
        void=[t for t in dict.fromkeys((*voids, *same.tokens)) if t not in used],
        intent=intent,
        speaker=records.speaker(book, request),
        context=decided.context,
    )
    if asking and same.done and not written.replayed:
        _asked_again(appliance, same.done[-1])
    return written


def _asked_again(appliance: Appliance, done: tuple[str, str]) -> None:
    """Chain to a write that was done within the window that its subject asks for an equal one."""
    decision_id, done_at = done
    now = appliance.clock()
    if moment(done_at) >= records.window(appliance.configuration, now):
        append_outcome(appliance.book.ledger, decision_id, Outcome.RE_ASKED, at=now)


def _output(tried: Tried) -> dict[str, Any]:
    told = tier_body(tried.reply.answer)
    reply = tried.reply
    said = {"tier": tried.tier, "answer": told, "raw": reply.raw, "problem": tried.problem}
    return {**said, "flags": list(reply.flags)}


def write_outcome(
    appliance: Appliance,
    decision_id: str,
    status: str,
    rule_id: str,
    basis: str,
    reasons: Sequence[str],
    cited: Sequence[Citation],
) -> None:
    """Chain what became of a decision: codes, and ids and digests of what was cited; no text."""
    detail = {
        "rule_id": rule_id,
        "basis": basis,
        "reasons": list(reasons),
        "cited": [{"id": c.evidence_id, "source": c.source, "digest": c.digest} for c in cited],
    }
    now = appliance.clock()
    record = event(Kind.OUTCOME, now, decision_id=decision_id, status=status, detail=detail)
    appliance.book.ledger.append(record)
