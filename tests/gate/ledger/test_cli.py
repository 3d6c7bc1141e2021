"""`routelock ledger` on sound, changed and truncated files: exit 0, 1 and 2, nothing lost."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gate.errors import LedgerError
from gate.ledger.encode import instant
from scripts.commands.ledger import _age
from tests.gate.ledger.samples import NOW, book_in, filled

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


def checkpoint(path: Path, witness: Path, *more: str) -> dict[str, Any]:
    """Export a signed checkpoint and have it witnessed."""
    words = ("checkpoint", "--ledger", str(path), "--sign", "--witness", str(witness), *more)
    done = routelock(*words)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_a_signed_checkpoint_is_exported_witnessed_and_checked(path: Path, tmp_path: Path) -> None:
    witness, key = tmp_path / "elsewhere" / "w.jsonl", tmp_path / "ledger.public.pem"
    one = checkpoint(path, witness)
    assert one["sequence"] == 40
    assert set(one) == {"sequence", "digest", "at", "key", "signature"}
    assert json.loads(witness.read_text()) == one
    for more in ([], ["--key", str(key)]):
        done = routelock("verify", "--ledger", str(path), "--witness", str(witness), *more)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert (told["ok"], told["records"], told["checkpoints"]) == (True, 40, 1)


def test_a_witness_finds_a_cut_tail_and_takes_no_shorter_ledger(path: Path, tmp_path: Path) -> None:
    witness = tmp_path / "w.jsonl"
    checkpoint(path, witness)
    (tmp_path / "shorter").mkdir()
    shorter = filled(tmp_path / "shorter", 30)
    key = str(tmp_path / "ledger.public.pem")
    done = routelock("verify", "--ledger", str(shorter), "--witness", str(witness), "--key", key)
    assert done.returncode == 1
    assert "the ledger ends at 30; the checkpoint saw 40" in done.stdout
    done = routelock("checkpoint", "--ledger", str(shorter), "--sign", "--witness", str(witness))
    assert done.returncode == 2
    assert f"the ledger ends at 30; the witness `{witness}` saw 40" in done.stderr
    assert len(witness.read_text().splitlines()) == 1


def test_a_forged_signature_ends_in_one(path: Path, tmp_path: Path) -> None:
    witness = tmp_path / "w.jsonl"
    one = checkpoint(path, witness)
    witness.write_text(json.dumps({**one, "at": "2020-01-01T00:00:00.000000Z"}) + "\n")
    done = routelock("verify", "--ledger", str(path), "--witness", str(witness))
    assert done.returncode == 1
    assert json.loads(done.stdout)["problem"] == (
        "checkpoint 40 has a signature that does not match"
    )


def test_an_unsigned_checkpoint_is_not_enough_where_a_key_is_given(
    path: Path, tmp_path: Path
) -> None:
    checkpoint(path, tmp_path / "w.jsonl")
    plain = tmp_path / "plain.json"
    assert routelock("checkpoint", "--ledger", str(path), "--out", str(plain)).returncode == 0
    words = ("verify", "--ledger", str(path), "--checkpoint", str(plain))
    assert routelock(*words).returncode == 0
    done = routelock(*words, "--key", str(tmp_path / "ledger.public.pem"))
    assert done.returncode == 1
    assert "checkpoint 40 is not signed" in done.stdout


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("w.jsonl", "", "holds no checkpoint; check the path"),
        ("w.jsonl", "[]\n", "line 1 is no checkpoint; export one"),
        ("none.jsonl", None, "none.jsonl` cannot be used"),
    ],
)
def test_what_is_no_witness_ends_in_two(
    path: Path, tmp_path: Path, name: str, content: str | None, problem: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    done = routelock("verify", "--ledger", str(path), "--witness", str(tmp_path / name))
    assert done.returncode == 2
    assert problem in done.stderr


def test_a_segment_is_sealed_once_and_everything_reads_on(path: Path, tmp_path: Path) -> None:
    done = routelock("rotate", "--ledger", str(path))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sequence"] == 42
    assert (tmp_path / "ledger.000002.sqlite").exists()
    done = routelock("rotate", "--ledger", str(path))
    assert done.returncode == 1
    assert json.loads(done.stdout)["sealed"] is False
    done = routelock("verify", "--ledger", str(path))
    assert (done.returncode, json.loads(done.stdout)["records"]) == (0, 42)
    done = routelock("show", "--ledger", str(path), "--last", "3")
    assert [json.loads(line)["kind"] for line in done.stdout.splitlines()] == [
        *("DECISION", "SEALED", "SEGMENT"),
    ]
    (tmp_path / "ledger.000002.sqlite").unlink()
    done = routelock("verify", "--ledger", str(path))
    assert done.returncode == 2
    assert "ledger.000002.sqlite` is gone; restore it" in done.stderr


def test_a_ledger_that_does_not_exist_is_not_made_to_be_sealed(tmp_path: Path) -> None:
    done = routelock("rotate", "--ledger", str(tmp_path / "ledger.sqlite"))
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_orphans_are_swept_and_counted(path: Path, tmp_path: Path) -> None:
    from tests.gate.ledger.test_sweep import orphan

    with book_in(tmp_path) as book:
        old = orphan(book, 900)
        orphan(book, 901, at=instant(datetime.now(UTC)))
    done = routelock("sweep", "--ledger", str(path), "--older-than", "2h")
    told = {"receipts": 42, "swept": [old.decision_id], "too_young": 1}
    if datetime.now(UTC) < NOW + timedelta(hours=2):  # a clock before the samples' own
        told |= {"swept": [], "too_young": 2}
    assert json.loads(done.stdout) == told, done.stderr


@pytest.mark.parametrize("age", ["", "1", "h", "1w", "-1h", "1.5h", "1 h", "1234567s"])
def test_an_age_that_is_none_is_named(age: str) -> None:
    with pytest.raises(LedgerError, match=r"is no number with s, m, h or d; write for example 6h"):
        _age(age)


def test_an_age_is_a_number_and_a_unit() -> None:
    assert [_age(a) for a in ("90s", "15m", "6h", "2d")] == [
        *(timedelta(seconds=90), timedelta(minutes=15), timedelta(hours=6), timedelta(days=2)),
    ]


def test_an_age_under_a_minute_ends_in_two(path: Path) -> None:
    done = routelock("sweep", "--ledger", str(path), "--older-than", "59s")
    assert done.returncode == 2
    assert "records may be on their way" in done.stderr
