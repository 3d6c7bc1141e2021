"""One case decided: the proposer's answer, the gate's verdict, and the final path they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from eval.case import Case, ask, request
from eval.proposers.answer import Answer, Proposer
from gate.configuration import Configuration
from gate.controller import decide
from gate.findings import find
from gate.records import Proposal, Situation, Switches, Terminal, Verdict
from gate.rules import evaluate

Clock = Callable[[], float]
"""Seconds from an arbitrary start, for latencies alone."""

GOLD_SWITCHES = Switches(no_object_evidence=True, no_direction=True, ignore_confidence=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case with everything that the metrics read.

    `with_gold` is the verdict on the right action and object under the same rules and state: it
    tells a wrong proposal from a wrong rule. `true_rules` are the blocking rules that hold for the
    committed action, whether or not they were read.
    """

    case: Case
    answer: Answer
    verdict: Verdict
    with_gold: Verdict
    true_rules: tuple[str, ...] = ()

    @property
    def dispatched(self) -> bool:
        """True if the case became a dispatch."""
        return self.verdict.terminal is Terminal.DISPATCH

    @property
    def path(self) -> str:
        """The final path."""
        return final_path(self.verdict)

    @property
    def exact(self) -> bool:
        """True if the final path is the right one."""
        return self.path == self.case.gold.final_path

    @property
    def action(self) -> str | None:
        """The committed action; None where the answer held no usable one."""
        return self.verdict.action_id

    @property
    def action_right(self) -> bool:
        return self.action == self.case.gold.action

    @property
    def object_right(self) -> bool:
        return self.action is not None and self.verdict.object_id == self.case.gold.object_id

    @property
    def valid_first_pass(self) -> bool:
        """True if the answer held the contract at once, without a repair."""
        failed = self.verdict.first_failed_contract or self.verdict.repair
        return self.answer.valid_first_pass and not failed


def final_path(verdict: Verdict) -> str:
    """The action id of a dispatch, else `T_` and the terminal."""
    if verdict.terminal is Terminal.DISPATCH and verdict.action_id is not None:
        return verdict.action_id
    return f"T_{verdict.terminal}"


def decide_case(
    configuration: Configuration,
    case: Case,
    proposer: Proposer,
    switches: Switches,
    now: datetime,
    clock: Clock | None,
) -> Outcome:
    """Ask the proposer, then the gate; `clock` times an answer that brings no latency itself."""
    answer = _timed(proposer, case, clock)
    situation = Situation(case.state, now, case.session, case.candidates)
    findings = find(configuration, request(case))
    verdict = decide(configuration, situation, findings, answer.given, switches)
    gold = case.gold
    right = Proposal(gold.action, gold.object_id, (gold.action,), None, "gold")
    with_gold = decide(configuration, situation, findings, right, GOLD_SWITCHES)
    rules = true_rules(configuration, situation, verdict.action_id)
    return Outcome(case, answer, verdict, with_gold, rules)


def _timed(proposer: Proposer, case: Case, clock: Clock | None) -> Answer:
    begin = clock() if clock else 0.0
    answer = proposer.propose(ask(case))
    if answer.latency_ms is None and clock:
        return replace(answer, latency_ms=(clock() - begin) * 1000)
    return answer


def true_rules(
    configuration: Configuration, situation: Situation, action_id: str | None
) -> tuple[str, ...]:
    """The blocking rules that hold or err for an action, each evaluated by itself."""
    rules = configuration.rules
    alone = (replace(rules, named={}, everywhere=(step,)) for step in rules.steps(action_id))
    verdicts = (
        evaluate(r, None, configuration.predicates, situation.state, {}, {}, situation.now)
        for r in alone
    )
    return tuple(v.rule_id for v in verdicts if v.rule_id != rules.default.rule_id)
