"""A disk as a crash leaves it: what was flushed is there, the rest may be there, in part.

The trace that `shim.c` wrote says in which order files and folders changed. A `Disk` follows it and
can be asked at any point what it would hold if the power went: file contents and names each have a
settled state, and changes that only a flush of the file, or of its folder, settles.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

LINE = struct.Struct("<BBHIQQ")
SECTOR = 512
"""Bytes that a disk writes whole or not at all."""

Image = Mapping[str, bytes]
"""What the files of the watched folder hold, by path."""


@dataclass(frozen=True, slots=True)
class Change:
    """One line of a trace; `op` is the letter that `shim.c` gives it."""

    op: str
    created: bool
    file: int
    offset: int
    path: str
    data: bytes


def read_trace(path: Path) -> list[Change]:
    """The changes of a run, in order."""
    raw, at, changes = path.read_bytes(), 0, []
    while at < len(raw):
        op, created, path_length, data_length, file, offset = LINE.unpack_from(raw, at)
        at += LINE.size
        name = raw[at : at + path_length].decode()
        data = raw[at + path_length : at + path_length + data_length]
        at += path_length + data_length
        changes.append(Change(chr(op), bool(created), file, offset, name, data))
    return changes


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes put somewhere, or, without bytes, the file cut or stretched to `offset`."""

    offset: int
    data: bytes | None

    def covers(self, older: Write) -> bool:
        """True if an older write no longer matters, at least in part, once this one is there."""
        if self.data is None or older.data is None:
            return True
        apart = older.offset + len(older.data) <= self.offset
        return not (apart or older.offset >= self.offset + len(self.data))

    def onto(self, content: bytearray) -> None:
        """Carry it out."""
        if self.data is None:
            del content[self.offset :]
            content.extend(bytes(self.offset - len(content)))
        else:
            content.extend(bytes(max(0, self.offset - len(content))))
            content[self.offset : self.offset + len(self.data)] = self.data


@dataclass(slots=True)
class File:
    """What a file shows now, what of it is settled, and the writes that no flush has settled.

    `forgotten` are parts of writes whose flush failed: no later flush settles them.
    """

    now: bytearray = field(default_factory=bytearray)
    settled: bytearray = field(default_factory=bytearray)
    pending: list[Write] = field(default_factory=list)
    forgotten: list[Write] = field(default_factory=list)


Renaming = tuple[str, int | None]
"""A path and the file it names from now on; None if it names none."""


class Disk:
    """The watched folder and its files, at one point of a trace."""

    def __init__(self) -> None:
        self.files: dict[int, File] = {}
        self.names: dict[str, int] = {}
        self.settled_names: dict[str, int] = {}
        self.pending_names: list[Renaming] = []
        self.last_write: tuple[int, Write] | None = None
        self._numbers: dict[int, int] = {}

    def follow(self, changes: Iterable[Change]) -> None:
        """Carry out changes."""
        for change in changes:
            self._follow(change)

    def _follow(self, change: Change) -> None:
        match change.op:
            case "O" if change.created or change.file not in self._numbers:
                number = self._numbers[change.file] = len(self.files)
                self.files[number] = File()
                self._name(change.path, number)
            case "W":
                self._write(change, Write(change.offset, change.data))
            case "T":
                self._write(change, Write(change.offset, None))
            case "S":
                self._flush(self.files[self._numbers[change.file]])
            case "X" if change.file in self._numbers:
                file = self.files[self._numbers[change.file]]
                file.forgotten += [part for write in file.pending for part in _sectors(write)]
                file.pending.clear()
            case "D":
                self._flush_folder(change.path)
            case "L" | "R":
                self._name(change.data.decode(), self.names[change.path])
                if change.op == "R":
                    self._name(change.path, None)
            case "U":
                self._name(change.path, None)

    def _write(self, change: Change, write: Write) -> None:
        number = self._numbers[change.file]
        file = self.files[number]
        write.onto(file.now)
        file.forgotten = [old for old in file.forgotten if not write.covers(old)]
        file.pending.append(write)
        self.last_write = number, write

    @staticmethod
    def _flush(file: File) -> None:
        for write in file.pending:
            write.onto(file.settled)
        file.pending.clear()

    def _name(self, path: str, number: int | None) -> None:
        self.pending_names.append((path, number))
        _rename(self.names, (path, number))

    def _flush_folder(self, folder: str) -> None:
        inside = [one for one in self.pending_names if one[0].rpartition("/")[0] == folder]
        self.pending_names = [one for one in self.pending_names if one not in inside]
        for one in inside:
            _rename(self.settled_names, one)

    def shown(self, name: str) -> bytes:
        """What a file whose path ends in `name` shows now; nothing if there is none."""
        found = [number for path, number in self.names.items() if path.endswith(name)]
        return bytes(self.files[found[0]].now) if found else b""


def _rename(names: dict[str, int], one: Renaming) -> None:
    path, number = one
    if number is None:
        names.pop(path, None)
    else:
        names[path] = number


Crash = Callable[[Disk, Random], Image]
"""What is left of a disk."""


def lost(disk: Disk, _chance: Random) -> Image:
    """Power failure: nothing is left that was not flushed."""
    return {path: bytes(disk.files[n].settled) for path, n in disk.settled_names.items()}


def kept(disk: Disk, _chance: Random) -> Image:
    """The process was killed: everything that was written is there."""
    return {path: bytes(disk.files[n].now) for path, n in disk.names.items()}


def torn(disk: Disk, chance: Random) -> Image:
    """Everything is there, but of the last write only a beginning, or an end."""
    image = dict(kept(disk, chance))
    if disk.last_write is None:
        return image
    number, write = disk.last_write
    file = disk.files[number]
    if not file.pending or file.pending[-1] is not write or write.data is None:
        return image
    before = bytearray(file.settled)
    for one in file.pending[:-1]:
        one.onto(before)
    cut = chance.randrange(len(write.data) + 1)
    half = (
        Write(write.offset, write.data[:cut])
        if chance.random() < 0.7
        else Write(write.offset + cut, write.data[cut:])
    )
    half.onto(before)
    return {p: bytes(before) if n == number else image[p] for p, n in disk.names.items()}


def mixed(disk: Disk, chance: Random) -> Image:
    """Power failure after the system wrote back whatever it liked, sector by sector.

    Names change in order, as a journal keeps them; contents in any order.
    """
    names = dict(disk.settled_names)
    for one in disk.pending_names[: chance.randrange(len(disk.pending_names) + 1)]:
        _rename(names, one)
    share = chance.choice([0.1, 0.5, 0.9])
    contents = {}
    for number in set(names.values()):
        file = disk.files[number]
        content = bytearray(file.settled)
        for write in (*file.forgotten, *file.pending):
            for part in _sectors(write):
                if chance.random() < share:
                    part.onto(content)
        contents[number] = bytes(content)
    return {path: contents[number] for path, number in names.items()}


def _sectors(write: Write) -> Iterator[Write]:
    if write.data is None:
        yield write
        return
    at = 0
    while at < len(write.data):
        size = SECTOR - (write.offset + at) % SECTOR
        yield Write(write.offset + at, write.data[at : at + size])
        at += size


CRASHES: Mapping[str, Crash] = {"lost": lost, "kept": kept, "torn": torn, "mixed": mixed}


def lay(image: Image, root: str, folder: Path) -> None:
    """Write an image of the folder `root` into another folder."""
    for path, content in image.items():
        target = folder / path.removeprefix(f"{root}/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(0o600)
