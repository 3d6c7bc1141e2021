"""A full or failing disk: no record is half there, and none that was acknowledged is lost."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from gate.ledger.verify import verify
from tests.gate.ledger.samples import book_in, numbered, record

ROOT = Path(__file__).parents[3]

LIMITED = """
    import resource, signal, sys
    from pathlib import Path
    from gate.errors import LedgerError
    from tests.gate.ledger.samples import book_in, numbered, record
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    folder, limit = Path(sys.argv[1]), int(sys.argv[2])
    book = book_in(folder)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    acknowledged = failed = 0
    while failed < 5:
        try:
            record(book, numbered(1000 * failed + acknowledged))
            acknowledged += 1
        except LedgerError as error:
            failed += 1
            message = str(error)
    print(acknowledged, message)
"""


@pytest.mark.parametrize("limit", [150_000, 400_000])
def test_when_files_cannot_grow_there_is_an_error_and_no_half_record(
    tmp_path: Path, limit: int
) -> None:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", textwrap.dedent(LIMITED), str(tmp_path), str(limit)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    count, message = done.stdout.split(maxsplit=1)
    assert "cannot be read or written; check the disk" in message or "disk is full" in message
    report = verify(tmp_path / "ledger.sqlite")
    assert report.ok, report.first_problem
    assert report.records >= int(count) > 0
    with book_in(tmp_path) as book:
        assert record(book, numbered(999_999)).sequence == report.records + 1


def test_a_write_ahead_log_that_is_cut_anywhere_leaves_a_prefix(tmp_path: Path) -> None:
    """What the disk may hold after a crash: the log up to some byte."""
    (tmp_path / "source").mkdir()
    heads = []
    with book_in(tmp_path / "source") as book:
        for number in range(6):
            record(book, numbered(number))
            heads.append(book.ledger.head())
        main = (tmp_path / "source" / "ledger.sqlite").read_bytes()
        log = (tmp_path / "source" / "ledger.sqlite-wal").read_bytes()
    seen = set()
    for keep in (*range(0, len(log), 1009), len(log)):
        folder = tmp_path / f"cut-{keep}"
        folder.mkdir()
        (folder / "ledger.sqlite").write_bytes(main)
        (folder / "ledger.sqlite-wal").write_bytes(log[:keep])
        report = verify(folder / "ledger.sqlite")
        assert report.ok, report.first_problem
        assert report.records == 0 or report.head == heads[report.records - 1]
        seen.add(report.records)
    assert seen == set(range(7))


def test_a_log_with_a_flipped_byte_leaves_a_prefix(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    heads = []
    with book_in(tmp_path / "source") as book:
        for number in range(4):
            record(book, numbered(number))
            heads.append(book.ledger.head())
        main = (tmp_path / "source" / "ledger.sqlite").read_bytes()
        log = (tmp_path / "source" / "ledger.sqlite-wal").read_bytes()
    for at in range(0, len(log), 2003):
        folder = tmp_path / f"flip-{at}"
        folder.mkdir()
        data = bytearray(log)
        data[at] ^= 0xFF
        (folder / "ledger.sqlite").write_bytes(main)
        (folder / "ledger.sqlite-wal").write_bytes(data)
        report = verify(folder / "ledger.sqlite")
        assert report.ok, report.first_problem
        assert report.records == 0 or report.head == heads[report.records - 1]
        if report.records < 4:
            assert not verify(folder / "ledger.sqlite", heads[-1]).ok, "a checkpoint tells"
