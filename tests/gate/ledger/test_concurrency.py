"""Threads and processes that append at once keep one chain; first uses do not collide."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gate.ledger.book import Written
from gate.ledger.pseudonym import new_salt
from gate.ledger.store import Ledger
from gate.ledger.verify import verify
from tests.gate.ledger.samples import book_in, numbered, record

ROOT = Path(__file__).parents[3]


def run(folder: Path, *programs: str) -> list[str]:
    """Run several Python programs at once in the repository's root; their standard outputs."""
    running = [
        subprocess.Popen(  # noqa: S603
            [sys.executable, "-W", "error", "-c", textwrap.dedent(program), str(folder)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for program in programs
    ]
    outputs = []
    for process in running:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        outputs.append(out)
    return outputs


WRITER = """
    import sys
    from pathlib import Path
    from gate.ledger.pseudonym import new_salt
    from tests.gate.ledger.samples import book_in, numbered, record
    with book_in(Path(sys.argv[1])) as book:
        for number in range({first}, {last}):
            written = record(book, numbered(number), salt=new_salt())
            print(written.sequence, written.replayed)
"""


def test_processes_that_append_at_once_keep_one_chain(tmp_path: Path) -> None:
    programs = [WRITER.format(first=n * 100, last=n * 100 + 40) for n in range(3)]
    outputs = run(tmp_path, *programs)
    report = verify(tmp_path / "ledger.sqlite")
    assert report.ok
    assert report.records == 120
    sequences = [int(line.split()[0]) for out in outputs for line in out.splitlines()]
    assert sorted(sequences) == list(range(1, 121))
    assert all(line.endswith("False") for out in outputs for line in out.splitlines())
    with Ledger.read(tmp_path / "ledger.sqlite") as ledger:
        subjects = {stored.record["subject"] for stored in ledger.iterate()}
    assert len(subjects) == 1, "processes that start at once must agree on one appliance key"


def test_processes_with_the_same_requests_record_each_once(tmp_path: Path) -> None:
    program = WRITER.format(first=0, last=30)
    outputs = run(tmp_path, program, program)
    lines = [line for out in outputs for line in out.splitlines()]
    assert sum(line.endswith("False") for line in lines) == 30
    assert sum(line.endswith("True") for line in lines) == 30
    report = verify(tmp_path / "ledger.sqlite")
    assert (report.ok, report.records) == (True, 30)


def test_threads_that_append_at_once_keep_one_chain(tmp_path: Path) -> None:
    with book_in(tmp_path) as book, ThreadPoolExecutor(16) as pool:
        written = list(pool.map(lambda n: record(book, numbered(n)), range(200)))
        assert sorted(w.sequence for w in written) == list(range(1, 201))
    report = verify(tmp_path / "ledger.sqlite")
    assert (report.ok, report.records) == (True, 200)


def test_threads_with_one_request_record_it_once(tmp_path: Path) -> None:
    with book_in(tmp_path) as book, ThreadPoolExecutor(16) as pool:
        written: list[Written] = list(
            pool.map(lambda _: record(book, numbered(1), salt=new_salt()), range(64))
        )
        assert {(w.sequence, w.digest) for w in written} == {(1, written[0].digest)}
        assert sum(not w.replayed for w in written) == 1


def test_a_reader_beside_a_writer_sees_whole_prefixes(tmp_path: Path) -> None:
    with book_in(tmp_path) as book, ThreadPoolExecutor(2) as pool:
        writing = pool.submit(lambda: [record(book, numbered(n)) for n in range(150)])
        seen = []
        while not writing.done():
            report = verify(tmp_path / "ledger.sqlite")
            assert report.ok, report.first_problem
            seen.append(report.records)
        writing.result()
    assert seen == sorted(seen)


def test_a_killed_writer_leaves_a_whole_prefix_with_all_it_acknowledged(tmp_path: Path) -> None:
    program = WRITER.format(first=0, last=100_000).replace(
        "written.replayed)", "written.replayed, flush=True)"
    )
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    acknowledged = 0
    for line in process.stdout:
        acknowledged = int(line.split()[0])
        if acknowledged >= 25:
            break
    process.kill()
    rest = process.stdout.read()
    process.wait()
    process.stdout.close()
    whole = [line for line in rest.splitlines() if line.endswith("False")]
    acknowledged = max([acknowledged, *(int(line.split()[0]) for line in whole)])
    report = verify(tmp_path / "ledger.sqlite")
    assert report.ok
    assert acknowledged <= report.records <= acknowledged + 1
    with book_in(tmp_path) as book:
        assert record(book, numbered(500_000)).sequence == report.records + 1


VISITOR = """
    import sys
    from pathlib import Path
    from gate.ledger.verify import verify
    from tests.gate.ledger.samples import book_in, numbered, record
    folder = Path(sys.argv[1])
    {visit}
"""
VISITS = {
    "opens and closes": "book_in(folder).close()",
    "writes": "\n    with book_in(folder) as book: record(book, numbered(100))",
    "verifies": "assert verify(folder / 'ledger.sqlite').ok",
    "opens twice": "one = book_in(folder); book_in(folder).close(); one.close()",
}


@pytest.mark.parametrize("visit", VISITS)
@pytest.mark.parametrize("meanwhile", ["nothing", "verifies", "opens twice"])
def test_a_visitor_does_not_take_the_log_away_from_who_writes(
    tmp_path: Path, visit: str, meanwhile: str
) -> None:
    """The last connection to close deletes the log; it must know that it is not the last one."""
    with book_in(tmp_path) as book:
        record(book, numbered(1))
        if meanwhile == "verifies":
            assert verify(tmp_path / "ledger.sqlite").ok
        elif meanwhile == "opens twice":
            book_in(tmp_path).close()
        logs = [tmp_path / f"{name}.sqlite-wal" for name in ("ledger", "receipts")]
        before = [log.stat().st_ino for log in logs]
        run(tmp_path, VISITOR.format(visit=VISITS[visit]))
        assert [log.stat().st_ino for log in logs] == before
        last = record(book, numbered(2)).sequence
        assert run(
            tmp_path, VISITOR.format(visit="print(verify(folder / 'ledger.sqlite').records)")
        ) == [f"{last}\n"]
    assert verify(tmp_path / "ledger.sqlite").records == last
