"""P-11 at work: what `verify` finds in a ledger that was changed past its locks."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.errors import LedgerError
from gate.ledger.book import erase
from gate.ledger.encode import canonical
from gate.ledger.pseudonym import digest
from gate.ledger.store import SCHEMA, Head, Ledger, Stored
from gate.ledger.verify import Problem, check_chain, differences, verify
from tests.gate.ledger.samples import NOW, book_in, filled, numbered, record

COUNT = 6


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed ledger of `COUNT` decisions; copied before it is changed."""
    return filled(tmp_path_factory.mktemp("sound"), COUNT)


@pytest.fixture(scope="module")
def rows(sound: Path) -> list[Stored]:
    """Its rows."""
    with Ledger.read(sound) as ledger:
        return list(ledger.iterate())


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copy(sound, tmp_path / "ledger.sqlite"))


@contextmanager
def unlocked(path: Path) -> Iterator[sqlite3.Connection]:
    """The file with its triggers taken off and put back: what an intruder with the disk can do."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for name in ("ledger_extends", "ledger_keeps", "ledger_holds"):
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for statement in SCHEMA[1:]:
            connection.execute(statement)


def rewritten(row: Stored, **changes: Any) -> Stored:
    """A row whose record was changed and whose digest was recomputed to match."""
    data = canonical({**row.record, **changes})
    return replace(row, data=data, digest=digest(data))


def test_a_sound_ledger_verifies(sound: Path, rows: list[Stored]) -> None:
    report = verify(sound)
    assert report.ok
    assert report.first_problem is None
    assert report.records == COUNT
    assert report.head == Head(COUNT, rows[-1].digest)


def test_an_empty_ledger_verifies(tmp_path: Path) -> None:
    Ledger.open(tmp_path / "ledger.sqlite").close()
    report = verify(tmp_path / "ledger.sqlite")
    assert (report.ok, report.records, report.head) == (True, 0, Head())


def test_a_ledger_with_erasures_verifies(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        for n in range(4):
            erase(book, record(book, numbered(n)).record["decision_id"], at=NOW, reason="asked")
    report = verify(tmp_path / "ledger.sqlite")
    assert (report.ok, report.records) == (True, 8)


def test_verifying_changes_nothing(sound: Path) -> None:
    before = sound.read_bytes()
    verify(sound)
    assert sound.read_bytes() == before


def test_every_flipped_byte_of_every_record_is_found(rows: list[Stored]) -> None:
    for place, row in enumerate(rows[:3]):
        for at in range(len(row.data)):
            data = bytearray(row.data)
            data[at] ^= 1
            changed = [*rows[:place], replace(row, data=bytes(data)), *rows[place + 1 :]]
            report = check_chain(changed)
            assert not report.ok
            assert report.records == place
            assert report.first_problem is not None
            assert report.first_problem.sequence == place + 1


@pytest.mark.parametrize("mask", [0x01, 0x20, 0x80, 0xFF])
def test_flipped_bytes_in_the_file_are_found(path: Path, rows: list[Stored], mask: int) -> None:
    for row in rows[:2]:
        for at in range(0, len(row.data), 97):
            data = bytearray(row.data)
            data[at] ^= mask
            with unlocked(path) as connection:
                statement = "UPDATE ledger SET bytes = ? WHERE sequence = ?"
                connection.execute(statement, (bytes(data), row.sequence))
            found = verify(path).first_problem
            with unlocked(path) as connection:
                connection.execute(statement, (row.data, row.sequence))
            assert found is not None
            assert f"bytes have digest `{digest(bytes(data))}`" in found.what
            assert row.digest in found.what
            assert str(found).startswith(f"record {row.sequence}: ")
    assert verify(path).ok


def test_every_edit_with_a_matching_digest_is_found(rows: list[Stored]) -> None:
    """The next record's link gives it away; the last record needs a checkpoint."""
    for place, row in enumerate(rows):
        edited = rewritten(row, terminal="REJECT")
        changed = [*rows[:place], edited, *rows[place + 1 :]]
        report = check_chain(changed)
        if place < COUNT - 1:
            assert report.first_problem is not None
            assert report.first_problem.sequence == place + 2
            assert "previous is" in report.first_problem.what
        else:
            assert report.ok
            assert not check_chain(changed, Head(COUNT, row.digest)).ok


