"""The append-only chain: durability settings, locks against change, keys, errors."""

from __future__ import annotations

import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gate.errors import LedgerError
from gate.ledger import database
from gate.ledger.encode import canonical, parse
from gate.ledger.formats import Kind
from gate.ledger.pseudonym import digest
from gate.ledger.record import GENESIS, event
from gate.ledger.store import APPLICATION_ID, SCHEMA, DuplicateRequest, Head, Ledger
from tests.gate.ledger.samples import NOW


def note(number: int, **more: Any) -> dict[str, Any]:
    """A small record without a key."""
    return event(Kind.CONFIG, NOW, versions={"n": str(number)}, detail=more)


def erasure(decision_id: str, reason: str = "asked") -> dict[str, Any]:
    """A small record with a key."""
    return event(Kind.ERASURE, NOW, decision_id=decision_id, reason=reason)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a ledger may be."""
    return tmp_path / "ledger.sqlite"


def raw(path: Path, statement: str, *values: Any) -> list[Any]:
    """Run one statement on the file, past all our code."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement, values).fetchall()


def test_a_new_ledger_is_empty(path: Path) -> None:
    with Ledger.open(path) as ledger:
        assert ledger.head() == Head(0, GENESIS)
        assert list(ledger.iterate()) == []
        assert ledger.get("d") is None
        assert ledger.path == path
        assert ledger.faults() == []


def test_records_are_chained_in_order(path: Path) -> None:
    with Ledger.open(path) as ledger:
        appended = [ledger.append(note(n)) for n in range(1, 6)]
        stored = list(ledger.iterate())
        head = ledger.head()
    assert [a.sequence for a in appended] == [s.sequence for s in stored] == [1, 2, 3, 4, 5]
    assert head == Head(5, appended[-1].digest)
    previous = GENESIS
    for a, s in zip(appended, stored, strict=True):
        assert s.digest == a.digest == digest(s.data)
        assert s.previous == s.record["previous"] == a.record["previous"] == previous
        assert s.data == canonical(a.record)
        assert (s.kind, s.key) == ("CONFIG", None)
        previous = s.digest


def test_iteration_starts_where_it_is_told(path: Path) -> None:
    with Ledger.open(path) as ledger:
        for n in range(1, 6):
            ledger.append(note(n))
        assert [s.sequence for s in ledger.iterate(4)] == [4, 5]
        assert list(ledger.iterate(6)) == []


def test_iteration_shows_the_ledger_as_it_was_when_it_began(path: Path) -> None:
    with Ledger.open(path) as ledger:
        for n in range(2):
            ledger.append(note(n))
        rows = ledger.iterate()
        first = next(rows)
        ledger.append(note(99))
        assert [first.sequence, *(s.sequence for s in rows)] == [1, 2]


def test_a_second_opening_continues_the_chain(path: Path) -> None:
    with Ledger.open(path) as ledger:
        first = ledger.append(note(1))
    with Ledger.open(path) as ledger:
        assert ledger.head() == Head(1, first.digest)
        assert ledger.append(note(2)).record["previous"] == first.digest


def test_non_ascii_survives_to_the_byte(path: Path) -> None:
    text = "创业板ETF — Zürich 🔒 \u2028 \x00 \x7f"
    with Ledger.open(path) as ledger:
        ledger.append(note(1, text=text))
        stored = next(ledger.iterate())
    assert stored.record["detail"]["text"] == text
    assert "创业板".encode() in stored.data


def test_the_file_is_durable_by_its_settings(path: Path) -> None:
    with Ledger.open(path) as ledger:
        for context in (ledger._file.reading, ledger._file.writing):
            with context() as connection:
                found = {
                    name: database.pragma(connection, name)
                    for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
                }
                assert found == {
                    "journal_mode": "wal",
                    "synchronous": 2,
                    "foreign_keys": 1,
                    "secure_delete": 1,
                }
                assert database.pragma(connection, "busy_timeout") == 5000


def test_an_append_is_synced_before_it_returns(path: Path, tmp_path: Path) -> None:
    """What a second process sees right after `append` without closing is the whole record."""
    with Ledger.open(path) as ledger:
        ledger.append(note(1))
        for suffix in ("", "-wal"):
            source = path.with_name(path.name + suffix)
            (tmp_path / f"copy.sqlite{suffix}").write_bytes(source.read_bytes())
        with Ledger.read(tmp_path / "copy.sqlite") as copy:
            assert copy.head() == ledger.head()


