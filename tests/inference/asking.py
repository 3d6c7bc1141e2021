"""An appliance whose only tier proposes what a test says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from gate.records import Proposal, TierAnswer
from inference.appliance import Appliance
from inference.question import Question
from inference.tiers import Reply


@dataclass(frozen=True)
class Saying:
    """A tier that answers every question alike."""

    says: TierAnswer
    name: str = "saying"
    versions: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()

    def propose(self, question: Question) -> Reply:
        return Reply(self.says, question.utterance, "raw", self.flags)


def saying(appliance: Appliance, answer: TierAnswer) -> Appliance:
    """The appliance with one tier that gives this answer."""
    return replace(appliance, tiers=(Saying(answer),))


def proposing(appliance: Appliance, action_id: str) -> Appliance:
    """The appliance with one tier that is sure of this action."""
    return saying(appliance, Proposal(action_id, None, (action_id,), Decimal("0.99"), "saying"))
