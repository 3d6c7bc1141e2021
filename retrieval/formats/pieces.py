"""What every reader gives: pieces of text in reading order, and how much text the file shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from retrieval.errors import IngestError

MOST_BYTES = 64 * 1024 * 1024
"""A larger file is refused before it is read."""
MOST_UNPACKED = 256 * 1024 * 1024
MOST_RATIO = 200
MOST_PARTS = 10_000
MOST_DEPTH = 64
"""Tables in tables, lists in lists, elements in elements: deeper ones are refused."""

CELLS = " | "


class Piece(NamedTuple):
    """A heading (`level` 1 to 6) or a block of text (`level` 0).

    `depth` counts the lists around a block. `lead` is the part of a block's text that heads it
    (`(a) Authority.`) and what is nested below it; empty where it has none.
    """

    level: int
    text: str
    page: int | None = None
    depth: int = 0
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A file's pieces and the number of letters and digits that a reader of the file would see."""

    pieces: Sequence[Piece]
    letters: int


def letters(text: str) -> int:
    """Letters and digits of a text; what a loss is measured by."""
    return sum(map(str.isalnum, text))


def decoded(file: str, content: bytes) -> str:
    """The text of a UTF-8 file; IngestError for other encodings and for binary content."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise IngestError(file, f"not UTF-8 at byte {error.start}", "save it as UTF-8") from error
    if "\0" in text:
        raise IngestError(file, "holds zero bytes; it is no text", "correct its suffix")
    return text
