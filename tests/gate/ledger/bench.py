"""How fast the ledger is on this machine: `python -m tests.gate.ledger.bench [RECORDS]`.

Prints one JSON object. `core_us` is describing and sealing a decision, `write_per_s` receipt and
record both durable, one thread, `commit_per_s` one bare row in a durable SQLite commit beside them.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from gate.ledger.pseudonym import new_salt
from gate.ledger.record import commitment, identify, seal
from gate.ledger.replay import Status, replay_all
from gate.ledger.verify import verify
from tests.gate.ledger.samples import NOW, PROPOSAL, VERSIONS, book_in, decided, numbered, record

FILES = {f"file-{number}.yaml": "a" * 64 for number in range(12)} | VERSIONS


def seconds(work: Callable[[], object]) -> float:
    """How long `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def describe(count: int) -> None:
    """Make sealed records without writing them."""
    for number in range(count):
        request = numbered(number)
        clear = decided(request, PROPOSAL, NOW, versions=FILES)
        salt = new_salt()
        text = commitment(salt, request)
        seal(clear, identity=identify(b"k" * 32, request), salt=salt, text_commitment=text)


def commit(path: Path, count: int) -> None:
    """One row per durable commit, without any of our code."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE bare (data BLOB)")
        for _ in range(count):
            connection.execute("INSERT INTO bare VALUES (zeroblob(2000))")


def measure(folder: Path, count: int) -> dict[str, float]:
    """Describe, write, verify and replay `count` decisions in `folder`."""
    core = seconds(lambda: describe(count))
    bare = seconds(lambda: commit(folder / "bare.sqlite", count))
    with book_in(folder) as book:
        writing = seconds(lambda: [record(book, numbered(n)) for n in range(count)])
        replaying = seconds(lambda: same(list(replay_all(book, decided)), count))
    verifying = seconds(lambda: sound(folder / "ledger.sqlite", count))
    return {
        "records": count,
        "bytes_per_record": round((folder / "ledger.sqlite").stat().st_size / count),
        "core_us": round(core / count * 1e6),
        "commit_per_s": round(count / bare),
        "write_per_s": round(count / writing),
        "replay_per_s": round(count / replaying),
        "verify_per_s": round(count / verifying),
    }


def same(reports: list[object], count: int) -> None:
    """Every decision must have replayed."""
    statuses = [getattr(report, "status", None) for report in reports]
    if statuses != [Status.SAME] * count:
        raise SystemExit("a decision did not replay")


def sound(path: Path, count: int) -> None:
    """The ledger must verify."""
    report = verify(path)
    if not report.ok or report.records != count:
        raise SystemExit(f"the ledger does not verify: {report.first_problem}")


def main() -> None:
    """Measure in a folder of its own and print."""
    folder = Path(tempfile.mkdtemp())
    try:
        count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
        print(json.dumps(measure(folder, count)))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
