"""Train the linear classifier: a frozen sentence encoder and a logistic head.

    python -m training.linear --data training/data/demo/utterances.csv --out var/models/demo-linear

Every text is encoded once; the head learns from all of them, and the figures come from out-of-fold
scores. The artefact holds a copy of the encoder, so that one folder is the whole tier.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from inference import artefacts, ending, sinks
from inference.artefacts import Artefact
from inference.calibration import folds
from inference.calibration.selection import Sample
from inference.classifiers import encoded, head
from inference.classifiers.head import Head
from inference.encoder import TorchEncoder
from training import reach
from training.errors import TrainingError
from training.labels import Example, read
from training.thresholds import Rule, derive, seal


@dataclass(frozen=True, slots=True)
class Recipe:
    """What decides the result beside texts, labels and encoder."""

    strength: float = 20.0
    """Inverse regularisation of the head, scikit-learn's C."""
    folds: int = 5
    seed: int = 0


RECIPE = Recipe()
BASE = Path("var/models/all-minilm-l6-v2")


def train(
    data: Path, base: Path, out: Path, recipe: Recipe = RECIPE, rule: Rule | None = None
) -> Artefact:
    """Train on `data` over the encoder `base` and put the artefact at `out` in one step.

    With a `rule` it holds a policy too. Raises TrainingError for unusable labels, ArtefactError for
    an encoder that is not what it says, CalibrationError for limits that cannot be kept.
    """
    started = time.monotonic()
    examples = read(data)
    encoder = artefacts.read(base)
    vectors = TorchEncoder(encoder).encode([e.text for e in examples])
    labels = [e.label for e in examples]
    fitted, names = head.fit(vectors, labels, recipe.strength, recipe.seed)
    sample = out_of_fold(vectors, labels, recipe)
    policy = None if rule is None else derive(sample, rule)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".new-") as scratch:
        folder = Path(scratch) / "artefact"
        inputs = {"data": artefacts.sha256(data), "code": artefacts.sha256(Path(__file__))}
        fields = {
            "recipe": asdict(recipe),
            "inputs": {**inputs, "base": encoder.digest},
            "texts": {"trained": len(examples)},
            "out_of_fold": {"accuracy": round(float(sample.right.mean()), 4)},
            "calibrated": False,
            "seconds": round(time.monotonic() - started),
        }
        gold = np.array([names.index(label) for label in labels], dtype=np.int64)
        close = reach.out_of_fold(vectors, gold, len(names), recipe.folds, recipe.seed)
        made = encoded.save(names, fitted, encoder, folder, fields, reach=close)
        agree(fitted, vectors, made, examples)
        if policy is not None and rule is not None:
            seal(made, policy, rule)
        shutil.rmtree(out, ignore_errors=True)
        folder.rename(out)
    return artefacts.read(out)


def out_of_fold(vectors: NDArray[np.float32], labels: Sequence[str], recipe: Recipe) -> Sample:
    """The texts with scores by heads that have not seen them; a label missing in a fold scores 0."""
    names = sorted(set(labels))
    gold = np.array([names.index(label) for label in labels], dtype=np.int64)
    scores = np.zeros((len(labels), len(names)))
    for held in folds.parts(gold, recipe.folds, recipe.seed):
        own = [label for label, out in zip(labels, held, strict=True) if not out]
        fitted, known = head.fit(vectors[~held], own, recipe.strength, recipe.seed)
        places = [names.index(label) for label in known]
        scores[np.ix_(np.flatnonzero(held), np.array(places))] = head.apply(fitted, vectors[held])
    return Sample(tuple(names), scores, gold, np.zeros(len(labels), dtype=bool))


def agree(
    fitted: Head, vectors: NDArray[np.float32], made: Artefact, examples: Sequence[Example]
) -> None:
    """Raise TrainingError where what was saved predicts otherwise than what was trained."""
    saved = encoded.load(made).scores([example.text for example in examples])
    trained = head.apply(fitted, vectors)
    if np.abs(saved - trained).max() > 1e-4 or (saved.argmax(1) != trained.argmax(1)).any():
        raise TrainingError("the saved classifier scores otherwise than the trained one; report it")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; prints the manifest's figures as JSON."""
    parser = argparse.ArgumentParser(description="Train the linear classifier.")
    parser.add_argument("--data", type=Path, required=True, help="CSV with text and label")
    parser.add_argument("--base", type=Path, default=BASE, help="the sentence encoder")
    parser.add_argument("--out", type=Path, required=True, help="folder of the artefact")
    parser.add_argument("--config", type=Path, help="institution with costs.yaml: thresholds too")
    parser.add_argument("--next-right", type=float, help="share of right answers of the next tier")
    given = parser.parse_args(arguments)
    rule = None if given.config is None else Rule.of(given.config, given.next_right)
    manifest = train(given.data, given.base, given.out, RECIPE, rule).manifest
    keys = ("labels", "texts", "out_of_fold", "policy", "seconds")
    print(sinks.json_text({key: manifest.get(key) for key in keys}, indent=1))
    return 0


if __name__ == "__main__":
    ending.run(main)
