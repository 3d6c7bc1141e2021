"""Output for people and for programs: tables on a terminal, JSON lines in a pipe, errors on stderr."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from gate.errors import RequestError
from inference import sinks

T = TypeVar("T")


def console() -> Console:
    """The console on standard output; it reads neither markup nor names of emoji in a text."""
    return Console(highlight=False, soft_wrap=False, markup=False, emoji=False)


def tell(message: str) -> None:
    """One line for a person, on standard error."""
    print(sinks.terminal(message), file=sys.stderr)


def say(message: str) -> None:
    """One line on standard output, at once."""
    print(sinks.terminal(message), flush=True)


def page(text: str) -> None:
    """A text of several lines on standard output."""
    print(sinks.lines(text))


def styled(*parts: object) -> None:
    """One line on standard output; a part is a text, or a text with its style of rich."""
    pairs = (part if isinstance(part, tuple) else (part, "") for part in parts)
    console().print(Text.assemble(*((sinks.terminal(text), style) for text, style in pairs)))


def for_people() -> bool:
    """True if standard output is a terminal."""
    return sys.stdout.isatty()


def rows(title: str, columns: Iterable[str], lines: Iterable[Iterable[object]]) -> None:
    """Print a table; every cell is escaped."""
    shown = Text(sinks.terminal(title)) if title else None
    table = Table(title=shown, title_justify="left", show_lines=False)
    for column in columns:
        table.add_column(Text(sinks.terminal(column)), overflow="fold")
    for line in lines:
        table.add_row(*(Text(sinks.terminal(cell)) for cell in line))
    console().print(table)


def json_line(value: Mapping[str, Any], out: TextIO | None = None) -> None:
    """One JSON object on one line."""
    print(sinks.json_text(value), file=out or sys.stdout)


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


def steps(items: Iterable[T], what: str, total: int) -> Iterator[T]:
    """The items as they come, with a bar on standard error while a person watches, else some lines."""
    if not sys.stderr.isatty():
        for done, item in enumerate(items):
            if done * 20 // total > (done - 1) * 20 // total:
                tell(f"{done} of {total} {what}")
            yield item
        return
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True, markup=False, emoji=False)) as shown:
        yield from shown.track(items, total=total, description=what)


def progress(items: Iterable[T], what: str = "requests") -> Iterator[T]:
    """The items as they come, with a counter on standard error while a person watches."""
    if not sys.stderr.isatty():
        yield from items
        return
    columns = (SpinnerColumn(), TextColumn("{task.completed} " + what), TimeElapsedColumn())
    with Progress(
        *columns, console=Console(stderr=True, markup=False, emoji=False), transient=True
    ) as shown:
        task = shown.add_task(what, total=None)
        for item in items:
            yield item
            shown.advance(task)
