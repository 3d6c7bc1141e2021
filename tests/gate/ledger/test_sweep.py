"""Orphans of receipts go, with an event of the chain; nothing that a record names ever does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gate.errors import LedgerError
from gate.ledger import sweep as sweep_module
from gate.ledger.book import Book, erase, write
from gate.ledger.encode import canonical, instant, parse
from gate.ledger.formats import Kind
from gate.ledger.pseudonym import digest, new_salt
from gate.ledger.receipts import Erased, Receipt, receipt
from gate.ledger.record import event, identify
from gate.ledger.replay import Status, replay_all
from gate.ledger.store import DuplicateRequest, TokenUsed
from gate.ledger.sweep import YOUNGEST, Swept, sweep
from gate.ledger.verify import verify
from tests.gate.ledger.samples import (
    NOW,
    PROPOSAL,
    SPOKEN,
    book_in,
    decided,
    numbered,
    record,
)

HOUR = timedelta(hours=1)
LATER = NOW + timedelta(hours=2)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    """A new book, whose chain must be whole when the test is over."""
    with book_in(tmp_path) as opened:
        yield opened
    assert verify(tmp_path / "ledger.sqlite").ok


def orphan(book: Book, number: int, at: str | None = instant(NOW)) -> Receipt:
    """A receipt whose record never came."""
    request = numbered(number)
    made = receipt(
        request=request,
        tier_answer=PROPOSAL,
        decision_id=identify(book.key or b"", request).decision_id,
        salt=new_salt(),
        at=at,
    )
    book.receipts.put(made)
    return made


def gone(book: Book, one: Receipt) -> bool:
    """True if not even the name of a receipt is left."""
    return one.receipt_id not in {kept.receipt_id for kept in book.receipts.names()}


def test_an_orphan_goes_and_its_going_is_recorded(book: Book) -> None:
    kept = record(book, numbered(1))
    one = orphan(book, 2)
    assert sweep(book, HOUR, LATER) == Swept(2, (one.decision_id,), 0)
    assert gone(book, one)
    last = list(book.ledger.iterate())[-1]
    assert last.key == f"swept:{one.receipt_id}"
    assert last.record == {
        "format": 1,
        "kind": "SWEPT",
        "at": instant(LATER),
        "decision_id": one.decision_id,
        "receipt": one.receipt_id,
        "previous": kept.digest,
    }


def test_swept_bytes_are_on_no_file(book: Book, tmp_path: Path) -> None:
    for number in range(10):
        orphan(book, number)
    assert len(sweep(book, HOUR, LATER).decisions) == 10
    for file in tmp_path.iterdir():
        assert SPOKEN.encode() not in file.read_bytes(), file.name


def test_what_a_record_names_stays_whatever_its_age(book: Book) -> None:
    for number in range(20):
        record(book, numbered(number))
    assert sweep(book, HOUR, NOW + timedelta(days=10_000)) == Swept(20, (), 0)
    assert book.ledger.head().sequence == 20
    assert all(one.status is Status.SAME for one in replay_all(book, decided))


def test_an_orphan_that_is_too_young_stays(book: Book) -> None:
    one = orphan(book, 1)
    assert sweep(book, HOUR, NOW + HOUR - timedelta(seconds=1)) == Swept(1, (), 1)
    assert not gone(book, one)
    assert sweep(book, HOUR, NOW + HOUR) == Swept(1, (one.decision_id,), 0)


def test_an_age_that_would_take_records_on_their_way_is_refused(book: Book) -> None:
    with pytest.raises(LedgerError, match=r"age `0:00:59` is under 0:01:00; records may be on"):
        sweep(book, timedelta(seconds=59), LATER)
    assert sweep(book, YOUNGEST, LATER) == Swept(0, (), 0)


def test_erased_receipts_are_left_as_they_are(book: Book) -> None:
    written = record(book, numbered(1))
    erase(book, written.record["decision_id"], at=NOW, reason="asked")
    assert sweep(book, HOUR, LATER) == Swept(0, (), 0)
    assert isinstance(book.receipts.get(written.record["text_commitment"]), Erased)


def test_the_receipt_that_lost_a_race_goes_and_the_winners_stays(book: Book) -> None:
    lost = orphan(book, 1)
    won = record(book, numbered(1))
    also_lost = orphan(book, 1)
    swept = sweep(book, HOUR, LATER)
    assert swept == Swept(3, (lost.decision_id, also_lost.decision_id), 0)
    assert isinstance(book.receipts.get(won.record["text_commitment"]), Receipt)
    assert gone(book, lost)
    assert gone(book, also_lost)


def test_the_receipt_of_a_refused_confirmation_goes(book: Book) -> None:
    token = digest(b"token")
    more: dict[str, Any] = {"tier_answer": PROPOSAL, "consume": (token,)}
    for number in (1, 2):
        request = numbered(number)
        clear = decided(request, PROPOSAL, NOW)
        try:
            write(book, request=request, clear=clear, salt=new_salt(), **more)
        except TokenUsed:
            assert number == 2
    assert len(sweep(book, HOUR, LATER).decisions) == 1
    assert sweep(book, HOUR, LATER) == Swept(1, (), 0)


def test_a_record_that_comes_for_a_swept_receipt_is_refused(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process may be held up for longer than any age between its receipt and its record."""
    request = numbered(1)
    append = book.ledger.append

    def late(*args: Any, **more: Any) -> Any:
        monkeypatch.undo()
        assert len(sweep(book, HOUR, LATER).decisions) == 1
        return append(*args, **more)

    monkeypatch.setattr(type(book.ledger), "append", lambda self, *a, **m: late(*a, **m))
    with pytest.raises(LedgerError, match="was swept before its record came; send the request"):
        record(book, request, salt=new_salt())
    assert [row.kind for row in book.ledger.iterate()] == ["SWEPT"]
    again = record(book, request, salt=new_salt())
    assert not again.replayed
    assert isinstance(book.receipts.get(again.record["text_commitment"]), Receipt)


