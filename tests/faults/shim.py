"""Builds the shim and runs Python programs under it."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.faults.disk import Change, read_trace

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(__file__).with_name("shim.c")
MEMORY = Path("/dev/shm")  # noqa: S108
FLAGS = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")


def build(folder: Path) -> Path:
    """Compile the shim into `folder`; needs gcc."""
    library = folder / "shim.so"
    command = ["gcc", *FLAGS, "-o", str(library), str(SOURCE), "-lpthread"]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)  # noqa: S603
    return library


@dataclass(frozen=True, slots=True)
class Run:
    """A program that ran under the shim: what it printed, and how its files changed."""

    folder: Path
    output: str
    changes: Sequence[Change]


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards, where writing is quick if there is such a place."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name)


def run(library: Path, folder: Path, module: str, *arguments: str) -> Run:
    """Run `python -m module FOLDER/files ARGUMENTS` with every change below it traced."""
    files, trace = folder / "files", folder / "trace"
    files.mkdir(parents=True)
    environment: Mapping[str, str] = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "SHIM_ROOT": str(files),
        "SHIM_TRACE": str(trace),
    }
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "error", "-m", module, str(files), *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Run(files, done.stdout, read_trace(trace))


class Faults:
    """The failures of the shim that this process runs under."""

    def __init__(self) -> None:
        self._shim = ctypes.CDLL(None)
        self._shim.shim_fail.argtypes = (
            ctypes.c_char_p,
            ctypes.c_char_p,
            ctypes.c_long,
            ctypes.c_int,
            ctypes.c_long,
            ctypes.c_long,
        )
        self._shim.shim_seen.restype = ctypes.c_long

    def fail(
        self, ops: str, where: str, after: int, error: int, times: int = 1, partial: int = 0
    ) -> None:
        """Let calls fail; see `shim_fail` in shim.c."""
        self._shim.shim_fail(ops.encode(), where.encode(), after, error, times, partial)

    def clear(self) -> None:
        """Let everything work again."""
        self._shim.shim_clear()

    def seen(self) -> int:
        """How many calls the plan has met."""
        return int(self._shim.shim_seen())
