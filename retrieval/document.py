"""A document as the index sees it: blocks of text that know their heading, paragraph and page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, list item or table row.

    `headings` is the path of headings above it, outermost first; `paragraph` counts blocks from 1
    through the whole document; `page` is 1-based, None where the format has no pages; `opening` is
    the sentence above it that it completes (`The notice shall state:`), empty where there is none.
    """

    text: str
    headings: tuple[str, ...]
    paragraph: int
    page: int | None = None
    opening: str = ""

    @property
    def words(self) -> int:
        """Number of words, white space separated."""
        return len(self.text.split())


@dataclass(frozen=True, slots=True)
class Source:
    """What the institution declares about a file; no label means that nobody may see it."""

    file: str
    title: str
    version: str
    labels: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    effective_from: date | None = None
    effective_to: date | None = None

    def in_force(self, on: date) -> bool:
        """True on every day from `effective_from` to `effective_to`, both included."""
        begun = self.effective_from is None or self.effective_from <= on
        return begun and (self.effective_to is None or on <= self.effective_to)


@dataclass(frozen=True, slots=True)
class Document:
    """An ingested file: its declaration, the SHA-256 of its bytes, its blocks in reading order."""

    source: Source
    sha256: str
    blocks: tuple[Block, ...]
