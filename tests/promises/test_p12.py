"""P-12: full disk, I/O error or lost lock: no dispatch.

Every call that changes, flushes or locks a file of the ledger is made to fail, once and for good,
with every error that a disk may give. Whatever is not acknowledged then is a LedgerError, for which
the way through dispatches nothing (G-STORE); whatever is acknowledged survives a crash.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gate.errors import LedgerError
from gate.ledger.verify import verify
from tests.faults.plans import FILES, plans, suffer, survive
from tests.faults.shim import Run
from tests.gate.ledger.samples import book_in, numbered, record

Suffered = tuple[Run, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def suffered() -> Suffered:
    """The run of all plans and what came of each."""
    return suffer(plans())


def named(results: Sequence[dict[str, Any]], ops: str) -> list[dict[str, Any]]:
    """The results of plans that let these calls fail."""
    return [one for one in results if one["ops"] in ops]


def test_p12_every_failure_is_a_ledger_error_or_the_record_is_there(suffered: Suffered) -> None:
    """The program ends in an exception, and the fixture fails, for any other kind of error."""
    _, results = suffered
    assert len(results) == len(plans())
    assert all(one["acknowledged"] + len(one["refused"]) == one["during"] for one in results)
    struck = Counter(one["ops"] for one in results if one["struck"])
    assert struck.keys() == {"W", "S", "T", "K", "R", "O"}
    assert min(struck["W"], struck["S"]) > 20
    refused = [message for one in results for message in one["refused"]]
    assert len(refused) > 300
    for message in refused:
        assert re.match(r"`[^`]*(ledger|receipts)(\.\d{6})?\.sqlite(\.next)?` ", message)
        assert not message.endswith(".")


@pytest.mark.parametrize("where", FILES[:2])
def test_p12_nothing_is_acknowledged_while_a_log_cannot_be_written(
    suffered: Suffered, where: str
) -> None:
    _, results = suffered
    lasting = [
        one
        for one in named(results, "WS")
        if one["where"] == where and one["times"] < 0 and one["after"] == 1
    ]
    assert len(lasting) > 4
    assert all(one["acknowledged"] <= 1 for one in lasting), lasting


def test_p12_a_lost_lock_is_named(suffered: Suffered) -> None:
    _, results = suffered
    lasting = [one for one in named(results, "K") if one["times"] < 0]
    assert all(one["refused"] for one in lasting)
    assert {m.split("` ")[1] for one in lasting for m in one["refused"]} == {
        "is locked by another process; stop it or try again"
    }


def test_p12_a_full_disk_is_named(suffered: Suffered) -> None:
    _, results = suffered
    full = [one for one in named(results, "W") if one["error"] == errno.ENOSPC and one["refused"]]
    assert full
    for one in full:
        assert any("the disk is full; free some space" in m for m in one["refused"]), one


def test_p12_when_the_failure_is_over_everything_can_be_recorded(suffered: Suffered) -> None:
    _, results = suffered
    for one in results:
        assert one["again"] == [], one
        assert one["problem"] is None, one


def test_p12_what_was_acknowledged_beside_failures_survives_a_crash(suffered: Suffered) -> None:
    """A flush that failed settles nothing, even if the next one works."""
    done, results = suffered
    struck = [one for one in results if one["struck"]]
    assert sum(survive(done, one, seed) for seed, one in enumerate(struck)) > 200


@pytest.mark.parametrize("name", ["ledger.sqlite", "receipts.sqlite"])
@pytest.mark.parametrize("how", ["removed", "moved", "replaced"])
def test_p12_a_file_that_no_longer_lies_in_its_place_is_not_written(
    tmp_path: Path, name: str, how: str
) -> None:
    with book_in(tmp_path) as book:
        record(book, numbered(1))
        path = tmp_path / name
        if how == "replaced":
            shutil.copy(path, tmp_path / "copy")
            os.replace(tmp_path / "copy", path)
        elif how == "moved":
            path.rename(tmp_path / "elsewhere")
        else:
            path.unlink()
        with pytest.raises(LedgerError, match=rf"`.*{name}` (was replaced|cannot be)"):
            record(book, numbered(2))


def test_p12_a_folder_that_is_gone_is_a_ledger_error(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with book_in(tmp_path / "in") as book:
        record(book, numbered(1))
        shutil.rmtree(tmp_path / "in")
        with pytest.raises(LedgerError):
            record(book, numbered(2))


@pytest.mark.parametrize("name", ["ledger.sqlite-wal", "receipts.sqlite-wal"])
@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_p12_a_log_that_another_program_took_away_acknowledges_nothing(
    tmp_path: Path, name: str, how: str
) -> None:
    """What a lost lock leads to: another process takes itself for the last one and tidies up."""
    with book_in(tmp_path) as book:
        told = [record(book, numbered(n)) for n in range(3)]
        (tmp_path / name).unlink()
        if how == "replaced":
            (tmp_path / name).write_bytes(b"")
        with pytest.raises(LedgerError, match="lost its log to another program"):
            record(book, numbered(10))
        told.append(record(book, numbered(11)))
        rows = {row.sequence: row.digest for row in book.ledger.iterate()}
        assert {one.sequence: one.digest for one in told}.items() <= rows.items()
    assert verify(tmp_path / "ledger.sqlite").ok
