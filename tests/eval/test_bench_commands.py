"""`bench run`, `matrix` and `compare` from the command line: files, exit codes, errors with the fix."""

from __future__ import annotations

from pathlib import Path

from tests.test_cli import run

SUITE = "routebr:routebr_select_160.csv"


def test_matrix_then_compare_on_the_command_line(data_dir: Path, tmp_path: Path) -> None:
    data, out = str(data_dir / "routebr"), tmp_path / "runs"
    recorded = f"recorded:{data}/recorded/deepseek_v4_primary"
    made = run("bench", "matrix", SUITE, "--backend", recorded, "--data", data, "--out", str(out))
    assert made.returncode == 0, made.stderr
    folders = sorted(p.name for p in out.iterdir())
    systems = ("no-objects", "no-state", "routelock")
    assert folders == sorted([f"{s}-deepseek_v4_primary" for s in systems] + ["report"])
    assert (out / "report" / "report.html").is_file()
    one = str(out / "routelock-deepseek_v4_primary")
    again = run("bench", "compare", one, "--out", str(tmp_path / "one"))
    assert again.returncode == 0, again.stderr
    assert b"routelock-deepseek_v4_primary" in again.stdout


def test_wrong_use_is_exit_code_2_and_says_what_to_do(tmp_path: Path) -> None:
    sealed = run("bench", "run", "demo:confirm", "routelock", "lexical", "--out", str(tmp_path))
    assert (sealed.returncode, b"--unseal" in sealed.stderr) == (2, True)
    live = run("bench", "run", "demo:dev", "no-state", "lexical", "--out", str(tmp_path))
    assert (live.returncode, b"run:DIR" in live.stderr) == (2, True)
    empty = run("bench", "compare", str(tmp_path), "--out", str(tmp_path / "out"))
    assert (empty.returncode, b"metrics.json" in empty.stderr) == (2, True)
