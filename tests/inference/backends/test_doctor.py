"""The doctor says of each backend whether it may serve, with the reason of the hand-shake."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference.doctor import Level, Result, examine
from inference.doctor.backends import backends
from tests.gate.load.folders import GOOD, write
from tests.inference.backends.fault_server import MODEL, FaultServer, chat

TIER = '{name: llm, kind: proposer, backend: asked, threshold: "0.6"}'
SERVER = """\
schema_version: 1
backends:
  - {{name: asked, kind: vllm, url: "{url}", model: {model}, require_constrained: {required}}}
"""


def told(folder: Path, file: str) -> list[Result]:
    """The results of this one check; `file` is the content of backends.yaml."""
    lines = str(GOOD["appliance.yaml"]).splitlines()
    at = next(i for i, line in enumerate(lines) if "kind: setfit" in line)
    lines[at] = f"  - {TIER}"
    files = {**GOOD, "appliance.yaml": "\n".join(lines) + "\n", "backends.yaml": file}
    found = examine(write(folder / "corner", files), folder, (("backends", backends),))
    return [result for result in found if result.check == "backends"]


def declared(server: FaultServer, required: str = "true") -> str:
    return SERVER.format(url=server.url, model=MODEL, required=required)


def test_healthy_server_is_ok_with_identity_and_version(
    server: FaultServer, tmp_path: Path
) -> None:
    (found,) = told(tmp_path, declared(server))
    assert found.level is Level.OK
    assert found.found == f"healthy, `{MODEL}`, version 0.32.0"


@pytest.mark.parametrize(("required", "level"), [("true", "failed"), ("false", "warning")])
def test_unconstrained_server_is_told_with_its_reason(
    server: FaultServer, tmp_path: Path, required: str, level: str
) -> None:
    server.canaries = lambda body: chat("Paris")
    (found,) = told(tmp_path, declared(server, required))
    assert found.level == level
    assert "`Paris` is no legal code" in found.found
    assert found.fix


def test_absent_server_fails_whatever_is_required(server: FaultServer, tmp_path: Path) -> None:
    server.models = ()
    (found,) = told(tmp_path, declared(server, "false"))
    assert found.level is Level.FAILED
    assert "identity_not_accepted" in found.found


def test_double_may_not_serve_and_a_cassette_runs_in_this_process(tmp_path: Path) -> None:
    (double,) = told(
        tmp_path, "schema_version: 1\nbackends: [{name: asked, kind: scripted, says: Fees}]\n"
    )
    assert double.level is Level.FAILED
    assert "test double" in double.found
    (cassette,) = told(
        tmp_path, "schema_version: 1\nbackends: [{name: asked, kind: recorded, path: x}]\n"
    )
    assert cassette.level is Level.OK