def test_every_swap_is_found(rows: list[Stored]) -> None:
    for a, b in itertools.combinations(range(COUNT), 2):
        swapped = list(rows)
        swapped[a], swapped[b] = rows[b], rows[a]
        assert not check_chain(swapped).ok
        renumbered = [replace(r, sequence=n) for n, r in enumerate(swapped, 1)]
        report = check_chain(renumbered)
        assert report.first_problem is not None
        assert report.first_problem.sequence == a + 1


def test_every_drop_inside_is_found(rows: list[Stored]) -> None:
    for place in range(COUNT - 1):
        dropped = [r for r in rows if r.sequence != place + 1]
        first = check_chain(dropped).first_problem
        assert first == Problem(place + 2, f"sequence `{place + 2}` follows `{place}`")
        closed = [replace(r, sequence=n) for n, r in enumerate(dropped, 1)]
        report = check_chain(closed)
        assert report.first_problem is not None
        assert report.first_problem.sequence == place + 1
        assert "previous is" in report.first_problem.what


def test_every_insertion_is_found(rows: list[Stored]) -> None:
    for place in range(COUNT):
        forged = rewritten(rows[place], decision_id="f" * 32, previous=rows[place].previous)
        forged = replace(forged, key="f" * 32)
        mixed = [*rows[:place], forged, *rows[place:]]
        renumbered = [replace(r, sequence=n) for n, r in enumerate(mixed, 1)]
        report = check_chain(renumbered)
        assert report.first_problem is not None
        assert report.first_problem.sequence == place + 2


def test_a_repeated_record_is_found(rows: list[Stored]) -> None:
    for place in range(COUNT):
        doubled = [*rows[: place + 1], rows[place], *rows[place + 1 :]]
        renumbered = [replace(r, sequence=n) for n, r in enumerate(doubled, 1)]
        assert not check_chain(renumbered).ok


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"kind": "OUTCOME"}, "column kind is `OUTCOME`, the record says `DECISION`"),
        ({"key": None}, "column key is `None`, the record says"),
        ({"key": "x"}, "column key is `x`, the record says"),
        ({"previous": "e" * 64}, f"column previous is `{'e' * 64}`, the record says"),
        ({"digest": "e" * 64}, f"the ledger says `{'e' * 64}`"),
        ({"sequence": 9}, "sequence `9` follows `2`"),
    ],
)
def test_a_changed_column_is_found(rows: list[Stored], changes: dict[str, Any], what: str) -> None:
    changed = [*rows[:2], replace(rows[2], **changes), *rows[3:]]
    report = check_chain(changed)
    assert report.records == 2
    assert report.first_problem is not None
    assert what in report.first_problem.what


def test_everything_wrong_with_one_record_is_told(rows: list[Stored]) -> None:
    row = replace(rows[1], sequence=7, kind="X", key="y", previous="z", digest="0" * 64)
    told = "; ".join(differences(row, Head(1, "f" * 64)))
    for part in ("sequence `7`", "bytes have", "previous is", "column previous", "column kind"):
        assert part in told
    assert list(differences(rows[1], Head(1, rows[0].digest))) == []
    empty = replace(rows[1], data=b"", digest=digest(b""))
    assert list(differences(empty, Head(1, rows[0].digest))) == [
        "record bytes are not JSON: Expecting value: line 1 column 1 (char 0); "
        "the ledger is damaged"
    ]


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b'{"format": 1, "kind": "X"}'])
def test_bytes_that_are_no_record_are_found(rows: list[Stored], data: bytes) -> None:
    changed = [*rows[:1], replace(rows[1], data=data, digest=digest(data))]
    report = check_chain(changed)
    assert report.first_problem is not None
    assert report.first_problem.sequence == 2


