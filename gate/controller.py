"""The controller: one commitment, one ordered list of checks, exactly one terminal.

The order is DESIGN.md's gate semantics 2: contract, then state rules, and only after ALLOW the
checks that can do nothing but close. The first failing step names the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, cast

from gate import confirmation
from gate.alerts import NO_ALERT
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
    Write,
)
from gate.resolution import Resolution, closed_lists, entry_of, resolve
from gate.rules import RulesVerdict, evaluate
from gate.slots import UNFILLED, Filled, fill

NO_SWITCHES = Switches()


class Case(NamedTuple):
    """Everything that a check may look at; `pending` names what rules wait for."""

    configuration: Configuration
    situation: Situation
    findings: Findings
    proposal: Proposal
    action: Action
    resolution: Resolution
    switches: Switches
    filled: Filled = UNFILLED
    pending: tuple[str, ...] = ()


class Course(NamedTuple):
    """What stands before the checks: the contract, the case if there is a commitment, the rules."""

    contract: Accepted | Failed
    case: Case | None
    rules: RulesVerdict

    @property
    def allowed(self) -> bool:
        """True if the rules ended in ALLOW, though some may wait for slots."""
        return self.rules.boundary is Boundary.ALLOW or self.rules.rule_id == Reserved.SLOT


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
    found = course(configuration, situation, findings, answer, switches)
    if found.case is None:
        verdict = _without_commitment(configuration, situation, findings, found)
    else:
        verdict = _committed(found, found.case)
    return _limited(configuration, situation, verdict)


def course(
    configuration: Configuration,
    situation: Situation,
    findings: Findings,
    answer: TierAnswer,
    switches: Switches = NO_SWITCHES,
    *,
    trace: bool = False,
) -> Course:
    """Contract, commitment and rules, in this order; with `trace` the rules keep what they read."""
    entries, own = closed_lists(configuration.registry.entries, situation.session)
    contract = check(answer, configuration.catalog, entries, own)
    action = _named(configuration, contract)
    case = _case(configuration, situation, findings, contract, action, switches)
    values = gate_values(findings, case.resolution if case else None)
    slots = case.filled.for_rules if case else {}
    rules = _rules(configuration, situation, values, slots, action, switches, trace)
    if case is not None and rules.pending:
        case = case._replace(pending=rules.reason_codes)
    return Course(contract, case, rules)


def _named(configuration: Configuration, contract: Accepted | Failed) -> Action | None:
    """The one known action that the answer names, whether or not it holds the contract."""
    if isinstance(contract, Failed):
        return configuration.catalog.get(contract.action_id)
    return configuration.catalog.get(getattr(contract.result, "action_id", None))


def _case(
    configuration: Configuration,
    situation: Situation,
    findings: Findings,
    contract: Accepted | Failed,
    action: Action | None,
    switches: Switches,
) -> Case | None:
    """The commitment; none without a usable proposal, or in a language that nobody reads."""
    if isinstance(contract, Failed) or action is None or findings.language is None:
        return None
    proposal = cast(Proposal, contract.result)
    resolution = _object(configuration, situation, findings, proposal, action, switches)
    filled = UNFILLED
    if action.slots:
        filled = fill(action, configuration.catalog.slots, findings.slots, situation.now)
    return Case(configuration, situation, findings, proposal, action, resolution, switches, filled)


def malformed(configuration: Configuration, reason: str) -> Verdict:
    """The verdict on a request that cannot be read at all."""
    return _bounded(configuration, Reserved.REQUEST, (reason,))


def _bounded(configuration: Configuration, reserved: Reserved, reasons: tuple[str, ...]) -> Verdict:
    terminal = configuration.terminals[reserved]
    return Verdict(terminal, Boundary(terminal.value), reserved.value, reasons, None, UNRESOLVED)


def _limited(configuration: Configuration, situation: Situation, verdict: Verdict) -> Verdict:
    """A clarification too many becomes a hand-off; asking for a confirmation is none."""
    asked, most = situation.earlier.asked, configuration.dialogue.clarifications
    if verdict.terminal is not Terminal.CLARIFY or asked < most or confirmation.asks(verdict):
        return verdict
    return replace(
        verdict,
        terminal=configuration.terminals[Reserved.DIALOGUE],
        rule_id=Reserved.DIALOGUE.value,
        reason_codes=("CLARIFICATIONS_USED_UP", verdict.rule_id),
        options=(),
    )


def _without_commitment(
    configuration: Configuration, situation: Situation, findings: Findings, found: Course
) -> Verdict:
    """No usable proposal: the rules still speak first, then the tier's own bounded terminal stands."""
    contract, rules = found.contract, found.rules
    if found.allowed:
        verdict = _bounded(configuration, *_own_terminal(situation, findings, contract))
    else:
        terminal = Terminal(rules.boundary.value)
        codes = rules.reason_codes
        verdict = Verdict(terminal, rules.boundary, rules.rule_id, codes, None, UNRESOLVED)
    failed = contract if isinstance(contract, Failed) else None
    return replace(
        verdict,
        first_failed_contract=failed.contract if failed else None,
        supplied=failed.supplied if failed else None,
        repair=contract.repair,
        inert=_inert(configuration),
    )


