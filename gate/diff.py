"""Diff: the same inputs decided under two configurations, and every path that changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from gate.configuration import Configuration
from gate.controller import decide
from gate.findings import find
from gate.records import Request, Situation, Terminal, TierAnswer, Verdict


class Change(NamedTuple):
    """One input whose path, object or deciding id differs; `opens` if only the new one dispatches."""

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
    return decide(configuration, situation, find(configuration, request), answer)


def _path(verdict: Verdict) -> tuple[object, ...]:
    dispatched = verdict.terminal is Terminal.DISPATCH
    return (
        verdict.terminal,
        verdict.action_id if dispatched else None,
        verdict.object_id if dispatched else None,
        verdict.rule_id,
    )
