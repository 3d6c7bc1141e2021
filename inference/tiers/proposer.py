"""The proposer tier: drives a backend over exactly the legal labels and checks what comes back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal

from gate.catalog import Catalog
from gate.records import Abstain
from inference import prompts
from inference.backends import Backend, Choice, loop
from inference.errors import AssemblyError, BackendError
from inference.question import Question
from inference.tiers import Reply, scores

TOLERANCE = 1e-3
"""How far the probabilities of a choice may be from summing to 1."""


class ProposerTier:
    """Asks a backend which of the catalog's actions, or none, a question asks for."""

    def __init__(self, name: str, backend: Backend, catalog: Catalog, threshold: Decimal) -> None:
        self.name = name
        self._backend = backend
        self._names = prompts.label_names(catalog)
        coded = backend.form == "codes"
        if coded and len(self._names) > len(prompts.CODES):
            raise AssemblyError(
                f"tier `{name}` has {len(self._names)} labels and there are {len(prompts.CODES)} codes; "
                "use fewer actions, or a backend that chooses names"
            )
        self._codes = (
            tuple(prompts.CODES[: len(self._names)]) if coded else tuple(self._names.values())
        )
        self._static = prompts.static_part(catalog, coded)
        self._threshold = threshold
        self.versions: Mapping[str, str] = {
            f"model:{name}": backend.digest,
            f"prompt:{name}": prompts.digest(self._static),
        }

    def propose(self, question: Question) -> Reply:
        """The chosen action at or above the threshold; abstains with the backend's reason."""
        backend = self._backend.name
        if not any(char.isalnum() for char in question.utterance):
            return Reply(Abstain("no_text", self.name, backend=backend))
        prompt = prompts.prompt(self._static, question)
        try:
            choice = loop.call(self._backend.choose(prompt, self._codes))
            probabilities = _checked(choice, self._names)
        except BackendError as error:
            return Reply(Abstain(error.reason, self.name, backend=backend), prompt.dynamic)
        answer = scores.answer(probabilities, self._threshold, self.name, backend)
        return Reply(answer, prompt.dynamic, choice.raw)


def _checked(choice: Choice, names: Mapping[str, str]) -> dict[str, float]:
    """The choice's probabilities by label; raises BackendError for anything that is none."""
    values = choice.probabilities
    if len(values) != len(names):
        raise BackendError("invalid_choice", f"{len(values)} probabilities, {len(names)} codes")
    if not all(math.isfinite(value) and 0 <= value <= 1 for value in values):
        raise BackendError("invalid_choice", "a probability is not between 0 and 1")
    if abs(sum(values) - 1) > TOLERANCE:
        raise BackendError("invalid_choice", f"the probabilities sum to {sum(values)}")
    return dict(zip(names, values, strict=True))
