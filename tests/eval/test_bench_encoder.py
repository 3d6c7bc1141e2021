"""The encoder bench runs both runtimes on one artefact, stores the run, and fails where a ratio is missed."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from eval import bench_encoder, overhead, timing
from eval.timing import Part, Ratio
from inference.artefacts import Artefact
from inference.classifiers import encoded
from inference.classifiers.head import Head
from inference.encoder import ONNX_INT8, RUNTIMES, TORCH
from tests.inference import tiny_encoder


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Artefact:
    folder = tmp_path_factory.mktemp("router")
    base = tiny_encoder.write(folder / "tiny")
    fitted = Head(np.eye(2, tiny_encoder.DIMENSIONS), np.zeros(2))
    return encoded.save(["A", "B"], fitted, base, folder / "router", {})


def part(times: float) -> Part:
    return Part("name", "what", {"a": 1.0}, (Ratio("a", "b", times, at_most=1.15),))


@pytest.mark.parametrize(("times", "code"), [(1.15, 0), (1.16, 1)])
def test_it_stores_the_run_and_tells_whether_the_ratios_hold(
    router: Artefact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: float, code: int
) -> None:
    seen: list[list[object]] = []

    def speed(both: dict[str, Artefact], texts: list[str]) -> Part:
        seen.append([(name, found.manifest["runtime"]) for name, found in both.items()])
        return part(times)

    monkeypatch.setattr(bench_encoder, "speed", speed)
    monkeypatch.setattr(bench_encoder, "starts", lambda both: dict.fromkeys(both))
    beside = Part("beside", "what", {}, (Ratio("c", "d", 6.0, at_least=5),))
    monkeypatch.setattr(bench_encoder, "overhead", lambda: (beside, "1.1.1"))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: None)  # no graph is needed here
    out = tmp_path / "stored.json"
    assert bench_encoder.main(router.folder, out) == code
    assert seen == [[(TORCH, TORCH), (ONNX_INT8, ONNX_INT8)]]
    found = json.loads(out.read_text(encoding="utf-8"))
    assert (found["command"], found["router"]) == (bench_encoder.COMMAND, router.digest)
    assert found["parts"][0]["ratios"][0]["holds"] is (code == 0)


def test_every_runtime_is_called_as_bare_forward_and_as_tier(
    router: Artefact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_encoder, "ROUNDS", 2)
    monkeypatch.setattr(timing, "TURN_SECONDS", 0.0)
    plain = bench_encoder.exported(router.folder, tmp_path / "copy")
    found = bench_encoder.speed(dict.fromkeys(RUNTIMES, plain), ["my balance", "freeze my card"])
    assert set(found.median_us) == {f"{w}, {r}" for w in ("forward", "tier") for r in RUNTIMES}
    assert [(r.slow, r.fast, r.at_most) for r in found.ratios] == [
        ("tier, torch", "forward, torch", 1.15),
        ("tier, onnx-int8", "forward, onnx-int8", 1.15),
        ("forward, onnx-int8", "forward, torch", 0.4),
    ]


def test_texts_are_spread_over_the_file() -> None:
    texts = bench_encoder.asked()
    assert len(texts) == len(set(texts)) == bench_encoder.ASKED


def test_record_has_a_date_with_its_zone() -> None:
    date = datetime(2026, 12, 1, tzinfo=UTC)
    found = bench_encoder.record([part(1.0)], {}, "digest", "1.1.1", date)
    assert found["date"] == "2026-12-01T00:00:00+00:00"
    assert set(found["versions"]) == {"torch", "transformers", "onnxruntime", "semantic-router"}


def test_without_semantic_router_nothing_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> None:
        bench_encoder_overhead(tmp_path / "python")

    bench_encoder_overhead = bench_encoder.overhead
    monkeypatch.setattr(bench_encoder, "overhead", missing)
    assert bench_encoder.main(tmp_path, tmp_path / "out.json") == 2
    assert "make bench-encoder" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


def test_the_tier_is_asked_with_the_given_vectors(tmp_path: Path) -> None:
    vectors = np.eye(4, dtype=np.float32)
    file = tmp_path / "vectors.npz"
    np.savez(file, texts=["a", "b", "c"], labels=["A", "B", "B"], asked=["d"], vectors=vectors)
    sample = overhead.Sample.read(file)
    assert np.array_equal(sample.encoder.encode(["d", "a"]), vectors[[3, 0]])
    (reply,) = overhead.tier_call(sample, tmp_path)()
    assert set(json.loads(reply.raw)) == {"A", "B"}
