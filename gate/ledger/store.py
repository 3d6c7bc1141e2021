"""The ledger: an append-only chain of records in one SQLite file, or in several one after the other.

A record is durable when `append` returns. Every failure is a LedgerError, and whoever gets one
dispatches nothing (G-STORE).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gate.errors import LedgerError
from gate.ledger import database, rotation, segment
from gate.ledger.encode import Json
from gate.ledger.formats import Kind
from gate.ledger.group import Group
from gate.ledger.record import use_of
from gate.ledger.segment import (
    APPLICATION_ID,
    SCHEMA,
    Appended,
    Draft,
    Drafts,
    DuplicateRequest,
    Head,
    Stored,
    TokenUsed,
    draft,
)

__all__ = [
    "APPLICATION_ID",
    "SCHEMA",
    "SEGMENT_BYTES",
    "Appended",
    "Draft",
    "DuplicateRequest",
    "Head",
    "Ledger",
    "Stored",
    "TokenUsed",
    "draft",
]

SEGMENT_BYTES = 1 << 30
"""Size at which a segment is sealed and the next one begun."""

Mode = Literal["rw", "ro"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How files are opened: for appending or reading, the longest wait, the size of a segment."""

    path: Path
    mode: Mode
    busy_seconds: float = database.BUSY_SECONDS
    segment_bytes: int = SEGMENT_BYTES


@dataclass(frozen=True, slots=True)
class Entry:
    """Records to append together, and what must be done before."""

    drafts: Drafts
    after: Callable[[], object] | None


def _uses(
    record: Mapping[str, Json], consume: Sequence[str], void: Sequence[str]
) -> Iterator[Draft]:
    """One record for each token; LedgerError if one is named twice: it is used up once."""
    if isinstance(consume, str) or isinstance(void, str):
        raise LedgerError("several tokens can be used up; pass a tuple of digests")
    if len({*consume, *void}) < len(consume) + len(void):
        raise LedgerError("a token is named twice; name each digest once")
    yield from (draft(use_of(Kind.CONSUMED, record, token)) for token in consume)
    yield from (draft(use_of(Kind.VOIDED, record, token)) for token in void)


def _kept_out(entry: Entry) -> LedgerError | None:
    try:
        if entry.after is not None:
            entry.after()
    except LedgerError as error:
        return error
    return None


