"""A program whose reader goes away ends quietly; every program of the packages ends that way."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.models import ROOT

WRITES = "from inference import ending; ending.run(lambda: [print('x' * 99) for _ in range(9999)] and {})"


def piped(code: str) -> tuple[int, bytes]:
    """Exit code and standard error of a program whose output is closed after one line."""
    program = (sys.executable, "-c", code)
    with subprocess.Popen(  # noqa: S603
        program, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdout is not None and run.stderr is not None
        run.stdout.readline()
        run.stdout.close()
        told = run.stderr.read()
        return run.wait(), told


def test_a_reader_that_goes_away_ends_a_program_quietly() -> None:
    assert piped(WRITES.format(3)) == (0, b"")


@pytest.mark.parametrize("code", [0, 1, 2])
def test_otherwise_its_own_code_stands(code: int) -> None:
    done = subprocess.run(  # noqa: S603
        (sys.executable, "-c", f"from inference import ending; ending.run(lambda: {code})"),
        cwd=ROOT,
    )
    assert done.returncode == code


@pytest.mark.parametrize("folder", ["eval", "training"])
def test_every_program_ends_that_way(folder: str) -> None:
    programs = [
        path
        for path in (ROOT / folder).rglob("*.py")
        if 'if __name__ == "__main__"' in path.read_text(encoding="utf-8")
    ]
    assert programs
    assert [p.name for p in programs if "ending.run(" not in p.read_text(encoding="utf-8")] == []
