"""SQLite files: made whole or not at all, one error per failure, nothing personal in a message."""

from __future__ import annotations

import sqlite3
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import exc

from gate.errors import LedgerError
from gate.ledger import database
from gate.ledger.database import REASONS, named_errors, open_file, pragma

SCHEMA = ("CREATE TABLE things (name TEXT NOT NULL) STRICT", "CREATE INDEX names ON things (name)")
NUMBER = 0x54455354


def opened(path: Path, **more: Any) -> database.File:
    """A small file of our own kind."""
    return open_file(path, "rw", SCHEMA, NUMBER, **more)


def names(file: database.File) -> list[str]:
    """What is in it."""
    with file.reading() as connection:
        return list(connection.exec_driver_sql("SELECT name FROM things ORDER BY rowid").scalars())


def add(file: database.File, name: object) -> None:
    """Write one row."""
    with file.writing() as connection:
        connection.exec_driver_sql("INSERT INTO things VALUES (?)", (name,))


def test_what_is_written_is_there_for_the_next(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.sqlite"
    file = opened(path)
    add(file, "one")
    file.close()
    again = opened(path)
    assert names(again) == ["one"]
    again.close()


def test_a_path_with_uri_characters_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a?mode=memory#x%20 ü" / "file.sqlite"
    file = opened(path)
    add(file, "one")
    file.close()
    assert path.is_file()
    assert [p.name for p in path.parent.iterdir()] == ["file.sqlite"]


def test_an_exception_inside_undoes_the_transaction(tmp_path: Path) -> None:
    file = opened(tmp_path / "file.sqlite")
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error), file.writing() as connection:
            connection.exec_driver_sql("INSERT INTO things VALUES ('half')")
            raise error
    assert names(file) == []
    add(file, "whole")
    assert names(file) == ["whole"]
    file.close()


def test_many_first_users_get_one_file(tmp_path: Path) -> None:
    path = tmp_path / "file.sqlite"

    def use(number: int) -> None:
        file = opened(path)
        add(file, str(number))
        file.close()

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(use, range(48)))
    file = opened(path)
    assert sorted(names(file), key=int) == [str(n) for n in range(48)]
    file.close()
    assert [p.name for p in tmp_path.iterdir()] == ["file.sqlite"]


def test_a_file_that_cannot_be_finished_is_not_left_half_made(tmp_path: Path) -> None:
    broken = (*SCHEMA, "CREATE TRIGGER nonsense")
    with pytest.raises(LedgerError, match=r"file\.sqlite` cannot be used: incomplete input"):
        open_file(tmp_path / "file.sqlite", "rw", broken, NUMBER)
    assert list(tmp_path.iterdir()) == []


def test_every_connection_has_the_settings(tmp_path: Path) -> None:
    file = opened(tmp_path / "file.sqlite")
    wanted = {"synchronous": 2, "foreign_keys": 1, "recursive_triggers": 1, "secure_delete": 1}
    with file.reading() as one, file.reading() as two, file.writing() as three:
        for connection in (one, two, three):
            assert {name: pragma(connection, name) for name in wanted} == wanted
            assert pragma(connection, "trusted_schema") == 0
            assert pragma(connection, "cell_size_check") == 1
    file.close()


def test_an_old_sqlite_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(LedgerError, match=r"is too old; use 3\.37 or newer"):
        opened(tmp_path / "file.sqlite")
    assert list(tmp_path.iterdir()) == []


def failure(code: str, text: str = "it broke") -> sqlite3.Error:
    """An error as the driver raises it."""
    error = sqlite3.OperationalError(text)
    error.sqlite_errorname = code
    return error


@pytest.mark.parametrize("name", list(REASONS))
@pytest.mark.parametrize(
    "wrap",
    [lambda e: e, lambda e: exc.OperationalError("SELECT 1", None, e)],
    ids=["driver", "core"],
)
def test_every_result_code_has_its_reason(
    name: str, wrap: Callable[[sqlite3.Error], Exception]
) -> None:
    with pytest.raises(LedgerError) as caught, named_errors(Path("x.sqlite")):
        raise wrap(failure(f"SQLITE_{name}_SUB"))
    assert str(caught.value).startswith(f"`x.sqlite` {REASONS[name]}")
    assert not str(caught.value).endswith(".")


