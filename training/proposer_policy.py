"""What an adapter is worth, and its policy: measured through the backend that serves it.

The texts are those that were held back from its training. Confidence is calibrated on them for this
backend and prompt, and the thresholds follow from costs.yaml: the proposer is the last tier, so what
it does not route is asked back. No policy is written where the limit on wrong routes cannot be kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gate.load import load_institution
from gate.load.costs import Costs
from inference import artefacts, prompts
from inference.artefacts import Artefact
from inference.backends.embedded import EmbeddedBackend
from inference.calibration import fit, policy_file
from inference.calibration.policy import Policy, costs_of, margins, rates, reactions
from inference.calibration.selection import WEIGHTS, Sample
from inference.calibration.thresholds import (
    ASKS,
    NextTier,
    Slack,
    Thresholds,
    derivation,
    derive,
    pointless,
)
from inference.question import Question
from training import card
from training.errors import TrainingError
from training.labels import Example
from training.unseen import Watch, unwatched

BYTES = 5_000_000
"""The most that an adapter may take, to be shipped with its institution."""
PARTS = 5


def finish(
    made: Artefact, config: Path, held: Sequence[Example], watch: Watch = unwatched
) -> Artefact:
    """Measure an adapter on the held-back texts, give it policy and card, and seal it.

    Raises TrainingError for an adapter of more than `BYTES`.
    """
    size = sum(path.stat().st_size for path in made.folder.glob("*.safetensors"))
    if size > BYTES:
        raise TrainingError(f"the adapter has {size} bytes; lower `rank` or `layers` below {BYTES}")
    institution = load_institution(config)
    labels = tuple(made.manifest["codes_of"])
    static = prompts.static_part(institution.configuration.catalog, coded=True)
    sample = scored(EmbeddedBackend("embedded", made), static, labels, held, watch)
    fields = {k: v for k, v in made.manifest.items() if k not in ("files", "schema_version")}
    fields["held_back"] = _figures(sample)
    if institution.costs is not None:
        policy, report = choose(sample, institution.costs)
        policy_file.write(made.folder, policy, institution.costs.digest)
        fields.update(calibrated=True, policy={**report, "backend": "embedded float32"})
    (made.folder / "README.md").write_text(card.of({**fields, "bytes": size}), encoding="utf-8")
    return artefacts.write_manifest(made.folder, fields)


def scored(
    backend: EmbeddedBackend,
    static: str,
    labels: Sequence[str],
    examples: Sequence[Example],
    watch: Watch = unwatched,
) -> Sample:
    """The backend's distribution over the labels for every text, as the tier asks for it."""
    codes = prompts.CODES[: len(labels)]
    rows = [
        backend.weigh(prompts.prompt(static, Question(e.text)), codes).probabilities
        for e in watch(examples, "texts", len(examples))
    ]
    gold = np.array([labels.index(e.label) for e in examples], dtype=np.int64)
    return Sample(tuple(labels), np.array(rows), gold, np.full(len(rows), ASKS, dtype=np.int64))


def choose(sample: Sample, costs: Costs, seed: int = 0) -> tuple[Policy, Mapping[str, Any]]:
    """The policy with the fewest questions that keeps the limit on wrong routes, and its report.

    Confidences are cross-fitted. TrainingError where no weight of damage keeps the limit.
    """
    best, right = sample.best, sample.right
    calibrator = fit.choose(sample.probabilities, right, seed=seed)
    sure = fit.cross_fitted(calibrator.method, sample.probabilities, right, PARTS, seed)
    for weight in sorted(w for w in WEIGHTS if w >= 1):
        thresholds = derive(costs, _last(costs), weight)
        figures = _rates(sample, sure, costs, thresholds)
        if figures["wrong_routes"] <= costs.limits.wrong_routes and figures["routed"] > 0:
            report = {
                "costs": costs.digest,
                "next_tier": "none",
                "next_versions": {},
                "calibrator": calibrator.method,
                "parameters": list(calibrator.parameters),
                "notes": list(calibrator.notes),
                "weight_of_damage": weight,
                "rates": figures,
                "problems": list(
                    pointless(thresholds, figures["routed"] + figures["out_of_scope"])
                ),
                "derivation": derivation(costs, thresholds, Slack(None, None)).splitlines(),
            }
            return Policy(thresholds, calibrator), report
    raise TrainingError(
        f"no weight of damage keeps wrong routes at {costs.limits.wrong_routes:g} on the "
        f"{len(best)} texts held back; train on more texts, or raise `limits.wrong_routes`"
    )


def _last(costs: Costs) -> dict[str, NextTier]:
    """Behind the last tier stands a question."""
    return {label: NextTier(0.0, 0, asks=1.0) for label in costs.damage}


def _rates(
    sample: Sample, sure: NDArray[np.float64], costs: Costs, thresholds: Thresholds
) -> dict[str, float]:
    own = [thresholds[label] for label in sample.labels]
    margin = margins(sample.probabilities)
    done = reactions(own, Policy(thresholds), sample.best, sure, margin)
    cost = costs_of(costs, own, sample.best, sample.right, done)
    return {k: round(v, 4) for k, v in asdict(rates(done, sample.right, cost)).items()}


def _figures(sample: Sample) -> dict[str, float]:
    sure = sample.probabilities.max(axis=1)
    return {
        "texts": len(sample.gold),
        "accuracy": round(float(sample.right.mean()), 4),
        "mean_confidence": round(float(sure.mean()), 4),
    }


def derived_anew(
    folder: Path, config: Path, held: Sequence[Example], watch: Watch = unwatched
) -> Artefact:
    """Policy, figures and card of an adapter whose weights stay: after its costs have changed."""
    for name in (policy_file.FILE, "README.md"):
        (folder / name).unlink(missing_ok=True)
    found = artefacts.read(folder)
    kept = ("files", "schema_version", "policy")
    fields = {k: v for k, v in found.manifest.items() if k not in kept}
    return finish(artefacts.write_manifest(folder, fields), config, held, watch)
