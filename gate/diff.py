"""Diff: the same inputs decided under two configurations, and every path that changes.

A write that a configuration would ask about counts as confirmed: what is compared is how far it
can come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from gate import confirmation
from gate.configuration import Configuration
from gate.controller import decide
from gate.findings import find
from gate.records import (
    Confirmed,
    Earlier,
    Request,
    Situation,
    Terminal,
    TierAnswer,
    Verdict,
)


class Change(NamedTuple):
    """One input whose path, object, slots or deciding id differ; `opens` if only the new one dispatches."""

    request_id: str
    old: Verdict
    new: Verdict

    @property
    def opens(self) -> bool:
        """True if the new configuration dispatches what the old one did not."""
        return self.new.terminal is Terminal.DISPATCH and self.old.terminal is not Terminal.DISPATCH


def diff(
    old: Configuration,
    new: Configuration,
    inputs: Iterable[tuple[Request, TierAnswer, datetime]],
) -> Iterator[Change]:
    """Decide every input (request, tier answer, clock) under both; yield those that differ."""
    for request, answer, now in inputs:
        before, after = (_decide(c, request, answer, now) for c in (old, new))
        if _path(before) != _path(after):
            yield Change(request.request_id, before, after)


def _decide(
    configuration: Configuration, request: Request, answer: TierAnswer, now: datetime
) -> Verdict:
    situation = Situation(request.state, now, request.session, request.candidates)
    findings = find(configuration, request)
    verdict = decide(configuration, situation, findings, answer)
    if not confirmation.asks(verdict):
        return verdict
    return decide(configuration, _confirmed(configuration, situation, verdict), findings, answer)


def _confirmed(configuration: Configuration, situation: Situation, verdict: Verdict) -> Situation:
    """The situation once the customer said yes to what the verdict asks about."""
    action = configuration.catalog.actions[str(verdict.action_id)]
    write = confirmation.write_of(action.action_id, verdict.object_id, verdict.slots)
    pins = confirmation.pins(configuration, action, situation)
    return replace(situation, earlier=Earlier(confirmed=Confirmed("", write, pins)))


def _path(verdict: Verdict) -> tuple[object, ...]:
    dispatched = verdict.terminal is Terminal.DISPATCH
    return (
        verdict.terminal,
        verdict.action_id if dispatched else None,
        verdict.object_id if dispatched else None,
        verdict.slots if dispatched else None,
        verdict.rule_id,
    )
