"""Give an artefact its reach: centres of the labels, and how close a text has to be to one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inference import artefacts
from inference.artefacts import Artefact
from inference.calibration import folds
from inference.classifiers import encoded, reach
from inference.classifiers.reach import Reach
from training.errors import TrainingError
from training.labels import Example

BEYOND = 0.01
"""Share of held-back texts that is out of distribution."""


def out_of_fold(
    vectors: NDArray[np.float32], gold: NDArray[np.int64], labels: int, parts: int, seed: int
) -> Reach:
    """The reach of a frozen encoder: closeness is measured to centres of the other parts' texts."""
    found = np.empty(len(vectors), dtype=np.float32)
    for held in folds.parts(gold, parts, seed):
        others = reach.centres(vectors[~held], gold[~held], labels)
        found[held] = reach.closeness(others, vectors[held])
    return Reach(reach.centres(vectors, gold, labels), float(np.quantile(found, BEYOND)))


def mark(artefact: Artefact, learnt: Sequence[Example], held: Sequence[Example]) -> Artefact:
    """Write the reach and seal the folder again; vectors are those of the runtime that serves.

    Raises TrainingError without held-back texts.
    """
    if not held:
        raise TrainingError("no held-back text to measure closeness on; give some")
    scorer = encoded.load(artefact)
    gold = np.array([scorer.labels.index(e.label) for e in learnt], dtype=np.int64)
    own = reach.centres(scorer.encoder.encode([e.text for e in learnt]), gold, len(scorer.labels))
    found = reach.closeness(own, scorer.encoder.encode([e.text for e in held]))
    least = float(np.quantile(found, BEYOND))
    reach.write(artefact.folder, Reach(own, least))
    kept = {k: v for k, v in artefact.manifest.items() if k not in ("files", "schema_version")}
    said = {"beyond": BEYOND, "texts": len(held), "least": round(least, 4)}
    return artefacts.write_manifest(artefact.folder, {**kept, "reach": said})
