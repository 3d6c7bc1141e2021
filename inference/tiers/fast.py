"""The fast tier: a classifier in an artefact folder, and the policy that its scores are read by.

    <folder>/manifest.json   kind, labels in the head's order, digests of data and code, figures
    <folder>/policy.json     calibrator, margin and thresholds; without it a fixed threshold stands
    ...                      the classifier's own parts (inference/classifiers)

`training/` writes it. Nothing in it is pickled; a part that differs from the manifest is refused
before it is read.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple

from gate.records import Abstain, Proposal, TierAnswer
from inference.artefacts import Artefact
from inference.calibration import policy_file
from inference.calibration.policy import Policy
from inference.classifiers import Scorer, opening, store
from inference.classifiers.head import Head
from inference.classifiers.head import apply as softmax
from inference.classifiers.reading import read, unreadable
from inference.errors import AssemblyError
from inference.question import Question
from inference.tiers import Reply, judged, scores

__all__ = ["FastTier", "Head", "check_labels", "softmax"]

LONG_TEXT = "long_text"
"""Flag of a text that was scored in windows."""


class _Opened(NamedTuple):
    scorer: Scorer
    policy: Policy | None


class FastTier:
    """Scores a text with a classifier's artefact; loads it at the first text."""

    def __init__(self, name: str, artefact: Artefact, threshold: Decimal | None = None) -> None:
        """`threshold` is for an artefact without a policy, and for no other; AssemblyError."""
        self.name = name
        self.derived = policy_file.described(artefact)
        if (threshold is None) != (self.derived is not None):
            raise AssemblyError(_which_threshold(name, artefact, threshold))
        self.versions: Mapping[str, str] = {
            f"model:{name}": artefact.digest,
            **({} if self.derived is None else self.derived.versions(name)),
        }
        self.labels = store.labels(artefact, opening.KINDS)
        self._artefact = artefact
        self._threshold = threshold
        self._lock = threading.Lock()
        self._opened: _Opened | None = None

    def propose(self, question: Question) -> Reply:
        """The best label where the policy or the fixed threshold lets it through.

        A text without a letter or digit abstains before anything is loaded; a long one is scored in
        windows and flagged. Nothing is proposed for a text out of distribution: it is passed on.
        """
        reason = unreadable(question.utterance)
        if reason:
            return Reply(Abstain(reason, self.name))
        scorer, policy = self._loaded()
        (found,) = read(scorer, [question.utterance])
        if found.scores is None:
            return Reply(Abstain(found.reason or "no_text", self.name))
        probabilities = dict(zip(self.labels, found.scores.tolist(), strict=True))
        answer: TierAnswer
        if policy is not None:
            answer = judged.answer(policy, self.labels, found.scores, self.name)
        else:
            answer = scores.answer(
                probabilities, Decimal(1) if self._threshold is None else self._threshold, self.name
            )
        if found.far and isinstance(answer, Proposal):
            actions = answer.topk[:2]
            answer = Abstain(scores.OUT_OF_DISTRIBUTION, self.name, actions)
        flags = (LONG_TEXT,) if found.windows > 1 else ()
        return Reply(answer, raw=scores.shown(probabilities), flags=flags)

    def _loaded(self) -> _Opened:
        with self._lock:
            if self._opened is None:
                scorer = opening.open_scorer(self._artefact)
                policy = policy_file.read(self._artefact.folder, self.labels)
                self._opened = _Opened(scorer, policy)
            return self._opened


def _which_threshold(name: str, artefact: Artefact, threshold: Decimal | None) -> str:
    if threshold is None:
        return (
            f"tier `{name}` is calibrated, but `{artefact.folder}` holds no policy; derive one with "
            "`routelock train thresholds`, or give the tier a `threshold` and `calibrated: false`"
        )
    return (
        f"tier `{name}` has the threshold {threshold}, and `{artefact.folder}` a policy; write "
        "`calibrated: true` without `threshold` in appliance.yaml"
    )


def check_labels(tier: FastTier, actions: Iterable[str]) -> None:
    """Raise AssemblyError where the artefact knows a label that is no action of the catalog."""
    unknown = sorted({*tier.labels} - {*actions, scores.OUT_OF_SCOPE})
    if unknown:
        raise AssemblyError(
            f"tier `{tier.name}` was trained for `{unknown[0]}`, which catalog.yaml does not have; "
            f"{store.RETRAIN}"
        )
