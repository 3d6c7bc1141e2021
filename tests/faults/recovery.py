"""What must hold after a crash, whatever of the disk is left."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from gate.ledger.book import Book, open_book
from gate.ledger.formats import TOKEN, Kind
from gate.ledger.receipts import Erased
from gate.ledger.store import Ledger, Stored
from gate.ledger.verify import verify
from tests.faults.disk import CRASHES, Disk, Image, lay
from tests.faults.scripted import SMALL
from tests.faults.shim import Run, scratch
from tests.gate.ledger.samples import numbered, record


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a run where it may be cut off, and one way in which the disk may be left."""

    at: int
    crash: str
    seed: int


def points(run: Run, per_crash: int | None, seeds: Sequence[int] = (0,)) -> list[Point]:
    """Every place, or so many evenly spread ones, for each kind of crash."""
    places = range(len(run.changes) + 1)
    chosen = []
    for kind, crash in enumerate(CRASHES):
        step = 1 if per_crash is None else max(1, len(places) // per_crash)
        offset = kind * step // len(CRASHES)
        for seed in seeds if crash in ("torn", "mixed") else seeds[:1]:
            chosen += [Point(at, crash, seed) for at in places[offset::step]]
    return sorted(chosen, key=lambda point: point.at)


@dataclass(frozen=True, slots=True)
class Crashed:
    """What is left at a point, and what the outside had been told by then."""

    point: Point
    image: Image
    told: Sequence[Mapping[str, Any]]


def crashed(run: Run, chosen: Sequence[Point]) -> Iterator[Crashed]:
    """The run, cut off at each of the points, which come in order."""
    disk, done = Disk(), 0
    for point in chosen:
        disk.follow(run.changes[done : point.at])
        done = point.at
        image = CRASHES[point.crash](disk, Random(f"{point}"))  # noqa: S311
        lines = disk.shown("/acks").decode().split("\n")[:-1]
        yield Crashed(point, image, [json.loads(line) for line in lines])


def chain_of(folder: Path) -> list[Stored]:
    """The records of a run that was not cut off."""
    with Ledger.read(folder / "ledger.sqlite") as ledger:
        return list(ledger.iterate())


def recover(left: Crashed, root: Path, whole: Sequence[Stored]) -> int:
    """Start on what a crash left and check every promise; the number of records recovered."""
    with scratch() as folder:
        lay(left.image, str(root), folder)
        (folder / "acks").unlink(missing_ok=True)
        paths = folder / "ledger.sqlite", folder / "receipts.sqlite"
        with open_book(*paths, segment_bytes=SMALL) as book:
            rows = list(book.ledger.iterate())
            assert rows == whole[: len(rows)], "not a prefix of what was recorded"
            check_told(book, rows, left.told)
            check_receipts(book, rows)
            check_tokens(rows, whole)
            goes_on = record(book, numbered(10**6)).sequence
            assert goes_on in (len(rows) + 1, len(rows) + 3), "after a turn there are two more"
        report = verify(paths[0])
        assert report.ok, report.first_problem
        assert report.records == goes_on
        return len(rows)


def check_told(book: Book, rows: Sequence[Stored], told: Sequence[Mapping[str, Any]]) -> None:
    """P-10: whatever was acknowledged is there."""
    for one in told:
        if "erased" in one:
            assert isinstance(book.receipts.get(one["erased"]), Erased), "erased text came back"
            continue
        if "swept" in one:
            names = {kept.receipt_id for kept in book.receipts.names()}
            assert one["swept"] not in names, "a swept receipt came back"
            continue
        assert one["sequence"] <= len(rows), f"an acknowledged record is lost: {one}"
        assert rows[one["sequence"] - 1].digest == one["digest"]
        for token in one.get("tokens", ()):
            assert book.ledger.find(f"{TOKEN}{token}") is not None, "a token is free again"


def check_receipts(book: Book, rows: Sequence[Stored]) -> None:
    """No decision without its receipt."""
    for row in rows:
        if row.kind == Kind.DECISION:
            book.receipts.get(row.record["text_commitment"])


def check_tokens(rows: Sequence[Stored], whole: Sequence[Stored]) -> None:
    """A decision and the tokens that it used up are there together or not at all."""
    following = whole[len(rows)] if len(rows) < len(whole) else None
    assert following is None or following.kind not in (Kind.CONSUMED, Kind.VOIDED)
