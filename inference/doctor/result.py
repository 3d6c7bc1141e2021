"""What a check looks at, and what it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from gate.errors import RoutelockError
from gate.load import Institution


class Level(StrEnum):
    """How a check ended; a warning stops nobody from serving."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Result:
    """One line: the check, what it is about, how it ended, what was found, what is to be done."""

    check: str
    subject: str
    level: Level
    found: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """A loaded configuration, and where its relative paths start."""

    institution: Institution
    root: Path


def failed(check: str, subject: str, error: RoutelockError | OSError) -> Iterator[Result]:
    """A known error as a result; our errors say what to do behind their last semicolon."""
    found, _, fix = str(error).rpartition("; ")
    yield Result(check, subject, Level.FAILED, found or fix, fix if found else "correct it")
