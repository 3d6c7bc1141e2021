"""DOCX (python-docx): the text that stands when every tracked change is accepted, without comments.

The package is looked at before it is opened: how many parts it has, how large they become, and that
no part declares a document type (entities could grow or point elsewhere).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from retrieval.errors import IngestError
from retrieval.formats.pieces import (
    CELLS,
    MOST_DEPTH,
    MOST_PARTS,
    MOST_RATIO,
    MOST_UNPACKED,
    Piece,
    Shown,
    letters,
)

if TYPE_CHECKING:
    from docx.document import Document

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
GONE = frozenset({f"{W}del", f"{W}moveFrom", f"{W}instrText", f"{W}delText", FALLBACK})
SMALL = 1024 * 1024
"""A part that stays smaller than this may be packed as tightly as it likes."""
OFF = frozenset({"0", "false", "off", "none"})


def read(file: str, content: bytes) -> Shown:
    """Paragraphs and table rows; nested tables row by row after the row that holds them."""
    _check(file, content)
    document = _opened(file, content)
    hidden = _hidden_styles(document)
    body = document.element.body
    levels = _levels(document)
    return Shown(tuple(_blocks(file, body, levels, hidden, 0)), letters(_all(body, hidden)))


def _check(file: str, content: bytes) -> None:
    try:
        with ZipFile(BytesIO(content)) as package:
            parts = package.infolist()
            _bounded(file, parts)
            for part in parts:
                if part.filename.endswith((".xml", ".rels")):
                    _no_doctype(file, part.filename, package.read(part))
    except (BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        raise IngestError(file, f"not a readable DOCX: {error}", "save it again") from error


def _bounded(file: str, parts: list[ZipInfo]) -> None:
    unpacked = sum(part.file_size for part in parts)
    if len(parts) > MOST_PARTS or unpacked > MOST_UNPACKED:
        problem = f"unpacks to {len(parts)} parts of {unpacked // 1_000_000} MB"
        raise IngestError(file, problem, f"keep below {MOST_UNPACKED // 1_000_000} MB")
    for part in parts:
        if part.file_size > SMALL and part.file_size > MOST_RATIO * max(1, part.compress_size):
            problem = f"part `{part.filename}` grows more than {MOST_RATIO} times when unpacked"
            raise IngestError(file, problem, "save it again; this looks like a zip bomb")


def _no_doctype(file: str, part: str, content: bytes) -> None:
    texts = (content, content.replace(b"\0", b""))
    if any(mark in text for text in texts for mark in (b"<!DOCTYPE", b"<!ENTITY")):
        raise IngestError(file, f"part `{part}` declares a document type", "save it again")


def _opened(file: str, content: bytes) -> Document:
    import docx
    from docx.opc.exceptions import OpcError

    try:
        return docx.Document(BytesIO(content))
    except (BadZipFile, KeyError, OpcError, ValueError, AttributeError, SyntaxError) as error:
        raise IngestError(file, f"not a readable DOCX: {error}", "save it again") from error


def _levels(document: Document) -> dict[str, int]:
    """Heading level by style id."""
    found = {}
    for style in document.styles:
        heading = re.fullmatch(r"(?i)heading ([1-6])", style.name or "")
        if heading:
            found[style.style_id] = min(6, int(heading[1]) + 1)
        elif style.name == "Title":
            found[style.style_id] = 1
    return found


def _hidden_styles(document: Document) -> frozenset[str]:
    return frozenset(
        style.style_id
        for style in document.styles
        if any(_on(mark) for mark in style.element.iter(f"{W}vanish"))
    )


def _blocks(
    file: str, parent: Any, levels: dict[str, int], hidden: frozenset[str], depth: int
) -> Iterator[Piece]:
    if depth > MOST_DEPTH:
        raise IngestError(file, f"tables are nested deeper than {MOST_DEPTH}", "flatten them")
    for child in parent:
        if child.tag == f"{W}p":
            yield Piece(levels.get(_style(child), 0), _text(child, hidden), depth=_list(child))
        elif child.tag == f"{W}tbl":
            for row in _inside(child, f"{W}tr"):
                yield from _row(file, row, levels, hidden, depth)
        elif child.tag not in GONE and child.tag != f"{W}sectPr":
            yield from _blocks(file, child, levels, hidden, depth + 1)


def _row(
    file: str, row: Any, levels: dict[str, int], hidden: frozenset[str], depth: int
) -> Iterator[Piece]:
    cells = list(_inside(row, f"{W}tc"))
    if row.find(f"{W}trPr/{W}del") is not None:
        return
    texts = [" ".join(_text(p, hidden) for p in _inside(cell, f"{W}p")) for cell in cells]
    yield Piece(0, CELLS.join(text.strip() for text in texts) if any(texts) else "")
    for cell in cells:
        for table in _inside(cell, f"{W}tbl"):
            yield from _blocks(file, [table], levels, hidden, depth + 1)


def _inside(parent: Any, tag: str) -> Iterator[Any]:
    """Children of that tag, also inside content controls and insertions, not inside deletions."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}customXml", f"{W}moveTo"):
            yield from _inside(child, tag)


