"""The controller: one commitment, one ordered list of checks, exactly one terminal.

The order is DESIGN.md's gate semantics 2: contract, then state rules, and only after ALLOW the
checks that can do nothing but close. The first failing step names the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from gate.catalog import Action
from gate.configuration import Configuration
from gate.contract import Accepted, Failed, check
from gate.direction import Asked
from gate.findings import Findings
from gate.records import (
    NONE,
    UNRESOLVED,
    Abstain,
    Boundary,
    Direction,
    Mode,
    Option,
    OutOfScope,
    Proposal,
    Reserved,
    Situation,
    Switches,
    Terminal,
    TierAnswer,
    Verdict,
)
from gate.resolution import Resolution, closed_lists, entry_of, resolve
from gate.rules import RulesVerdict, evaluate

NO_SWITCHES = Switches()


class Case(NamedTuple):
    """Everything that a check may look at."""

    configuration: Configuration
    situation: Situation
    findings: Findings
    proposal: Proposal
    action: Action
    resolution: Resolution
    switches: Switches


Check = Callable[[Case], tuple[str, ...]]
"""A check returns reason codes; none means that it has nothing against the dispatch."""


def decide(
    configuration: Configuration,
    situation: Situation,
    findings: Findings,
    answer: TierAnswer,
    switches: Switches = NO_SWITCHES,
) -> Verdict:
    """Decide what one request may become; total, pure, and blind to the text itself.

    Equal state, session, candidates, clock, findings, tier answer, configuration and switches give
    an equal verdict.
    """
    if findings.language is None:
        return _bounded(configuration, Reserved.LANGUAGE, ("LANGUAGE_NOT_CONFIGURED",))
    contract = _contract(configuration, situation, answer)
    case = _case(configuration, situation, findings, contract, switches)
    if case is None:
        return _without_commitment(configuration, situation, findings, contract, switches)
    return _committed(case, contract.repair)


def case_of(
    configuration: Configuration,
    situation: Situation,
    findings: Findings,
    answer: TierAnswer,
    switches: Switches = NO_SWITCHES,
) -> Case | None:
    """What the checks would look at, or None where the tier's answer commits to no action."""
    contract = _contract(configuration, situation, answer)
    return _case(configuration, situation, findings, contract, switches)


def _contract(
    configuration: Configuration, situation: Situation, answer: TierAnswer
) -> Accepted | Failed:
    entries, own = closed_lists(configuration.registry.entries, situation.session)
    return check(answer, configuration.catalog, entries, own)


def _case(
    configuration: Configuration,
    situation: Situation,
    findings: Findings,
    contract: Accepted | Failed,
    switches: Switches,
) -> Case | None:
    if isinstance(contract, Failed) or not isinstance(contract.result, Proposal):
        return None
    action = configuration.catalog.actions[contract.result.action_id]
    resolution = _object(configuration, situation, findings, contract.result, action, switches)
    return Case(configuration, situation, findings, contract.result, action, resolution, switches)


def malformed(configuration: Configuration, reason: str) -> Verdict:
    """The verdict on a request that cannot be read at all."""
    return _bounded(configuration, Reserved.REQUEST, (reason,))


def _bounded(configuration: Configuration, reserved: Reserved, reasons: tuple[str, ...]) -> Verdict:
    terminal = configuration.terminals[reserved]
    return Verdict(terminal, Boundary(terminal.value), reserved.value, reasons, None, UNRESOLVED)


def _without_commitment(
    configuration: Configuration,
    situation: Situation,
    findings: Findings,
    contract: Accepted | Failed,
    switches: Switches,
) -> Verdict:
    """No usable proposal: the rules still speak first, then the tier's own bounded terminal stands."""
    failed = contract if isinstance(contract, Failed) else None
    action = configuration.catalog.get(failed.action_id) if failed else None
    rules = _rules(configuration, situation, gate_values(findings, None), action, switches)
    if rules.boundary is not Boundary.ALLOW:
        verdict = _by_rule(rules)
    else:
        verdict = _bounded(configuration, *_own_terminal(contract))
    return replace(
        verdict,
        first_failed_contract=failed.contract if failed else None,
        supplied=failed.supplied if failed else None,
        repair=contract.repair,
        inert=_inert(configuration),
    )


