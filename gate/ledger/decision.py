"""One decision, made and written down the same way when it is new and when it is replayed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gate.configuration import Configuration
from gate.controller import decide
from gate.errors import ReplayError
from gate.findings import Findings, find, from_core, to_core
from gate.ledger.encode import Json, moment, switches_of, unplain
from gate.ledger.record import NO_SWITCHES, core, public_ids
from gate.ledger.replay import Context, Redecide, Rejudge
from gate.ledger.tiers import hidden, tier_answer_from_core
from gate.records import Request, Reserved, Session, Situation, Switches, TierAnswer, Verdict


@dataclass(frozen=True, slots=True)
class Decided:
    """A verdict, what it was read from, and the clear record for `book.write`."""

    verdict: Verdict
    findings: Findings
    clear: Mapping[str, Json]


def decide_and_describe(
    configuration: Configuration,
    versions: Mapping[str, str],
    *,
    request: Request,
    tier_answer: TierAnswer,
    now: datetime,
    switches: Switches = NO_SWITCHES,
    fallback: str | None = None,
    reported_model: str | None = None,
    findings: Findings | None = None,
) -> Decided:
    """Read, decide and describe one request; `versions` are the digests of all that decides.

    `findings` are those of this very request where the caller has read it already.
    """
    findings = findings or find(configuration, request)
    situation = Situation(request.state, now, request.session, request.candidates)
    verdict = decide(configuration, situation, findings, tier_answer, switches)
    clear = core(
        request=request,
        tier_answer=tier_answer,
        verdict=verdict,
        findings=to_core(findings),
        now=now,
        versions=versions,
        public=public_ids(configuration),
        switches=switches,
        fallback=fallback,
        reported_model=reported_model,
    )
    return Decided(verdict, findings, clear)


def redecide(configuration: Configuration, versions: Mapping[str, str]) -> Redecide:
    """How `replay` decides again under `configuration`."""

    def again(
        request: Request,
        answer: TierAnswer | None,
        now: datetime,
        switches: Switches,
        _context: Context | None,
    ) -> Mapping[str, Json]:
        if answer is None:
            raise ReplayError("no tier was asked for this record; there is no decision to repeat")
        return decide_and_describe(
            configuration,
            versions,
            request=request,
            tier_answer=answer,
            now=now,
            switches=switches,
        ).clear

    return again


def rejudge(configuration: Configuration, versions: Mapping[str, str]) -> Rejudge:
    """How `replay` decides again what is left of an erased decision: from the recorded findings.

    Only `versions` come back if the verdict was, or may have been, read from an erased value.
    """

    def again(record: Mapping[str, Json]) -> Mapping[str, Json]:
        known: dict[str, Json] = {"versions": dict(versions)}
        answer = None if _needs_erased(record) else tier_answer_from_core(record)
        if answer is None:
            return known
        verdict = decide(
            configuration,
            _situation(record),
            from_core(record["findings"]),
            answer,
            switches_of(record["switches"]["set"]),
        )
        return {**known, **_verdict_fields(verdict)}

    return again


def _needs_erased(record: Mapping[str, Json]) -> bool:
    """True if a hidden value, or the session's own objects, may have had a part in the verdict."""
    own_objects = record["subject"] is not None and record["rule_id"] == Reserved.OBJECT
    return own_objects or _holds_hidden([v for k, v in record.items() if k != "confirm"])


def _holds_hidden(value: Json) -> bool:
    if isinstance(value, dict):
        return any(_holds_hidden(item) for item in value.values())
    if isinstance(value, list):
        return any(_holds_hidden(item) for item in value)
    return hidden(value)


def _situation(record: Mapping[str, Json]) -> Situation:
    subject, candidates = record["subject"], record["candidates"]
    return Situation(
        state=unplain(record["state"]),
        now=moment(record["decided_at"]),
        session=None if subject is None else Session(subject, tuple(record["entitlements"])),
        candidates=None if candidates is None else tuple(candidates),
    )


def _verdict_fields(verdict: Verdict) -> dict[str, Json]:
    return {
        "terminal": verdict.terminal.value,
        "action_id": verdict.action_id,
        "object_id": verdict.object_id,
        "boundary": verdict.boundary.value,
        "rule_id": verdict.rule_id,
        "reason_codes": [str(code) for code in verdict.reason_codes],
        "repair": verdict.repair,
    }
