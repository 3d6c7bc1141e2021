"""One case decided: the proposer's answer, the gate's verdict, and the final path they give."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from eval.case import OUT_OF_SCOPE, Case, Gold
from eval.proposers.answer import Answer
from eval.suite import Suite
from gate import confirmation
from gate.configuration import Configuration
from gate.controller import decide
from gate.findings import Findings
from gate.records import (
    OutOfScope,
    Proposal,
    Situation,
    Switches,
    Terminal,
    TierAnswer,
    Verdict,
)
from gate.rules import evaluate

GOLD_SWITCHES = Switches(no_object_evidence=True, no_direction=True, ignore_confidence=True)
"""What a right proposal is given where a suite's gold names the object itself."""
RIGHT_SWITCHES = Switches(ignore_confidence=True)
"""What it is given where the object is the gate's finding."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case with everything that the metrics read.

    `with_gold` is the verdict on the right action and object under the same rules and state: it
    tells a wrong proposal from a wrong rule. `true_rules` are the blocking rules that hold for the
    committed action, whether or not they were read. `cited` is the rule that a system without the
    gate gave as its reason; None where it gives none.
    """

    case: Case
    answer: Answer
    verdict: Verdict
    with_gold: Verdict
    true_rules: tuple[str, ...] = ()
    cited: str | None = None

    @property
    def dispatched(self) -> bool:
        """True if the case became a dispatch, or a write whose confirmation is asked for."""
        return goes_on(self.verdict)

    @property
    def path(self) -> str:
        """The final path."""
        return final_path(self.verdict)

    @property
    def exact(self) -> bool:
        """True if the final path is the right one."""
        return self.path == self.case.gold.final_path

    @property
    def committed(self) -> bool:
        """True if the answer held one usable action."""
        return self.verdict.action_id is not None

    @property
    def action(self) -> str | None:
        """The committed action, or out of scope; None where the answer held neither."""
        if isinstance(self.answer.given, OutOfScope):
            return OUT_OF_SCOPE
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

    @property
    def failed(self) -> bool:
        """True if the interface failed: no answer came, or one that broke the contract.

        Such a case stays in every denominator.
        """
        return self.answer.failed or self.verdict.first_failed_contract is not None


def goes_on(verdict: Verdict) -> bool:
    """True of a dispatch, and of a write that only waits for the yes to what was read back."""
    return verdict.terminal is Terminal.DISPATCH or confirmation.asks(verdict)


def final_path(verdict: Verdict) -> str:
    """The action id of what goes on, else `T_` and the terminal."""
    if goes_on(verdict) and verdict.action_id is not None:
        return verdict.action_id
    return f"T_{verdict.terminal}"


def situation(suite: Suite, case: Case) -> Situation:
    """What the gate knows of a case besides its text."""
    return Situation(case.state, suite.now, case.session, case.candidates)


def judge(
    suite: Suite,
    case: Case,
    answer: Answer,
    verdict: Verdict,
    findings: Findings,
    cited: str | None = None,
) -> Outcome:
    """The outcome of a verdict, with what the right proposal would have become."""
    known = situation(suite, case)
    with_gold = decide(suite.configuration, known, findings, *_right(suite, case.gold))
    rules = true_rules(suite.configuration, known, verdict.action_id)
    return Outcome(case, answer, verdict, with_gold, rules, cited)


def _right(suite: Suite, gold: Gold) -> tuple[TierAnswer, Switches]:
    """The right answer of a proposer. Where the text alone may bound a case, every check is on."""
    if gold.action == OUT_OF_SCOPE:
        return OutOfScope("gold"), Switches()
    if suite.bounded_by_text:
        sure = Decimal(1)
        return Proposal(gold.action, None, (gold.action,), sure, "gold"), RIGHT_SWITCHES
    return Proposal(gold.action, gold.object_id, (gold.action,), None, "gold"), GOLD_SWITCHES


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
