"""The end of a dispatched write: carried out once, or told how it stands."""

from __future__ import annotations

from dataclasses import replace

from gate.confirmation import slot_text
from gate.errors import LedgerError
from gate.ledger.outcome import Outcome, standing_record
from gate.records import Reserved
from inference import execution, messages
from inference.appliance import Appliance
from inference.connectors.protocol import Reason
from inference.routed import Answered, Routed
from inference.speaking import closed, entry_of, not_durable, pack_of


def end(appliance: Appliance, routed: Routed) -> Answered:
    """Carry a dispatched write out; of one that was dispatched before, tell how it stands."""
    try:
        if routed.replayed or routed.due is None:
            return _stands(appliance, routed)
        return _carried_out(appliance, routed, execution.execute(appliance, routed.due))
    except LedgerError as error:
        return not_durable(appliance, routed, str(error), "OUTCOME_NOT_WRITTEN")


def _carried_out(appliance: Appliance, routed: Routed, executed: execution.Executed) -> Answered:
    outcome = executed.outcome
    reasons = (outcome.reason,) if outcome.reason else ()
    if executed.recorded is Outcome.FAILED and outcome.reason.startswith(execution.STATE):
        ended = closed(appliance, routed, Reserved.STATE, reasons)
        return replace(ended, status=executed.recorded.value, basis="dispatch")
    told = _told(appliance, routed, executed.recorded, outcome.reason, outcome.reference)
    problem = outcome.problem or routed.problem
    return replace(told, reasons=reasons, routed=replace(routed, problem=problem))


def _stands(appliance: Appliance, routed: Routed) -> Answered:
    """How an earlier dispatch of this very request stands; nothing is started."""
    known = standing_record(appliance.book.ledger, str(routed.decision_id))
    if known is None:
        return _told(appliance, routed, Outcome.IN_DOUBT, "", "")
    detail = known.current["detail"]
    how = Outcome(known.current["status"])
    return _told(appliance, routed, how, detail.get("reason", ""), detail.get("reference", ""))


def _told(
    appliance: Appliance, routed: Routed, how: Outcome, reason: str, reference: str
) -> Answered:
    verdict, pack = routed.verdict, pack_of(appliance, routed)
    configuration, session = appliance.configuration, routed.request.session
    action = configuration.catalog.actions[str(verdict.action_id)]
    entry = entry_of(appliance, routed, verdict.object_id)
    own = session.objects if session else ()
    slots = [slot_text(configuration, n, v, own) for n, v in verdict.slots.items()]
    order = messages.order(action, entry, slots, pack.language)
    waits = how is Outcome.IN_DOUBT and reason in (Reason.QUEUED, Reason.SENDING)
    number = reference or str(routed.decision_id)[:8]
    message = messages.executed(pack, "QUEUED" if waits else how.value, order, number)
    return Answered(routed, verdict.terminal, verdict.rule_id, how.value, message, basis="dispatch")
