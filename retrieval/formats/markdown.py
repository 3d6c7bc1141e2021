"""Markdown (markdown-it): headings, paragraphs, list items and table rows, each kept whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from retrieval.errors import IngestError
from retrieval.formats import html
from retrieval.formats.pieces import CELLS, MOST_DEPTH, Piece, Shown, decoded, letters

if TYPE_CHECKING:
    from markdown_it.token import Token

EMPHASIS = {"em_open": "em_close", "strong_open": "strong_close"}
MOST_MARK = 16
"""Characters that may stand before the emphasised head of a block: `(a)`, `1.`, `Note`."""
MOST_LEAD = 160
TAG = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)
LINK = re.compile(r"\]\([^)]*\)|^\s*\[[^\]]+\]:.*$", re.MULTILINE)
STRUCK = re.compile(r"~~.*?~~", re.DOTALL)


def read(file: str, content: bytes) -> Shown:
    """Struck-out text, comments and the targets of links are not shown."""
    text = decoded(file, content)
    visible = STRUCK.sub(" ", LINK.sub(" ", TAG.sub(" ", text)))
    try:
        return Shown(tuple(_pieces(file, text)), letters(visible))
    except RecursionError as error:
        raise IngestError(file, "is nested too deeply", "flatten it") from error


def _pieces(file: str, text: str) -> Iterator[Piece]:
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    level = depth = 0
    cells: list[str] | None = None
    for token in tokens:
        kind = token.type
        if kind in ("bullet_list_open", "ordered_list_open"):
            depth += 1
            if depth > MOST_DEPTH:
                raise IngestError(file, f"lists are nested deeper than {MOST_DEPTH}", "flatten it")
        elif kind in ("bullet_list_close", "ordered_list_close"):
            depth -= 1
        elif kind == "heading_open":
            level = int(token.tag[1])
        elif kind == "heading_close":
            level = 0
        elif kind == "tr_open":
            cells = []
        elif kind == "tr_close" and cells is not None:
            yield Piece(0, CELLS.join(cells), depth=depth)
            cells = None
        elif kind == "inline":
            children = token.children or ()
            if cells is not None:
                cells.append(_text(children))
            else:
                lead = "" if level else _lead(children)
                yield Piece(level, _text(children), depth=depth, lead=lead)
        elif kind in ("fence", "code_block"):
            yield Piece(0, token.content, depth=depth)
        elif kind == "html_block":
            yield from html.pieces(file, token.content)


def _text(children: Sequence[Token]) -> str:
    breaks = {"softbreak": " ", "hardbreak": " "}
    parts: list[str] = []
    struck = 0
    for part in children:
        struck += (part.type == "s_open") - (part.type == "s_close")
        if not struck and part.type != "html_inline":
            parts.append(breaks.get(part.type, part.content))
    return "".join(parts)


def _lead(children: Sequence[Token]) -> str:
    """The emphasised beginning of a block, with the mark before it, if it heads the block."""
    shown = [part for part in children if part.content or part.type in EMPHASIS]
    start = next((i for i, part in enumerate(shown) if part.type in EMPHASIS), None)
    if start is None or start > 1:
        return ""
    mark = _text(shown[:start])
    closing = EMPHASIS[shown[start].type]
    rest = list(children)[list(children).index(shown[start]) + 1 :]
    end = next((i for i, part in enumerate(rest) if part.type == closing), len(rest))
    head = _text(rest[:end])
    heads = head.rstrip().endswith((".", ":", "。", "：")) or not _text(rest[end:]).strip()
    if len(mark) > MOST_MARK or not heads or not 0 < len(head) <= MOST_LEAD:
        return ""
    return " ".join(f"{mark} {head}".split())
