"""The lexical proposer: the serving classifier of character n-grams, learnt from a DEV file.

It proposes an action and no object; the object is the gate's own finding. Where no action has more
than even odds it abstains: it has learnt from a few sentence patterns and must not guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from eval import table
from eval.case import Ask
from eval.errors import SuiteError
from eval.proposers.answer import Answer, Backing
from eval.suite import Examples
from gate.records import Abstain, Switches
from inference.classifiers import lexical
from inference.classifiers.reading import read
from inference.tiers import scores

TIER = "lexical"
RECIPE = lexical.Recipe(ngrams=(1, 3), at_least=1, strength=10.0, seed=0)
THRESHOLD = Decimal("0.5")
"""Below it another action may be as likely; fixed and uncalibrated."""
NO_SWITCHES = Switches()


@dataclass(frozen=True, slots=True)
class Lexical:
    """A fitted classifier."""

    model: lexical.Lexical
    backing: Backing
    name: str = TIER
    switches: Switches = NO_SWITCHES

    def propose(self, ask: Ask) -> Answer:
        """The likeliest label with its probability, or Abstain below even odds or without text."""
        (found,) = read(self.model, [ask.utterance])
        if found.scores is None:
            return Answer(Abstain(found.reason or "no_text", TIER, (), TIER), calls=0)
        chances = dict(zip(self.model.labels, found.scores.tolist(), strict=True))
        return Answer(scores.answer(chances, THRESHOLD, TIER, TIER), calls=0)


def load(dev_file: Path) -> Lexical:
    """Learn from the texts and gold actions of a DEV file; SuiteError if it has one action."""
    rows = table.read(dev_file, ("utterance", "gold_action"))
    backing = Backing({dev_file.name: table.digest(dev_file)}, {"lexical": RECIPE.seed})
    model = fit([r["utterance"] for r in rows], [r["gold_action"] for r in rows], str(dev_file))
    return Lexical(model, backing)


def of_examples(examples: Examples) -> Lexical:
    """Learn from a suite's examples; SuiteError if they have one action."""
    backing = Backing({examples.file.name: table.digest(examples.file)}, {"lexical": RECIPE.seed})
    model = fit(examples.texts, examples.actions, str(examples.file))
    return Lexical(model, backing)


def fit(texts: Sequence[str], actions: Sequence[str], source: str) -> lexical.Lexical:
    """Fit the classifier; the same texts give the same weights."""
    if len(set(actions)) < 2:
        raise SuiteError(
            "all rows have one action", file=source, fix="learn from at least two actions"
        )
    return lexical.fit(texts, actions, RECIPE)
