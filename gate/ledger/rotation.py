"""How a ledger goes on in another file: sealed segments, and the one that is written.

`ledger.sqlite` is segment 1, `ledger.000002.sqlite` the next. The last record of a sealed segment is
SEALED, the first of the one after it is SEGMENT and names the digest of the other. The new file is
made whole, under a name that ends in `.next`, before the old one is sealed, and gets its own name
afterwards: whoever finds a sealed segment finds what comes next, or knows that it was taken away.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection

from gate.errors import LedgerError
from gate.ledger import database
from gate.ledger.encode import Json, moment
from gate.ledger.formats import Kind
from gate.ledger.pseudonym import flush_folder
from gate.ledger.record import event
from gate.ledger.segment import (
    APPLICATION_ID,
    INSERT,
    SCHEMA,
    Head,
    Stored,
    draft,
    last,
    last_kind,
    values,
    write,
)

READ_ONLY = 0o400
"""Mode of a sealed segment."""


def segment_path(first: Path, number: int) -> Path:
    """The file of a segment, beside the `first` one."""
    return first if number == 1 else first.with_name(f"{first.stem}.{number:06}{first.suffix}")


def waiting_path(first: Path, number: int) -> Path:
    """The file of a segment that is whole but not begun."""
    path = segment_path(first, number)
    return path.with_name(f"{path.name}.next")


def count(first: Path) -> int:
    """How many segments there are, the first one included; LedgerError if one between is gone."""
    numbers = {1} if first.exists() else set[int]()
    pattern = re.compile(rf"{re.escape(first.stem)}\.([0-9]{{6}}){re.escape(first.suffix)}")
    with database.named_errors(first):
        for path in first.parent.iterdir() if first.parent.is_dir() else ():
            if found := pattern.fullmatch(path.name):
                numbers.add(int(found[1]))
    for number in range(1, max(numbers, default=0)):
        if number not in numbers:
            raise _gone(segment_path(first, number))
    return len(numbers)


def seal(connection: Connection, first: Path, number: int) -> bool:
    """Seal a segment within a write transaction of its file; False if there is nothing to seal.

    The next segment is on the disk before, under its waiting name.
    """
    end = last(connection)
    if end is None or end.kind in (Kind.SEALED, Kind.SEGMENT):
        return False
    at = moment(_time_of(end.current))
    closing = _following(end, event(Kind.SEALED, at, segment=number))
    named = {"sequence": closing.sequence, "digest": closing.digest}
    opening = _following(closing, event(Kind.SEGMENT, at, segment=number + 1, **named))
    database.replace(
        waiting_path(first, number + 1), SCHEMA, APPLICATION_ID, [(INSERT, values(opening))]
    )
    write(connection, [closing])
    return True


def _time_of(record: Mapping[str, Json]) -> str:
    """When the last record came: a seal has no clock of its own, so that it can be made again."""
    return str(record.get("decided_at") or record["at"])


def _following(end: Stored, record: Mapping[str, Json]) -> Stored:
    return draft(record).after_head(Head(end.sequence, end.digest))


def is_sealed(connection: Connection) -> bool:
    """True if the last record of this file is its end."""
    return last_kind(connection) == Kind.SEALED


def is_over(file: database.File, first: Path, number: int) -> bool:
    """True for the last segment there is if it is sealed: the next one waits to be begun.

    LedgerError if the next one is not even waiting.
    """
    with file.reading() as connection:
        if not is_sealed(connection):
            return False
    path, waiting = segment_path(first, number + 1), waiting_path(first, number + 1)
    if not (path.exists() or waiting.exists() or path.exists()):  # it may get its name just now
        raise _gone(path)
    return True


def begin(first: Path, number: int) -> Path:
    """Give a waiting segment its name, unless somebody did; LedgerError if there is none."""
    path, waiting = segment_path(first, number), waiting_path(first, number)
    with database.named_errors(path):
        if not path.exists():
            try:
                waiting.rename(path)
            except FileNotFoundError:
                if not path.exists():
                    raise _gone(path) from None
            flush_folder(path.parent)
    return path


def _gone(path: Path) -> LedgerError:
    return LedgerError(f"segment `{path}` is gone; restore it")


def protect(file: database.File) -> None:
    """Make the file of a sealed segment whole and read-only, and close it.

    If that fails, or if somebody still reads the log, the next start does it: every record is
    durable already, and nothing is written to the file any more.
    """
    with suppress(LedgerError), database.named_errors(file.path):
        if file.fold():
            file.path.chmod(READ_ONLY)
    file.close()


def is_protected(path: Path) -> bool:
    """True for a file that is whole and read-only."""
    with database.named_errors(path):
        return path.stat().st_mode & 0o777 == READ_ONLY and not database.log_size(path)