def test_the_file_is_private_and_leaves_no_drafts(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.append(note(1))
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [p.name for p in path.parent.iterdir()] == ["ledger.sqlite"]


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE ledger SET kind = 'X'", "records are never changed"),
        ("UPDATE ledger SET sequence = 9 WHERE sequence = 1", "records are never changed"),
        ("DELETE FROM ledger", "records are never deleted"),
        ("DELETE FROM ledger WHERE sequence = 2", "records are never deleted"),
        (
            "INSERT OR REPLACE INTO ledger SELECT sequence, kind, key, bytes, digest, previous "
            "FROM ledger WHERE sequence = 1",
            "a record must extend the chain",
        ),
        (
            "INSERT INTO ledger SELECT 4, kind, NULL, bytes, digest, previous FROM ledger LIMIT 1",
            "a record must extend the chain",
        ),
        (
            "INSERT INTO ledger SELECT 3, kind, NULL, bytes, digest, previous FROM ledger LIMIT 1",
            "a record must extend the chain",
        ),
        (
            "INSERT OR REPLACE INTO ledger SELECT 3, kind, key, bytes, 'x', digest "
            "FROM ledger WHERE sequence = 2",
            "a record must extend the chain",
        ),
        ("INSERT INTO ledger VALUES (NULL, 'X', NULL, x'00', 'x', 'y')", "must extend the chain"),
    ],
)
def test_the_file_itself_refuses_changes(path: Path, statement: str, problem: str) -> None:
    with Ledger.open(path) as ledger:
        ledger.append(note(1))
        ledger.append(erasure("d"))
        before = list(ledger.iterate())
        with pytest.raises(sqlite3.IntegrityError, match=problem):
            raw(path, statement)
        assert list(ledger.iterate()) == before


def test_a_key_is_taken_once(path: Path) -> None:
    with Ledger.open(path) as ledger:
        first = ledger.append(erasure("d"))
        with pytest.raises(DuplicateRequest, match="key `erasure:d` is taken") as caught:
            ledger.append(erasure("d", reason="again"))
        assert caught.value.stored.digest == first.digest
        assert caught.value.stored.record["reason"] == "asked"
        assert ledger.head().sequence == 1
        assert ledger.find("erasure:d") == caught.value.stored
        ledger.append(erasure("e"))
        assert ledger.head().sequence == 2