def _own_terminal(
    situation: Situation, findings: Findings, contract: Accepted | Failed
) -> tuple[Reserved, tuple[str, ...]]:
    if situation.earlier.refused:
        return Reserved.CONFIRM, (situation.earlier.refused,)
    if findings.language is None:
        return Reserved.LANGUAGE, ("LANGUAGE_NOT_CONFIGURED",)
    if isinstance(contract, Failed):
        return Reserved.CONTRACT, (contract.contract,)
    if isinstance(contract.result, OutOfScope):
        return Reserved.SCOPE, ("OUT_OF_SCOPE",)
    return Reserved.ABSTAIN, (cast(Abstain, contract.result).reason,)


def _committed(found: Course, case: Case) -> Verdict:
    """All rules of the committed action; after ALLOW, every check in order."""
    rules = found.rules
    decider, reasons = rules.rule_id, rules.reason_codes
    if not found.allowed:
        terminal = Terminal(rules.boundary.value)
    else:
        terminal = Terminal.DISPATCH
        closing = _first_closing(case)
        if closing is not None:
            decider, reasons = closing[0].value, closing[1]
            terminal = case.configuration.terminals[closing[0]]
    return Verdict(
        terminal,
        rules.boundary,
        decider,
        reasons,
        case.action.action_id,
        case.resolution.object_id,
        repair=found.contract.repair,
        options=_options(case, decider, reasons) if terminal is Terminal.CLARIFY else (),
        inert=_inert(case.configuration),
        slots=case.filled.values,
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
    slots: Mapping[str, object],
    action: Action | None,
    switches: Switches,
    trace: bool,
) -> RulesVerdict:
    if switches.no_state:
        return RulesVerdict(Boundary.ALLOW, configuration.rules.default.rule_id, ("NO_STATE",))
    return evaluate(
        configuration.rules,
        action.action_id if action else None,
        configuration.predicates,
        situation.state,
        values,
        slots,
        situation.now,
        trace=trace,
    )


def gate_values(findings: Findings, resolution: Resolution | None) -> dict[str, object]:
    """The predicates of `source: gate`; without a committed action there is no object to speak of."""
    values: dict[str, object] = {
        "direction": findings.direction.value,
        "several_requests": findings.several_requests,
        "request_clauses": findings.request_clauses,
        "language": findings.language,
        "alert": findings.alerts[0].name if findings.alerts else NO_ALERT,
    }
    if resolution is not None:
        values["entity_resolved"] = resolution.resolved
    return values


