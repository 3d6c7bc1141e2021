"""A changed identity, though accepted, waits for its regression run."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inference.backends.approvals import Approvals
from inference.backends.guarded import GuardedBackend
from inference.backends.handshake import Health
from inference.backends.server import ServerBackend
from inference.errors import AssemblyError, BackendError
from tests.inference.backends.asking import ASKED, CODES, entry
from tests.inference.backends.fault_server import MODEL, FaultServer


def run_of(backend: str = "vllm:new", cases: int = 60, wrong: int = 0) -> dict[str, Any]:
    """The part of a run's metrics.json that is looked at."""
    split = {"cases": cases, "false_dispatch": {"count": wrong, "of": 30}}
    return {"run": {"backend": backend}, "by_split": {"MAIN": split}}


def test_first_identity_passes_and_a_new_one_waits_for_its_run(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path / "var" / "backends.json")
    assert approvals.blocks("local", "old 0.32.0") == ""
    assert approvals.blocks("local", "old 0.32.0") == ""
    assert "routelock models approve local" in approvals.blocks("local", "new 0.32.0")
    assert approvals.blocks("local", "old 0.32.0") == "", "the one let through stays usable"
    assert approvals.approve("local", run_of(), "digest") == "new 0.32.0"
    assert approvals.blocks("local", "new 0.32.0") == ""
    assert approvals.blocks("local", "old 0.32.0") != ""
    assert approvals.blocks("other", "new 0.32.0") == ""


@pytest.mark.parametrize(
    ("metrics", "why"),
    [
        (run_of("vllm:other"), "not of `new`"),
        (run_of(cases=0), "no cases of the slice MAIN"),
        ({"run": {"backend": "vllm:new"}}, "no cases of the slice MAIN"),
        (run_of(wrong=1), "1 false dispatches"),
    ],
)
def test_run_that_proves_nothing_approves_nothing(
    tmp_path: Path, metrics: dict[str, Any], why: str
) -> None:
    approvals = Approvals(tmp_path / "backends.json")
    approvals.blocks("local", "old 1")
    with pytest.raises(AssemblyError, match="waits for a regression run"):
        approvals.approve("local", run_of(), "digest")
    approvals.blocks("local", "new 1")
    with pytest.raises(AssemblyError, match=why):
        approvals.approve("local", metrics, "digest")
    assert approvals.blocks("local", "new 1") != ""


def test_server_that_comes_back_as_another_accepted_model_is_not_asked_before_its_run(
    server: FaultServer, tmp_path: Path
) -> None:
    path = tmp_path / "backends.json"

    async def shaken(model: str) -> GuardedBackend:
        declared = replace(entry(server), model=model, identities=(MODEL, "new"))
        backend = GuardedBackend(ServerBackend(declared), approvals=Approvals(path))
        await backend.handshake()
        return backend

    async def work() -> None:
        first = await shaken(MODEL)
        assert (await first.choose(ASKED, CODES)).model == MODEL
        server.models = ("new",)
        second = await shaken("new")
        with pytest.raises(BackendError) as caught:
            await second.choose(ASKED, CODES)
        assert caught.value.reason == "backend_unhealthy"
        assert "identity_unproven" in str(caught.value)
        Approvals(path).approve("local", run_of(), "digest")
        assert (await second.handshake()).health is Health.HEALTHY
        assert (await second.choose(ASKED, CODES)).model == "new"
        for backend in (first, second):
            await backend.close()
        await asyncio.sleep(0)

    asyncio.run(work())


@pytest.mark.parametrize("content", ["{", "[]"])
def test_broken_file_blocks(server: FaultServer, tmp_path: Path, content: str) -> None:
    path = tmp_path / "backends.json"
    path.write_text(content, encoding="utf-8")

    async def work() -> str:
        backend = GuardedBackend(ServerBackend(entry(server)), approvals=Approvals(path))
        status = await backend.handshake()
        await backend.close()
        await asyncio.sleep(0)
        assert status.health is Health.UNHEALTHY
        return status.reason

    assert "restore it" in asyncio.run(work())
    assert path.read_text(encoding="utf-8") == content


def test_file_is_whole_json_after_every_change(tmp_path: Path) -> None:
    path = tmp_path / "backends.json"
    for identity in ("a 1", "b 1", "c 1"):
        Approvals(path).blocks("local", identity)
        assert json.loads(path.read_text(encoding="utf-8"))["local"]["identity"] == "a 1"
    assert [p.name for p in tmp_path.iterdir()] == ["backends.json"]
