"""PDF (pypdf): lines of the pages to headings and paragraphs; what cannot be seen is left out."""

from __future__ import annotations

import shutil
import subprocess
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from statistics import median_low
from typing import TYPE_CHECKING, Any

from retrieval.errors import IngestError
from retrieval.formats.pieces import Piece, Shown

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

HEADING_RATIO = 1.12
"""A line set this much larger than the text around it is a heading."""
MOST_PAGES = 5_000
INVISIBLE = 3
"""Text rendering mode that draws nothing: the recognised text under a scanned page, or hidden."""
OCR_SECONDS = 120
CODE_BYTES = 4
"""Letters count as shown once per so many bytes: codes have one or two, and spaces are codes too."""
SHOWING = frozenset({b"Tj", b"TJ", b"'", b'"'})
FILLING = frozenset({b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"})
NEARLY = 0.02
"""A colour this close to white is white."""
SMALLEST = 1.0
"""Text set smaller than this, in points, is not meant to be read."""
BROKEN = (KeyError, ValueError, TypeError, AttributeError, IndexError, RecursionError, zlib.error)
"""What pypdf raises on damaged files besides its own errors."""

Line = tuple[float, float, str]
"""Font size, height on the page, text; in points."""


@dataclass
class _Paint:
    """What stands in force while a page is drawn: fill colour, text mode, font, dark areas so far.

    `unnamed` are the fonts whose codes nothing maps to characters, `lost` the codes drawn in them.
    """

    scanned: bool = False
    unnamed: frozenset[str] = frozenset()
    font: str = ""
    lost: int = 0
    white: bool = False
    mode: int = 0
    saved: list[tuple[bool, int, str]] = field(default_factory=list)
    pending: list[tuple[float, float, float, float]] = field(default_factory=list)
    dark: list[tuple[float, float, float, float]] = field(default_factory=list)
    codes: int = 0


def read(file: str, content: bytes) -> Shown:
    """Blocks with their page; a page without text is recognised by Tesseract or refused."""
    from pypdf.errors import PyPdfError

    try:
        reader = _opened(file, content)
        shown = 0
        pages: list[list[Line]] = []
        for number, page in enumerate(reader.pages, start=1):
            lines, paint = _lines(page)
            if paint.lost:
                problem = f"page {number}: a font does not say which characters its codes are"
                raise IngestError(file, problem, "export it again, with a ToUnicode table")
            shown += paint.codes
            pages.append(lines or _recognised(file, page, number))
    except (PyPdfError, *BROKEN) as error:
        raise IngestError(file, f"not a readable PDF: {error}", "export it again") from error
    sizes = [size for lines in pages for size, _, _ in lines]
    body = median_low(sizes) if sizes else 0.0
    numbered = enumerate(pages, start=1)
    pieces = tuple(piece for number, lines in numbered for piece in _pieces(lines, body, number))
    return Shown(pieces, shown // CODE_BYTES)


def _opened(file: str, content: bytes) -> PdfReader:
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise IngestError(file, "is locked with a password", "export it without one")
    if len(reader.pages) > MOST_PAGES:
        problem = f"has {len(reader.pages)} pages, more than {MOST_PAGES}"
        raise IngestError(file, problem, "split it")
    return reader


def _lines(page: PageObject) -> tuple[list[Line], _Paint]:
    """Visible lines from top to bottom, and how many character codes the page draws visibly."""
    lines: dict[float, tuple[float, str]] = {}
    paint = _Paint(scanned=_has_image(page), unnamed=frozenset(_unnamed(page)))

    def before(operator: bytes, operands: list[Any], cm: list[float], tm: list[float]) -> None:
        if operator in SHOWING and operands:
            _show(paint, operands, cm, tm)
        else:
            _paint(paint, operator, operands, cm)

    def visit(text: str, cm: list[float], matrix: list[float], _font: object, size: float) -> None:
        if text.strip():
            scaled = size * (abs(matrix[3]) or abs(matrix[1]) or 1.0) * (abs(cm[3]) or 1.0)
            height = round(_place(cm, matrix)[1], 1)
            known = lines.get(height, (0.0, ""))
            lines[height] = (max(known[0], scaled), known[1] + text)

    page.extract_text(visitor_operand_before=before, visitor_text=visit)
    found = [(size, height, text) for height, (size, text) in sorted(lines.items(), reverse=True)]
    return [line for line in found if line[0] >= SMALLEST], paint


def _unnamed(page: PageObject) -> Iterator[str]:
    """Composite fonts whose codes are glyph numbers and that carry no table of characters."""
    resources = page.get("/Resources")
    fonts = resources.get_object().get("/Font") if resources is not None else None
    for name, reference in (fonts.get_object() if fonts is not None else {}).items():
        font = reference.get_object()
        if font.get("/Subtype") != "/Type0" or "/ToUnicode" in font:
            continue
        inner = font["/DescendantFonts"].get_object()[0].get_object()
        ordering = inner.get("/CIDSystemInfo", {}).get("/Ordering", "Identity")
        if str(font.get("/Encoding", "")).startswith("/Identity") and ordering == "Identity":
            yield str(name)


def _place(cm: list[float], matrix: list[float]) -> tuple[float, float]:
    x = matrix[4] * cm[0] + matrix[5] * cm[2] + cm[4]
    return x, matrix[4] * cm[1] + matrix[5] * cm[3] + cm[5]


def _show(paint: _Paint, operands: list[Any], cm: list[float], tm: list[float]) -> None:
    """Count what is drawn; empty the operand in place where nobody would see it."""
    from pypdf.generic import ArrayObject, TextStringObject

    x, y = _place(cm, tm)
    unseen = paint.mode == INVISIBLE and not paint.scanned
    if unseen or (paint.white and not any(_within(area, x, y) for area in paint.dark)):
        last = operands[-1]
        operands[-1] = ArrayObject() if isinstance(last, list) else TextStringObject("")
        return
    last = operands[-1]
    parts = last if isinstance(last, list) else [last]
    codes = sum(len(part) for part in parts if isinstance(part, str | bytes))
    paint.codes += codes
    paint.lost += codes if paint.font in paint.unnamed else 0


def _paint(paint: _Paint, operator: bytes, operands: list[Any], cm: list[float]) -> None:
    if operator == b"q":
        paint.saved.append((paint.white, paint.mode, paint.font))
    elif operator == b"Q" and paint.saved:
        paint.white, paint.mode, paint.font = paint.saved.pop()
    elif operator == b"Tf" and operands:
        paint.font = str(operands[0])
    elif operator == b"Tr" and operands:
        paint.mode = int(operands[0])
    elif operator in (b"g", b"rg", b"k", b"sc", b"scn"):
        paint.white = _is_white(operator, operands)
    elif operator == b"re" and len(operands) == 4:
        paint.pending.append(_area([float(value) for value in operands], cm))
    elif operator in FILLING:
        if not paint.white:
            paint.dark += paint.pending
        paint.pending = []
    elif operator in (b"S", b"s", b"n"):
        paint.pending = []


def _is_white(operator: bytes, operands: list[Any]) -> bool:
    values = [float(value) for value in operands if isinstance(value, int | float)]
    if operator == b"k" or (operator != b"rg" and len(values) == 4):
        return bool(values) and max(values) <= NEARLY
    return bool(values) and min(values) >= 1 - NEARLY


def _area(values: list[float], cm: list[float]) -> tuple[float, float, float, float]:
    x, y, width, height = values
    corners = [_place(cm, [0, 0, 0, 0, a, b]) for a in (x, x + width) for b in (y, y + height)]
    xs, ys = [c[0] for c in corners], [c[1] for c in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _within(area: tuple[float, float, float, float], x: float, y: float) -> bool:
    return area[0] - 1 <= x <= area[2] + 1 and area[1] - 1 <= y <= area[3] + 1


def _has_image(page: PageObject) -> bool:
    resources = page.get("/Resources")
    found = resources.get_object().get("/XObject") if resources is not None else None
    if found is None:
        return False
    return any(
        part.get_object().get("/Subtype") == "/Image" for part in found.get_object().values()
    )


def _recognised(file: str, page: PageObject, number: int) -> list[Line]:
    """The text of the page's images by Tesseract; IngestError where there is none."""
    program = shutil.which("tesseract")
    if program is None or not _has_image(page):
        fix = "install tesseract, or recognise the text first"
        raise IngestError(file, f"page {number} holds no text", fix)
    lines: list[Line] = []
    for image in page.images:
        text = _tesseract(file, program, image.data, number)
        lines += [(10.0, -12.0 * (len(lines) + i), part) for i, part in enumerate(text) if part]
    if not lines:
        raise IngestError(file, f"page {number}: no text was recognised", "scan it again")
    return lines


def _tesseract(file: str, program: str, image: bytes, number: int) -> list[str]:
    try:
        done = subprocess.run(  # noqa: S603 - a program of the machine, given bytes alone
            [program, "stdin", "stdout"], input=image, capture_output=True, timeout=OCR_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise IngestError(file, f"page {number}: {error}", "recognise the text first") from error
    if done.returncode:
        problem = f"page {number}: tesseract ended with {done.returncode}"
        raise IngestError(file, problem, "recognise the text first")
    return [" ".join(line.split()) for line in done.stdout.decode(errors="replace").splitlines()]


def _pieces(lines: list[Line], body: float, page: int) -> Iterator[Piece]:
    """Join lines to paragraphs: a gap of more than one and a half lines starts a new one."""
    pending: list[str] = []
    previous: float | None = None
    for size, height, text in lines:
        heading = size >= body * HEADING_RATIO
        gap = previous is not None and previous - height > body * 1.8
        if pending and (heading or gap):
            yield Piece(0, " ".join(pending), page)
            pending = []
        if heading:
            yield Piece(1 if size >= body * 1.5 else 2, text, page)
        else:
            pending.append(text)
        previous = height
    if pending:
        yield Piece(0, " ".join(pending), page)
