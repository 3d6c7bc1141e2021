"""The documents pathway as commands and benches see it; they do not import retrieval themselves."""

from __future__ import annotations

from pathlib import Path

from retrieval import index
from retrieval.answer import extract
from retrieval.chunk import Chunk, chunk
from retrieval.document import Source
from retrieval.errors import BrokenIndexError, IngestError
from retrieval.evidence import closed_list
from retrieval.index import Index, delete
from retrieval.ingest import read
from retrieval.protocols import Encoder, Vectors
from retrieval.rerank import SUFFICIENT, as_fused
from retrieval.rewrite import added
from retrieval.search import WEIGHTS, Hit, as_asked, search, sufficient

__all__ = [
    "SUFFICIENT", "WEIGHTS", "BrokenIndexError", "Encoder", "Hit", "Index", "IngestError",
    "Vectors", "added", "as_asked", "as_fused", "closed_list", "delete", "extract", "of_folder",
    "search", "sufficient",
]  # fmt: skip


def of_folder(folder: Path, encoder: Encoder, out: Path) -> Index:
    """An index in `out` over every Markdown file of a folder, all of them public.

    A file's title is its first line.
    """
    chunks: list[Chunk] = []
    for path in sorted(folder.glob("*.md")):
        title = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        chunks += chunk(read(folder, Source(path.name, title, "1", ("public",))))
    index.build(chunks, encoder, out, {})
    return index.open_index(out, encoder.digest)
