"""`routelock ledger` on sound, changed and truncated files: exit 0, 1 and 2, nothing lost."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.gate.ledger.samples import filled

ROOT = Path(__file__).parents[3]


def routelock(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a person would."""
    program = "from scripts.cli import main; main()"
    return subprocess.run(  # noqa: S603
        [sys.executable, "-c", program, "ledger", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger of 40 decisions."""
    return filled(tmp_path, 40)


def test_a_sound_ledger_exits_with_zero(path: Path) -> None:
    done = routelock("verify", "--ledger", str(path))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["records"] == 40


def test_a_changed_ledger_exits_with_one_and_names_the_record(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        trigger = connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'ledger_keeps'"
        ).fetchone()[0]
        connection.execute("DROP TRIGGER ledger_keeps")
        connection.execute("UPDATE ledger SET bytes = zeroblob(9) WHERE sequence = 17")
        connection.execute(trigger)
    done = routelock("verify", "--ledger", str(path))
    assert done.returncode == 1
    assert json.loads(done.stdout)["problem"].startswith("record 17: bytes have digest")


@pytest.mark.parametrize("keep", [0, 60, 5000, 40_000])
def test_a_truncated_ledger_exits_with_two_and_one_clear_error(path: Path, keep: int) -> None:
    path.write_bytes(path.read_bytes()[:keep])
    done = routelock("verify", "--ledger", str(path))
    assert done.returncode == 2
    assert f"`{path}` is damaged or cut short; restore a copy" in done.stderr
    assert "Traceback" not in done.stderr
    assert path.stat().st_size == keep


def test_a_missing_ledger_exits_with_two(tmp_path: Path) -> None:
    done = routelock("verify", "--ledger", str(tmp_path / "ledger.sqlite"))
    assert done.returncode == 2
    assert "does not exist" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_finds_a_cut_tail(path: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint.json"
    done = routelock("checkpoint", "--ledger", str(path), "--out", str(checkpoint))
    assert done.returncode == 0, done.stderr
    (tmp_path / "shorter").mkdir()
    shorter = filled(tmp_path / "shorter", 30)
    done = routelock("verify", "--ledger", str(shorter), "--checkpoint", str(checkpoint))
    assert done.returncode == 1
    assert "the ledger ends at 30; the checkpoint saw 40" in done.stdout
