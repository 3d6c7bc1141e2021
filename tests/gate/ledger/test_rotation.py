"""A ledger over several files: sealed ones for good, one that is written, one chain through all."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gate.errors import LedgerError
from gate.ledger import database, rotation
from gate.ledger.book import Book, erase, read_book, recall, write
from gate.ledger.formats import Kind
from gate.ledger.outcome import Outcome, append_outcome, standing, unfinished
from gate.ledger.pseudonym import digest, new_salt
from gate.ledger.record import event
from gate.ledger.replay import Status, replay_all
from gate.ledger.store import SCHEMA, DuplicateRequest, Head, Ledger, Stored, TokenUsed
from gate.ledger.sweep import sweep
from gate.ledger.verify import Problem, check_chain, verify
from tests.gate.ledger.samples import (
    NOW,
    PROPOSAL,
    book_in,
    decided,
    filled,
    numbered,
    record,
    salt_of,
)
from tests.gate.ledger.test_consume import decision

ROOT = Path(__file__).parents[3]
SMALL = 40_000
"""Bytes of a segment here: about ten decisions."""

COUNT = 45
NAMES = [f"ledger.{number:06}.sqlite" for number in range(2, 7)]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger of several segments; copied before it is changed."""
    folder = tmp_path_factory.mktemp("segments")
    filled(folder, COUNT, segment_bytes=SMALL)
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(template, tmp_path / "copy"))


@pytest.fixture
def path(folder: Path) -> Path:
    """Its first file."""
    return folder / "ledger.sqlite"


def segments(folder: Path) -> list[Path]:
    """The files of the chain, in order."""
    return [folder / "ledger.sqlite", *sorted(folder.glob("ledger.0*.sqlite"))]


def rows_of(path: Path) -> list[Stored]:
    """The records of a ledger."""
    with Ledger.read(path) as ledger:
        return list(ledger.iterate())


def note(number: int) -> dict[str, Any]:
    """A small record without a key."""
    return event(Kind.CONFIG, NOW, versions={"n": str(number)}, detail={})


def opened(folder: Path) -> Book:
    """The book of a folder, with small segments."""
    return book_in(folder, segment_bytes=SMALL)


# Growing


def test_a_ledger_goes_on_in_another_file_at_a_size(folder: Path) -> None:
    files = segments(folder)
    assert len(files) > 3
    assert [file.name for file in files[1:]] == NAMES[: len(files) - 1]
    for file in files[:-1]:
        assert SMALL <= file.stat().st_size <= SMALL + 4 * 4096
    assert sorted(p.name for p in folder.iterdir()) == sorted(
        [*(f.name for f in files), "ledger.key", "receipts.sqlite"]
    )


def test_sealed_segments_are_read_only_and_whole_by_themselves(folder: Path) -> None:
    *sealed, last = segments(folder)
    assert {stat.S_IMODE(file.stat().st_mode) for file in sealed} == {0o400}
    assert stat.S_IMODE(last.stat().st_mode) == 0o600
    assert not list(folder.glob("*-wal"))


def test_one_chain_runs_through_all_files(path: Path) -> None:
    rows = rows_of(path)
    assert [row.sequence for row in rows] == list(range(1, len(rows) + 1))
    assert sum(row.kind == Kind.DECISION for row in rows) == COUNT
    report = verify(path)
    assert (report.ok, report.records) == (True, len(rows))
    assert report.head == Head(len(rows), rows[-1].digest)


def test_the_joint_of_two_segments_is_recorded_on_both_sides(path: Path) -> None:
    rows = rows_of(path)
    ends = [place for place, row in enumerate(rows) if row.kind == Kind.SEALED]
    assert len(ends) == len(segments(path.parent)) - 1
    for number, place in enumerate(ends, 1):
        before, end, start = rows[place - 1 : place + 2]
        assert end.record == {
            "format": 1,
            "kind": "SEALED",
            "at": before.record["decided_at"],
            "segment": number,
            "previous": before.digest,
        }
        assert start.record == {
            "format": 1,
            "kind": "SEGMENT",
            "at": before.record["decided_at"],
            "segment": number + 1,
            "sequence": end.sequence,
            "digest": end.digest,
            "previous": end.digest,
        }
        assert end.key is start.key is None


def test_each_file_holds_its_part_alone(folder: Path) -> None:
    ends = [0]
    for file in segments(folder):
        with closing(sqlite3.connect(f"file:{file}?immutable=1", uri=True)) as connection:
            low, high = connection.execute(
                "SELECT min(sequence), max(sequence) FROM ledger"
            ).fetchone()
        assert low == ends[-1] + 1
        ends.append(high)


