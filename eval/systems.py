"""The axis of systems: what stands around a backend and decides.

| name | what decides |
|---|---|
| `routelock` | the gate, over the backend's proposal |
| `no-state` | the gate without state rules, over proposals that exist: no call is made |
| `no-objects` | the gate with every object unresolved, over proposals that exist: no call is made |
| `b1` | the model: one call with request and state |
| `b2` | the model: one call with request, state and the rules; it cites one |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final

from eval import baselines
from eval.backends import open_proposer
from eval.case import Case, ask, request
from eval.errors import ProposerError
from eval.outcome import Outcome, judge, situation
from eval.proposers.answer import Answer, Backing, Proposer
from eval.suite import Suite
from gate.controller import decide
from gate.findings import find
from gate.records import Switches

Clock = Callable[[], float]
"""Seconds from an arbitrary start, for latencies alone."""

ROUTELOCK: Final = "routelock"
ABLATIONS: Final[Mapping[str, Mapping[str, bool]]] = {
    "no-state": {"no_state": True},
    "no-objects": {"no_objects": True, "no_object_evidence": False},
}
"""Switches of each ablation; a proposed object counts for nothing where objects are off."""
NAMES: Final = (ROUTELOCK, *baselines.NAMES, *ABLATIONS)
KEPT: Final = ("recorded:", "run:")
"""Backends whose answers exist already."""


@dataclass(frozen=True, slots=True)
class System:
    """One system over one backend on one suite."""

    name: str
    backend: str
    switches: Switches
    backing: Backing
    decide: Callable[[Case], Outcome]

    def timed(self, case: Case, clock: Clock | None) -> Outcome:
        """The outcome; `clock` times an answer that brings no latency of its own."""
        begin = clock() if clock else 0.0
        outcome = self.decide(case)
        made = outcome.answer.calls or self.name not in ABLATIONS
        if clock and made and outcome.answer.latency_ms is None:
            took = (clock() - begin) * 1000
            return replace(outcome, answer=replace(outcome.answer, latency_ms=took))
        return outcome


def open_system(name: str, suite: Suite, backend: str) -> System:
    """The system of that name over that backend; ProposerError where they do not fit."""
    if name in baselines.NAMES:
        made = baselines.open_baseline(name, suite, backend)
        return System(name, made.backend.name, Switches(), made.backing, made.outcome)
    if name not in NAMES:
        near = get_close_matches(name, NAMES, n=1, cutoff=0.4)
        hint = f"did you mean `{near[0]}`?" if near else f"use one of {', '.join(NAMES)}"
        raise ProposerError(f"no system is called `{name}`; {hint}")
    if name in ABLATIONS and not backend.startswith(KEPT):
        raise ProposerError(
            f"`{name}` reuses accepted proposals and makes no call; `{backend}` would make one; "
            "use run:DIR of a `routelock` run, or recorded:DIR"
        )
    return gated(name, suite, open_proposer(backend, suite))


def gated(name: str, suite: Suite, proposer: Proposer, switches: Switches | None = None) -> System:
    """The gate over a proposer; `switches` None means those that the proposer needs."""
    used = proposer.switches if switches is None else switches
    if name in ABLATIONS:
        used = replace(used, **ABLATIONS[name])

    def outcome(case: Case) -> Outcome:
        answer = proposer.propose(ask(case))
        if name in ABLATIONS:
            answer = _kept(answer)
        findings = find(suite.configuration, request(case))
        verdict = decide(suite.configuration, situation(suite, case), findings, answer.given, used)
        return judge(suite, case, answer, verdict, findings)

    return System(name, proposer.name, used, proposer.backing, outcome)


def _kept(answer: Answer) -> Answer:
    """An answer that was made before: it costs no call, no token and no time now."""
    return replace(
        answer,
        calls=0,
        tokens_in=None,
        tokens_out=None,
        latency_ms=None,
        cost_usd=None,
        published_path=None,
    )
