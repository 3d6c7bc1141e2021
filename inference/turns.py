"""How a request goes on from earlier ones: a confirmation, a turn of a dialogue, or by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Final

from gate import confirmation, dialogue
from gate.configuration import Configuration
from gate.findings import Findings, find, find_alone
from gate.ledger import dialogue as records
from gate.ledger.continuation import ANEW, CHOSEN, CONFIRMED, FILLED, FRESH, Continuation, Left
from gate.ledger.decision import Decided
from gate.ledger.dialogue import Past
from gate.records import (
    Abstain,
    Earlier,
    Entry,
    Option,
    Proposal,
    Request,
    Session,
    Terminal,
    TierAnswer,
    Verdict,
)
from gate.slots import SlotFound
from inference.appliance import Appliance

TIER: Final = "dialogue"
"""The tier's name in decisions that no model took part in: a stored option, or a confirmation."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One request with what stands before it.

    `heard` is the request as findings and tiers get it: with the turns of its dialogue from the
    appliance's own ledger. `answer` is None where the tiers are asked. `voids` are digests of
    tokens that are used up whatever is decided.
    """

    heard: Request
    findings: Findings
    goes_on: Continuation = FRESH
    answer: TierAnswer | None = None
    voids: tuple[str, ...] = ()


def read(appliance: Appliance, request: Request, now: datetime) -> Turn:
    """Find out how a request goes on; raises LedgerError where the ledger cannot be read."""
    if request.confirm_token is not None:
        return _with_token(appliance, request, request.confirm_token, now)
    past = records.open_dialogue(appliance.book, request, now) if request.dialogue_id else None
    return _alone(appliance, request) if past is None else _goes_on(appliance, request, past)


def _alone(appliance: Appliance, request: Request) -> Turn:
    recognised = appliance.recogniser.recognise(request)
    found = find(appliance.configuration, request, recognised)
    return Turn(request, found, replace(FRESH, recognised=recognised) if recognised else FRESH)


def _with_token(appliance: Appliance, request: Request, token: str, now: datetime) -> Turn:
    """A yes confirms what the token stands for, or nothing; any other text voids it."""
    configuration = appliance.configuration
    past = records.confirmed(appliance.book, appliance.versions, request, now)
    used = records.token_digest(token)
    if not dialogue.is_yes(configuration, request.utterance):
        turn = _alone(appliance, request)
        return turn if isinstance(past, str) else replace(turn, voids=(used,))
    if isinstance(past, str):
        refused = Continuation(earlier=Earlier(refused=past))
        turn = Turn(request, find(configuration, request))
        return replace(turn, goes_on=refused, answer=Abstain("token_refused", TIER))
    findings = records.findings_of(configuration, past)
    goes_on = Continuation(
        of=past.decision_id,
        how=CONFIRMED,
        findings=findings,
        earlier=Earlier(confirmed=records.confirmation_of(past)),
    )
    return Turn(request, findings, goes_on, records.answer_of(past), (used,))


def _goes_on(appliance: Appliance, request: Request, past: Past) -> Turn:
    """A turn of an open dialogue: it picks an option, gives the slot, or asks for something new."""
    configuration, left = appliance.configuration, past.left
    told = Continuation(
        of=past.decision_id, how=ANEW, turns=records.turns_of(past), expires_at=_end(past)
    )
    asked = heard(appliance, request, told)
    turn = find(configuration, asked)
    opening = records.findings_of(configuration, past)
    entries = _entries(configuration, request.session)
    text = request.utterance
    if turn.alerts:  # whatever else it says, it answers nothing
        return Turn(asked, turn, replace(told, findings=turn))
    for option in left.options[:1]:
        given = _given(configuration, asked, left, option, turn)
        if given:
            told = replace(told, how=FILLED, findings=dialogue.filled(opening, given, option))
            return _committed(appliance, request, told, option)
    picked = dialogue.pick(configuration, left.options, text, turn, entries)
    if picked is None and left.action is not None:
        picked = dialogue.named(configuration, left.action, text, turn, entries)
    if picked is not None:
        told = replace(told, how=CHOSEN, findings=dialogue.chosen(opening, turn, picked))
        return _committed(appliance, request, told, picked)
    recognised = appliance.recogniser.recognise(asked)
    if recognised:
        turn = find(configuration, asked, recognised)
    return Turn(asked, turn, replace(told, findings=turn, recognised=recognised))


def _given(
    configuration: Configuration, asked: Request, left: Left, option: Option, turn: Findings
) -> tuple[SlotFound, ...]:
    """What a turn gives for the slots that the turn before lacked."""
    found: list[SlotFound] = []
    if dialogue.is_question(asked.utterance):
        return ()
    for name in left.awaits:
        alone = find_alone(configuration, asked, configuration.catalog.slots[name])
        found += dialogue.given(name, option.action_id, turn, alone)
    return tuple(found)


def heard(appliance: Appliance, request: Request, goes_on: Continuation) -> Request:
    """The request as findings and tiers get it: its earlier turns are the ledger's own.

    A turn that only picks or fills is heard together with those before it; it may be a number.
    """
    if not goes_on.turns:
        return request
    history = records.history(appliance.book, goes_on.turns)
    if goes_on.how == ANEW:
        return replace(request, history=history)
    said = " ".join((*(turn.text for turn in history), request.utterance))
    return replace(request, utterance=said, history=())


def _committed(appliance: Appliance, request: Request, told: Continuation, option: Option) -> Turn:
    """A decision committed to a stored pair; the whole confidence of a closed choice is in it."""
    answer = Proposal(option.action_id, None, (option.action_id,), Decimal(1), TIER)
    said = heard(appliance, request, told)
    return Turn(said, told.findings or find(appliance.configuration, said), told, answer)


def _end(past: Past) -> datetime:
    return datetime.fromisoformat(past.record["dialogue"]["expires_at"])


def _entries(configuration: Configuration, session: Session | None) -> dict[str, Entry]:
    own = {e.object_id: e for e in session.objects} if session else {}
    return {**configuration.registry.entries, **own}


def reconsidered(
    appliance: Appliance, request: Request, goes_on: Continuation, decided: Decided, now: datetime
) -> Continuation | None:
    """What the ledger has to add to a first decision: clarifications so far, an equal write.

    None where it adds nothing. Looked up only where it can matter, which is seldom.
    """
    earlier = goes_on.earlier
    verdict = decided.verdict
    if _may_write(appliance.configuration, verdict):
        since = _asked_at(appliance, earlier)
        equal = written(appliance, request, verdict, now).equal(since)
        return (
            None
            if equal == earlier.equal
            else replace(goes_on, earlier=replace(earlier, equal=equal))
        )
    if verdict.terminal is not Terminal.CLARIFY or earlier.asked:
        return None
    book, configuration = appliance.book, appliance.configuration
    since = records.window(configuration, now)
    asked = records.clarifications(book, records.speaker(book, request), since)
    return replace(goes_on, earlier=replace(earlier, asked=asked)) if asked else None


def _may_write(configuration: Configuration, verdict: Verdict) -> bool:
    """True if the verdict asks for the confirmation of a write, or dispatches one."""
    return confirmation.asks(verdict) or (
        verdict.terminal is Terminal.DISPATCH
        and configuration.catalog.actions[str(verdict.action_id)].mode == "write"
    )


def _asked_at(appliance: Appliance, earlier: Earlier) -> datetime | None:
    """When the confirmation that was given now had been asked for."""
    if earlier.confirmed is None:
        return None
    stored = appliance.book.ledger.get(earlier.confirmed.decision_id)
    return None if stored is None else datetime.fromisoformat(stored.current["decided_at"])


def written(
    appliance: Appliance, request: Request, verdict: Verdict, now: datetime
) -> records.Same:
    """What the ledger knows of the write that a verdict is about."""
    return records.same(appliance.book, intent_of(appliance, request, verdict), now)


def intent_of(appliance: Appliance, request: Request, verdict: Verdict) -> str | None:
    """The keyed digest of the write that a verdict is about."""
    return records.intent(appliance.book, request, confirmation.write(verdict))