class Ledger:
    """An open ledger; safe for threads and for other processes that append to the same file.

    Appends that arrive together share one durable transaction.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._turning = threading.Lock()
        self._retired: list[database.File] = []
        self._files: tuple[database.File, ...] = _open_all(settings)
        self._group: Group[Entry, Appended] = Group(
            self._append_all, settings.busy_seconds, self._file.busy_message
        )

    @classmethod
    def open(
        cls,
        path: Path,
        busy_seconds: float = database.BUSY_SECONDS,
        segment_bytes: int = SEGMENT_BYTES,
    ) -> Ledger:
        """Open for appending, and make the file if there is none; LedgerError if it is unsound."""
        return cls(Settings(path, "rw", busy_seconds, segment_bytes))

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """Open an existing file for reading only; LedgerError if it is missing or unsound."""
        return cls(Settings(path, "ro"))

    @property
    def path(self) -> Path:
        """The first file."""
        return self._settings.path

    @property
    def _file(self) -> database.File:
        """The file that is written."""
        return self._files[-1]

    def append(
        self,
        record: Mapping[str, Json],
        *,
        consume: Sequence[str] = (),
        void: Sequence[str] = (),
        unless: Sequence[str] = (),
        after: Callable[[], object] | None = None,
    ) -> Appended:
        """Chain `record` (all its fields but `previous`) to the head; durable on return.

        `consume` are the digests of the confirmation tokens that this decision executes on, `void`
        of those that it makes void; each is used up by its own record in the same transaction.
        `unless` are keys that must not be taken; `after` is called, perhaps in another thread,
        before the record is written, and keeps it out by a LedgerError. TokenUsed if one of the
        tokens is used up already, DuplicateRequest if a key is taken, LedgerError for everything
        else that goes wrong.
        """
        return self._group.put(Entry((draft(record, unless), *_uses(record, consume, void)), after))

    def _append_all(self, entries: Sequence[Entry]) -> list[Appended | LedgerError]:
        """What must come before, then one transaction for all whose turn it is."""
        kept_out = [_kept_out(entry) for entry in entries]
        let_in = [e.drafts for e, error in zip(entries, kept_out, strict=True) if error is None]
        answers = iter(self._chain(let_in) if let_in else ())
        return [error or next(answers) for error in kept_out]

    def _chain(self, items: Sequence[Drafts]) -> list[Appended | LedgerError]:
        """One transaction for all, in the segment that is not sealed; one that is full is sealed."""
        while True:
            *sealed, file = self._segments()
            elsewhere = _find_all(sealed, segment.keys_of(items))
            with file.writing() as connection:
                if segment.size(connection) >= self._settings.segment_bytes:
                    rotation.seal(connection, self.path, len(sealed) + 1)
                if not rotation.is_sealed(connection):
                    return segment.chain(connection, items, elsewhere)
            self._turn(file)

    def rotate(self) -> bool:
        """Seal the segment that is written and begin the next; False if it holds nothing to seal."""
        *sealed, file = self._segments()
        with file.writing() as connection:
            done = rotation.seal(connection, self.path, len(sealed) + 1)
        if done:
            self._turn(file)
        return done

    def _segments(self) -> tuple[database.File, ...]:
        """The files in order; of those that other processes began meanwhile, too."""
        while rotation.segment_path(self.path, len(self._files) + 1).exists():
            self._turn(self._file)
        return self._files

    def _turn(self, sealed: database.File) -> None:
        """Go on in the segment after a sealed one; LedgerError if it is gone."""
        with self._turning:
            if sealed is not self._file:
                return
            settings, number = self._settings, len(self._files) + 1
            following = rotation.begin(self.path, number)
            if settings.mode == "rw":
                rotation.protect(sealed)
            still = _open(settings, sealed.path, sealed=True)
            self._retired.append(sealed)
            self._files = (*self._files[:-1], still, _open(settings, following))

    def head(self) -> Head:
        """The last record's sequence and digest."""
        with self._segments()[-1].reading() as connection:
            return segment.head(connection)

    def get(self, decision_id: str) -> Stored | None:
        """The decision record of that id."""
        stored = self.find(decision_id)
        return stored if stored is not None and stored.kind == Kind.DECISION else None

    def find(self, key: str) -> Stored | None:
        """The record with that key: a decision id, or what `record.key_of` made of others."""
        return self.find_all([key]).get(key)

    def find_all(self, keys: Sequence[str]) -> dict[str, Stored]:
        """The records that have one of the keys, by key."""
        return _find_all(self._segments(), keys)

    def with_prefix(self, prefix: str) -> Iterator[Stored]:
        """The records whose key begins with `prefix`, one of those in `record` that end in `:`."""
        for file in self._segments():
            with file.reading() as connection:
                yield from segment.with_prefix(connection, prefix)

    def keys(self, prefix: str) -> Iterator[str]:
        """The keys that begin with `prefix`."""
        for file in self._segments():
            with file.reading() as connection:
                yield from segment.keys(connection, prefix)

    def iterate(self, start: int = 1) -> Generator[Stored]:
        """The records from `start` in order, as they were when the iteration began."""
        *sealed, file = self._segments()
        end = self.head()
        for one in sealed:
            with one.reading() as connection:
                if segment.head(connection).sequence >= start:
                    yield from segment.rows(connection, start)
        with file.reading() as connection:
            yield from segment.rows(connection, start, end.sequence)

    def faults(self) -> list[str]:
        """What is wrong with the files' locks, pages and indexes, in words; empty if nothing is."""
        return [fault for file in self._segments() for fault in self._faults(file)]

    def _faults(self, file: database.File) -> Iterator[str]:
        with file.reading() as connection:
            rows = [*connection.exec_driver_sql("PRAGMA integrity_check").scalars()]
        where = "" if len(self._files) == 1 else f"{file.path.name}: "
        for fault in (*database.faults(file, SCHEMA), *(row for row in rows if row != "ok")):
            yield f"{where}{fault}"

    def close(self) -> None:
        """Close every connection."""
        for file in (*self._retired, *self._files):
            file.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _open(settings: Settings, path: Path, sealed: bool = False) -> database.File:
    mode: Mode = "ro" if sealed else settings.mode
    return database.open_file(
        path, mode, SCHEMA, APPLICATION_ID, settings.busy_seconds, final=sealed
    )


def _open_all(settings: Settings) -> tuple[database.File, ...]:
    """Every segment there is; what a crash left of a turn is finished if we may write."""
    first = settings.path
    number = max(1, rotation.count(first))
    files = [_open(settings, rotation.segment_path(first, number))]
    try:
        if rotation.is_over(files[0], first, number) and settings.mode == "rw":
            rotation.protect(files[0])
            number += 1
            files[0] = _open(settings, rotation.begin(first, number))
        for earlier in range(number - 1, 0, -1):
            files.insert(0, _open_sealed(settings, rotation.segment_path(first, earlier)))
    except LedgerError:
        for file in files:
            file.close()
        raise
    return tuple(files)


def _open_sealed(settings: Settings, path: Path) -> database.File:
    if settings.mode == "rw" and not rotation.is_protected(path):
        rotation.protect(_open(settings, path))
    return _open(settings, path, sealed=True)


def _find_all(files: Sequence[database.File], keys: Sequence[str]) -> dict[str, Stored]:
    """Searched from the newest file to the oldest."""
    found: dict[str, Stored] = {}
    for file in reversed(files):
        missing = [key for key in keys if key not in found]
        if not missing:
            break
        with file.reading() as connection:
            found |= segment.find_all(connection, missing)
    return found
