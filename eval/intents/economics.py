"""What a policy does with scored texts and what it costs, beside passing every message on; what serving
a classifier takes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from eval.intents.scored import Floats, Scored
from gate.load.costs import Costs
from inference import artefacts
from inference.calibration.policy import Policy, Rates, costs_of, rates, react
from inference.classifiers import Scorer, encoded
from inference.classifiers.reading import read
from inference.encoder import GRAPH, ONNX_INT8

ASKED = 100
"""Texts on which the latency is measured."""


def played(scored: Scored, policy: Policy, costs: Costs, weights: Floats) -> Rates:
    """Rates of a policy on scored texts, for the mix that `weights` stand for."""
    own = [policy.thresholds[label] for label in scored.labels]
    done = react(policy, scored.labels, scored.probabilities)
    cost = costs_of(costs, own, scored.best, scored.right, done)
    return rates(done, scored.right, cost, weights)


def figures(scored: Scored, policy: Policy, costs: Costs, weights: Floats) -> Mapping[str, float]:
    """Cost per 1,000 messages in the unit of the costs, and the shares of all messages.

    `always_next` is the cost per 1,000 where every message goes to the next tier, at its measured
    share for the label that this tier thinks best.
    """
    found = played(scored, policy, costs, weights)
    passed = np.array([policy.thresholds[label].escalate for label in scored.labels])[scored.best]
    return {
        "cost_per_1000": 1000 * found.cost,
        "always_next_per_1000": 1000 * float(np.average(passed, weights=weights)),
        "routed": found.routed,
        "out_of_scope": found.out_of_scope,
        "clarify": found.clarify,
        "escalation": found.escalation,
        "wrong_routes": found.wrong_routes,
    }


def megabytes(folder: Path, runtime: str | None = None) -> float:
    """What is read of an artefact: of an encoder's two sets of weights only its runtime's."""
    manifest = artefacts.read(folder).manifest
    chosen = manifest.get("runtime") if runtime is None else runtime
    other = "model.safetensors" if chosen == ONNX_INT8 else GRAPH
    names = [name for name in manifest["files"] if name != f"{encoded.ENCODER}/{other}"]
    size = sum((folder / name).stat().st_size for name in names)
    return float(round(size / 2**20, 1))


def latency(scorer: Scorer, texts: Sequence[str]) -> dict[str, float]:
    """Milliseconds of one text at a time, read and scored, over `ASKED` texts spread evenly."""
    asked = texts[:: max(1, len(texts) // ASKED)][:ASKED]
    read(scorer, asked[:1])
    took = []
    for text in asked:
        started = time.perf_counter()
        read(scorer, [text])
        took.append(1000 * (time.perf_counter() - started))
    p50, p95 = np.percentile(took, [50, 95]).tolist()
    return {"p50": round(p50, 3), "p95": round(p95, 3)}
