"""Plain text, and tables of questions and answers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from retrieval.errors import IngestError
from retrieval.formats.pieces import Piece, Shown, decoded, letters

UNDERLINE = re.compile(r"={3,}|-{3,}")
MOST_CELL = 1_000_000
QUESTION = ("question", "frage", "pergunta", "问题", "问")
ANSWER = ("answer", "antwort", "resposta", "答案", "回答", "答")


def read_text(file: str, content: bytes) -> Shown:
    """Paragraphs stand between empty lines; an underlined line is a heading."""
    text = decoded(file, content)
    return Shown(tuple(_paragraphs(text)), letters(text))


def _paragraphs(text: str) -> Iterator[Piece]:
    pending: list[str] = []
    for line in (*text.splitlines(), ""):
        bare = line.strip()
        if pending and UNDERLINE.fullmatch(bare):
            heading = pending.pop()
            if pending:
                yield Piece(0, " ".join(pending))
            yield Piece(1 if bare[0] == "=" else 2, heading)
            pending = []
        elif bare:
            pending.append(bare)
        elif pending:
            yield Piece(0, " ".join(pending))
            pending = []


def read_faq(file: str, content: bytes) -> Shown:
    """A row is one block: its question is the heading, its answer the text."""
    pieces: list[Piece] = []
    for line, question, answer in _rows(file, decoded(file, content)):
        if not question or not answer:
            raise IngestError(file, f"line {line}: question or answer is empty", "fill it in")
        pieces += (Piece(1, question), Piece(0, answer))
    return Shown(tuple(pieces), sum(letters(piece.text) for piece in pieces))


def _rows(file: str, text: str) -> Iterator[tuple[int, str, str]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    before = csv.field_size_limit(MOST_CELL)
    try:
        names = [cell.strip().casefold() for cell in next(reader, [])]
        asked, told = _column(file, names, QUESTION), _column(file, names, ANSWER)
        for row in reader:
            if row and len(row) != len(names):
                problem = f"line {reader.line_num}: {len(row)} cells, not {len(names)}"
                raise IngestError(file, problem, "quote cells that hold a comma")
            if row:
                yield reader.line_num, row[asked].strip(), row[told].strip()
    except csv.Error as error:
        problem = f"line {reader.line_num}: not CSV: {error}"
        raise IngestError(file, problem, "save it as CSV again") from error
    finally:
        csv.field_size_limit(before)


def _column(file: str, names: list[str], wanted: tuple[str, ...]) -> int:
    found = [i for i, name in enumerate(names) if name in wanted]
    if len(found) != 1:
        problem = f"has no single column `{wanted[0]}`"
        raise IngestError(file, problem, f"name one column `{wanted[0]}`")
    return found[0]
