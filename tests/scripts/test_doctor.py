"""`routelock doctor`: one line per result in a pipe, a table for people, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import cli, terminal
from tests.gate.load.folders import GOOD, write
from tests.models import ROOT


def run(
    monkeypatch: pytest.MonkeyPatch, folder: Path, root: Path = ROOT, people: bool = False
) -> int:
    """The exit code of the command, run in `root`."""
    monkeypatch.chdir(root)
    monkeypatch.setattr("sys.argv", ["routelock", "doctor", "--config", str(folder)])
    monkeypatch.setattr(terminal, "for_people", lambda: people)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_the_demo_exits_with_0_and_says_what_was_looked_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, ROOT / "configs/demo") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0]["check"] == "configuration" and lines[-1]["check"] == "disk"
    assert {"check", "subject", "level", "found", "fix"} == set(lines[0])


def test_a_failed_check_exits_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, write(tmp_path / "corner", GOOD), tmp_path, people=True) == 1
    shown = capsys.readouterr().out
    assert "what to do" in shown and "connectors" in shown and "failed" in shown


def test_a_configuration_that_does_not_load_exits_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path / "corner", {**GOOD, "rules.yaml": "rules: ["})
    assert run(monkeypatch, folder, tmp_path) == 2
    (line,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert line["level"] == "failed" and "rules.yaml" in line["found"]


def test_no_folder_is_one_error_and_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, tmp_path / "nowhere", tmp_path) == 2
    assert "nowhere" in capsys.readouterr().err
