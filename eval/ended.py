"""One held-out text of the demo, as the cascade and the gate ended it."""

from __future__ import annotations

from dataclasses import dataclass

from eval.suites.demo.labels import Label
from gate.confirmation import NEEDED
from gate.records import Mode, Terminal, TierAnswer, Verdict
from inference.tiers.cascade import Tried


@dataclass(frozen=True, slots=True)
class Ended:
    """One text: the tier that ended the cascade, what it said, the verdict on it, every tier asked."""

    label: Label
    tier: str
    answer: TierAnswer
    verdict: Verdict
    mode: Mode | None
    tried: tuple[Tried, ...] = ()

    @property
    def routed(self) -> bool:
        """Dispatched, or a write whose confirmation is asked for."""
        return self.verdict.terminal is Terminal.DISPATCH or NEEDED in self.verdict.reason_codes

    @property
    def right(self) -> bool:
        """Routed to the action and object that the label names, which the label allows."""
        named = (self.verdict.action_id, self.verdict.object_id)
        return (
            self.routed
            and self.label.allowed
            and named
            == (
                self.label.action,
                self.label.object_id,
            )
        )
