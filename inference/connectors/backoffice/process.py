"""Start the stand-in as a process of its own and stop it by its id; for the demo and the tests."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from inference.errors import AssemblyError

ROOT: Final = Path(__file__).resolve().parents[3]
MODULE: Final = "inference.connectors.backoffice"
START_S: Final = 30.0
"""Longest time that the process may take to listen."""


@dataclass(frozen=True, slots=True)
class Running:
    """The stand-in's process and where it listens."""

    process: subprocess.Popen[bytes]
    port: int

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        """End the process, gently at first; one that is gone already is only waited for."""
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start(database: Path, secret_file: Path | None, *more: str, port: int = 0) -> Running:
    """Start the stand-in and wait until it listens; AssemblyError if it does not."""
    command = [sys.executable, "-m", MODULE, "--port", str(port)]
    command += ["--database", str(database.resolve())]
    command += ["--secret-file", str(secret_file.resolve())] if secret_file else []
    process = subprocess.Popen([*command, *more], stdout=subprocess.PIPE, cwd=ROOT)  # noqa: S603
    line = _first_line(process)
    if not line:
        process.wait()
        raise AssemblyError(f"the back office ended with code `{process.returncode}`; see above")
    return Running(process, int(json.loads(line)["port"]))


def _first_line(process: subprocess.Popen[bytes]) -> bytes:
    """The line that says where it listens; empty if it ended, or had to be ended, before that."""
    if process.stdout is None:
        return b""
    late = threading.Timer(START_S, process.kill)
    late.start()
    try:
        with process.stdout as output:
            return output.readline()
    finally:
        late.cancel()


@contextmanager
def running(
    database: Path, secret_file: Path | None, more: Sequence[str] = (), port: int = 0
) -> Iterator[Running]:
    """The stand-in for as long as the block lasts."""
    found = start(database, secret_file, *more, port=port)
    try:
        yield found
    finally:
        found.stop()