def test_a_refused_record_leaves_nothing_behind(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.append(note(1))
        head = ledger.head()
        bad: list[dict[str, Any]] = [
            {},
            {**note(2), "format": 2},
            {**note(2), "more": 1},
            {**note(2), "detail": {"x": 1.5e300, "y": object()}},
            {**note(2), "detail": 2**60},
        ]
        for record in bad:
            with pytest.raises(LedgerError):
                ledger.append(record)
            assert ledger.head() == head
        assert ledger.append(note(2)).sequence == 2


def test_an_appended_record_gets_its_link_from_the_ledger_alone(path: Path) -> None:
    with Ledger.open(path) as ledger:
        assert ledger.append({**note(1), "previous": "f" * 64}).record["previous"] == GENESIS


def test_a_locked_ledger_is_an_error_within_the_bound(path: Path) -> None:
    with (
        Ledger.open(path, busy_seconds=0.2) as ledger,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match=r"ledger\.sqlite` is locked by another process"):
            ledger.append(note(1))
        other.execute("ROLLBACK")
        assert ledger.append(note(1)).sequence == 1


def test_a_thread_that_hangs_does_not_hang_the_next_one(path: Path) -> None:
    with Ledger.open(path, busy_seconds=0.2) as ledger:
        holding, done = threading.Event(), threading.Event()

        def hold() -> None:
            with ledger._file.writing():
                holding.set()
                done.wait(10)

        thread = threading.Thread(target=hold)
        thread.start()
        holding.wait(10)
        with pytest.raises(LedgerError, match="is locked by another connection"):
            ledger.append(note(1))
        done.set()
        thread.join()
        assert ledger.append(note(1)).sequence == 1


def test_readers_do_not_wait_for_a_writer(path: Path) -> None:
    with Ledger.open(path, busy_seconds=0.2) as ledger:
        ledger.append(note(1))
        with ledger._file.writing():
            assert ledger.head().sequence == 1
            assert len(list(ledger.iterate())) == 1


def test_a_full_disk_is_an_error_and_the_chain_goes_on_later(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.append(note(1))
        with ledger._file.reading() as connection:
            pages = database.pragma(connection, "page_count")
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(LedgerError, match="the disk is full; free some space"):
            ledger.append(note(2, text="x" * 100_000))
        assert ledger.head().sequence == 1
        with ledger._file.reading() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
        assert ledger.append(note(2, text="x" * 100_000)).sequence == 2


def test_a_reader_cannot_append(path: Path) -> None:
    Ledger.open(path).close()
    with Ledger.read(path) as ledger, pytest.raises(LedgerError, match="cannot be written"):
        ledger.append(note(1))


def test_reading_a_missing_ledger_makes_none(path: Path) -> None:
    with pytest.raises(LedgerError, match=r"ledger\.sqlite` does not exist; check the path"):
        Ledger.read(path)
    assert not path.exists()


def damage_nothing_but(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Rewrite the closed file."""
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize("keep", [0, 1, 50, 99])
@pytest.mark.parametrize("opening", [Ledger.open, Ledger.read])
def test_a_file_shorter_than_its_header_is_not_taken_for_a_new_one(
    path: Path, keep: int, opening: Callable[[Path], Ledger]
) -> None:
    Ledger.open(path).close()
    damage_nothing_but(path, lambda data: data[:keep])
    with pytest.raises(LedgerError, match=r"ledger\.sqlite` is damaged or cut short; restore"):
        opening(path)
    assert path.stat().st_size == keep


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_a_truncated_ledger_is_one_clear_error(path: Path, part: float) -> None:
    with Ledger.open(path) as ledger:
        for n in range(50):
            ledger.append(note(n, text="x" * 500))
    damage_nothing_but(path, lambda data: data[: int(len(data) * part)])
    with pytest.raises(LedgerError, match=r"ledger\.sqlite` is damaged or cut short; restore"):
        Ledger.open(path)


def test_another_kind_of_file_is_named(path: Path) -> None:
    path.write_text("sequence,kind,bytes\n" * 100)
    with pytest.raises(LedgerError, match=r"is not an SQLite file"):
        Ledger.open(path)


def test_another_programs_database_is_named(path: Path) -> None:
    raw(path, "CREATE TABLE notes (x)")
    with pytest.raises(LedgerError, match="is another program's file; check the path"):
        Ledger.open(path)


def test_a_folder_in_its_place_is_named(path: Path) -> None:
    path.mkdir()
    with pytest.raises(LedgerError, match="does not exist"):
        Ledger.open(path)


def test_a_file_in_place_of_its_folder_is_named(path: Path) -> None:
    path.write_text("x" * 1000)
    with pytest.raises(LedgerError, match="cannot be used"):
        Ledger.open(path / "ledger.sqlite")


def test_a_later_file_version_is_refused(path: Path) -> None:
    Ledger.open(path).close()
    raw(path, "PRAGMA user_version = 2")
    with pytest.raises(LedgerError, match="file version `2`, not 1; upgrade"):
        Ledger.open(path)


def test_another_journal_mode_is_refused(path: Path) -> None:
    Ledger.open(path).close()
    raw(path, "PRAGMA journal_mode = DELETE")
    with pytest.raises(
        LedgerError, match="was changed: it does not keep a write-ahead log; restore"
    ):
        Ledger.open(path)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("DROP TRIGGER ledger_keeps", "`TRIGGER ledger_keeps` is missing or altered"),
        ("DROP TRIGGER ledger_holds", "`TRIGGER ledger_holds` is missing or altered"),
        ("DROP TRIGGER ledger_extends", "`TRIGGER ledger_extends` is missing or altered"),
        ("ALTER TABLE ledger ADD COLUMN x TEXT", "`TABLE ledger` is missing or altered"),
        ("CREATE TABLE more (x)", "`TABLE more` is not ours"),
        (
            "CREATE TRIGGER sly AFTER INSERT ON ledger BEGIN SELECT 1; END",
            "`TRIGGER sly` is not ours",
        ),
    ],
)
def test_a_ledger_without_its_locks_is_refused(path: Path, statement: str, problem: str) -> None:
    Ledger.open(path).close()
    raw(path, statement)
    with pytest.raises(LedgerError, match=f"was changed: {problem}; restore"):
        Ledger.open(path)


def test_a_weakened_trigger_of_the_same_name_is_refused(path: Path) -> None:
    Ledger.open(path).close()
    raw(path, "DROP TRIGGER ledger_holds")
    raw(path, "CREATE TRIGGER ledger_holds BEFORE DELETE ON ledger BEGIN SELECT 1; END")
    with pytest.raises(LedgerError, match="`TRIGGER ledger_holds` is missing or altered"):
        Ledger.open(path)


def test_a_log_without_its_ledger_is_not_replayed_into_a_new_one(path: Path) -> None:
    path.with_name("ledger.sqlite-wal").write_bytes(b"x")
    with pytest.raises(LedgerError, match="is gone but its write-ahead log is there"):
        Ledger.open(path)


def test_the_file_says_what_it_is(path: Path) -> None:
    Ledger.open(path).close()
    assert raw(path, "PRAGMA application_id") == [(APPLICATION_ID,)]
    assert raw(path, "PRAGMA user_version") == [(database.VERSION,)]
    found = raw(path, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
    assert [row[0] for row in found] == list(SCHEMA)


def test_a_record_of_the_wrong_type_is_named(path: Path) -> None:
    """A flipped type byte in the file can turn a blob into text."""
    with Ledger.open(path) as ledger:
        ledger.append(erasure("d"))
    raw(path, "DROP TRIGGER ledger_keeps")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, ') STRICT', ')') WHERE name = 'ledger'"
        )
    raw(path, "UPDATE ledger SET bytes = CAST(bytes AS TEXT)")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = sql || ' STRICT' WHERE name = 'ledger'")
        connection.execute(SCHEMA[2])
    with Ledger.read(path) as ledger:
        for use in (lambda: list(ledger.iterate()), lambda: ledger.find("erasure:d")):
            with pytest.raises(LedgerError, match="record 1 is damaged: a column has another type"):
                use()


def test_stored_bytes_parse_to_the_record(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.append(note(1))
        stored = next(ledger.iterate())
    assert stored.record == parse(stored.data)
