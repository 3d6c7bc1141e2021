"""Start the stand-in as a process of its own and stop it by its id; for the demo and the tests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from inference.errors import AssemblyError

ROOT: Final = Path(__file__).resolve().parents[3]
MODULE: Final = "inference.connectors.backoffice"


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
        if self.process.stdout is not None:
            self.process.stdout.close()


def start(database: Path, secret_file: Path | None, *more: str, port: int = 0) -> Running:
    """Start the stand-in and wait until it listens; AssemblyError if it does not."""
    command = [sys.executable, "-m", MODULE, "--port", str(port)]
    command += ["--database", str(database.resolve())]
    command += ["--secret-file", str(secret_file.resolve())] if secret_file else []
    process = subprocess.Popen([*command, *more], stdout=subprocess.PIPE, cwd=ROOT)  # noqa: S603
    line = process.stdout.readline() if process.stdout else b""
    if not line:
        process.wait()
        problem = f"the back office ended with code `{process.returncode}`"
        raise AssemblyError(f"{problem}; is port {port} taken?")
    return Running(process, int(json.loads(line)["port"]))


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
