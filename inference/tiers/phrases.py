"""The phrase tier: whole texts, commands and a trusted channel's intent, decided without a model.

It answers with confidence 1 and decides nothing: the gate finds the object itself and asks for its
own evidence, and an intent is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from gate.load.phrases import PhraseBook
from gate.records import Abstain, OutOfScope, Proposal
from inference.question import Question
from inference.tiers import Reply, scores

INTENT: Final = "intent"
"""Backend of an answer that a channel's intent gave."""
CONTAINS: Final = "contains"
"""Backend of an answer that words inside the text gave."""


@dataclass(frozen=True, slots=True)
class PhraseTier:
    """Answers from one book of phrases."""

    book: PhraseBook
    name: str = "phrases"
    versions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def propose(self, question: Question) -> Reply:
        """A proposal where the whole text or the intent means one action, else `no_phrase`.

        Words that nothing is offered for come first, whatever surrounds them. Where the text means
        another action than the intent, the customer is asked.
        """
        if self.book.out_of_scope(question.utterance):
            return Reply(OutOfScope(self.name, Decimal(1), CONTAINS))
        intent = (question.intent,) if question.intent is not None else ()
        meant = self.book.meant(question.utterance, question.named)
        actions = tuple(dict.fromkeys((*intent, *meant)))
        backend = INTENT if intent else ""
        if not actions:
            return Reply(Abstain("no_phrase", self.name))
        if len(actions) > 1:
            return Reply(Abstain(scores.CLARIFY, self.name, actions[:2], backend))
        return Reply(Proposal(actions[0], None, actions, Decimal(1), self.name, backend))


def build(book: PhraseBook, name: str = "phrases") -> PhraseTier:
    """A tier of the loaded phrases, whose loader refuses a text that two actions claim."""
    return PhraseTier(book, name)
