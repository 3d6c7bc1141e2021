"""RouteBR conformance on the public SELECT cases (part of the acceptance of the gate)."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from eval.result import Pairs, Result, Share
from eval.routebr import run
from gate.errors import ConfigError
from gate.records import Switches

SELECT = "routebr_select_160.csv"
# backend: exact final paths and false blocks, as published
PUBLISHED = {
    "deepseek_v4_primary": (156, 1),
    "deepseek_v4_flash_efficiency": (156, 2),
    "qwencloud_qwen38max_robustness": (156, 0),
    "ohmygpt_gpt52_frontier": (153, 5),
}


@pytest.fixture(scope="module")
def folder(data_dir: Path) -> Path:
    return data_dir / "routebr"


@pytest.fixture(scope="module")
def lexical(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    return run(folder, folder / SELECT, "lexical", tmp_path_factory.mktemp("lexical"))


@pytest.fixture(params=sorted(PUBLISHED), scope="module")
def replay(
    request: pytest.FixtureRequest, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Result, Path]:
    out = tmp_path_factory.mktemp(request.param)
    recorded = f"recorded:{folder / 'recorded' / request.param}"
    return request.param, run(folder, folder / SELECT, recorded, out), out


def test_recorded_final_paths_come_out_on_every_row(replay: tuple[str, Result, Path]) -> None:
    assert replay[1].published_paths == Share(160, 160)


def test_published_metrics_come_out(replay: tuple[str, Result, Path]) -> None:
    name, result, _ = replay
    exact, blocked = PUBLISHED[name]
    assert result.final_path_exact == exact / 160
    assert result.false_dispatch == Share(0, 84)
    assert result.false_block == Share(blocked, 76)


def test_replay_names_what_is_switched_off(replay: tuple[str, Result, Path]) -> None:
    _, result, out = replay
    off = ("no-object-evidence", "no-direction", "ignore-confidence")
    assert result.run.switches == off
    assert result.run.inert == ("G-ACTION", "G-CONFIRM", "G-DIRECTION")
    assert f"Switches set: {', '.join(off)}." in (out / "report.md").read_text(encoding="utf-8")


def test_prediction_without_action_replays_as_the_fail_closed_terminal(
    folder: Path, tmp_path: Path
) -> None:
    recorded = f"recorded:{folder / 'recorded' / 'deepseek_v4_flash_efficiency'}"
    result = run(folder, folder / SELECT, recorded, tmp_path)
    with (tmp_path / "predictions.csv").open(encoding="utf-8", newline="") as opened:
        row = next(r for r in csv.DictReader(opened) if r["case_id"] == "MAIN-0158")
    assert row["first_failed_contract"]
    assert (row["final_path"], row["rule_id"], row["owner"]) == (
        "T_CLARIFY", "G-CONTRACT", "adapter",
    )  # fmt: skip
    assert (result.fallbacks, result.errors_by_owner.adapter) == (1, 1)


def test_lexical_reaches_every_path_with_every_check_on(lexical: Result) -> None:
    assert lexical.run.switches == ()
    assert lexical.final_path_exact == 1.0
    assert lexical.false_dispatch == Share(0, 84)
    assert lexical.false_block == Share(0, 76)
    assert lexical.flip_pairs == Pairs(20, 20)
    assert lexical.wrong_objects == Share(0, 76)
    assert lexical.coverage == 1.0


def test_result_names_every_input(lexical: Result) -> None:
    assert {SELECT, "catalog.csv", "entity_catalog.csv", "boundary_rules.csv",
            "routebr_dev_120.csv"} <= set(lexical.run.digests)  # fmt: skip
    assert all(len(d) == 64 for d in lexical.run.digests.values())
    # RouteBR's own manifest states this one.
    assert lexical.run.digests[SELECT] == (
        "0274f632a27f02a30ea2c2d65cb99a31f43280c1352da425665583c5c9d571cc"
    )


def test_second_run_writes_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        run(folder, folder / SELECT, "lexical", tmp_path / name)
    files = sorted(p.name for p in (tmp_path / "first").iterdir())
    assert files == ["answers.jsonl", "metrics.json", "predictions.csv", "report.html", "report.md"]
    for name in files:
        first, second = (tmp_path / d / name for d in ("first", "second"))
        assert first.read_bytes() == second.read_bytes(), name


def test_latency_is_measured_only_with_a_clock(folder: Path, tmp_path: Path) -> None:
    ticks = iter(range(10_000))
    timed = run(folder, folder / SELECT, "lexical", tmp_path, clock=lambda: float(next(ticks)))
    assert timed.latency_ms.p50 == 1000.0
    assert json.loads((tmp_path / "metrics.json").read_text(encoding="utf-8"))["latency_ms"]


def test_no_objects_blocks_every_case_that_needs_one(folder: Path, tmp_path: Path) -> None:
    result = run(folder, folder / SELECT, "lexical", tmp_path, Switches(no_objects=True))
    assert result.false_dispatch.count == 0
    assert result.false_block.count >= len(_needing_an_object(folder))


def _needing_an_object(folder: Path) -> list[str]:
    with (folder / SELECT).open(encoding="utf-8-sig", newline="") as opened:
        rows = list(csv.DictReader(opened))
    return [
        r["case_id"]
        for r in rows
        if r["gold_boundary"] == "ALLOW" and r["gold_object_id"] != "NONE"
    ]


def test_folder_without_configuration_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        run(tmp_path, folder / SELECT, "lexical", tmp_path / "out")
    assert not (tmp_path / "out").exists()
