"""The disk that crashes are played on does what is said of it, seen on real calls under the shim."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.faults.disk import Change, Disk, Image, Write, kept, lay, lost, mixed, torn
from tests.faults.shim import Faults, Run, build, run, scratch

CHANCE = Random(1)  # noqa: S311


def program(folder: str) -> None:
    """Calls of every kind; what it prints, the calls answered."""
    faults = Faults()
    path = os.path.join(folder, "file")

    def tried(call: Callable[[], object]) -> None:
        try:
            print(call())
        except OSError as error:
            print(errno.errorcode[error.errno or 0])

    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.write(file, b"one ")
    os.fsync(file)
    os.write(file, b"two ")
    os.pwrite(file, b"ONE", 0)
    here = os.open(folder, os.O_RDONLY)
    os.fsync(here)
    faults.fail("W", "/file", 1, errno.ENOSPC, 1, 2)
    for text in (b"first", b"second", b"third"):
        tried(lambda text=text: os.write(file, text))
    print(faults.seen())
    faults.fail("S", "/file", 0, errno.EIO)
    tried(lambda: os.fsync(file))
    tried(lambda: os.fsync(file))
    faults.fail("O", "/other", 0, errno.EMFILE, -1)
    tried(lambda: os.open(os.path.join(folder, "other"), os.O_RDONLY | os.O_CREAT))
    faults.fail("L", "/linked", 0, errno.EDQUOT)
    tried(lambda: os.link(path, os.path.join(folder, "linked")))
    tried(lambda: os.link(path, os.path.join(folder, "linked")))
    faults.clear()
    os.ftruncate(file, 3)
    os.rename(path, os.path.join(folder, "moved"))
    os.unlink(os.path.join(folder, "linked"))


@pytest.fixture(scope="module")
def done() -> Run:
    """The program, run under the shim."""
    with scratch() as folder:
        return run(build(folder), folder / "run", "tests.faults.test_disk")


def at(done: Run, number: int) -> tuple[Disk, Callable[[Image], dict[str, bytes]]]:
    """The disk after so many changes, and images with short names."""
    disk = Disk()
    disk.follow(done.changes[:number])
    return disk, lambda image: {p.rpartition("/")[2]: c for p, c in image.items()}


def test_calls_fail_as_planned_and_only_those(done: Run) -> None:
    assert done.output.split() == [
        *(
            "5",
            "2",
            "5",
            "3",
        ),  # a torn write of two bytes, then the next one works: it was to fail once
        *("EIO", "None", "EMFILE", "EDQUOT", "None"),
    ]


def test_every_change_is_traced_in_order(done: Run) -> None:
    assert [c.op for c in done.changes] == [*"OWSWWDWWWXSLTRU"]
    assert [c.data for c in done.changes if c.op == "W"] == [
        *(b"one ", b"two ", b"ONE", b"first", b"se", b"third"),
    ]


def test_what_was_not_flushed_is_lost(done: Run) -> None:
    disk, short = at(done, 5)
    assert short(lost(disk, CHANCE)) == {}, "the folder was not flushed"
    assert short(kept(disk, CHANCE)) == {"file": b"ONE two "}
    disk, short = at(done, 6)
    assert short(lost(disk, CHANCE)) == {"file": b"one "}


def test_a_flush_that_failed_settles_nothing_and_neither_does_the_next(done: Run) -> None:
    disk, short = at(done, 11)
    assert done.changes[9].op == "X"
    assert short(lost(disk, CHANCE)) == {"file": b"one "}
    assert short(kept(disk, CHANCE)) == {"file": b"ONE two firstsethird"}


def test_names_are_lost_until_the_folder_is_flushed(done: Run) -> None:
    disk, short = at(done, len(done.changes))
    assert short(kept(disk, CHANCE)) == {"moved": b"ONE"}
    assert set(short(lost(disk, CHANCE))) == {"file"}


def test_the_last_write_is_torn_anywhere(done: Run) -> None:
    disk, short = at(done, 5)
    found = {short(torn(disk, Random(seed)))["file"] for seed in range(200)}  # noqa: S311
    assert found == {
        *(b"one two ", b"One two ", b"ONe two ", b"ONE two "),
        *(b"oNE two ", b"onE two "),
    }


def test_unflushed_writes_are_kept_in_any_choice(done: Run) -> None:
    disk, short = at(done, 6)
    found = {short(mixed(disk, Random(seed)))["file"] for seed in range(200)}  # noqa: S311
    assert found == {b"one ", b"ONE ", b"one two ", b"ONE two "}


def change(
    op: str, file: int = 7, offset: int = 0, data: bytes = b"", path: str = "/r/a"
) -> Change:
    """One line of a trace."""
    return Change(op, op == "O", file, offset, path, data)


def test_a_number_that_is_used_again_is_another_file() -> None:
    disk = Disk()
    disk.follow([change("O"), change("W", data=b"old"), change("U"), change("O", path="/r/b")])
    assert kept(disk, CHANCE) == {"/r/b": b""}


def test_a_forgotten_write_does_not_come_back_over_a_later_one() -> None:
    disk = Disk()
    disk.follow([change("O"), change("D", path="/r"), change("W", data=b"old"), change("X")])
    assert {mixed(disk, Random(n))["/r/a"] for n in range(50)} == {b"", b"old"}  # noqa: S311
    disk.follow([change("W", data=b"new"), change("S")])
    assert {mixed(disk, Random(n))["/r/a"] for n in range(50)} == {b"new"}  # noqa: S311


@pytest.mark.parametrize(
    ("write", "content"),
    [
        (Write(0, b"xy"), b"xycd"),
        (Write(3, b"xy"), b"abcxy"),
        (Write(6, b"x"), b"abcd\0\0x"),
        (Write(2, None), b"ab"),
        (Write(6, None), b"abcd\0\0"),
    ],
)
def test_a_write_changes_its_bytes_and_no_other(write: Write, content: bytes) -> None:
    start = bytearray(b"abcd")
    write.onto(start)
    assert bytes(start) == content


def test_an_image_is_laid_into_another_folder(tmp_path: Path) -> None:
    lay({"/r/a": b"1", "/r/in/b": b"2"}, "/r", tmp_path)
    assert (tmp_path / "a").read_bytes() == b"1"
    assert (tmp_path / "in" / "b").read_bytes() == b"2"


if __name__ == "__main__":
    program(sys.argv[1])