def test_the_same_requests_make_the_same_segments(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    shutil.copy(folder / "ledger.key", tmp_path / "again" / "ledger.key")
    again = filled(tmp_path / "again", COUNT, segment_bytes=SMALL)
    assert rows_of(again) == rows_of(folder / "ledger.sqlite")


def test_a_segment_that_is_full_when_it_begins_still_takes_a_record(tmp_path: Path) -> None:
    path = filled(tmp_path, 5, segment_bytes=1)
    assert len(segments(tmp_path)) == 5
    assert [row.kind for row in rows_of(path)] == [
        "DECISION",
        *(["SEALED", "SEGMENT", "DECISION"] * 4),
    ]
    assert verify(path).ok


def test_a_segment_can_be_sealed_by_hand(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        assert book.ledger.rotate() is False, "there is nothing to seal"
        record(book, numbered(1))
        assert book.ledger.rotate() is True
        assert book.ledger.rotate() is False
        assert record(book, numbered(2)).sequence == 4
        assert book.ledger.rotate() is True
    assert [file.name for file in segments(tmp_path)] == ["ledger.sqlite", *NAMES[:2]]
    assert verify(tmp_path / "ledger.sqlite").records == 6


def test_a_seal_takes_the_time_of_the_record_before_it(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        ledger.append(note(1))
        ledger.rotate()
        assert [row.record["at"] for row in ledger.iterate()] == ["2026-12-01T09:00:00.123456Z"] * 3


# Reading


def test_every_decision_is_found_in_whatever_segment(path: Path) -> None:
    with Ledger.read(path) as ledger:
        for row in rows_of(path):
            if row.key:
                assert ledger.find(row.key) == ledger.get(row.key) == row
        assert ledger.get("nope") is None
        keys = [row.key for row in rows_of(path) if row.key]
        assert ledger.find_all([*keys, "nope"]).keys() == set(keys)


@pytest.mark.parametrize("start", [1, 2, 9, 10, 11, 12, 13, 30, COUNT, 10_000])
def test_iteration_starts_in_any_segment(path: Path, start: int) -> None:
    rows = rows_of(path)
    with Ledger.read(path) as ledger:
        assert list(ledger.iterate(start)) == rows[start - 1 :]


def test_every_decision_replays_from_every_segment(folder: Path) -> None:
    with read_book(folder / "ledger.sqlite", folder / "receipts.sqlite") as book:
        reports = list(replay_all(book, decided))
    assert [one.status for one in reports] == [Status.SAME] * COUNT


def test_an_iteration_is_not_disturbed_by_a_turn(folder: Path, path: Path) -> None:
    before = rows_of(path)
    with opened(folder) as book:
        rows = book.ledger.iterate()
        got = [next(rows)]
        for number in range(1000, 1030):
            record(book, numbered(number))
        got += list(rows)
    assert got == before


def test_a_reader_follows_a_writer_into_new_segments(folder: Path, path: Path) -> None:
    with Ledger.read(path) as reader, opened(folder) as book:
        for number in range(1000, 1040):
            written = record(book, numbered(number))
            assert reader.head() == Head(written.sequence, written.digest)
            assert reader.find(written.record["decision_id"]) is not None
        assert list(reader.iterate()) == list(book.ledger.iterate())


def test_a_copy_on_a_read_only_disk_can_be_read(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    assert verify(path).ok
    assert not list(folder.glob("*-shm"))


# What may stand once stands once in all segments


def test_a_request_is_recalled_from_a_sealed_segment(folder: Path) -> None:
    with opened(folder) as book:
        head = book.ledger.head()
        for number in (1, 20, COUNT):
            again = recall(book, numbered(number))
            assert again is not None
            assert again.replayed
            assert record(book, numbered(number), salt=new_salt()) == again
            with pytest.raises(DuplicateRequest, match="has another body"):
                record(book, numbered(number, utterance="other"), salt=new_salt())
        assert book.ledger.head() == head


def test_a_token_is_used_once_in_all_segments(tmp_path: Path) -> None:
    token = digest(b"token")
    with book_in(tmp_path) as book:
        request = numbered(1)
        clear = decided(request, PROPOSAL, NOW)
        more: dict[str, Any] = {"tier_answer": PROPOSAL, "clear": clear, "consume": (token,)}
        write(book, request=request, salt=salt_of(request), **more)
        for number in range(2, 5):
            assert book.ledger.rotate() or number > 2
            with pytest.raises(TokenUsed):
                write(book, request=numbered(number), salt=new_salt(), **more)
            record(book, numbered(100 + number))
        assert sum(row.kind == Kind.CONSUMED for row in book.ledger.iterate()) == 1


def test_outcomes_reach_back_into_sealed_segments(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.sqlite", segment_bytes=1) as ledger:
        ids = [
            str(
                ledger.append(decision(n), consume=(digest(str(n).encode()),)).record["decision_id"]
            )
            for n in range(4)
        ]
        append_outcome(ledger, ids[1], Outcome.IN_DOUBT, at=NOW)
        append_outcome(ledger, ids[0], Outcome.COMPLETED, at=NOW)
        assert [standing(ledger, i) for i in ids[:2]] == [Outcome.COMPLETED, Outcome.IN_DOUBT]
        with pytest.raises(LedgerError, match="is recorded as `COMPLETED`"):
            append_outcome(ledger, ids[0], Outcome.FAILED, at=NOW)
        left = [(one.decision.key, one.in_doubt) for one in unfinished(ledger)]
        assert left == [(ids[1], True), (ids[2], False), (ids[3], False)]


def test_texts_of_sealed_segments_can_be_erased_and_orphans_swept(folder: Path) -> None:
    with opened(folder) as book:
        first = next(book.ledger.iterate())
        assert erase(book, first.record["decision_id"], at=NOW, reason="asked") == 1
        assert sweep(book, timedelta(hours=1), NOW + timedelta(days=1)).decisions == ()
        statuses = [one.status for one in replay_all(book, decided)]
    assert statuses == [Status.ERASED, *([Status.SAME] * (COUNT - 1))]
    assert verify(folder / "ledger.sqlite").ok


# Threads and processes


def test_threads_turn_together(tmp_path: Path) -> None:
    with opened(tmp_path) as book, ThreadPoolExecutor(16) as pool:
        written = list(pool.map(lambda n: record(book, numbered(n)), range(200)))
        kinds = [row.kind for row in book.ledger.iterate()]
    assert kinds.count(Kind.DECISION) == 200
    assert len({w.sequence for w in written}) == 200
    report = verify(tmp_path / "ledger.sqlite")
    assert report.ok, report.first_problem
    assert len(segments(tmp_path)) > 5


WRITER = """
    import sys
    from pathlib import Path
    from tests.gate.ledger.samples import book_in, numbered, record
    from gate.ledger.pseudonym import new_salt
    with book_in(Path(sys.argv[1]), segment_bytes=30_000) as book:
        for number in range({first}, {last}):
            record(book, numbered(number), salt=new_salt())
"""


def test_processes_turn_together(tmp_path: Path) -> None:
    running = [
        subprocess.Popen(  # noqa: S603
            [
                *(sys.executable, "-W", "error", "-c"),
                *(textwrap.dedent(WRITER.format(first=n * 100, last=n * 100 + 50)), str(tmp_path)),
            ],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    for one in running:
        _, err = one.communicate(timeout=120)
        assert one.returncode == 0, err
    report = verify(tmp_path / "ledger.sqlite")
    assert report.ok, report.first_problem
    kinds = [row.kind for row in rows_of(tmp_path / "ledger.sqlite")]
    assert kinds.count(Kind.DECISION) == 150
    assert kinds.count(Kind.SEALED) == len(segments(tmp_path)) - 1 > 5
    book_in(tmp_path).close()
    *sealed, _ = segments(tmp_path)
    assert {stat.S_IMODE(file.stat().st_mode) for file in sealed} == {0o400}


# Crashes between the steps


def halted(monkeypatch: pytest.MonkeyPatch, folder: Path, step: str) -> None:
    """A turn that a crash cuts short just before `step`."""

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(rotation, step, crash)
        book = book_in(folder)
        record(book, numbered(1))
        with pytest.raises(KeyboardInterrupt):
            book.ledger.rotate()
        book.close()


@pytest.mark.parametrize(
    ("step", "left"),
    [
        ("write", ["ledger.000002.sqlite.next", "ledger.sqlite"]),
        ("begin", ["ledger.000002.sqlite.next", "ledger.sqlite"]),
        ("protect", ["ledger.000002.sqlite", "ledger.sqlite"]),
    ],
)
def test_a_turn_that_was_cut_short_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, left: list[str]
) -> None:
    halted(monkeypatch, tmp_path, step)
    assert sorted(p.name for p in tmp_path.glob("ledger.*sqlite*")) == left
    assert verify(tmp_path / "ledger.sqlite").ok
    with book_in(tmp_path) as book:
        written = record(book, numbered(2))
        assert written.sequence == (2 if step == "write" else 4)
        assert book.ledger.rotate()
        record(book, numbered(3))
    assert verify(tmp_path / "ledger.sqlite").ok
    *sealed, _ = segments(tmp_path)
    assert {stat.S_IMODE(file.stat().st_mode) for file in sealed} == {0o400}
    assert not list(tmp_path.glob("*.next"))


def test_another_process_finishes_a_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with book_in(tmp_path) as other:
        record(other, numbered(0))
        halted(monkeypatch, tmp_path, "begin")
        assert record(other, numbered(2)).sequence == 5
    assert verify(tmp_path / "ledger.sqlite").ok


def test_a_segment_that_somebody_reads_is_protected_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.sqlite"
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    with Ledger.open(path, busy_seconds=0.1) as ledger:
        for number in range(3):
            ledger.append(note(number))
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM ledger").fetchone() == (3,)
            assert ledger.rotate()
            assert ledger.append(note(3)).sequence == 6
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert len(list(ledger.iterate())) == 6
            reader.execute("COMMIT")
    assert verify(path).ok
    Ledger.open(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o400


def test_a_disk_that_is_full_at_a_turn_acknowledges_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with book_in(tmp_path, segment_bytes=1) as book:
        record(book, numbered(1))
        with monkeypatch.context() as patched:

            def full(*_: object) -> None:
                raise LedgerError("the disk is full")

            patched.setattr(database, "replace", full)
            with pytest.raises(LedgerError, match="full"):
                record(book, numbered(2))
        assert book.ledger.head().sequence == 1
        assert record(book, numbered(2), salt=new_salt()).sequence == 4


# What is gone or was changed


@pytest.mark.parametrize("number", [1, 2, 3, -1])
def test_a_segment_that_is_gone_is_named(folder: Path, path: Path, number: int) -> None:
    file = segments(folder)[number - 1 if number > 0 else -1]
    file.unlink()
    for opening in (Ledger.open, Ledger.read, verify):
        with pytest.raises(LedgerError, match=rf"`.*{file.name}` is gone; restore"):
            opening(path)
    assert not file.exists()


def unlocked(file: Path) -> sqlite3.Connection:
    """A sealed file without its locks and mode."""
    file.chmod(0o600)
    connection = sqlite3.connect(file, isolation_level=None)
    for name in ("ledger_extends", "ledger_keeps", "ledger_holds"):
        connection.execute(f"DROP TRIGGER {name}")
    return connection


def locked(connection: sqlite3.Connection) -> None:
    """Put the locks back and close."""
    for statement in SCHEMA[1:]:
        connection.execute(statement)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def test_a_changed_byte_in_a_sealed_segment_is_found(folder: Path, path: Path) -> None:
    for file in segments(folder):
        connection = unlocked(file)
        sequence = connection.execute("SELECT max(sequence) - 1 FROM ledger").fetchone()[0]
        old = connection.execute(
            "SELECT bytes FROM ledger WHERE sequence = ?", (sequence,)
        ).fetchone()[0]
        changed = old.replace(b"}", b" }", 1)
        update = "UPDATE ledger SET bytes = ? WHERE sequence = ?"
        connection.execute(update, (changed, sequence))
        locked(connection)
        report = verify(path)
        assert report.first_problem is not None
        assert report.first_problem.sequence == sequence
        connection = unlocked(file)
        connection.execute(update, (old, sequence))
        locked(connection)
    assert verify(path).ok


def test_taken_off_locks_of_a_sealed_segment_are_found_and_named(folder: Path, path: Path) -> None:
    file = segments(folder)[1]
    unlocked(file).close()
    report = verify(path)
    assert report.first_problem is not None
    assert report.first_problem.sequence == 0
    assert f"{file.name}: `TRIGGER ledger_" in report.first_problem.what


def test_swapped_segments_are_found(folder: Path, path: Path) -> None:
    one, two = segments(folder)[1:3]
    one.rename(folder / "aside")
    two.rename(one)
    (folder / "aside").rename(two)
    report = verify(path)
    assert report.first_problem is not None
    assert "follows" in report.first_problem.what


def test_a_segment_of_another_ledger_is_found(folder: Path, path: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with opened(tmp_path / "other") as book:
        for number in range(1, COUNT + 1):
            record(book, numbered(number, utterance="another text"))
    for number in range(2, 4):
        target = segments(folder)[number - 1]
        kept = target.read_bytes()
        target.chmod(0o600)
        target.write_bytes(segments(tmp_path / "other")[number - 1].read_bytes())
        report = verify(path)
        assert report.first_problem is not None
        assert "previous is" in report.first_problem.what
        target.write_bytes(kept)
    assert verify(path).ok


def test_what_is_written_into_a_sealed_segment_is_found(folder: Path, path: Path) -> None:
    """A program that does not know of seals; the locks of the file let it extend the chain."""
    file = segments(folder)[0]
    file.chmod(0o600)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        sequence, value = connection.execute(
            "SELECT sequence, digest FROM ledger ORDER BY sequence DESC LIMIT 1"
        ).fetchone()
        data = b'{"sly":1}'
        connection.execute(
            "INSERT INTO ledger VALUES (?, 'CONFIG', NULL, ?, ?, ?)",
            (sequence + 1, data, digest(data), value),
        )
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    report = verify(path)
    assert report.first_problem is not None
    assert report.first_problem.sequence == sequence + 1


def chained(*records: Mapping[str, Any]) -> list[Stored]:
    """Rows of records, linked and numbered as if they were a ledger."""
    from gate.ledger.store import draft

    rows, head = list[Stored](), Head()
    for one in records:
        row = draft(one).after_head(head)
        rows.append(row)
        head = Head(row.sequence, row.digest)
    return rows


def joint(rows: list[Stored], **changes: Any) -> dict[str, Any]:
    """The record that begins a segment after rows whose last one is a seal."""
    end = rows[-1]
    fields = {"segment": 2, "sequence": end.sequence, "digest": end.digest, **changes}
    return event(Kind.SEGMENT, NOW, **fields)


SEAL = event(Kind.SEALED, NOW, segment=1)


def test_a_sound_joint_verifies() -> None:
    rows = chained(note(1), SEAL)
    assert check_chain(rows).ok
    assert check_chain(chained(note(1), SEAL, joint(rows), note(2))).ok


@pytest.mark.parametrize(
    "changes", [{"segment": 3}, {"segment": 1}, {"sequence": 1}, {"digest": "e" * 64}]
)
def test_a_joint_that_names_something_else_is_found(changes: dict[str, Any]) -> None:
    rows = chained(note(1), SEAL)
    report = check_chain(chained(note(1), SEAL, joint(rows, **changes)))
    assert report.first_problem == Problem(3, "a segment begins that does not follow a sealed one")


def test_a_segment_that_begins_without_a_seal_is_found() -> None:
    rows = chained(note(1))
    for records in ((joint(chained(SEAL)),), (note(1), joint(rows))):
        report = check_chain(chained(*records))
        assert report.first_problem is not None
        assert "does not follow a sealed one" in report.first_problem.what


def test_a_record_between_a_seal_and_the_next_segment_is_found() -> None:
    for records in ((note(1), SEAL, note(2)), (note(1), SEAL, SEAL)):
        report = check_chain(chained(*records))
        assert report.first_problem == Problem(
            3, "segment 1 is sealed; the next one begins otherwise"
        )


def test_checkpoints_hold_over_segments(folder: Path, path: Path) -> None:
    rows = rows_of(path)
    heads = [Head(row.sequence, row.digest) for row in rows]
    assert verify(path, witness=heads).ok
    last = segments(folder)[-1]
    last.unlink()
    connection = unlocked(segments(folder)[-1])
    connection.execute("DELETE FROM ledger WHERE kind = 'SEALED'")
    locked(connection)
    assert verify(path).ok, "a tail cut at a joint, its seal removed, looks like an earlier ledger"
    report = verify(path, witness=heads)
    assert report.first_problem is not None
    assert "the ledger ends at" in report.first_problem.what


@pytest.fixture
def foreign(tmp_path: Path) -> Iterator[Path]:
    """A folder with files that only look like segments."""
    path = filled(tmp_path, 3)
    for name in (
        "ledger.2.sqlite",
        "ledger.0000002.sqlite",
        "other.000002.sqlite",
        "ledger.000002.sqlite.bak",
    ):
        (tmp_path / name).write_text("x")
    yield path


def test_other_files_beside_it_are_not_taken_for_segments(foreign: Path) -> None:
    assert verify(foreign).records == 3
    with book_in(foreign.parent) as book:
        assert record(book, numbered(9)).sequence == 4


def test_a_file_in_the_place_of_a_segment_is_named(tmp_path: Path) -> None:
    path = filled(tmp_path, 3)
    (tmp_path / "ledger.000002.sqlite").write_text("x" * 1000)
    for opening in (Ledger.open, Ledger.read):
        with pytest.raises(LedgerError, match=r"ledger\.000002\.sqlite` is not an SQLite file"):
            opening(path)
