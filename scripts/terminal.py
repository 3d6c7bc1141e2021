"""Output for people and for programs: tables on a terminal, JSON lines in a pipe, errors on stderr."""

from __future__ import annotations

import codecs
import json
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from gate.errors import RequestError

T = TypeVar("T")

_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def safe(text: object) -> str:
    """`text` for a terminal: control, format and unassigned characters shown as \\u escapes."""
    shown = (
        f"\\u{ord(c):04x}" if unicodedata.category(c) in _HIDDEN else c
        for c in str(text).replace("\n", " ")
    )
    return "".join(shown)


def markup(text: object) -> str:
    """`safe` text with rich's markup characters escaped."""
    return escape(safe(text))


def console() -> Console:
    """The console on standard output."""
    return Console(highlight=False, soft_wrap=False)


def tell(message: str) -> None:
    """One line for a person, on standard error."""
    print(safe(message), file=sys.stderr)


def for_people() -> bool:
    """True if standard output is a terminal."""
    return sys.stdout.isatty()


def rows(title: str, columns: Iterable[str], lines: Iterable[Iterable[object]]) -> None:
    """Print a table; every cell is escaped."""
    table = Table(title=markup(title) or None, title_justify="left", show_lines=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for line in lines:
        table.add_row(*(markup(cell) for cell in line))
    console().print(table)


def json_line(value: Mapping[str, Any], out: TextIO | None = None) -> None:
    """One JSON object on one line."""
    print(json.dumps(value, ensure_ascii=False, sort_keys=False), file=out or sys.stdout)


@contextmanager
def reading(path: Path | None) -> Iterator[BinaryIO]:
    """A file to read, behind a byte order mark if it has one, or standard input."""
    if path is None:
        yield sys.stdin.buffer
        return
    with path.open("rb") as stream:
        if stream.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            stream.seek(0)
        yield stream


@contextmanager
def writing(path: Path | None, *sources: Path | None) -> Iterator[TextIO]:
    """A file to write, complete or not at all, or standard output; never one of its `sources`."""
    if path is None:
        yield sys.stdout
        return
    if path.is_dir() or not path.parent.is_dir():
        raise RequestError(
            f"`{path}` is no file that can be written", where="--out", fix="name a file"
        )
    if any(s is not None and s.exists() and path.exists() and s.samefile(path) for s in sources):
        raise RequestError(
            f"`{path}` is what is being read", where="--out", fix="name another file"
        )
    target = path.resolve()
    draft = target.with_name(target.name + ".part")
    try:
        with draft.open("w", encoding="utf-8") as stream:
            yield stream
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def progress(items: Iterable[T], what: str = "requests") -> Iterator[T]:
    """The items as they come, with a counter on standard error while a person watches."""
    if not sys.stderr.isatty():
        yield from items
        return
    columns = (SpinnerColumn(), TextColumn("{task.completed} " + what), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)
        for item in items:
            yield item
            shown.advance(task)
