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
    def sentences(self) -> tuple[tuple[Block, str], ...]:
        """Every sentence with its block, in reading order."""
        return tuple((block, text) for block in self.blocks for text in sentences(block.text))

    @property
    def indexed_text(self) -> str:
        """What is embedded and scored: the title, each heading once, the passage."""
        return "\n".join((self.source.title, *self._above, self.text))

    @property
    def heading_text(self) -> str:
        """The title and the headings alone."""
        headings = dict.fromkeys(h for block in self.blocks for h in block.headings)
        return "\n".join(dict.fromkeys((self.source.title, *headings)))

    @property
    def _above(self) -> tuple[str, ...]:
        """Each heading once, and the sentence that opens the list of the first block, where the
        passage itself does not hold them."""
        text = self.text
        above = dict.fromkeys(h for block in self.blocks for h in block.headings)
        above[self.blocks[0].opening] = None
        return tuple(h for h in above if h and h != self.source.title and h not in text)


def chunk(
    document: Document, least: int = LEAST_WORDS, most: int = MOST_WORDS
) -> tuple[Chunk, ...]:
    """Pack a document's blocks: a new heading ends a chunk of `least` words, `most` ends any."""
    groups = _packed([part for block in document.blocks for part in _cut(block, most)], least, most)
    ids: dict[str, int] = {}
    return tuple(_chunk(document, blocks, ids) for blocks in groups)


def _chunk(document: Document, blocks: Sequence[Block], ids: dict[str, int]) -> Chunk:
    name = f"{document.source.file}#{blocks[0].paragraph}"
    ids[name] = ids.get(name, 0) + 1
    suffix = "" if ids[name] == 1 else f".{ids[name]}"
    return Chunk(name + suffix, document.source, document.sha256, tuple(blocks))


def _packed(blocks: Sequence[Block], least: int, most: int) -> Iterator[list[Block]]:
    group: list[Block] = []
    words = 0
    for block in blocks:
        full = words + block.words > most
        turned = bool(group) and group[-1].headings != block.headings and words >= least
        if group and (full or turned):
            yield group
            group, words = [], 0
        group.append(block)
        words += block.words
    if group:
        yield group


def _cut(block: Block, most: int) -> Iterator[Block]:
    """The block, or its sentences packed into parts of at most `most` words where it is longer."""
    if block.words <= most:
        yield block
        return
    part: list[str] = []
    for sentence in _bounded(sentences(block.text), most):
        if part and len(" ".join((*part, sentence)).split()) > most:
            yield replace(block, text=" ".join(part))
            part = []
        part.append(sentence)
    yield replace(block, text=" ".join(part))


def _bounded(texts: Sequence[str], most: int) -> Iterator[str]:
    for text in texts:
        words = text.split()
        yield from (" ".join(words[i : i + most]) for i in range(0, len(words), most))


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
