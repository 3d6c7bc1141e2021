"""The READMEs of connectors and sources: every file is listed, and the example runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from inference.connectors.protocol import NOT_TAKEN_ON, Reason
from inference.sources import Unread

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("inference/connectors", "inference/sources")


@pytest.mark.parametrize("folder", FOLDERS)
def test_readme_lists_every_file(folder: str) -> None:
    text = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    assert "Where to add the next thing" in text
    assert "Departures" in text
    table = set(re.findall(r"^\| `([^`]+)`", text, re.MULTILINE))
    found = {p.name for p in (ROOT / folder).glob("*.py")}
    found |= {f"{p.name}/" for p in (ROOT / folder).iterdir() if (p / "__init__.py").exists()}
    listed = {name for name in table if name.endswith((".py", "/"))}
    assert listed - {"__init__.py"} == found - {"__init__.py"}


def test_example_runs_and_ends_done() -> None:
    text = (ROOT / FOLDERS[0] / "README.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    prepared, *outcomes = ran.stdout.splitlines()
    assert prepared.startswith("Prepared(")
    assert outcomes[0] == outcomes[1]
    assert "DONE" in outcomes[0]


def test_figures_are_those_of_the_bench() -> None:
    text = (ROOT / FOLDERS[0] / "README.md").read_text(encoding="utf-8")
    figures = json.loads(re.findall(r"```json\n(.*?)```", text, re.DOTALL)[0])
    timed = {"prepare", "execute", "status", "outbox_execute", "outbox_status", "state_read"}
    assert figures.keys() == {"count"} | timed


def test_every_reason_is_its_own_code() -> None:
    for codes in (Reason, Unread):
        assert all(code.name == code.value for code in codes)
    assert {Reason.UNREACHABLE.value, Reason.BUSY.value} == NOT_TAKEN_ON
