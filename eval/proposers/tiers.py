"""Serving tiers under test: a cascade as `routelock route` runs it, of one tier or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.case import Ask
from eval.counted import counting
from eval.proposers.answer import Answer, Backing
from gate.configuration import Configuration
from gate.findings import find
from gate.records import Request, Switches, Turn
from inference import question
from inference.tiers import Tier, cascade

NO_SWITCHES = Switches()


@dataclass(frozen=True, slots=True)
class Tiers:
    """Tiers in order; the first that does not abstain answers."""

    name: str
    configuration: Configuration
    tiers: Sequence[Tier]
    switches: Switches = NO_SWITCHES

    @property
    def backing(self) -> Backing:
        """The digests of everything that the tiers decide with."""
        named: dict[str, str] = {}
        for tier in self.tiers:
            named |= tier.versions
        return Backing(named)

    def propose(self, ask: Ask) -> Answer:
        """The last tier's answer; calls and tokens are those of the tiers that call a model."""
        turns = tuple(Turn("user", text) for text in ask.history)
        request = Request(ask.case_id, "bench", ask.utterance, turns)
        findings = find(self.configuration, request)
        with counting() as used:
            tried = cascade.run(self.tiers, question.of(request, self.configuration, findings))
        asked = sum(bool(one.reply.sent) for one in tried)
        return Answer(
            tried[-1].reply.answer,
            calls=sum(u.calls for u in used) if used else asked,
            tokens_in=_sum([u.tokens_in for u in used]),
            tokens_out=_sum([u.tokens_out for u in used]),
        )


def _sum(counts: Sequence[int | None]) -> int | None:
    """The sum of what was counted; None where nothing was."""
    known = [c for c in counts if c is not None]
    return sum(known) if known else None
