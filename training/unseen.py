"""Scores of every labelled text by a classifier that has not seen it, and what the next tier does.

The slice that a recipe holds back is too small for thresholds, so the classifier is trained once per
fold on the rest. For `setfit` that takes several times as long as the recipe itself; so the scores
are kept in a file of JSON lines: the first says what they were made from, every further one stands
for a text of the data file, in its order.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gate.records import Abstain, OutOfScope, Proposal, TierAnswer
from inference import artefacts
from inference.backends import adapters
from inference.calibration import folds
from inference.calibration.selection import Sample
from inference.calibration.thresholds import ASKS, RIGHT, UNKNOWN, WRONG
from inference.classifiers import encoded, reading
from inference.encoder import TorchEncoder
from inference.question import Question
from inference.tiers import Tier
from inference.tiers.cascade import InLanguages
from inference.tiers.proposer import ProposerTier
from inference.tiers.scores import OUT_OF_SCOPE
from training import lexical, linear, router
from training.errors import TrainingError
from training.labels import Example, read
from training.router import Recipe

FOLDS: Final = 4
PLACES: Final = 6
ASKED: Final = 150
"""Texts on which the next tier is measured; a small model takes a second for each."""
LANGUAGE: Final = "en"
"""The language that the labelled texts are asked in where nothing else is said."""
WORDS: Final = {RIGHT: "right", WRONG: "wrong", ASKS: "asks", UNKNOWN: "unknown"}

Watch = Callable[[Iterable[Any], str, int], Iterable[Any]]
"""Passes on items of which there are so many, and may show how far it is."""


def unwatched(items: Iterable[Any], what: str, total: int) -> Iterable[Any]:
    """The items alone."""
    return items


@dataclass(frozen=True, slots=True)
class Unseen:
    """Scored texts, what they were made from, and the digests of the next tier that was asked."""

    sample: Sample
    made_from: Mapping[str, str]
    next_versions: Mapping[str, str]


def made_from(kind: str, data: Path, base: Path) -> dict[str, str]:
    """Digests of everything that the scores of a kind are made from, as its artefact states them."""
    match kind:
        case "setfit":
            return router.inputs(data, artefacts.read(base))
        case "linear":
            code = artefacts.sha256(Path(str(linear.__file__)))
            found = artefacts.read(base).digest
            return {"data": artefacts.sha256(data), "code": code, "base": found}
        case "lexical":
            code = artefacts.sha256(Path(str(lexical.__file__)))
            return {"data": artefacts.sha256(data), "code": code}
        case _:
            raise TrainingError(f"`{kind}` is no classifier; use lexical, linear or setfit")


def measure(kind: str, data: Path, base: Path, watch: Watch = unwatched) -> Unseen:
    """Score the texts of `data`; nothing is known of the next tier yet."""
    sources, examples = made_from(kind, data, base), read(data)
    match kind:
        case "setfit":
            sample = _router(examples, base, router.Recipe(), watch)
        case "linear":
            vectors = TorchEncoder(artefacts.read(base)).encode([e.text for e in examples])
            sample = linear.out_of_fold(vectors, [e.label for e in examples], linear.RECIPE)
        case _:
            sample = lexical.out_of_fold(examples, lexical.RECIPE)
    unknown = np.full(len(examples), UNKNOWN, dtype=np.int64)
    return Unseen(replace(sample, next_tier=unknown), sources, {})


def _router(examples: Sequence[Example], base: Path, recipe: Recipe, watch: Watch) -> Sample:
    names = tuple(sorted({e.label for e in examples}))
    gold = np.array([names.index(e.label) for e in examples], dtype=np.int64)
    scores = np.zeros((len(examples), len(names)))
    for held in watch(folds.parts(gold, FOLDS, recipe.seed), "folds", FOLDS):
        kept = [e for e, is_held in zip(examples, held, strict=True) if not is_held]
        rows = [int(row) for row in np.flatnonzero(held)]
        labels, found = _fold(kept, [examples[i].text for i in rows], base, recipe)
        scores[np.ix_(np.array(rows), np.array([names.index(n) for n in labels]))] = found
    return Sample(names, scores, gold, np.zeros(len(examples), dtype=bool))


def _fold(
    kept: Sequence[Example], texts: Sequence[str], base: Path, recipe: Recipe
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Labels and scores of a router trained on `kept`, which reads texts as the tier does."""
    with tempfile.TemporaryDirectory() as scratch:
        scorer = encoded.load(router.build(base, kept, recipe, Path(scratch) / "artefact"))
        even = np.full(len(scorer.labels), 1 / len(scorer.labels))
        rows = [even if r.scores is None else r.scores for r in reading.read(scorer, texts)]
    return scorer.labels, np.stack(rows)


def ask(
    unseen: Unseen,
    data: Path,
    tier: Tier,
    language: str = LANGUAGE,
    watch: Watch = unwatched,
    texts: int = ASKED,
) -> Unseen:
    """With what the next tier makes of the least sure texts, which are passed on before all others.

    What it makes of a text that it was trained on says nothing; such texts are left out.
    """
    examples = read(data)
    outcomes = np.full(len(examples), UNKNOWN, dtype=np.int64)
    order = np.argsort(unseen.sample.probabilities.max(axis=1), kind="stable").tolist()
    inner = tier.tier if isinstance(tier, InLanguages) else tier
    model = inner.artefact if isinstance(inner, ProposerTier) else None
    first = [row for row in order if not adapters.has_learnt(model, examples[row].text)][:texts]
    for row in watch(first, "texts asked", len(first)):
        example = examples[row]
        answer = tier.propose(Question(example.text, language=language)).answer
        outcomes[row] = outcome(answer, example.label)
    return Unseen(replace(unseen.sample, next_tier=outcomes), unseen.made_from, dict(tier.versions))


def outcome(answer: TierAnswer, gold: str) -> int:
    """RIGHT, WRONG, or ASKS of a tier that abstains, for the customer is asked then."""
    match answer:
        case Abstain():
            return ASKS
        case Proposal(action_id=action_id):
            return RIGHT if action_id == gold else WRONG
        case OutOfScope():
            return RIGHT if gold == OUT_OF_SCOPE else WRONG
        case _:
            return WRONG


def write(unseen: Unseen, path: Path) -> None:
    """Keep the scores, rounded to six places."""
    sample = unseen.sample
    head = {
        "made_from": dict(unseen.made_from),
        "next_tier": dict(unseen.next_versions),
        "labels": list(sample.labels),
    }
    rows = [
        {
            "gold": sample.labels[gold],
            "next": WORDS[int(did)],
            "scores": np.round(row, PLACES).tolist(),
        }
        for gold, did, row in zip(sample.gold, sample.next_tier, sample.probabilities, strict=True)
    ]
    lines = [json.dumps(line) for line in (head, *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def load(path: Path) -> Unseen:
    """What `write` kept; TrainingError for anything else."""
    try:
        head, *rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        labels, words = tuple(head["labels"]), {word: did for did, word in WORDS.items()}
        sample = Sample(
            labels,
            np.array([row["scores"] for row in rows], dtype=np.float64),
            np.array([labels.index(row["gold"]) for row in rows], dtype=np.int64),
            np.array([words[row["next"]] for row in rows], dtype=np.int64),
        )
        return Unseen(sample, dict(head["made_from"]), dict(head["next_tier"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TrainingError(
            f"`{path}` holds no scores: {error}; delete it and run again"
        ) from error
