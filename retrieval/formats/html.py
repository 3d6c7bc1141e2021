"""HTML (selectolax): what a reader of the page sees, block by block."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from retrieval.errors import IngestError
from retrieval.formats.pieces import CELLS, Piece, Shown, decoded, letters

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MOST_LEVELS = 512
IGNORED = (
    "script, style, template, noscript, head, nav, del, s, strike, textarea, select, svg, "
    "iframe, object, [hidden], input"
)
BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main menu ol p pre section "
    "summary table tbody tfoot thead tr ul".split()
)
LISTS = frozenset({"ul", "ol", "menu", "dl"})
HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d]*[1-9])"
    r"|opacity\s*:\s*0*(?:\.0+)?\s*(?:;|$|!)|text-indent\s*:\s*-\d{3,}",
    re.IGNORECASE,
)
WHITE = re.compile(
    r"(?:^|;|\s)color\s*:\s*(?:white|#fff(?:fff)?|rgba?\(\s*255\s*,\s*255\s*,\s*255[^)]*\))"
    r"\s*(?:!important)?\s*(?:;|$)",
    re.IGNORECASE,
)
BACKGROUND = re.compile(r"background(?:-color|-image)?\s*:\s*(?!white|#fff|none|transparent)", re.I)
STYLES = re.compile(r"([^{}@]+)\{([^{}]*)\}")


def read(file: str, content: bytes) -> Shown:
    """Scripts, menus, deletions and hidden elements are not shown; every other text is."""
    text = decoded(file, content)
    found = tuple(pieces(file, text))
    return Shown(found, _seen(text))


def pieces(file: str, text: str) -> Iterator[Piece]:
    """The blocks of a page or of a part of one."""
    tree = _visible(text)
    if tree.body is None:
        return
    yield from _walk(file, tree.body)


def _seen(text: str) -> int:
    body = _visible(text).body
    return letters(body.text(separator=" ")) if body is not None else 0


def _visible(text: str) -> LexborHTMLParser:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(text)
    sheets = [node.text() for node in tree.css("style")]
    hidden = [node for node in tree.css("[style]") if _hides(node.attributes.get("style") or "")]
    hidden += [node for rule in _rules(sheets) for node in _matching(tree, rule)]
    for node in (*hidden, *tree.css(IGNORED)):
        node.decompose()
    return tree


def _hides(style: str) -> bool:
    return bool(HIDING.search(style) or (WHITE.search(style) and not BACKGROUND.search(style)))


def _rules(sheets: Iterable[str]) -> Iterator[str]:
    """Selectors of the page's own style sheets that hide what they select."""
    for sheet in sheets:
        for selector, style in STYLES.findall(re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)):
            if _hides(style):
                yield selector.strip()


def _matching(tree: LexborHTMLParser, selector: str) -> list[LexborNode]:
    from selectolax.lexbor import SelectolaxError

    try:
        return tree.css(selector)
    except (SelectolaxError, ValueError):
        return []  # a selector of states (`:hover`) selects nothing in a page at rest


def _walk(file: str, body: LexborNode) -> Iterator[Piece]:
    """Text between two block boundaries is one block; a table row is one block of cells."""
    parts: list[str] = []
    level = depth = 0
    stack: list[tuple[LexborNode, Iterator[LexborNode]]] = [(body, body.iter(include_text=True))]
    while stack:
        if len(stack) > MOST_LEVELS:
            raise IngestError(file, f"elements are nested deeper than {MOST_LEVELS}", "flatten it")
        node, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            name = node.tag or ""
            if name in BLOCKS:
                yield from _block(level, parts, depth)
                level = 0 if _level(name) else level
                depth -= name in LISTS
            elif name in ("td", "th"):
                parts.append(" ")
            continue
        name = child.tag or ""
        if name == "-text":
            parts.append(child.text_content or "")
        elif name == "br":
            parts.append(" ")
        elif name == "tr":
            yield from _block(level, parts, depth)
            yield from _row(child, depth)
        elif name in BLOCKS:
            yield from _block(level, parts, depth)
            level = _level(name) or level
            depth += name in LISTS
            stack.append((child, child.iter(include_text=True)))
        else:
            stack.append((child, child.iter(include_text=True)))


def _level(name: str) -> int:
    return int(name[1]) if re.fullmatch("h[1-6]", name) else 0


def _block(level: int, parts: list[str], depth: int) -> Iterator[Piece]:
    text = "".join(parts)
    parts.clear()
    if text.strip():
        yield Piece(level, text, depth=depth)


def _row(row: LexborNode, depth: int) -> Iterator[Piece]:
    """Cells of the row; a table in a cell is part of the cell."""
    cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
    text = CELLS.join(" ".join(cell.text(separator=" ").split()) for cell in cells)
    if text.strip(CELLS):
        yield Piece(0, text, depth=depth)
