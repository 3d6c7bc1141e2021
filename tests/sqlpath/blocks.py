"""Reads fixtures of statements: blocks between blank lines, the first line `-- <what is expected>`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "sql"


@dataclass(frozen=True, slots=True)
class Block:
    """One statement, what its first line says, and where it stands."""

    head: str
    text: str
    place: str


def blocks(path: Path) -> tuple[Block, ...]:
    """Every block of a file but its opening comment."""
    found = []
    line = 1
    for part in _text(path).split("\n\n"):
        head, _, text = part.strip("\n").partition("\n")
        if line > 1 and head:
            found.append(Block(head.removeprefix("-- "), text, f"{path.name}:{line}"))
        line += part.count("\n") + 2
    return tuple(found)


def _text(path: Path) -> str:
    """The file's text with every line end as it is."""
    with path.open(encoding="utf-8", newline="") as stream:
        return stream.read()
