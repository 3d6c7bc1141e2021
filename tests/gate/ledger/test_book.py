"""Ledger, receipts and key together: recording, repeated requests, erasure, first use."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.errors import LedgerError
from gate.ledger import book as book_module
from gate.ledger.book import Book, Written, erase, open_book, read_book, recall, write
from gate.ledger.formats import Kind
from gate.ledger.outcome import Outcome, append_outcome
from gate.ledger.pseudonym import digest
from gate.ledger.receipts import Erased, Receipt, Receipts
from gate.ledger.record import commitment, identify
from gate.ledger.store import DuplicateRequest, Head
from gate.ledger.verify import verify
from gate.records import Request, Session
from tests.gate.ledger.samples import (
    NOW,
    PROPOSAL,
    REQUEST,
    SPOKEN,
    book_in,
    decided,
    numbered,
    record,
    salt_of,
)


def test_a_decision_and_its_receipt_are_kept(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        written = record(book, REQUEST)
        assert (written.sequence, written.replayed) == (1, False)
        stored = book.ledger.get(written.record["decision_id"])
        assert stored is not None
        assert stored.record == written.record
        assert stored.digest == written.digest == book.ledger.head().digest
        kept = book.receipts.get(written.record["text_commitment"])
        assert isinstance(kept, Receipt)
        assert kept.decision_id == written.record["decision_id"]
        assert kept.request["utterance"] == SPOKEN


def test_the_ledger_holds_no_text(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
    assert SPOKEN.encode() in (tmp_path / "receipts.sqlite").read_bytes()
    ledger = (tmp_path / "ledger.sqlite").read_bytes()
    for personal in (SPOKEN, "Zürich", "C-1001", "CARD-1001-1"):
        assert personal.encode() not in ledger


def test_the_receipt_is_written_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash between the two leaves a receipt without a record, never the other way round."""
    with book_in(tmp_path) as book:

        def crash(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(type(book.ledger), "append", crash)
        with pytest.raises(KeyboardInterrupt):
            record(book, REQUEST)
        assert book.ledger.head() == Head()
        assert isinstance(book.receipts.get(commitment(salt_of(REQUEST), REQUEST)), Receipt)


def test_without_a_receipt_there_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "receipts.sqlite"
    with book_in(tmp_path) as book, Receipts.open(path, busy_seconds=0.1) as impatient:
        quick = Book(book.ledger, impatient, book.key)
        with closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(LedgerError, match=r"receipts\.sqlite` is locked"):
                record(quick, REQUEST)
        assert book.ledger.head() == Head()


def test_a_new_request_is_not_recalled(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        assert recall(book, REQUEST) is None
        record(book, numbered(7))
        assert recall(book, REQUEST) is None


def test_the_same_request_gets_its_stored_decision(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        first = record(book, REQUEST)
        again = recall(book, replace(REQUEST))
        assert again == replace(first, replayed=True)
        written = record(book, REQUEST, salt=b"t" * 32)
        assert written == replace(first, replayed=True)
        assert book.ledger.head().sequence == 1


CHANGES: list[dict[str, Any]] = [
    {"utterance": "something else"},
    {"state": {**REQUEST.state, "risk_tier": "high"}},
    {"history": ()},
    {"candidates": None},
    {"language": "en"},
    {"session": replace(REQUEST.session or Session(""), entitlements=())},
]


@pytest.mark.parametrize("changes", CHANGES)
def test_another_body_under_the_same_id_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with book_in(tmp_path) as book:
        first = record(book, REQUEST)
        other = replace(REQUEST, **changes)
        with pytest.raises(DuplicateRequest, match="`r-1` has another body") as recalled:
            recall(book, other)
        with pytest.raises(DuplicateRequest, match="`r-1` has another body") as written:
            record(book, other, salt=b"t" * 32)
        assert recalled.value.stored == written.value.stored
        assert recalled.value.stored.digest == first.digest
        assert book.ledger.head().sequence == 1


def test_one_id_may_be_used_by_other_channels_and_subjects(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
        for other in (
            replace(REQUEST, channel="counter"),
            replace(REQUEST, session=None),
            replace(REQUEST, session=Session("C-2")),
        ):
            assert recall(book, other) is None
            assert not record(book, other).replayed
        assert book.ledger.head().sequence == 4


def test_a_foreign_subject_cannot_tell_that_an_id_is_taken(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
        assert recall(book, replace(REQUEST, session=Session("C-2"))) is None


def test_erasure_is_an_event_of_the_chain_and_breaks_nothing(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        written = [record(book, numbered(n)) for n in range(3)]
        target = written[1].record
        assert erase(book, target["decision_id"], at=NOW, reason="asked by the customer") == 1
        last = list(book.ledger.iterate())[-1].record
        assert (last["kind"], last["decision_id"]) == (Kind.ERASURE, target["decision_id"])
        assert last["reason"] == "asked by the customer"
        assert isinstance(book.receipts.get(target["text_commitment"]), Erased)
        assert book.ledger.get(target["decision_id"]) is not None
    report = verify(tmp_path / "ledger.sqlite")
    assert (report.ok, report.records) == (True, 4)


def test_erasing_twice_adds_one_event(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        decision_id = record(book, REQUEST).record["decision_id"]
        assert erase(book, decision_id, at=NOW, reason="a") == 1
        assert erase(book, decision_id, at=NOW, reason="b") == 0
        assert book.ledger.head().sequence == 2


def test_an_erasure_that_a_crash_cut_short_is_finished_by_asking_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with book_in(tmp_path) as book:
        written = record(book, REQUEST).record
        with monkeypatch.context() as patched:

            def crash(*_: object) -> int:
                raise KeyboardInterrupt

            patched.setattr(type(book.receipts), "erase", crash)
            with pytest.raises(KeyboardInterrupt):
                erase(book, written["decision_id"], at=NOW, reason="asked")
        assert isinstance(book.receipts.get(written["text_commitment"]), Receipt)
        assert erase(book, written["decision_id"], at=NOW, reason="asked") == 1
        assert book.ledger.head().sequence == 2


def test_erasing_an_unknown_decision_is_an_error(tmp_path: Path) -> None:
    with (
        book_in(tmp_path) as book,
        pytest.raises(LedgerError, match="decision `nope` is not in the ledger"),
    ):
        erase(book, "nope", at=NOW, reason="asked")


ENDS = [outcome for outcome in Outcome if outcome not in (Outcome.IN_DOUBT, Outcome.RE_ASKED)]


@pytest.mark.parametrize("end", ENDS)
def test_a_write_is_not_erased_before_its_end_is_recorded(tmp_path: Path, end: Outcome) -> None:
    with book_in(tmp_path) as book:
        written = confirmed(book, numbered(1), (digest(b"token"), digest(b"another")))
        decision_id = written.record["decision_id"]
        for told in (None, Outcome.IN_DOUBT, Outcome.RE_ASKED):
            if told is not None:
                append_outcome(book.ledger, decision_id, told, at=NOW)
            with pytest.raises(LedgerError, match="is an unfinished write; reconcile it first"):
                erase(book, decision_id, at=NOW, reason="asked")
            assert isinstance(book.receipts.get(written.record["text_commitment"]), Receipt)
        append_outcome(book.ledger, decision_id, end, at=NOW)
        assert erase(book, decision_id, at=NOW, reason="asked") == 1
        assert erase(book, decision_id, at=NOW, reason="asked") == 0


def test_a_decision_that_makes_tokens_void_can_be_erased(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        written = confirmed(book, numbered(1), (), void=(digest(b"token"),))
        assert erase(book, written.record["decision_id"], at=NOW, reason="asked") == 1


def test_an_unfinished_write_of_a_sealed_segment_is_not_erased(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        written = confirmed(book, numbered(1), (digest(b"token"),))
        book.ledger.rotate()
        record(book, numbered(2))
        with pytest.raises(LedgerError, match="is an unfinished write"):
            erase(book, written.record["decision_id"], at=NOW, reason="asked")


def confirmed(book: Book, request: Request, consume: tuple[str, ...], **more: Any) -> Written:
    """A dispatch that uses up tokens."""
    clear = decided(request, PROPOSAL, NOW)
    assert clear["terminal"] == "DISPATCH"
    more |= {"tier_answer": PROPOSAL, "clear": clear, "salt": salt_of(request)}
    return write(book, request=request, consume=consume, **more)


def test_an_erased_request_cannot_be_repeated(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        written = record(book, REQUEST).record
        erase(book, written["decision_id"], at=NOW, reason="asked")
        with pytest.raises(DuplicateRequest, match="was used and erased"):
            recall(book, REQUEST)
        with pytest.raises(DuplicateRequest, match="was used and erased"):
            record(book, REQUEST, salt=b"t" * 32)
        assert erase(book, written["decision_id"], at=NOW, reason="again") == 1, "the orphan"


def test_a_guess_at_erased_text_cannot_be_checked(tmp_path: Path) -> None:
    """Nothing that is left, key included, tells the right text from a wrong one."""
    with book_in(tmp_path) as book:
        written = record(book, REQUEST).record
        erase(book, written["decision_id"], at=NOW, reason="asked")
        assert book.key is not None
        assert commitment(book.key, REQUEST) != written["text_commitment"]
        assert SPOKEN.encode() not in b"".join(
            f.read_bytes() for f in tmp_path.iterdir() if f.is_file()
        )


def test_the_second_opening_uses_the_same_key(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        first, key = record(book, numbered(1)).record, book.key
    with book_in(tmp_path) as book:
        assert book.key == key
        assert record(book, numbered(2)).record["subject"] == first["subject"]
        assert first["subject"] == identify(key or b"", REQUEST).subject


def test_a_lost_key_is_not_replaced_by_another(tmp_path: Path) -> None:
    book_in(tmp_path).close()
    (tmp_path / "ledger.key").unlink()
    with pytest.raises(LedgerError, match=r"ledger\.key` cannot be read.*restore it"):
        book_in(tmp_path)


def test_a_lost_ledger_is_not_replaced_by_an_empty_one(tmp_path: Path) -> None:
    book_in(tmp_path).close()
    (tmp_path / "ledger.sqlite").unlink()
    with pytest.raises(LedgerError, match=r"is gone but .* is there; restore the ledger"):
        book_in(tmp_path)
    assert not (tmp_path / "ledger.sqlite").exists()


def test_lost_receipts_are_named_when_they_are_needed(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
    (tmp_path / "receipts.sqlite").unlink()
    with book_in(tmp_path) as book, pytest.raises(LedgerError, match="has no receipt"):
        recall(book, REQUEST)


def test_reading_makes_no_files(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="does not exist"):
        read_book(tmp_path / "ledger.sqlite", tmp_path / "receipts.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_reading_needs_both_files_but_no_key(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
    paths = tmp_path / "ledger.sqlite", tmp_path / "receipts.sqlite"
    (tmp_path / "ledger.key").unlink()
    with read_book(*paths) as book:
        assert book.key is None
        assert book.ledger.head().sequence == 1
        with pytest.raises(LedgerError, match=r"ledger\.key` is missing; restore it to record"):
            recall(book, REQUEST)
    paths[1].unlink()
    with pytest.raises(LedgerError, match=r"receipts\.sqlite` does not exist"):
        read_book(*paths)


def test_unsound_receipts_close_the_ledger_again(tmp_path: Path) -> None:
    book_in(tmp_path).close()
    (tmp_path / "receipts.sqlite").write_bytes(b"x" * 4096)
    for opening in (open_book, read_book):
        with pytest.raises(LedgerError, match=r"receipts\.sqlite` is not an SQLite file"):
            opening(tmp_path / "ledger.sqlite", tmp_path / "receipts.sqlite")


def test_the_modules_docstring_names_real_functions() -> None:
    for name in ("open_book", "recall", "write"):
        assert f"{name}(" in str(book_module.__doc__)
        assert callable(getattr(book_module, name))
