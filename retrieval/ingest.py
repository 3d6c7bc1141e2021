"""Files to documents: Markdown, HTML, PDF and DOCX, each by a library that knows the format.

Every reader yields `(level, text, page)`: level 0 for a block of text, 1 to 6 for a heading. From
that one stream the places that a citation names (heading path, paragraph, page) are counted here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from statistics import median_low
from typing import TYPE_CHECKING

from retrieval.document import Block, Document, Source
from retrieval.errors import IngestError

if TYPE_CHECKING:
    from docx.table import Table
    from docx.text.paragraph import Paragraph
    from markdown_it.token import Token
    from pypdf import PageObject
    from selectolax.lexbor import LexborNode

Piece = tuple[int, str, int | None]
CELLS = " | "
HTML_BLOCKS = "h1, h2, h3, h4, h5, h6, p, li, tr, dt, dd, blockquote, pre"
HTML_IGNORED = "script, style, template, noscript, head, nav"
HEADING_RATIO = 1.12
"""A PDF line set this much larger than the text around it is a heading."""


def read(folder: Path, source: Source) -> Document:
    """Read one declared file under `folder`; raises IngestError, never returns it empty."""
    path = folder / source.file
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        known = ", ".join(f"`{suffix}`" for suffix in READERS)
        raise IngestError(source.file, f"unknown kind `{path.suffix}`", f"use one of {known}")
    try:
        content = path.read_bytes()
    except OSError as error:
        fix = "correct its path in documents.yaml"
        raise IngestError(source.file, f"cannot be read: {error}", fix) from error
    blocks = tuple(_placed(reader(source.file, content)))
    if not blocks:
        fix = "a scanned page needs recognised text, an empty file does not belong here"
        raise IngestError(source.file, "no text was found", fix)
    return Document(source, hashlib.sha256(content).hexdigest(), blocks)


def _placed(pieces: Iterable[Piece]) -> Iterator[Block]:
    path: list[tuple[int, str]] = []
    paragraph = 0
    for level, raw, page in pieces:
        text = " ".join(raw.split())
        if not text:
            continue
        if level:
            path = [(depth, name) for depth, name in path if depth < level] + [(level, text)]
            continue
        paragraph += 1
        yield Block(text, tuple(name for _, name in path), paragraph, page)


def _decoded(file: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise IngestError(file, f"not UTF-8 at byte {error.start}", "save it as UTF-8") from error


def _markdown(file: str, content: bytes) -> Iterator[Piece]:
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").parse(_decoded(file, content))
    level = 0
    cells: list[str] | None = None
    for token in tokens:
        if token.type == "heading_open":
            level = int(token.tag[1])
        elif token.type == "heading_close":
            level = 0
        elif token.type == "tr_open":
            cells = []
        elif token.type == "tr_close" and cells is not None:
            yield 0, CELLS.join(cells), None
            cells = None
        elif token.type == "inline" and cells is not None:
            cells.append(_inline(token))
        elif token.type == "inline":
            yield level, _inline(token), None
        elif token.type in ("fence", "code_block"):
            yield 0, token.content, None


def _inline(token: Token) -> str:
    breaks = {"softbreak": " ", "hardbreak": " "}
    return "".join(breaks.get(part.type, part.content) for part in token.children or ())


def _html(file: str, content: bytes) -> Iterator[Piece]:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(_decoded(file, content))
    for node in tree.css(HTML_IGNORED):
        node.decompose()
    seen: set[int] = set()
    for node in tree.css(HTML_BLOCKS):
        seen.add(node.mem_id)
        if not _inside(node, seen):
            name = node.tag or ""
            yield (int(name[1]) if re.fullmatch("h[1-6]", name) else 0), _html_text(node), None


def _inside(node: LexborNode, seen: set[int]) -> bool:
    """True if an ancestor is a block already: its text holds this node's text too."""
    parent = node.parent
    while parent is not None:
        if parent.mem_id in seen:
            return True
        parent = parent.parent
    return False


def _html_text(node: LexborNode) -> str:
    if node.tag != "tr":
        return node.text(separator=" ", strip=True)
    return CELLS.join(cell.text(separator=" ", strip=True) for cell in node.css("th, td"))


def _pdf(file: str, content: bytes) -> Iterator[Piece]:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        pages = [_pdf_lines(page) for page in PdfReader(BytesIO(content)).pages]
    except PyPdfError as error:
        raise IngestError(file, f"not a readable PDF: {error}", "export it again") from error
    for number, lines in enumerate(pages, start=1):
        if not lines:
            raise IngestError(file, f"page {number} holds no text", "recognise the text first")
    sizes = [size for lines in pages for size, _, _ in lines]
    body = median_low(sizes) if sizes else 0.0
    for number, lines in enumerate(pages, start=1):
        yield from _pdf_pieces(lines, body, number)


def _pdf_lines(page: PageObject) -> list[tuple[float, float, str]]:
    """Lines of one page from top to bottom: font size, height on the page, text; in points."""
    lines: dict[float, tuple[float, str]] = {}

    def visit(text: str, _cm: object, matrix: list[float], _font: object, size: float) -> None:
        if text.strip():
            height = round(matrix[5], 1)
            before = lines.get(height, (0.0, ""))
            scaled = size * (abs(matrix[3]) or 1.0)
            lines[height] = (max(before[0], scaled), before[1] + text)

    page.extract_text(visitor_text=visit)
    return [(size, height, text) for height, (size, text) in sorted(lines.items(), reverse=True)]


def _pdf_pieces(lines: list[tuple[float, float, str]], body: float, page: int) -> Iterator[Piece]:
    """Join lines to paragraphs: a gap of more than one and a half lines starts a new one."""
    pending: list[str] = []
    previous: float | None = None
    for size, height, text in lines:
        heading = size >= body * HEADING_RATIO
        gap = previous is not None and previous - height > body * 1.8
        if pending and (heading or gap):
            yield 0, " ".join(pending), page
            pending = []
        if heading:
            yield (1 if size >= body * 1.5 else 2), text, page
        else:
            pending.append(text)
        previous = height
    if pending:
        yield 0, " ".join(pending), page


def _docx(file: str, content: bytes) -> Iterator[Piece]:
    from zipfile import BadZipFile

    import docx
    from docx.opc.exceptions import OpcError
    from docx.text.paragraph import Paragraph

    try:
        document = docx.Document(BytesIO(content))
    except (BadZipFile, KeyError, OpcError, ValueError) as error:
        raise IngestError(file, f"not a readable DOCX: {error}", "save it again") from error
    for part in document.iter_inner_content():
        if isinstance(part, Paragraph):
            yield _docx_level(part), part.text, None
        else:
            yield from ((0, row, None) for row in _docx_rows(part))


def _docx_level(paragraph: Paragraph) -> int:
    name = (paragraph.style.name if paragraph.style else None) or ""
    if name == "Title":
        return 1
    found = re.fullmatch(r"Heading ([1-6])", name)
    return int(found[1]) + 1 if found else 0


def _docx_rows(table: Table) -> Iterator[str]:
    for row in table.rows:
        yield CELLS.join(cell.text for cell in row.cells)


READERS: dict[str, Callable[[str, bytes], Iterator[Piece]]] = {
    ".md": _markdown,
    ".html": _html,
    ".htm": _html,
    ".pdf": _pdf,
    ".docx": _docx,
}