def test_a_record_that_comes_while_its_receipt_is_being_swept_wins(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    salt = new_salt()
    request = numbered(1)
    find = sweep_module._orphans

    def meanwhile(one: Book) -> Any:
        made = receipt(
            request=request,
            tier_answer=PROPOSAL,
            decision_id=identify(book.key or b"", request).decision_id,
            salt=salt,
            at=instant(NOW),
        )
        book.receipts.put(made)
        found = find(one)
        book.receipts.drop([made.receipt_id])
        record(book, request, salt=salt)  # puts the same receipt again, and the record
        return found

    monkeypatch.setattr(sweep_module, "_orphans", meanwhile)
    assert sweep(book, HOUR, LATER) == Swept(1, (), 0)
    assert [row.kind for row in book.ledger.iterate()] == ["DECISION"]
    assert isinstance(book.receipts.get(next(book.receipts.names()).receipt_id), Receipt)


def test_another_receipt_of_the_decision_that_came_meanwhile_is_swept_all_the_same(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = orphan(book, 1)
    find = sweep_module._orphans

    def meanwhile(opened: Book) -> Any:
        found = find(opened)
        record(book, numbered(1), salt=new_salt())
        return found

    monkeypatch.setattr(sweep_module, "_orphans", meanwhile)
    assert sweep(book, HOUR, LATER).decisions == (one.decision_id,)
    assert [row.kind for row in book.ledger.iterate()] == ["DECISION", "SWEPT"]


def test_a_sweep_that_a_crash_cut_short_is_finished_by_the_next(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = orphan(book, 1)
    with monkeypatch.context() as patched:

        def crash(*_: object) -> None:
            raise KeyboardInterrupt

        patched.setattr(type(book.receipts), "drop", crash)
        with pytest.raises(KeyboardInterrupt):
            sweep(book, HOUR, LATER)
    assert not gone(book, one)
    assert sweep(book, HOUR, LATER).decisions == (one.decision_id,)
    assert gone(book, one)
    assert [row.kind for row in book.ledger.iterate()] == ["SWEPT"]


def undate(book: Book) -> None:
    """Make all receipts those of the first release, which had no date."""
    with book.receipts._file.writing() as connection:
        rows = connection.exec_driver_sql("SELECT receipt_id, content FROM receipts").fetchall()
        for name, content in rows:
            old = {key: value for key, value in parse(content).items() if key != "at"}
            connection.exec_driver_sql(
                "UPDATE receipts SET content = ? WHERE receipt_id = ?", (canonical(old), name)
            )


def test_an_undated_orphan_is_as_old_as_the_next_recorded_receipt(book: Book) -> None:
    one = orphan(book, 1, at=None)
    assert sweep(book, HOUR, LATER) == Swept(1, (), 1), "nothing says how old it is"
    record(book, numbered(2))
    two = orphan(book, 3, at=None)
    undate(book)
    assert sweep(book, HOUR, NOW + HOUR - timedelta(seconds=1)) == Swept(3, (), 2)
    assert sweep(book, HOUR, NOW + HOUR) == Swept(3, (one.decision_id,), 1)
    assert not gone(book, two)


def test_receipts_of_the_first_release_are_read(book: Book) -> None:
    record(book, numbered(1))
    dated = book.receipts.get(next(book.receipts.names()).receipt_id)
    undate(book)
    read = book.receipts.get(next(book.receipts.names()).receipt_id)
    assert isinstance(dated, Receipt)
    assert dated.at == instant(NOW)
    assert read == replace(dated, at=None)
    assert [one.status for one in replay_all(book, decided)] == [Status.SAME]


def test_many_receipts_are_looked_at_in_batches(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_module, "BATCH", 3)
    orphans = []
    for number in range(20):
        if number % 4 == 1:
            orphans.append(orphan(book, number).decision_id)
        else:
            record(book, numbered(number))
    assert sweep(book, HOUR, LATER) == Swept(20, tuple(orphans), 0)


def test_nothing_to_drop_changes_nothing(book: Book) -> None:
    orphan(book, 1)
    book.receipts.drop([])
    book.receipts.drop(["nope"])
    assert len(list(book.receipts.names())) == 1


def test_only_a_sweep_that_is_recorded_deletes(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    one = orphan(book, 1)

    def full(*_: object, **__: object) -> None:
        raise LedgerError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(type(book.ledger), "append", full)
        with pytest.raises(LedgerError, match="full"):
            sweep(book, HOUR, LATER)
    assert not gone(book, one)


def test_a_swept_receipt_has_one_event(book: Book) -> None:
    one = orphan(book, 1)
    sweep(book, HOUR, LATER)
    again = event(Kind.SWEPT, LATER, decision_id=one.decision_id, receipt=one.receipt_id)
    with pytest.raises(DuplicateRequest, match=f"key `swept:{one.receipt_id}` is taken"):
        book.ledger.append(again)
