"""The bench of the backend counts what it claims to count; a stand-in server answers at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval import bench_backend
from eval.bench_backend import Crowd
from inference.backends import wire
from tests.inference.backends.fault_server import MODEL, Said, chat, good, running


def test_every_figure_is_measured_and_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, few in (("ALONE", 3), ("TOGETHER", 8), ("ROUNDS", 1)):
        monkeypatch.setattr(bench_backend, name, few)
    with running() as server:
        bench_backend.main(["--url", server.url, "--model", MODEL], tmp_path / "result.json")
        closed = [b for b in server.asked() if "choice" in b.get("structured_outputs", {})]
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["server"] == "vLLM 0.32.0 on CPU, float32"
    assert result["closed_against_json"]["json_valid"] == 3
    assert [(c["concurrency"], c["valid"], c["cases"]) for c in result["crowds"]] == [
        *((1, 16, 16), (8, 16, 16), (32, 64, 64))
    ]
    assert all(c["calls_per_case"] == 1.0 and c["most_tokens_out"] == 2 for c in result["crowds"])
    # in turn with JSON, the crowds, the overhead, everything once, then both sides by rounds
    assert len(closed) == 3 + 96 + 3 + 8 + 8 + 8
    assert "throughput at 32" in capsys.readouterr().out


def test_one_answer_outside_the_list_misses_the_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backend is marked by it, so that what follows is not asked either."""
    for name, few in (("ALONE", 1), ("TOGETHER", 2), ("ROUNDS", 1)):
        monkeypatch.setattr(bench_backend, name, few)
    asked = []

    def once_wrong(body: wire.Body) -> Said:
        asked.append(body)
        return chat("prose") if len(asked) == 10 else good(body)

    with running() as server:
        server.behave = once_wrong
        code = bench_backend.main(["--url", server.url, "--model", MODEL], tmp_path / "r.json")
    first = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["crowds"][0]
    assert code == 1
    assert first["valid"] < first["cases"]
    assert first["holds"] is False


@pytest.mark.parametrize(
    ("valid", "calls", "tokens", "holds"),
    [(8, 1.0, 4, True), (7, 1.0, 2, False), (8, 1.01, 2, False), (8, 1.0, 5, False)],
)
def test_crowd_holds_only_if_all_is_as_required(
    valid: int, calls: float, tokens: int, holds: bool
) -> None:
    assert Crowd(8, 8, valid, calls, tokens, 1.0, 1.0, 1.0).holds is holds
