"""Documents to chunks: whole blocks packed under their headings, 80 to 180 words.

The upper bound is what the embedded encoder reads (256 word pieces); a block that is longer alone
is cut between sentences. Every part keeps its own place, so a quote is cited by its own heading and
paragraph wherever it was packed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from retrieval.document import Block, Document, Source

LEAST_WORDS = 80
MOST_WORDS = 180
SENTENCE_END = re.compile(
    r"""[.!?]["'\u201d\u2019)\]]*(\s+)(?=["'\u201c\u2018(\[]?[A-Z0-9$])|[。！？；]()"""
)
ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|No|Mr|Mrs|Ms|Dr|St|vs|approx|Inc)|\b[A-Z])\.$")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage of the index; `chunk_id` is the file and the first paragraph, `card.md#3`."""

    chunk_id: str
    source: Source
    sha256: str
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """The passage itself, block after block."""
        return "\n".join(block.text for block in self.blocks)

    @property
    def sentences(text: str) -> tuple[str, ...]:
    """Split a block into sentences; common abbreviations and initials do not end one."""
    found: list[str] = []
    for piece in _pieces(text):
        if found and ABBREVIATION.search(found[-1]):
            found[-1] = f"{found[-1]} {piece}"
        else:
            found.append(piece)
    return tuple(found)


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for end in SENTENCE_END.finditer(text):
        gap = end.span(1) if end[1] is not None else end.span(2)
        yield text[start : gap[0]].strip()
        start = gap[1]
    if text[start:].strip():
        yield text[start:].strip()