GATE_PREDICATES = (
    "direction",
    "several_requests",
    "request_clauses",
    "language",
    "alert",
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


def _slot(case: Case) -> tuple[str, ...]:
    """Slots that the text does not give, gives twice or gives in no usable way, and rules that wait."""
    return (*case.filled.open, *case.pending)


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


def _confirm(case: Case) -> tuple[str, ...]:
    """A write needs the confirmation of exactly what it would do now, by whoever asks for it.

    While an equal one is open nothing is asked: `_duplicate` closes.
    """
    if case.action.mode is not Mode.WRITE:
        return ()
    earlier = case.situation.earlier
    if case.situation.session is None:
        return ("NO_SUBJECT",)
    if earlier.equal is not None and earlier.equal.open:
        return ()
    if earlier.unfit:
        return (earlier.unfit,)
    if earlier.confirmed is None:
        return (confirmation.NEEDED,)
    if earlier.confirmed.write != _write(case):
        return (confirmation.CHANGED,)
    return (confirmation.DONE_MEANWHILE,) if earlier.equal is not None else ()


def _write(case: Case) -> Write:
    values = case.filled.values
    return confirmation.write_of(case.action.action_id, case.resolution.object_id, values)


def _state(case: Case) -> tuple[str, ...]:
    """What the customer confirmed was shown under a pinned fact that is another one now."""
    confirmed = case.situation.earlier.confirmed
    if confirmed is None or case.action.mode is not Mode.WRITE:
        return ()
    now = confirmation.pins(case.configuration, case.action, case.situation)
    return tuple(f"PIN_CHANGED:{name}" for name in now if confirmed.pins.get(name) != now[name])


def _duplicate(case: Case) -> tuple[str, ...]:
    """An equal write whose end is not known: neither asked for again nor carried out again."""
    equal = case.situation.earlier.equal
    if case.action.mode is not Mode.WRITE or equal is None or not equal.open:
        return ()
    return ("EQUAL_WRITE_OPEN",)


CHECKS: tuple[tuple[Reserved, Check], ...] = (
    (Reserved.MULTI, _multi),
    (Reserved.DIRECTION, _direction),
    (Reserved.ACTION, _action),
    (Reserved.OBJECT, _object_check),
    (Reserved.SLOT, _slot),
    (Reserved.CONFIDENCE, _confidence),
    (Reserved.CONFIRM, _confirm),
    (Reserved.STATE, _state),
    (Reserved.DUPLICATE, _duplicate),
)
"""What may still close after ALLOW, in order."""

OFFERED = (Reserved.DIRECTION, Reserved.ACTION, Reserved.SLOT, Reserved.CONFIDENCE)
"""Checks that leave the object as it is: what they close may be offered as it stands."""

SEVERAL = frozenset({"SEVERAL_REQUESTS", "DIRECTION_MIXED", "ANOTHER_WRITE_ASKED"})
"""Reasons that say that the text asks for something else too: the writes among it are offered."""


def _options(case: Case, decider: str, reasons: tuple[str, ...]) -> tuple[Option, ...]:
    """The pairs that a clarification offers: the committed action with each object that would be permitted."""
    beside = _asked_beside(case) if SEVERAL & set(reasons) else ()
    ids = case.resolution.options
    if (beside or decider in OFFERED) and not _object_check(case):
        ids = (case.resolution.object_id,)
    lists = closed_lists(case.configuration.registry.entries, case.situation.session)
    known = tuple(i for i in ids if i == NONE or entry_of(lists, i) is not None)
    if beside:
        known = known if len(known) == 1 else (UNRESOLVED,)
    return tuple(Option(case.action.action_id, i) for i in known) + beside


def _asked_beside(case: Case) -> tuple[Option, ...]:
    """The other writes that the text asks for, each with its object if that is clear.

    An object is UNRESOLVED where it must be asked for once its request is chosen.
    """
    actions = dict.fromkeys(asked.actions[0] for asked in case.findings.asked)
    if any(len(asked.actions) > 1 for asked in case.findings.asked):
        return ()
    options: list[Option] = []
    for action_id in actions:
        if action_id != case.action.action_id:
            action = case.configuration.catalog.actions[action_id]
            entries = case.configuration.registry.entries
            found = resolve(action, case.findings, case.situation, entries)
            other = case._replace(action=action, resolution=found)
            object_id = UNRESOLVED if _object_check(other) else found.object_id
            options.append(Option(action_id, object_id))
    return tuple(options)


def _inert(configuration: Configuration) -> tuple[str, ...]:
    """Checks that a folder without modes cannot make: direction, action evidence, confirmation."""
    if configuration.catalog.has_modes:
        return ()
    return (Reserved.DIRECTION.value, Reserved.ACTION.value, Reserved.CONFIRM.value)
