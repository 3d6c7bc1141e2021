"""The lexical proposer: character n-grams and a linear classifier, learnt from a DEV file.

It proposes an action and no object; the object is the gate's own finding. Where no action has more
than even odds it abstains: it has learnt from a few sentence patterns and must not guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from eval import table
from eval.case import Ask
from eval.errors import SuiteError
from eval.proposers.answer import Answer, Backing
from gate.records import Abstain, Proposal, Switches

TIER = "lexical"
SEED = 0
THRESHOLD = Decimal("0.5")
"""Below it another action may be as likely; fixed and uncalibrated."""
PLACES = Decimal("0.000001")
NO_SWITCHES = Switches()


@dataclass(frozen=True, slots=True)
class Lexical:
    """A fitted classifier; `actions` are its classes in the order of its probabilities."""

    model: Pipeline
    actions: tuple[str, ...]
    backing: Backing
    name: str = TIER
    switches: Switches = NO_SWITCHES

    def propose(self, ask: Ask) -> Answer:
        """The likeliest action with its probability, or Abstain below even odds."""
        chances = self.model.predict_proba([ask.utterance])[0]
        ranked = sorted(zip(self.actions, map(float, chances), strict=True), key=lambda p: -p[1])
        topk = tuple(action for action, _ in ranked[:3])
        confidence = Decimal(repr(ranked[0][1])).quantize(PLACES)
        if confidence < THRESHOLD:
            return Answer(Abstain("low_confidence", TIER, topk[:2], TIER))
        return Answer(Proposal(topk[0], None, topk, confidence, TIER, TIER))


def load(dev_file: Path) -> Lexical:
    """Learn from the texts and gold actions of a DEV file; SuiteError if it has one action."""
    rows = table.read(dev_file, ("utterance", "gold_action"))
    backing = Backing({dev_file.name: table.digest(dev_file)}, {"lexical": SEED})
    model = fit([r["utterance"] for r in rows], [r["gold_action"] for r in rows], str(dev_file))
    return Lexical(model, tuple(map(str, model.classes_)), backing)


def fit(texts: Sequence[str], actions: Sequence[str], source: str) -> Pipeline:
    """Fit the classifier; the same texts give the same weights."""
    if len(set(actions)) < 2:
        raise SuiteError(
            "all rows have one action", file=source, fix="learn from at least two actions"
        )
    features = TfidfVectorizer(analyzer="char", ngram_range=(1, 3), sublinear_tf=True)
    classifier = LogisticRegression(C=10.0, max_iter=2000, random_state=SEED)
    return make_pipeline(features, classifier).fit(texts, actions)