def _own_terminal(contract: Accepted | Failed) -> tuple[Reserved, tuple[str, ...]]:
    if isinstance(contract, Failed):
        return Reserved.CONTRACT, (contract.contract,)
    if isinstance(contract.result, OutOfScope):
        return Reserved.SCOPE, ("OUT_OF_SCOPE",)
    assert isinstance(contract.result, Abstain)  # noqa: S101  (the third of three result types)
    return Reserved.ABSTAIN, (contract.result.reason,)


def _committed(case: Case, repair: str | None) -> Verdict:
    """All rules of the committed action; after ALLOW, every check in order."""
    values = gate_values(case.findings, case.resolution)
    rules = _rules(case.configuration, case.situation, values, case.action, case.switches)
    boundary, decider, reasons = rules.boundary, str(rules.rule_id), rules.reason_codes
    terminal = Terminal.DISPATCH if boundary is Boundary.ALLOW else Terminal(boundary.value)
    if terminal is Terminal.DISPATCH:
        closing = _first_closing(case)
        if closing is not None:
            decider, reasons = closing[0].value, closing[1]
            terminal = case.configuration.terminals[closing[0]]
    return Verdict(
        terminal,
        boundary,
        decider,
        reasons,
        case.action.action_id,
        case.resolution.object_id,
        repair=repair,
        options=_options(case) if terminal is Terminal.CLARIFY else (),
        inert=_inert(case.configuration),
    )


def _first_closing(case: Case) -> tuple[Reserved, tuple[str, ...]] | None:
    """The first check that has something against the dispatch, and its reasons."""
    for reserved, closes in CHECKS:
        reasons = closes(case)
        if reasons:
            return reserved, reasons
    return None


def _rules(
    configuration: Configuration,
    situation: Situation,
    values: Mapping[str, object],
    action: Action | None,
    switches: Switches,
) -> RulesVerdict:
    if switches.no_state:
        return RulesVerdict(Boundary.ALLOW, configuration.rules.rules[-1].rule_id, ("NO_STATE",))
    return evaluate(
        configuration.rules,
        action.action_id if action else None,
        configuration.predicates,
        situation.state,
        values,
        {},
        situation.now,
    )


def _by_rule(rules: RulesVerdict) -> Verdict:
    terminal = (
        Terminal.DISPATCH if rules.boundary is Boundary.ALLOW else Terminal(rules.boundary.value)
    )
    return Verdict(
        terminal, rules.boundary, str(rules.rule_id), rules.reason_codes, None, UNRESOLVED
    )


def gate_values(findings: Findings, resolution: Resolution | None) -> dict[str, object]:
    """The predicates of `source: gate`; without a committed action there is no object to speak of."""
    values: dict[str, object] = {
        "direction": findings.direction.value,
        "several_requests": findings.several_requests,
        "request_clauses": findings.request_clauses,
        "language": findings.language,
    }
    if resolution is not None:
        values["entity_resolved"] = resolution.resolved
    return values


GATE_PREDICATES = (
    "direction",
    "several_requests",
    "request_clauses",
    "language",
    "entity_resolved",
)
"""Names that a `source: gate` predicate may have."""


def _object(
    configuration: Configuration,
    situation: Situation,
    findings: Findings,
    proposal: Proposal,
    action: Action,
    switches: Switches,
) -> Resolution:
    """The gate's own finding; a tier that proposes a different object leaves it unresolved."""
    if switches.no_object_evidence:
        return _as_proposed(configuration, situation, proposal)
    found = resolve(action, findings, situation, configuration.registry.entries)
    if switches.no_objects:
        return found if found.object_id == NONE else Resolution(UNRESOLVED, "NO_OBJECTS")
    if proposal.object_id is None or proposal.object_id == found.object_id:
        return found
    if found.object_id == UNRESOLVED:
        return found
    options = (found.object_id,) if found.resolved else ()
    return Resolution(UNRESOLVED, "PROPOSAL_DISAGREES", options)


