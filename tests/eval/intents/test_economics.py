"""Costs and rates of a policy on scored texts, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eval.intents.economics import figures, latency, megabytes
from eval.intents.scored import Scored, mixed
from gate.load.costs import Costs
from inference import artefacts
from inference.calibration.policy import Policy
from inference.calibration.thresholds import NextTier, derive
from inference.classifiers import lexical
from inference.encoder import ONNX_INT8

OUT = "OUT_OF_SCOPE"
COSTS = Costs("cents", 0.0, 1.0, 15.0, {"A": 50.0, "B": 1000.0, OUT: 50.0})
POLICY = Policy(derive(COSTS, dict.fromkeys(COSTS.damage, NextTier(0.9, 99))))
# A and out-of-scope: passing on costs 6, tau 0.88; B: asking costs 15, tau 0.985
SCORED = Scored(
    ("B", OUT, "A"),
    np.array([[0.02, 0.03, 0.95], [0.1, 0.1, 0.8], [0.95, 0.02, 0.03], [0.02, 0.03, 0.95]]),
    ("A", "A", "B", OUT),
)


def test_figures_by_hand() -> None:
    found = figures(SCORED, POLICY, COSTS, np.ones(4))
    # right route 0, passed on 6, asked 15, wrong route 50
    assert found["cost_per_1000"] == pytest.approx(1000 * 71 / 4)
    assert found["always_next_per_1000"] == pytest.approx(1000 * (6 * 3 + 101) / 4)
    shares = [found[n] for n in ("routed", "escalation", "clarify", "out_of_scope", "wrong_routes")]
    assert shares == [0.5, 0.25, 0.25, 0.0, 0.5]


def test_the_mix_counts() -> None:
    found = figures(SCORED, POLICY, COSTS, mixed(SCORED.in_scope, (3, 9)))
    assert found["cost_per_1000"] == pytest.approx(1000 * (0 + 6 + 15 + 9 * 50) / 12)
    assert found["wrong_routes"] == pytest.approx(0.9)


def test_serving_reads_one_text_at_a_time_and_only_the_weights_of_its_runtime(
    tmp_path: Path,
) -> None:
    scorer = lexical.fit(["my balance", "freeze my card"], ["A", "B"])
    found = latency(scorer, ["balance", "card"])
    assert 0 < found["p50"] <= found["p95"]
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "model.safetensors").write_bytes(bytes(2**22))
    (tmp_path / "encoder" / "model.int8.onnx").write_bytes(bytes(2**20))
    artefacts.write_manifest(tmp_path, {})
    assert [megabytes(tmp_path, runtime) for runtime in (None, ONNX_INT8)] == [4.0, 1.0]
