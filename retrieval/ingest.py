"""Files to documents: each format by a library that knows it, bounded, and never with silent loss.

Every reader of `retrieval.formats` yields headings and blocks of text in reading order. From that
one stream the places that a citation names (heading path, paragraph, page) are counted here, and a
file of which too little text arrives is refused by name.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from retrieval.document import Block, Document, Source
from retrieval.errors import IngestError
from retrieval.formats import docx, html, markdown, pdf
from retrieval.formats.pieces import MOST_BYTES, Piece, Shown, letters
from retrieval.formats.text import read_faq, read_text

LEAST_KEPT = 0.6
"""Share of the letters shown by a file that must arrive in its blocks."""
MOST_UNKNOWN = 0.01
"""Share of characters that no font or encoding explains."""
LEADS_FROM = 6
"""Heads inside blocks are nested below every real heading."""
MOST_LEAD_WORDS = 40


def read(folder: Path, source: Source, most_bytes: int = MOST_BYTES) -> Document:
    """Read one declared file under `folder`; raises IngestError, never returns it empty."""
    path = folder / source.file
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        known = ", ".join(f"`{suffix}`" for suffix in READERS)
        raise IngestError(source.file, f"unknown kind `{path.suffix}`", f"use one of {known}")
    content = _content(path, source.file, most_bytes)
    shown = reader(source.file, content)
    blocks = tuple(_placed(shown.pieces))
    _check_loss(source.file, shown, blocks)
    return Document(source, hashlib.sha256(content).hexdigest(), blocks)


def _content(path: Path, file: str, most: int) -> bytes:
    """The file's bytes; a larger file than `most` is refused without being read further."""
    try:
        with path.open("rb") as stream:
            content = stream.read(most + 1)
    except OSError as error:
        fix = "correct its path in documents.yaml"
        raise IngestError(file, f"cannot be read: {error.strerror}", fix) from error
    if len(content) > most:
        raise IngestError(file, f"is larger than {most} bytes", "split it into smaller files")
    return content


def _check_loss(file: str, shown: Shown, blocks: Sequence[Block]) -> None:
    if not blocks:
        fix = "a scanned page needs recognised text, an empty file does not belong here"
        raise IngestError(file, "no text was found", fix)
    text = "".join((*(p.text for p in shown.pieces if p.level), *(b.text for b in blocks)))
    kept = letters(text)
    if kept < LEAST_KEPT * shown.letters or not kept:
        problem = f"only {kept} of {shown.letters} letters could be read"
        raise IngestError(file, problem, "export it again, with fonts that name their characters")
    unknown = sum(_unknown(character) for character in text)
    if unknown > MOST_UNKNOWN * len(text):
        problem = f"{unknown} of {len(text)} characters are not known"
        raise IngestError(file, problem, "export it again, with fonts that name their characters")


def _unknown(character: str) -> bool:
    kind = unicodedata.category(character)
    return character == "\ufffd" or kind in ("Co", "Cn", "Cs") or (kind == "Cc" and character > " ")


def _placed(pieces: Iterable[Piece]) -> Iterator[Block]:
    """Blocks under their headings; a block's own head, and a sentence that opens a list, lead what
    is nested below it."""
    path: list[tuple[int, str]] = []
    opened: list[tuple[int, str]] = []
    paragraph = 0
    for piece in pieces:
        text = " ".join(piece.text.split())
        if not text:
            continue
        level = piece.level or (LEADS_FROM + 1 + piece.depth)
        path = [(depth, name) for depth, name in path if depth < level]
        if piece.level:
            path.append((level, text))
            opened = []
            continue
        opened = [(depth, name) for depth, name in opened if depth < piece.depth]
        if piece.lead:
            path.append((level, piece.lead))
        paragraph += 1
        headings = tuple(name for _, name in path)
        yield Block(text, headings, paragraph, piece.page, " ".join(name for _, name in opened))
        if (opening := _opening(text, piece.lead)) is not None:
            opened.append((piece.depth, opening))


def _opening(text: str, lead: str) -> str | None:
    """The last sentence of a block that ends in a colon: what is nested below belongs to it."""
    if not text.endswith((":", "：", "—")):
        return None
    rest = text.removeprefix(lead).strip()
    return " ".join(re.split(r"(?<=[.。;；])\s+", rest)[-1].split()[-MOST_LEAD_WORDS:]) or None


READERS: dict[str, Callable[[str, bytes], Shown]] = {
    ".md": markdown.read,
    ".html": html.read,
    ".htm": html.read,
    ".pdf": pdf.read,
    ".docx": docx.read,
    ".txt": read_text,
    ".csv": read_faq,
}
