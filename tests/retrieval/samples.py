"""Small documents made in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from retrieval.chunk import Chunk
from retrieval.document import Block, Source

TEXTS = {
    "cards.md": ("Lost cards", ("Call the card line at once.", "A new card comes in five days.")),
    "wires.md": ("Wires", ("An outgoing wire costs $20.00.", "An incoming wire is free.")),
    "loans.md": ("Loans", ("The rate starts at 5.49 percent.", "Early repayment is free.")),
    "secret.md": ("Staff only", ("A wire above $9,999 is looked at by two persons.",)),
}


def source(file: str, title: str = "Title", **fields: object) -> Source:
    """A source that everybody may see, unless told otherwise."""
    return Source(**{"file": file, "title": title, "version": "1", "labels": ("public",), **fields})  # type: ignore[arg-type]


def chunk_of(file: str, texts: Sequence[str], heading: str = "", **fields: object) -> Chunk:
    """One chunk with one block per text under one heading."""
    headings = (heading,) if heading else ()
    blocks = tuple(Block(text, headings, number) for number, text in enumerate(texts, start=1))
    return Chunk(f"{file}#1", source(file, heading or file, **fields), "0" * 64, blocks)


def corpus() -> list[Chunk]:
    """One chunk per text of TEXTS; `secret.md` for `staff` alone, `loans.md` for members."""
    labels = {"secret.md": ("staff",), "loans.md": ("member", "staff")}
    return [
        chunk_of(file, texts, heading, labels=labels.get(file, ("public",)), collections=("all",))
        for file, (heading, texts) in TEXTS.items()
    ]


TOMORROW = date(2026, 12, 2)
TODAY = date(2026, 12, 1)
