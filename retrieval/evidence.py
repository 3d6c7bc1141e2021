"""Hits to the closed list of evidence: sections of passages, with ids and provenance.

One entry is a run of blocks under one heading, so that a number quoted from it cannot come from a
neighbour. Where the request is about one registered object, an entry about another one is no
evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby

from retrieval.document import Block, Source
from retrieval.search import Hit

MOST_PASSAGES = 8


class About(IntEnum):
    """What a text names of the objects of one type."""

    OTHER = -1
    NONE = 0
    THIS = 1


Names = Callable[[str], About]
"""Reads which object a text names; the gate's name index stands behind it."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One entry of the closed list; `dense` and `fused` are those of the hit it was found with.

    `sentences` are its sentences in order, each with its block and its cosine with the request.
    """

    evidence_id: str
    source: Source
    sha256: str
    headings: tuple[str, ...]
    blocks: tuple[Block, ...]
    about: About
    dense: float
    fused: float
    sentences: tuple[tuple[Block, str, float], ...] = ()

    @property
    def text(self) -> str:
        """What may be quoted."""
        return "\n".join(block.text for block in self.blocks)

    @property
    def page(self) -> int | None:
        """The page of its first block."""
        return self.blocks[0].page


def nothing_named(_text: str) -> About:
    """For a request without an object: no text is about another one."""
    return About.NONE


def closed_list(
    hits: Sequence[Hit], names: Names = nothing_named, least: About = About.NONE
) -> tuple[Passage, ...]:
    """The passages that may be cited, best first, ids E1, E2, ... in that order.

    `least` is THIS where an entry has to name the object, NONE where it must only not be about
    another. Entries that name the object come before those that name none.
    """
    sections = [part for hit in hits for part in _sections(hit, names)]
    kept = sorted((s for s in sections if s[2] >= least), key=lambda s: -s[2])
    return tuple(
        Passage(
            evidence_id=f"E{number}",
            source=hit.chunk.source,
            sha256=hit.chunk.sha256,
            headings=blocks[0].headings,
            blocks=blocks,
            about=about,
            dense=hit.dense,
            fused=hit.fused,
            sentences=_sentences(hit, blocks),
        )
        for number, (hit, blocks, about) in enumerate(kept[:MOST_PASSAGES], start=1)
    )


def _sections(hit: Hit, names: Names) -> Iterable[tuple[Hit, tuple[Block, ...], About]]:
    for headings, group in groupby(hit.chunk.blocks, key=lambda block: block.headings):
        blocks = tuple(group)
        yield hit, blocks, _about(names, hit.chunk.source.title, headings, blocks)


def _sentences(hit: Hit, blocks: tuple[Block, ...]) -> tuple[tuple[Block, str, float], ...]:
    places = zip(hit.chunk.sentences, hit.sentences, strict=True)
    return tuple((block, text, score) for (block, text), score in places if block in blocks)


def _about(names: Names, title: str, headings: tuple[str, ...], blocks: Sequence[Block]) -> About:
    """The innermost heading that names an object speaks for the section; else its text does."""
    for heading in (*reversed(headings), title):
        if (found := names(heading)) is not About.NONE:
            return found
    return names("\n".join(block.text for block in blocks))
