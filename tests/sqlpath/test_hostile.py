"""Every hostile statement is refused or contained, with admission and without it (P-14)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlpath.errors import QueryError
from tests.sqlpath import hostile
from tests.sqlpath.hostile import (
    ACCEPTED,
    CANARY,
    LIMITS,
    SLACK,
    World,
    end,
    key,
    rank,
    small_schema,
)


@pytest.fixture(scope="module")
def here() -> Iterator[World]:
    with hostile.world() as opened:
        yield opened


def processes(here: World) -> list[int]:
    return [worker.pid for worker in here.full._pool._free]


def peak(pid: int) -> int:
    """The most address space that a process has had, in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmPeak"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmPeak")


def test_every_hostile_statement_is_refused_or_contained(here: World) -> None:
    before, ratchet, described = here.files(), hostile.stored(), small_schema()
    statements = hostile.hostile()
    assert len(statements) >= 300
    assert {key(block) for block in statements} == set(ratchet), "store with tests.sqlpath.hostile"
    for block in statements:
        found = end(here.text(block), here, described)
        assert found.what != ACCEPTED, block.place
        assert rank(found.what) <= rank(ratchet[key(block)]), (block.place, found.what)
        assert found.seconds < LIMITS.seconds + SLACK, (block.place, found)
        for pid in processes(here):
            assert peak(pid) <= LIMITS.address_space, block.place
    assert here.files() == before


def test_what_admission_might_let_through_the_process_contains(here: World) -> None:
    """The same statements as if admission did not exist: no write, no file read, no crash of ours."""
    before = here.files()
    for block in hostile.hostile():
        text = here.text(block)
        try:
            found = here.full.run("q", text, {})
        except QueryError:
            continue
        except UnicodeError:
            pytest.fail(block.place)
        if "inside.csv" in text:
            assert CANARY not in repr(found.rows), block.place
    assert here.files() == before
    assert here.full.run("q", "SELECT count(*) FROM accounts", {}).rows == ((2001,),)


def test_accepting_can_not_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    block = hostile.hostile()[0]
    monkeypatch.setattr(hostile, "RATCHET", tmp_path / "ratchet.json")
    monkeypatch.setattr(hostile, "hostile", lambda: (block,))
    monkeypatch.setattr(hostile, "end", lambda *_: hostile.End(ACCEPTED, 0.0))
    assert hostile.main() == 1
    assert not (tmp_path / "ratchet.json").exists()
    monkeypatch.setattr(hostile, "end", lambda *_: hostile.End("refuse x", 0.0))
    assert hostile.main() == 0
    monkeypatch.setattr(hostile, "end", lambda *_: hostile.End("contained row_limit", 0.0))
    assert hostile.main() == 1
    assert hostile.stored() == {key(block): "refuse x"}
    capsys.readouterr()


def test_an_accepted_statement_is_found(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: rows of somebody else, or a canary, are called accepted."""
    from sqlpath.execute import Rows

    statement = "SELECT name FROM accounts"
    described = small_schema()
    assert end(statement, here, described).what == "contained own_rows"
    monkeypatch.setattr(hostile, "_rows", lambda *_: Rows(("name",), ((CANARY,),)))
    assert end(statement, here, described).what == ACCEPTED
    answers = iter([Rows(("name",), (("a",),)), Rows(("name",), ())])
    monkeypatch.setattr(hostile, "_rows", lambda *_: next(answers))
    assert end(statement, here, described).what == ACCEPTED
