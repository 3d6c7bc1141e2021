"""Tell an artefact which share of customers' messages is out of scope; training texts seldom show it.

    python -m training.prior --artefact var/models/demo-tuned --data labels.csv --expected 0.1

Training sets hold few out-of-scope texts (CLINC150: 0.7 %), traffic holds many, so that a head trained on
the first is too sure of an action on the second. Only the intercept of `OUT_OF_SCOPE` moves. A policy
derived before would no longer fit: derive it afterwards.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from inference import artefacts, ending, sinks
from inference.artefacts import Artefact
from inference.classifiers import encoded, head, store
from inference.tiers.scores import OUT_OF_SCOPE
from training.errors import TrainingError
from training.labels import read


def expect(artefact: Artefact, data: Path, expected: float) -> Artefact:
    """Move the intercept and seal the folder again with both shares; `data` is what it learnt from.

    Raises TrainingError for other data, for an artefact that has a policy or was moved before, or where
    nothing is out of scope.
    """
    labels = store.open_labels(artefact, encoded.KINDS)
    manifest = artefact.manifest
    if manifest.get("inputs", {}).get("data") != artefacts.sha256(data):
        raise TrainingError(f"`{artefact.folder}` was not trained on `{data}`; name its own labels")
    if manifest.get("calibrated") or "prior" in manifest:
        raise TrainingError(f"`{artefact.folder}` has a policy or a prior; train it again first")
    gold = [example.label for example in read(data)]
    if OUT_OF_SCOPE not in labels:
        raise TrainingError(f"`{artefact.folder}` knows no {OUT_OF_SCOPE}; add texts of that label")
    trained = gold.count(OUT_OF_SCOPE) / len(gold)
    fitted, more = head.read(artefact.folder, len(labels))
    moved = head.expecting(fitted, labels.index(OUT_OF_SCOPE), trained, expected)
    head.write(artefact.folder, moved, **more)
    fields = {k: v for k, v in manifest.items() if k not in ("files", "schema_version")}
    prior = {"trained": round(trained, 6), "expected": expected}
    return artefacts.write_manifest(artefact.folder, {**fields, "prior": prior})


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; prints both shares as JSON."""
    parser = argparse.ArgumentParser(description="Tell an artefact the share of out-of-scope.")
    parser.add_argument("--artefact", type=Path, required=True, help="folder of the artefact")
    parser.add_argument("--data", type=Path, required=True, help="the labels it was trained on")
    parser.add_argument("--expected", type=float, required=True, help="share between 0 and 1")
    given = parser.parse_args(arguments)
    made = expect(artefacts.read(given.artefact), given.data, given.expected)
    print(sinks.json_text(made.manifest["prior"]))
    return 0


if __name__ == "__main__":
    ending.run(main)
