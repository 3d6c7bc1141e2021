"""The proposer tier: drives a backend over exactly the legal labels and checks what comes back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

import numpy as np

from gate import contract
from gate.catalog import Catalog
from gate.records import NONE, UNRESOLVED, Abstain, OutOfScope, Proposal, TierAnswer, Unparsed
from inference import prompts
from inference.artefacts import Artefact
from inference.backends import Backend, Choice, adapters, loop, wire
from inference.calibration import policy_file
from inference.errors import AssemblyError, BackendError
from inference.question import Question
from inference.tiers import Reply, judged, scores

TOLERANCE = 1e-3
"""How far the probabilities of a choice may be from summing to 1."""


class ProposerTier:
    """Asks a backend which of the catalog's actions, or none, a question asks for."""

    def __init__(
        self,
        name: str,
        backend: Backend,
        catalog: Catalog,
        threshold: Decimal | None,
        artefact: Artefact | None = None,
    ) -> None:
        """`artefact` is the model's folder where it lies here: an adapter in it must be one for this
        prompt, and its policy stands instead of a `threshold`. AssemblyError for one that does not fit.
        """
        self.name = name
        self._backend = backend
        self._names = prompts.label_names(catalog)
        if backend.form == "codes" and len(self._names) > len(prompts.CODES):
            raise AssemblyError(
                f"tier `{name}` has {len(self._names)} labels and there are {len(prompts.CODES)} codes; "
                "use fewer actions, or a backend that chooses names"
            )
        match backend.form:
            case "json":
                self._codes, self._static = tuple(self._names), prompts.json_part(catalog)
            case "codes":
                self._codes = tuple(prompts.CODES[: len(self._names)])
                self._static = prompts.static_part(catalog, coded=True)
            case _:
                self._codes, self._static = (
                    tuple(self._names.values()),
                    prompts.static_part(catalog),
                )
        wire.check_codes(self._codes, f"tier `{name}`")
        prompt = prompts.digest(self._static)
        self.artefact = artefact
        self.derived, self._policy = None, None
        if artefact is not None:
            adapters.check(artefact, dict(zip(self._names, self._codes, strict=True)), prompt)
            self.derived = policy_file.described(artefact)
        if artefact is not None and self.derived is not None:
            self._policy = policy_file.read(artefact.folder, tuple(self._names))
        if (threshold is None) != (self.derived is not None):
            raise AssemblyError(
                f"tier `{name}` needs a `threshold`, or a model whose folder holds a policy and "
                "`calibrated: true`, and not both; correct appliance.yaml"
            )
        self._threshold = Decimal(1) if threshold is None else threshold
        self.versions: Mapping[str, str] = {
            f"model:{name}": backend.digest,
            f"prompt:{name}": prompt,
            **({} if self.derived is None else self.derived.versions(name)),
        }

    def propose(self, question: Question) -> Reply:
        """The chosen action at or above the threshold; abstains with the backend's reason."""
        backend = self._backend.name
        if not any(char.isalnum() for char in question.utterance):
            return Reply(Abstain("no_text", self.name, backend=backend))
        prompt = prompts.prompt(self._static, question)
        try:
            choice = loop.call(self._backend.choose(prompt, self._codes))
            answer, flags = self._answer(choice)
        except BackendError as error:
            sent = error.sent or prompt.dynamic
            return Reply(Abstain(error.reason, self.name, backend=backend), sent, error.raw)
        return Reply(answer, choice.sent or prompt.dynamic, choice.raw, flags, choice.model)

    def _answer(self, choice: Choice) -> tuple[TierAnswer, tuple[str, ...]]:
        if choice.text is not None:
            return self._parsed(Unparsed(choice.text, self.name, backend=self._backend.name))
        probabilities = _checked(choice, self._names)
        if self._policy is not None:
            row = np.array(tuple(probabilities.values()), dtype=np.float64)
            labels = tuple(self._names)
            return judged.answer(self._policy, labels, row, self.name, self._backend.name), ()
        return scores.answer(probabilities, self._threshold, self.name, self._backend.name), ()

    def _parsed(self, answer: Unparsed) -> tuple[TierAnswer, tuple[str, ...]]:
        """The JSON form's proposal, without an object; what does not parse is left to the contract."""
        parsed = contract.parse(answer)
        if isinstance(parsed, contract.Failed) or not isinstance(parsed.result, Proposal):
            return answer, ()
        found, flags = parsed.result, (f"repaired_{parsed.repair}",) if parsed.repair else ()
        if found.action_id == scores.OUT_OF_SCOPE:
            return OutOfScope(self.name, None, answer.backend), flags
        rest = tuple(a for a in found.topk[1:] if a != scores.OUT_OF_SCOPE)
        named = None if found.object_id in (UNRESOLVED, NONE) else found.object_id
        return replace(found, object_id=named, topk=(*found.topk[:1], *rest)), flags


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
