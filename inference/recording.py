"""What the way through writes down: the decision with its receipt, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gate.ledger.book import Written, write
from gate.ledger.decision import Decided
from gate.ledger.pseudonym import new_salt
from gate.ledger.record import Kind, event
from gate.ledger.tiers import tier_body
from gate.records import Request
from inference.appliance import Appliance
from inference.drafts import Citation
from inference.tiers.cascade import Tried


def write_decision(
    appliance: Appliance, request: Request, tried: Sequence[Tried], decided: Decided
) -> Written:
    """Make a decision durable, its receipt first; raises LedgerError where it is not.

    The receipt keeps what every tier said, with its raw output and what it was sent.
    """
    return write(
        appliance.book,
        request=request,
        tier_answer=tried[-1].reply.answer,
        clear=decided.clear,
        salt=new_salt(),
        outputs=[_output(one) for one in tried],
        prompts=[{"tier": one.tier, "sent": one.reply.sent} for one in tried if one.reply.sent],
    )


def _output(tried: Tried) -> dict[str, Any]:
    told = tier_body(tried.reply.answer)
    return {"tier": tried.tier, "answer": told, "raw": tried.reply.raw, "problem": tried.problem}


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
