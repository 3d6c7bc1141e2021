"""The phrase tier: exact texts, decided without a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType

from gate.load.phrases import Phrase, phrase_key
from gate.records import Abstain, Proposal
from inference.question import Question
from inference.tiers import Reply


@dataclass(frozen=True, slots=True)
class PhraseTier:
    """Phrase key to action id."""

    actions: Mapping[str, str]
    name: str = "phrases"
    versions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def propose(self, question: Question) -> Reply:
        """A proposal of confidence 1 where the whole text is a phrase, else `no_phrase`."""
        action_id = self.actions.get(phrase_key(question.utterance))
        if action_id is None:
            return Reply(Abstain("no_phrase", self.name))
        return Reply(Proposal(action_id, None, (action_id,), Decimal(1), self.name))


def build(phrases: Iterable[Phrase], name: str = "phrases") -> PhraseTier:
    """A tier of the loaded phrases, whose loader refuses a text that two actions claim."""
    return PhraseTier(MappingProxyType({p.key: p.action_id for p in phrases}), name)