@pytest.mark.parametrize(
    "error",
    [failure("SQLITE_ERROR"), OSError(28, "it broke"), exc.TimeoutError("it broke")],
    ids=["sqlite", "system", "pool"],
)
def test_any_other_failure_is_a_ledger_error_too(error: Exception) -> None:
    with pytest.raises(LedgerError, match=r"`x\.sqlite` cannot be used: .*it broke"):
        with named_errors(Path("x.sqlite")):
            raise error


def test_text_that_is_no_utf8_is_damage() -> None:
    with pytest.raises(LedgerError, match="is damaged or cut short"):
        with named_errors(Path("x.sqlite")):
            b"\xff".decode()


def test_a_ledger_error_passes_as_it_is() -> None:
    with pytest.raises(LedgerError, match=r"^mine$"), named_errors(Path("x.sqlite")):
        raise LedgerError("mine")


def test_other_errors_are_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError), named_errors(Path("x.sqlite")):
        raise ZeroDivisionError


def test_no_value_shows_in_a_message_or_traceback(tmp_path: Path) -> None:
    file = opened(tmp_path / "file.sqlite")
    personal = "Zoe Quill 555-0199"
    try:
        with file.writing() as connection:
            connection.exec_driver_sql("INSERT INTO things VALUES (?), (NULL)", (personal,))
    except LedgerError as error:
        shown = "".join(traceback.format_exception(error))
    assert "refused the record" in shown
    assert personal not in shown
    file.close()


def test_a_reader_of_a_file_in_use_sees_what_is_durable(tmp_path: Path) -> None:
    path = tmp_path / "file.sqlite"
    writer = opened(path)
    add(writer, "one")
    reader = open_file(path, "ro", SCHEMA, NUMBER)
    assert names(reader) == ["one"]
    add(writer, "two")
    assert names(reader) == ["one", "two"]
    with pytest.raises(LedgerError, match="cannot be written"):
        add(reader, "three")
    reader.close()
    writer.close()


def test_a_copy_on_a_read_only_disk_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.sqlite"
    file = opened(path)
    add(file, "one")
    file.close()
    monkeypatch.setattr("os.access", lambda *_: False)
    reader = open_file(path, "ro", SCHEMA, NUMBER)
    assert names(reader) == ["one"]
    assert database.faults(reader, SCHEMA) == []
    assert [p.name for p in tmp_path.iterdir()] == ["file.sqlite"]
    reader.close()


def test_a_copy_whose_log_came_along_is_not_read_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.sqlite"
    file = opened(path)
    add(file, "in the log")
    monkeypatch.setattr("os.access", lambda *_: False)
    reader = open_file(path, "ro", SCHEMA, NUMBER)
    assert names(reader) == ["in the log"]
    reader.close()
    file.close()


def test_a_changed_schema_can_be_read_but_not_written(tmp_path: Path) -> None:
    path = tmp_path / "file.sqlite"
    opened(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP INDEX names")
    with pytest.raises(LedgerError, match="was changed: `INDEX names` is missing or altered"):
        opened(path)
    reader = open_file(path, "ro", SCHEMA, NUMBER)
    assert database.faults(reader, SCHEMA) == ["`INDEX names` is missing or altered"]
    reader.close()


def test_what_was_opened_for_reading_for_a_moment_is_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite opens for reading what it cannot open for writing just then, and keeps to it."""
    file = opened(tmp_path / "file.sqlite")
    add(file, "one")
    file.close()
    connect = sqlite3.connect

    def for_reading(name: str, **more: Any) -> sqlite3.Connection:
        return connect(name.replace("mode=rw", "mode=ro"), **more)

    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", for_reading)
        with pytest.raises(LedgerError, match="cannot be written; check its owner and mode"):
            add(file, "two")
    add(file, "two")
    assert names(file) == ["one", "two"]
    file.close()


@pytest.mark.parametrize("value", ["CAST(sql AS BLOB)", "12", "x'ff'"])
def test_a_schema_that_is_no_text_is_damage_with_a_name(tmp_path: Path, value: str) -> None:
    path = tmp_path / "file.sqlite"
    opened(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(f"UPDATE sqlite_master SET sql = {value}")  # noqa: S608
    with pytest.raises(LedgerError, match=r"table of contents is damaged|damaged or cut short"):
        opened(path).close()
