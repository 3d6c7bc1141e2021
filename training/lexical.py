"""Train the lexical classifier: character n-grams and a logistic head; any language, no weights.

    python -m training.lexical --data training/data/demo/utterances.csv --out var/models/demo-lexical

The head learns from every text; the figures come from out-of-fold scores, so that no text is
measured by a head that has seen it.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from inference import artefacts, ending, sinks
from inference.artefacts import Artefact
from inference.calibration import folds
from inference.calibration.selection import Sample
from inference.classifiers import lexical
from inference.classifiers.lexical import Lexical, Recipe
from training.errors import TrainingError
from training.labels import Example, read
from training.thresholds import Rule, derive, seal

RECIPE = Recipe(ngrams=(1, 4), at_least=1, strength=20.0)
FOLDS = 5


def train(data: Path, out: Path, recipe: Recipe = RECIPE, rule: Rule | None = None) -> Artefact:
    """Train on `data` and put the artefact at `out` in one step.

    With a `rule` it holds a policy too: calibrator, margin and thresholds from costs. Raises
    TrainingError for unusable labels, CalibrationError for limits that cannot be kept.
    """
    started = time.monotonic()
    examples = read(data)
    scorer = fit(examples, recipe)
    sample = out_of_fold(examples, recipe)
    policy = None if rule is None else derive(sample, rule)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".new-") as scratch:
        folder = Path(scratch) / "artefact"
        fields = {
            "recipe": asdict(recipe),
            "inputs": {"data": artefacts.sha256(data), "code": artefacts.sha256(Path(__file__))},
            "texts": {"trained": len(examples)},
            "out_of_fold": measure(sample),
            "calibrated": False,
            "seconds": round(time.monotonic() - started),
        }
        made = lexical.save(scorer, folder, fields)
        agree(scorer, lexical.load(made), examples)
        if policy is not None and rule is not None:
            seal(made, policy, rule)
        shutil.rmtree(out, ignore_errors=True)
        folder.rename(out)
    return artefacts.read(out)


def fit(examples: Sequence[Example], recipe: Recipe) -> Lexical:
    """The classifier of all examples."""
    return lexical.fit([e.text for e in examples], [e.label for e in examples], recipe)


def out_of_fold(examples: Sequence[Example], recipe: Recipe) -> Sample:
    """The examples with scores by heads that have not seen them."""
    texts, labels = [e.text for e in examples], [e.label for e in examples]
    names, scores = folds.out_of_fold(
        texts, labels, lambda t, ls: lexical.fit(t, ls, recipe), FOLDS, recipe.seed
    )
    gold = np.array([names.index(label) for label in labels], dtype=np.int64)
    return Sample(names, scores, gold, np.zeros(len(texts), dtype=bool))


def measure(sample: Sample) -> dict[str, float]:
    """Accuracy on out-of-fold scores."""
    return {"texts": len(sample.gold), "accuracy": round(float(sample.right.mean()), 4)}


def agree(fitted: Lexical, loaded: Lexical, examples: Sequence[Example]) -> None:
    """Raise TrainingError where what was saved scores otherwise than what was trained."""
    texts = [example.text for example in examples]
    if loaded.labels != fitted.labels or (loaded.scores(texts) != fitted.scores(texts)).any():
        raise TrainingError("the saved classifier scores otherwise than the trained one; report it")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; prints the manifest's figures as JSON."""
    parser = argparse.ArgumentParser(description="Train the lexical classifier.")
    parser.add_argument("--data", type=Path, required=True, help="CSV with text and label")
    parser.add_argument("--out", type=Path, required=True, help="folder of the artefact")
    parser.add_argument("--config", type=Path, help="institution with costs.yaml: thresholds too")
    parser.add_argument("--next-right", type=float, help="share of right answers of the next tier")
    given = parser.parse_args(arguments)
    rule = None if given.config is None else Rule.of(given.config, given.next_right)
    manifest = train(given.data, given.out, RECIPE, rule).manifest
    keys = ("labels", "texts", "out_of_fold", "policy", "seconds")
    print(sinks.json_text({key: manifest.get(key) for key in keys}, indent=1))
    return 0


if __name__ == "__main__":
    ending.run(main)