def _as_proposed(
    configuration: Configuration, situation: Situation, proposal: Proposal
) -> Resolution:
    """Ablation and replay of published proposals: the proposed object as it is, closed list kept."""
    object_id = proposal.object_id or UNRESOLVED
    listed = situation.candidates is None or object_id in situation.candidates
    if object_id in (NONE, UNRESOLVED):
        return Resolution(object_id, "" if object_id == NONE else "NOT_PROPOSED")
    return Resolution(object_id, "") if listed else Resolution(UNRESOLVED, "NOT_A_CANDIDATE")


def _multi(case: Case) -> tuple[str, ...]:
    return ("SEVERAL_REQUESTS",) if case.findings.several_requests else ()


def _direction(case: Case) -> tuple[str, ...]:
    if case.switches.no_direction or case.action.mode is None:
        return ()
    found = case.findings.direction
    fitting = (
        (Direction.WRITE, Direction.MIXED)
        if case.action.mode is Mode.WRITE
        else (Direction.READ, Direction.UNDECLARED)
    )
    return () if found in fitting else (f"DIRECTION_{found.value}",)


def _action(case: Case) -> tuple[str, ...]:
    """A write needs its own declared verb in a request clause, and no other write asked for beside it."""
    if case.action.mode is not Mode.WRITE:
        return ()
    asked = case.findings.asked
    mine = [a for a in asked if case.action.action_id in a.actions]
    if not mine:
        return ("NO_ACTION_EVIDENCE",)
    others = [a for a in asked if a.actions != (case.action.action_id,)]
    if any(not any(_contains(m, o) for m in mine) for o in others):
        return ("ANOTHER_WRITE_ASKED",)
    return ()


def _contains(longer: Asked, shorter: Asked) -> bool:
    same = (longer.start, longer.end) == (shorter.start, shorter.end)
    return longer.start <= shorter.start and shorter.end <= longer.end and not same


def _object_check(case: Case) -> tuple[str, ...]:
    if case.resolution.resolved:
        return ()
    if case.resolution.object_id == NONE and not case.action.object_required:
        return ()
    return (case.resolution.reason or "NO_OBJECT",)


def _confidence(case: Case) -> tuple[str, ...]:
    """A backstop: a tier below its threshold should have abstained to the next one."""
    if case.switches.ignore_confidence:
        return ()
    confidence = case.proposal.confidence
    if confidence is None:
        return ("NO_CONFIDENCE",)
    threshold = case.configuration.thresholds.get(case.proposal.tier)
    below = threshold is not None and confidence < threshold
    return ("BELOW_THRESHOLD",) if below else ()


CHECKS: tuple[tuple[Reserved, Check], ...] = (
    (Reserved.MULTI, _multi),
    (Reserved.DIRECTION, _direction),
    (Reserved.ACTION, _action),
    (Reserved.OBJECT, _object_check),
    (Reserved.CONFIDENCE, _confidence),
)
"""What may still close after ALLOW, in order. Slots and confirmation take their places between."""


def _options(case: Case) -> tuple[Option, ...]:
    """The pairs that a clarification offers: the committed action with each object that would be permitted."""
    lists = closed_lists(case.configuration.registry.entries, case.situation.session)
    known = (i for i in case.resolution.options if entry_of(lists, i) is not None)
    return tuple(Option(case.action.action_id, i) for i in known)


def _inert(configuration: Configuration) -> tuple[str, ...]:
    """Checks that a folder without modes cannot make: direction, action evidence, confirmation."""
    if configuration.catalog.has_modes:
        return ()
    return (Reserved.DIRECTION.value, Reserved.ACTION.value, Reserved.CONFIRM.value)
