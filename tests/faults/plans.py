"""Plans for a failing disk, and what must be left of a ledger that suffered them."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from gate.ledger.book import open_book
from gate.ledger.verify import verify
from tests.faults.disk import Disk, Image, lay, lost, mixed
from tests.faults.recovery import check_receipts, check_told
from tests.faults.shim import Run, build, run, scratch

FILES = ("ledger.sqlite-wal", "receipts.sqlite-wal", "ledger.sqlite", "receipts.sqlite")
LOCKED = ("ledger.sqlite-shm", "receipts.sqlite-shm")
DISK = {
    "W": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
    "S": (errno.EIO, errno.ENOSPC),
    "T": (errno.EIO,),
}
TURNING = {
    "R": ("000002.sqlite.next", "000002.sqlite"),
    "O": ("000002.sqlite", "000002.sqlite-wal"),
    "W": ("000002.sqlite", "000002.sqlite-wal"),
    "S": ("000002.sqlite", "000002.sqlite-wal", "/"),
}
"""Calls and files of a turn to the next segment."""

STRUCK = ((0, 1, 1), (3, 1, 1), (5, -1, 1), (1, -1, 4))
"""After how many calls, how often (below zero: for good), and how many decide at once."""


def plan(ops: str, where: str, error: int, **more: int) -> dict[str, Any]:
    """A plan for `tests.faults.failing`."""
    usual = {"after": 0, "times": 1, "partial": 0, "together": 1, "during": 9}
    usual["segment_bytes"] = 1 << 30
    return {"ops": ops, "where": where, "error": error, **usual, **more}


def plans(struck: Sequence[tuple[int, int, int]] = STRUCK) -> list[dict[str, Any]]:
    """Every failure, struck early and late, once and for good, alone and in company."""
    return [
        *(
            plan(ops, where, error, after=after, times=times, together=together)
            for ops, errors in DISK.items()
            for where in FILES
            for error in errors
            for after, times, together in struck
        ),
        *(
            plan("W", where, errno.ENOSPC, times=-1, partial=partial, after=1)
            for where in FILES[:2]
            for partial in (1, 24, 1000, 4095)
        ),
        *(
            plan(ops, where, error, segment_bytes=30_000, times=times)
            for ops, wheres in TURNING.items()
            for where in wheres
            for error in (errno.EIO, errno.ENOSPC)
            for times in (1, -1)
        ),
        *(
            plan("K", where, error, after=after, times=times, during=3)
            for where in LOCKED
            for error in (errno.EIO, errno.ENOLCK, errno.EACCES)
            for after, times in ((0, 1), (3, -1))
        ),
    ]


def suffer(chosen: Sequence[Mapping[str, Any]]) -> tuple[Run, list[dict[str, Any]]]:
    """The run of all plans, its files gone, and what came of each plan."""
    with scratch() as folder:
        (folder / "plans.json").write_text(json.dumps(list(chosen)))
        done = run(build(folder), folder / "run", "tests.faults.failing", f"{folder}/plans.json")
        results = [json.loads(line) for line in done.output.splitlines()]
        for one in results:
            report = verify(done.folder / one["folder"] / "ledger.sqlite")
            one["problem"] = str(report.first_problem) if report.first_problem else None
    return done, results


def left_when_lifted(
    done: Run, one: Mapping[str, Any], seed: int
) -> Iterator[tuple[Image, list[Any]]]:
    """The folder of a plan as the power failed when the plan was lifted, and what was told."""
    disk, folder = Disk(), f"{done.folder}/{one['folder']}/"
    for change in done.changes:
        if change.path.startswith(folder) or f"{change.path}/" == folder:
            if change.path.endswith("/acks") and b"lifted" in change.data:
                break
            disk.follow([change])
    told = [json.loads(line) for line in disk.shown("/acks").decode().split("\n")[:-1]]
    chance = Random(seed)  # noqa: S311
    return ((crash(disk, chance), told) for crash in (lost, mixed, mixed))


def survive(done: Run, one: Mapping[str, Any], seed: int = 0) -> int:
    """Start on what a plan and then a crash left; the number of images that kept every promise."""
    images = 0
    for image, told in left_when_lifted(done, one, seed):
        with scratch() as folder:
            lay(image, f"{done.folder}/{one['folder']}", folder)
            paths: tuple[Path, Path] = folder / "ledger.sqlite", folder / "receipts.sqlite"
            with open_book(*paths) as book:
                rows = list(book.ledger.iterate())
                check_told(book, rows, told)
                check_receipts(book, rows)
            assert verify(paths[0]).ok
        images += 1
    return images
