"""The fast tier: a classifier in an artefact folder, and the policy that its scores are read by.

    <folder>/manifest.json   kind, labels in the head's order, digests of data and code, figures
    <folder>/policy.json     calibrator, margin and thresholds; without it the fixed threshold stands
    ...                      the classifier's own parts (inference/classifiers)

`training/` writes it. Nothing in it is pickled; a part that differs from the manifest is refused
before it is read.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gate.records import Abstain, OutOfScope, Proposal, TierAnswer
from inference.artefacts import Artefact
from inference.calibration import policy_file
from inference.calibration.calibrator import confidence
from inference.calibration.policy import Policy, Reaction, react
from inference.classifiers import Scorer, opening, store
from inference.classifiers.head import Head
from inference.classifiers.head import apply as softmax
from inference.classifiers.reading import read, unreadable
from inference.errors import AssemblyError
from inference.question import Question
from inference.tiers import Reply, scores

__all__ = ["FastTier", "Head", "check_labels", "softmax"]

LONG_TEXT = "long_text"
"""Flag of a text that was scored in windows."""


class _Opened(NamedTuple):
    scorer: Scorer
    policy: Policy | None


class FastTier:
    """Scores a text with a classifier's artefact; loads it at the first text."""

    def __init__(self, name: str, artefact: Artefact, threshold: Decimal) -> None:
        self.name = name
        self.versions: Mapping[str, str] = {f"model:{name}": artefact.digest}
        self.labels = store.labels(artefact, opening.KINDS)
        self._artefact = artefact
        self._threshold = threshold
        self._lock = threading.Lock()
        self._opened: _Opened | None = None

    def propose(self, question: Question) -> Reply:
        """The best label where the policy, or at least the fixed threshold, lets it through.

        A text without a letter or digit abstains before anything is loaded; a long one is scored in
        windows and flagged.
        """
        reason = unreadable(question.utterance)
        if reason:
            return Reply(Abstain(reason, self.name))
        scorer, policy = self._loaded()
        (found,) = read(scorer, [question.utterance])
        if found.scores is None:
            return Reply(Abstain(found.reason or "no_text", self.name))
        probabilities = dict(zip(self.labels, found.scores.tolist(), strict=True))
        if policy is None:
            answer = scores.answer(probabilities, self._threshold, self.name)
        else:
            answer = self._under(policy, found.scores)
        flags = (LONG_TEXT,) if found.windows > 1 else ()
        return Reply(answer, raw=scores.shown(probabilities), flags=flags)

    def _under(self, policy: Policy, row: NDArray[np.float64]) -> TierAnswer:
        """The answer under a policy; the fixed threshold stays beneath it as a backstop."""
        rows = row[np.newaxis]
        sure = scores.confidence(float(confidence(policy.calibrator, rows)[0]))
        order = [self.labels[i] for i in np.argsort(-row, kind="stable")]
        actions = tuple(label for label in order if label != scores.OUT_OF_SCOPE)
        match Reaction(int(react(policy, self.labels, rows)[0])):
            case Reaction.CLARIFY:
                return Abstain(scores.CLARIFY, self.name, actions[:2])
            case Reaction.ROUTE if sure >= self._threshold:
                return Proposal(order[0], None, actions[:3], sure, self.name)
            case Reaction.OUT_OF_SCOPE if sure >= self._threshold:
                return OutOfScope(self.name, sure)
            case _:
                return Abstain(scores.LOW_CONFIDENCE, self.name, actions[:2])

    def _loaded(self) -> _Opened:
        with self._lock:
            if self._opened is None:
                scorer = opening.open_scorer(self._artefact)
                policy = policy_file.read(self._artefact.folder, self.labels)
                self._opened = _Opened(scorer, policy)
            return self._opened


def check_labels(tier: FastTier, actions: Iterable[str]) -> None:
    """Raise AssemblyError where the artefact knows a label that is no action of the catalog."""
    unknown = sorted({*tier.labels} - {*actions, scores.OUT_OF_SCOPE})
    if unknown:
        raise AssemblyError(
            f"tier `{tier.name}` was trained for `{unknown[0]}`, which catalog.yaml does not have; "
            f"{store.RETRAIN}"
        )