def _style(paragraph: Any) -> str:
    style = paragraph.find(f"{W}pPr/{W}pStyle")
    return "" if style is None else str(style.get(f"{W}val"))


def _list(paragraph: Any) -> int:
    level = paragraph.find(f"{W}pPr/{W}numPr/{W}ilvl")
    if level is None:
        return 0
    value = str(level.get(f"{W}val"))
    return int(value) + 1 if value.isascii() and value.isdigit() and len(value) < 3 else 1


def _all(body: Any, hidden: frozenset[str]) -> str:
    return " ".join(_text(paragraph, hidden) for paragraph in body.iter(f"{W}p"))


def _text(paragraph: Any, hidden: frozenset[str]) -> str:
    """The visible text of a paragraph; a text box's paragraphs speak for themselves."""
    parts: list[str] = []
    stack = [paragraph]
    while stack:
        node = stack.pop()
        if not isinstance(node.tag, str) or node.tag in GONE:
            continue
        if node.tag == f"{W}r" and _vanishes(node, hidden):
            continue
        if node.tag == f"{W}t":
            parts.append(node.text or "")
        elif node.tag in (f"{W}tab", f"{W}br", f"{W}cr"):
            parts.append(" ")
        elif node.tag == f"{W}noBreakHyphen":
            parts.append("-")
        if node.tag not in (f"{W}pPr", f"{W}rPr"):
            stack.extend(reversed(node))
    return "".join(parts)


def _vanishes(run: Any, hidden: frozenset[str]) -> bool:
    """Hidden by a mark or a style, or white where nothing dark lies behind."""
    properties = run.find(f"{W}rPr")
    styles = (_style(parent) for parent in run.iterancestors(f"{W}p"))
    if any(style in hidden for style in styles):
        return True
    if properties is None:
        return False
    style = properties.find(f"{W}rStyle")
    if style is not None and style.get(f"{W}val") in hidden:
        return True
    marks = (properties.find(f"{W}{name}") for name in ("vanish", "webHidden", "specVanish"))
    if any(mark is not None and _on(mark) for mark in marks):
        return True
    colour = properties.find(f"{W}color")
    white = colour is not None and str(colour.get(f"{W}val")).upper() == "FFFFFF"
    return white and not _shaded(run)


def _shaded(run: Any) -> bool:
    """True if the run, its paragraph, its cell or its table has a fill."""
    path = f"{W}rPr", f"{W}pPr", f"{W}tcPr", f"{W}tblPr", f"{W}trPr"
    for node in (run, *run.iterancestors()):
        for name in path:
            shade = node.find(f"{name}/{W}shd")
            fill = "" if shade is None else str(shade.get(f"{W}fill")).upper()
            if fill not in ("", "AUTO", "FFFFFF", "NONE"):
                return True
        if properties := node.find(f"{W}rPr/{W}highlight"):
            return properties.get(f"{W}val") not in ("white", "none")
    return False


def _on(mark: Any) -> bool:
    return str(mark.get(f"{W}val", "1")).lower() not in OFF
