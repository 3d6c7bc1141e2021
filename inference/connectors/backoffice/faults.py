"""Faults on demand, for tests: the next order meets the one that a file names, once.

crash-before     the process dies before the transaction
crash-inside     the process dies in the transaction, before it is committed
crash-after      the process dies after the commit, before the answer
delay-before:S   S seconds before the transaction
delay-after:S    S seconds between commit and answer
error-before     500 instead of the transaction
error-after      500 after the commit
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

BEFORE, INSIDE, AFTER = "before", "inside", "after"


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong, where, and for a delay how long."""

    kind: str = ""
    place: str = ""
    seconds: float = 0.0

    def crash(self, place: str) -> None:
        """Die here without a word, if this is the place."""
        if (self.kind, self.place) == ("crash", place):
            os.kill(os.getpid(), signal.SIGKILL)

    def delay(self, place: str) -> float:
        """The seconds to wait at a place."""
        return self.seconds if (self.kind, self.place) == ("delay", place) else 0.0

    def is_error(self, place: str) -> bool:
        """True if the answer at a place is 500."""
        return (self.kind, self.place) == ("error", place)


def take(path: Path | None) -> Fault:
    """The fault that the file names; the file is gone before it happens. No file, no fault."""
    if path is None or not path.exists():
        return Fault()
    name, _, seconds = path.read_text(encoding="ascii").strip().partition(":")
    path.unlink()
    kind, _, place = name.partition("-")
    return Fault(kind, place, float(seconds or 0))
