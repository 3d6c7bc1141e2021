"""Explain: what stood before, the rules that were read, their values, the findings and the checks, in
order, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.configuration import Configuration
from gate.confirmation import canonical
from gate.controller import CHECKS, NO_SWITCHES, course, decide
from gate.findings import Findings, to_core
from gate.records import Earlier, Proposal, Reserved, Situation, Switches, TierAnswer, Write
from gate.rules import RuleReading


def explain(
    configuration: Configuration,
    situation: Situation,
    findings: Findings,
    answer: TierAnswer,
    switches: Switches = NO_SWITCHES,
) -> Mapping[str, Any]:
    """The whole way to a verdict: `verdict`, `earlier`, `rules`, `object`, `checks`, `findings`; JSON-able.

    The limit of clarifications is no check of its own; `earlier` holds the count and what it may be.
    """
    verdict = decide(configuration, situation, findings, answer, switches)
    way = course(configuration, situation, findings, answer, switches, trace=True)
    case = way.case
    return {
        "verdict": {
            "terminal": verdict.terminal.value,
            "boundary": verdict.boundary.value,
            "decided_by": verdict.rule_id,
            "reasons": list(verdict.reason_codes),
            "action": verdict.action_id,
            "object": verdict.object_id,
            "slots": {name: canonical(value) for name, value in verdict.slots.items()},
            "options": [[o.action_id, o.object_id] for o in verdict.options],
            "inert": list(verdict.inert),
            "first_failed_contract": verdict.first_failed_contract,
        },
        "proposed": answer.action_id if isinstance(answer, Proposal) else None,
        "earlier": _earlier(configuration, situation.earlier),
        "rules": [_rule(r) for r in way.rules.trace],
        "object": None
        if case is None
        else {"id": case.resolution.object_id, "reason": case.resolution.reason},
        "checks": [] if case is None else [_closing(r, closes(case)) for r, closes in CHECKS],
        "findings": to_core(findings),
    }


def _earlier(configuration: Configuration, earlier: Earlier) -> Mapping[str, Any]:
    confirmed, equal = earlier.confirmed, earlier.equal
    return {
        "clarifications": {"asked": earlier.asked, "most": configuration.dialogue.clarifications},
        "refused": earlier.refused,
        "unfit": earlier.unfit,
        "confirmed": confirmed
        and {
            "decision": confirmed.decision_id,
            "write": _write(confirmed.write),
            "pins": dict(confirmed.pins),
        },
        "equal": equal
        and {"decision": equal.decision_id, "open": equal.open, "done_at": equal.done_at},
    }


def _write(write: Write) -> Mapping[str, Any]:
    return {"action": write.action_id, "object": write.object_id, "slots": dict(write.slots)}


def _rule(reading: RuleReading) -> Mapping[str, Any]:
    return {
        "rule": reading.rule_id,
        "outcome": reading.outcome.value,
        "read": {
            r.name: f"broken: {r.broken.value}" if r.broken else _shown(r.value)
            for r in reading.readings
        },
    }


def _shown(value: object) -> Any:
    return value if isinstance(value, bool) else str(value)


def _closing(reserved: Reserved, reasons: tuple[str, ...]) -> Mapping[str, Any]:
    return {"check": reserved.value, "open": not reasons, "reasons": list(reasons)}