def test_a_cut_tail_needs_a_checkpoint(path: Path, rows: list[Stored]) -> None:
    checkpoint = verify(path).head
    for left in range(COUNT - 1, -1, -1):
        with unlocked(path) as connection:
            connection.execute("DELETE FROM ledger WHERE sequence > ?", (left,))
        assert verify(path).ok, "a cut tail alone looks like an earlier ledger"
        report = verify(path, checkpoint)
        assert report.first_problem == Problem(
            left + 1, f"the ledger ends at {left}; the checkpoint saw {COUNT}"
        )
        earlier = Head(left, rows[left - 1].digest) if left else Head()
        assert verify(path, earlier).ok


def test_a_whole_rewrite_needs_a_checkpoint(path: Path, rows: list[Stored], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    forged = tmp_path / "other" / "ledger.sqlite"
    with Ledger.open(forged) as ledger:
        for row in rows:
            record_ = {k: v for k, v in row.record.items() if k != "previous"}
            ledger.append({**record_, "terminal": "REJECT"})
    assert verify(forged).ok
    for row in rows:
        report = verify(forged, Head(row.sequence, row.digest))
        assert report.first_problem is not None
        assert report.first_problem.sequence == row.sequence
        assert f"is not the checkpoint's `{row.digest}`" in report.first_problem.what


def test_a_ledger_that_grew_still_meets_its_checkpoint(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, numbered(1))
        checkpoint = book.ledger.head()
        record(book, numbered(2))
    assert verify(tmp_path / "ledger.sqlite", checkpoint).ok
    assert verify(tmp_path / "ledger.sqlite", Head()).ok


def test_missing_locks_are_found(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER ledger_holds")
    report = verify(path)
    assert report.first_problem == Problem(
        0, "the file was changed: `TRIGGER ledger_holds` is missing or altered"
    )
    assert str(report.first_problem).startswith("the file was changed")


def test_a_missing_or_truncated_ledger_is_a_clear_error(path: Path) -> None:
    with pytest.raises(LedgerError, match="does not exist"):
        verify(path.with_name("none.sqlite"))
    path.write_bytes(path.read_bytes()[:-4096])
    with pytest.raises(LedgerError, match="is damaged or cut short; restore a copy"):
        verify(path)


def test_a_broken_index_is_found(path: Path) -> None:
    """A key that the index does not list would let a request id be used twice."""
    with unlocked(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        root = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name LIKE 'sqlite_autoindex%'"
        ).fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    data = bytearray(path.read_bytes())
    data[(root - 1) * size + 3 : (root - 1) * size + 5] = (COUNT - 1).to_bytes(2, "big")
    path.write_bytes(data)
    report = verify(path)
    assert report.first_problem is not None
    assert report.first_problem.sequence == 0
    assert str(report.first_problem).startswith("the file was changed: ")


def test_no_flipped_byte_of_the_file_goes_by_with_a_changed_record(
    sound: Path, rows: list[Stored], tmp_path: Path
) -> None:
    """Any byte of the file, sampled: found, or nothing that anybody reads was changed."""
    whole = sound.read_bytes()
    path = tmp_path / "ledger.sqlite"
    quiet = 0
    for at in range(0, len(whole), 61):
        data = bytearray(whole)
        data[at] ^= 0xFF
        path.write_bytes(data)
        try:
            report = verify(path)
            if not report.ok:
                continue
            with Ledger.read(path) as ledger:
                assert list(ledger.iterate()) == rows, at
            quiet += 1
        except LedgerError:
            continue
        finally:
            for suffix in ("-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
    assert quiet < len(whole) / 61


def test_verify_is_not_slow(rows: list[Stored]) -> None:
    """A quarter of the aim of 20,000 records a second, on a machine that others share."""
    chain, head = [], Head()
    for sequence in range(1, 2_001):
        row = rewritten(rows[0], previous=head.digest)
        chain.append(replace(row, sequence=sequence, previous=head.digest))
        head = Head(sequence, row.digest)
    start = time.thread_time()
    assert check_chain(chain).ok
    assert time.thread_time() - start < 2_000 / 5_000
