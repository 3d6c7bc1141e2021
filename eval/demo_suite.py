"""The demo's held-out texts through the cascade and the gate: what is routed, and how often wrongly.

Every text is decided in a state in which nothing stands against it, so that only the text can stop
it. `routelock bench demo` prints counts and never a text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from eval import output, writes
from eval.demo_economics import Economics
from eval.ended import Ended
from eval.errors import SuiteError
from eval.result import Share
from eval.suites.demo import labels
from eval.suites.demo.labels import OUT_OF_SCOPE, Label
from gate.configuration import Configuration
from gate.controller import decide
from gate.findings import find
from gate.load import Institution, load_institution
from gate.records import (
    Abstain,
    Mode,
    OutOfScope,
    Proposal,
    Request,
    Session,
    Situation,
)
from inference import question, sinks
from inference.appliance import open_tiers
from inference.calibration.bound import upper_limit
from inference.tiers import Tier, cascade

LEAST_COVERAGE: Final = 0.80
MOST_WRONG: Final = 0.05
DELTA: Final = 0.05


@dataclass(frozen=True, slots=True)
class ByTier:
    """The texts at which one tier ended the cascade."""

    tier: str
    texts: int
    routed: int
    wrong: int
    committed_right: Share


@dataclass(frozen=True, slots=True)
class Result:
    """Every figure of one run.

    `coverage` is the share of the texts in scope for which a tier commits to an action, whatever the
    gate makes of it; `reached` that of the texts that may go on to their action which do;
    `wrong_routes` is over all routed texts, and `wrong_upper` its exact one-sided 95 % limit.
    `wrong_writes` are writes that were read back or dispatched although another action, another
    object or nothing was asked for.
    """

    texts: int
    coverage: Share
    right_of_covered: Share
    reached: Share
    wrong_routes: Share
    wrong_upper: float
    wrong_writes: int
    out_of_scope: Share
    by_tier: tuple[ByTier, ...]
    ended: dict[str, int]
    wrong_by: dict[str, int]

    @property
    def missed(self) -> tuple[str, ...]:
        """The required figures that are missed."""
        found = []
        if (self.coverage.rate or 0) < LEAST_COVERAGE:
            found.append(f"coverage is below {LEAST_COVERAGE:.0%}")
        if self.wrong_upper > MOST_WRONG:
            found.append(f"the upper limit of wrong routes is above {MOST_WRONG:.0%}")
        if self.wrong_writes:
            found.append("a write got through that was not asked for")
        return tuple(found)


def as_they_come(items: Iterable[Label]) -> Iterable[Label]:
    """The texts alone."""
    return items


def run(
    folder: Path = writes.DEMO,
    root: Path = writes.ROOT,
    without: Sequence[str] = (),
    watch: Callable[[Iterable[Label]], Iterable[Label]] = as_they_come,
) -> tuple[Ended, ...]:
    """Decide every held-out text with the tiers of the institution in `folder`.

    `without` names tiers that are left out; SuiteError for one that is not there.
    """
    institution = load_institution(folder)
    tiers = open_tiers(institution, root)
    names = [tier.name for tier in tiers]
    for name in without:
        if name not in names:
            raise SuiteError(
                f"no tier is called `{name}`", file=str(folder), fix=f"use {', '.join(names)}"
            )
    return through(institution, [tier for tier in tiers if tier.name not in without], watch)


def through(
    institution: Institution,
    tiers: Sequence[Tier],
    watch: Callable[[Iterable[Label]], Iterable[Label]] = as_they_come,
) -> tuple[Ended, ...]:
    """Decide every held-out text with these tiers."""
    configuration, sessions = institution.configuration, writes.sessions(institution.folder)
    own = [e.object_id for s in sessions.values() for e in s.objects]
    objects = [*configuration.registry.entries, *own]
    texts = labels.load(configuration.catalog.actions, objects, sessions)
    return tuple(
        _end(configuration, tiers, text, sessions.get(text.session)) for text in watch(texts)
    )


def _end(
    configuration: Configuration, tiers: Sequence[Tier], label: Label, session: Session | None
) -> Ended:
    calm = writes.clear()
    request = Request(
        label.label_id, "web", label.text, state=calm.of(label.action), session=session
    )
    findings = find(configuration, request)
    every = cascade.run(tiers, question.of(request, configuration, findings))
    answer = every[-1].reply.answer
    situation = Situation(request.state, calm.now, session)
    verdict = decide(configuration, situation, findings, answer)
    action = configuration.catalog.actions.get(verdict.action_id or "")
    return Ended(label, every[-1].tier, answer, verdict, action.mode if action else None, every)


def measure(ended: Sequence[Ended]) -> Result:
    """The figures of a run."""
    scope = [e for e in ended if e.label.action != OUT_OF_SCOPE]
    allowed = [e for e in ended if e.label.allowed]
    committed = [e for e in scope if isinstance(e.answer, Proposal)]
    routed = [e for e in ended if e.routed]
    wrong = [e for e in routed if not e.right]
    outside = [e for e in ended if e.label.action == OUT_OF_SCOPE]
    return Result(
        texts=len(ended),
        coverage=Share(len(committed), len(scope)),
        right_of_covered=_committed_right(committed),
        reached=Share(sum(e.right for e in allowed), len(allowed)),
        wrong_routes=Share(len(wrong), len(routed)),
        wrong_upper=upper_limit(len(wrong), len(routed), DELTA),
        wrong_writes=sum(e.mode is Mode.WRITE for e in wrong),
        out_of_scope=Share(sum(isinstance(e.answer, OutOfScope) for e in outside), len(outside)),
        by_tier=tuple(_by_tier(ended)),
        ended=dict(Counter(_how(e) for e in allowed).most_common()),
        wrong_by=dict(Counter(_what(e) for e in wrong).most_common()),
    )


def _committed_right(committed: Iterable[Ended]) -> Share:
    named = [
        isinstance(e.answer, Proposal) and e.answer.action_id == e.label.action for e in committed
    ]
    return Share(sum(named), len(named))


def _by_tier(ended: Sequence[Ended]) -> Iterable[ByTier]:
    for tier in dict.fromkeys(e.tier for e in ended):
        mine = [e for e in ended if e.tier == tier]
        committed = [e for e in mine if isinstance(e.answer, Proposal)]
        routed = [e for e in mine if e.routed]
        wrong = sum(not e.right for e in routed)
        yield ByTier(tier, len(mine), len(routed), wrong, _committed_right(committed))


def _how(one: Ended) -> str:
    """How a text that may go on ended: the deciding id, and for a tier's own terminal its reason."""
    if one.routed:
        return "routed"
    reason = f" {one.answer.reason}" if isinstance(one.answer, Abstain) else ""
    other = isinstance(one.answer, Proposal) and one.answer.action_id != one.label.action
    return f"{one.verdict.rule_id}{reason}{' of another action' if other else ''}"


def _what(one: Ended) -> str:
    """What is wrong with a route: the action, the object, or that it is one at all."""
    if one.verdict.action_id != one.label.action:
        return f"{one.label.action} as {one.verdict.action_id}"
    return "another object" if one.label.allowed else f"{one.label.action}, which is bounded"


def store(ended: Sequence[Ended], out: Path, economics: Economics | None = None) -> Result:
    """Measure and write `metrics.json`, with the economics of the run where they are given."""
    result = measure(ended)
    figures = {**asdict(result), "economics": None if economics is None else asdict(economics)}
    output.write(out, {"metrics.json": sinks.json_text(figures, indent=1) + "\n"})
    return result
