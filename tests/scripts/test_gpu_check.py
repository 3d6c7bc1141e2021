"""`scripts/gpu-check`: every path runs on a tiny random model; without a GPU it says so."""

from __future__ import annotations

import json

import pytest
import torch

from scripts import gpu_check


@pytest.mark.slow
def test_dry_run_goes_through_every_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu_check.main(["--cpu"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["device"] == "cpu, dry run"
    assert {*found["choice_against_json"]} == {"closed_ms", "json_ms", "ratio"}
    assert found["server_choice_against_json"] == {"skipped": "no --server"}
    assert found["embedded_bfloat16"]["of"] == len(gpu_check.TEXTS)
    for part in ("supervised_steps", "preference_steps"):
        assert len(found[part]["losses"]) == gpu_check.STEPS


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here")
def test_machine_without_a_gpu_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu_check.main([]) == 2
    assert "no NVIDIA GPU" in capsys.readouterr().err


def test_part_that_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: gpu_check.Bench) -> dict[str, int]:
        raise RuntimeError("out of memory")

    parts = {"broken": broken, "whole": lambda _: {"ms": 1}}
    monkeypatch.setattr(gpu_check, "PARTS", parts)
    found = gpu_check.check(None, iter([0.0, 1.0, 2.0, 3.0]).__next__)  # type: ignore[arg-type]
    assert found["broken"] == {"failed": "RuntimeError: out of memory"}
    assert found["whole"] == {"ms": 1}


def test_no_part_begins_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_check, "PARTS", {"late": lambda _: {"ms": 1}})
    late = float(gpu_check.SECONDS + 1)
    found = gpu_check.check(None, iter([0.0, late, late]).__next__)  # type: ignore[arg-type]
    assert found["late"] == {"skipped": f"{gpu_check.SECONDS} s are over"}
