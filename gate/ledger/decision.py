"""One decision, made and written down the same way when it is new and when it is replayed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from gate import confirmation
from gate.configuration import Configuration
from gate.controller import decide
from gate.errors import ReplayError
from gate.findings import Findings, find, from_core, to_core
from gate.ledger.continuation import FRESH, Continuation, Left, context, continuation_of
from gate.ledger.encode import Json, instant, moment, switches_of, unplain
from gate.ledger.record import NO_SWITCHES, core, public_ids
from gate.ledger.replay import Context, Redecide, Rejudge
from gate.ledger.tiers import PRIVATE, hidden, tier_answer_from_core
from gate.records import (
    Earlier,
    Request,
    Reserved,
    Session,
    Situation,
    SlotValue,
    Switches,
    Terminal,
    TierAnswer,
    Verdict,
)
from gate.resolution import closed_lists, entry_of
from gate.slots import open_in

NO_TEXT = "NO_CONFIRM_TEXT"
"""Why a write cannot be confirmed: the catalog has no text that reads it back."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A verdict, what it was read from, and the clear record and the context for `book.write`.

    `question` is what the customer is asked to confirm, `expires_at` until when; `confirms` tells
    that a confirmation was given; `dialogue_until` is the end of the dialogue that a clarification
    opens or goes on with.
    """

    verdict: Verdict
    findings: Findings
    clear: Mapping[str, Json]
    context: Mapping[str, Json] | None
    question: str | None = None
    expires_at: datetime | None = None
    dialogue_until: datetime | None = None
    confirms: bool = False


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
    goes_on: Continuation = FRESH,
) -> Decided:
    """Read, decide and describe one request; `versions` are the digests of all that decides.

    `findings` are those of this very request where the caller has read it already; `goes_on` tells
    what earlier decisions give to it.
    """
    findings = goes_on.findings or findings or find(configuration, request, goes_on.recognised)
    verdict, asked = _verdict(configuration, request, findings, tier_answer, now, switches, goes_on)
    asked_until = now + timedelta(seconds=configuration.dialogue.confirm_s) if asked else None
    until = _dialogue_until(configuration, verdict, now, goes_on) if not asked else None
    clear = core(
        request=request,
        tier_answer=tier_answer,
        verdict=verdict,
        findings=to_core(findings),
        now=now,
        versions=versions,
        public=public_ids(configuration),
        switches=switches,
        slots={name: _slot(value) for name, value in verdict.slots.items()},
        dialogue=_dialogue(goes_on, until),
        confirm=_confirm(goes_on, asked, asked_until),
        fallback=fallback,
        reported_model=reported_model,
    )
    left = _left(configuration, request, verdict, now, asked)
    kept = context(replace(goes_on, expires_at=until or goes_on.expires_at), left)
    confirms = goes_on.earlier.confirmed is not None
    return Decided(verdict, findings, clear, kept, asked, asked_until, until, confirms)


def _verdict(
    configuration: Configuration,
    request: Request,
    findings: Findings,
    tier_answer: TierAnswer,
    now: datetime,
    switches: Switches,
    goes_on: Continuation,
) -> tuple[Verdict, str | None]:
    """The verdict, and the question that asks for a confirmation; without one nothing is asked."""
    situation = Situation(request.state, now, request.session, request.candidates, goes_on.earlier)
    verdict = decide(configuration, situation, findings, tier_answer, switches)
    if not confirmation.asks(verdict):
        return verdict, None
    text = question(configuration, request, findings, verdict)
    if text is None:
        unfit = replace(situation, earlier=replace(goes_on.earlier, unfit=NO_TEXT))
        verdict = decide(configuration, unfit, findings, tier_answer, switches)
    return verdict, text


def question(
    configuration: Configuration, request: Request, findings: Findings, verdict: Verdict
) -> str | None:
    """The text that reads the verdict's write back to the customer; None if none reads all of it."""
    lists = closed_lists(configuration.registry.entries, request.session)
    entry = entry_of(lists, verdict.object_id)
    language = findings.language or configuration.languages[0]
    own = request.session.objects if request.session else ()
    return confirmation.text(configuration, verdict, entry, language, findings.direction, own)


def _dialogue_until(
    configuration: Configuration, verdict: Verdict, now: datetime, goes_on: Continuation
) -> datetime | None:
    """The end of the dialogue: counted from its opening turn, however many turns there are."""
    if verdict.terminal is not Terminal.CLARIFY:
        return None
    kept = goes_on.expires_at if goes_on.how in ("chosen", "filled") else None
    return kept or now + timedelta(seconds=configuration.dialogue.valid_s)


def _dialogue(goes_on: Continuation, until: datetime | None) -> dict[str, Any] | None:
    told: dict[str, Any] = {}
    if goes_on.of is not None and goes_on.how != "confirmed":
        told |= {"of": goes_on.of, "how": goes_on.how}
    if goes_on.earlier.asked:
        told["asked"] = goes_on.earlier.asked
    if until is not None:
        told["expires_at"] = instant(until)
    return told or None


def _confirm(
    goes_on: Continuation, asked: str | None, until: datetime | None
) -> dict[str, Any] | None:
    told: dict[str, Any] = {}
    earlier = goes_on.earlier
    if goes_on.how == "confirmed":
        told["of"] = goes_on.of
    if earlier.refused:
        told["refused"] = earlier.refused
    if earlier.equal is not None:
        told["equal"] = earlier.equal.decision_id
    if goes_on.valid_until is not None:
        told["valid_until"] = instant(goes_on.valid_until)
    if asked is not None and until is not None:
        told |= {"text": {PRIVATE: asked}, "expires_at": instant(until)}
    return told or None


def _left(
    configuration: Configuration,
    request: Request,
    verdict: Verdict,
    now: datetime,
    asked: str | None,
) -> Left:
    if verdict.terminal is not Terminal.CLARIFY:
        return Left()
    if asked is None:
        bare = verdict.rule_id == Reserved.OBJECT and not verdict.options
        action = verdict.action_id if bare else None
        return Left(action=action, options=verdict.options, awaits=_awaits(verdict))
    committed = configuration.catalog.actions[str(verdict.action_id)]
    situation = Situation(request.state, now, request.session, request.candidates)
    pins = confirmation.pins(configuration, committed, situation)
    return Left(write=confirmation.write(verdict), pins=pins)


def _awaits(verdict: Verdict) -> tuple[str, ...]:
    """The slots that a `G-SLOT` names as open."""
    return open_in(verdict.reason_codes) if verdict.rule_id == Reserved.SLOT else ()


def _slot(value: SlotValue) -> Any:
    """A slot for the record: an amount and a day as they are, every text as private."""
    return {PRIVATE: value} if isinstance(value, str) else confirmation.as_json(value)


def redecide(configuration: Configuration, versions: Mapping[str, str]) -> Redecide:
    """How `replay` decides again under `configuration`."""

    def again(
        request: Request,
        answer: TierAnswer | None,
        now: datetime,
        switches: Switches,
        kept: Context | None,
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
            goes_on=continuation_of(kept),
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
    """True if a hidden value, an earlier turn or the session's own objects may have had a part in
    the verdict."""
    own_objects = record["subject"] is not None and record["rule_id"] == Reserved.OBJECT
    goes_on = record["confirm"] is not None or "of" in (record["dialogue"] or {})
    return own_objects or goes_on or _holds_hidden(list(record.values()))


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
        earlier=Earlier(asked=(record["dialogue"] or {}).get("asked", 0)),
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
