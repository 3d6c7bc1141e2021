"""Group commit: one transaction for all who wait, one answer each, nobody stuck behind a failure."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event as engine_event

from gate.errors import LedgerError
from gate.ledger import group
from gate.ledger.formats import Kind
from gate.ledger.group import Group
from gate.ledger.record import event
from gate.ledger.store import DuplicateRequest, Ledger
from gate.ledger.verify import verify
from tests.gate.ledger.samples import NOW, book_in, numbered, record

Answers = Sequence[int | LedgerError]


def note(number: int) -> dict[str, Any]:
    """A small record without a key."""
    return event(Kind.CONFIG, NOW, versions={"n": str(number)}, detail={})


def erasure(number: int) -> dict[str, Any]:
    """A small record with a key."""
    return event(Kind.ERASURE, NOW, decision_id=f"d-{number}", reason="asked")


class Disk:
    """A commit that lasts until it is let go, and remembers what it was given."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.started = threading.Semaphore(0)
        self.go_on = threading.Semaphore(0)
        self.failures: dict[int, BaseException] = {}

    def commit(self, items: Sequence[int]) -> Answers:
        """Ten times each item; an item below zero is refused alone."""
        self.batches.append(list(items))
        self.started.release()
        assert self.go_on.acquire(timeout=10)
        if failure := self.failures.get(len(self.batches)):
            raise failure
        return [LedgerError(f"no {item}") if item < 0 else item * 10 for item in items]


@contextmanager
def waiting(disk: Disk, patience: float = 10.0) -> Iterator[tuple[Group[int, int], Any]]:
    """A group whose first transaction hangs, and a function that puts more items in line."""
    together: Group[int, int] = Group(disk.commit, patience, "`x` is locked")
    with ThreadPoolExecutor(40) as pool:
        futures = [pool.submit(together.put, 1)]
        assert disk.started.acquire(timeout=10)

        def put(item: int) -> Future[int]:
            length = len(together._waiting)
            futures.append(pool.submit(together.put, item))
            until(lambda: len(together._waiting) > length)
            return futures[-1]

        put.first = futures[0]  # type: ignore[attr-defined]
        yield together, put
        for _ in range(100):
            disk.go_on.release()


def until(true: Callable[[], bool]) -> None:
    """Wait until something is so."""
    for _ in range(5_000):
        if true():
            return
        time.sleep(0.001)
    raise AssertionError("it never came to be")


def test_a_lone_caller_does_not_wait_for_company() -> None:
    alone: Group[int, int] = Group(lambda items: [i * 2 for i in items], 5, "busy")
    assert [alone.put(n) for n in range(5)] == [0, 2, 4, 6, 8]


def test_those_who_come_during_a_transaction_share_the_next_one() -> None:
    disk = Disk()
    with waiting(disk) as (_, put):
        later = [put(n) for n in range(2, 12)]
        disk.go_on.release()
        disk.go_on.release()
        assert [f.result(10) for f in later] == [n * 10 for n in range(2, 12)]
        assert put.first.result(10) == 10
    assert disk.batches == [[1], list(range(2, 12))]


def test_nobody_has_an_answer_before_the_transaction_is_durable() -> None:
    disk = Disk()
    with waiting(disk) as (_, put):
        later = [put(n) for n in range(2, 6)]
        disk.go_on.release()
        assert put.first.result(10) == 10
        assert disk.started.acquire(timeout=10)
        time.sleep(0.05)
        assert not any(f.done() for f in later)
        disk.go_on.release()
        assert [f.result(10) for f in later] == [20, 30, 40, 50]


def test_an_item_that_is_refused_leaves_the_others_alone() -> None:
    disk = Disk()
    with waiting(disk) as (_, put):
        later = [put(n) for n in (2, -3, 4)]
        disk.go_on.release()
        disk.go_on.release()
        assert later[0].result(10) == 20
        assert later[2].result(10) == 40
        with pytest.raises(LedgerError, match=r"^no -3$"):
            later[1].result(10)


def test_a_failed_transaction_fails_everyone_in_it_and_nobody_else() -> None:
    disk = Disk()
    disk.failures[2] = LedgerError("`x` cannot be written")
    with waiting(disk) as (together, put):
        later = [put(n) for n in range(2, 8)]
        disk.go_on.release()
        disk.go_on.release()
        errors = [f.exception(10) for f in later]
        assert {str(e) for e in errors} == {"`x` cannot be written"}
        assert all(isinstance(e, LedgerError) for e in errors)
        assert len({id(e) for e in errors}) == len(errors), "an error belongs to one thread"
        assert put.first.result(10) == 10
        disk.go_on.release()
        assert together.put(9) == 90


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ZeroDivisionError(), MemoryError()])
def test_a_leader_that_breaks_off_takes_nobody_into_the_dark(error: BaseException) -> None:
    disk = Disk()
    disk.failures[2] = error
    with waiting(disk) as (together, put):
        later = [put(n) for n in range(2, 5)]
        disk.go_on.release()
        disk.go_on.release()
        first, *others = [f.exception(10) for f in later]
        assert first is error
        for other in others:
            assert isinstance(other, LedgerError)
            assert "was broken off; it is not recorded" in str(other)
        disk.go_on.release()
        assert together.put(9) == 90


def test_a_transaction_has_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "LARGEST", 4)
    disk = Disk()
    with waiting(disk) as (_, put):
        later = [put(n) for n in range(2, 12)]
        for _ in range(4):
            disk.go_on.release()
        assert [f.result(10) for f in later] == [n * 10 for n in range(2, 12)]
    assert [len(batch) for batch in disk.batches] == [1, 4, 4, 2]


def test_whose_turn_does_not_come_gives_up_and_is_not_written() -> None:
    disk = Disk()
    with waiting(disk, patience=0.2) as (together, put):
        late = put(2)
        with pytest.raises(LedgerError, match=r"^`x` is locked$"):
            late.result(10)
        disk.go_on.release()
        assert put.first.result(10) == 10
        disk.go_on.release()
        assert together.put(3) == 30
    assert disk.batches == [[1], [3]]


def test_who_was_taken_along_by_a_slow_leader_is_told_that_nothing_is_known() -> None:
    disk = Disk()
    with waiting(disk, patience=0.3) as (_, put):
        late = [put(2), put(3)]
        disk.go_on.release()
        assert put.first.result(10) == 10
        with pytest.raises(LedgerError, match="is locked; the record may be durable or not"):
            late[1].result(10)


def test_an_interrupted_waiter_leaves_the_line() -> None:
    together: Group[int, int] = Group(lambda items: [i * 10 for i in items], 5, "busy")
    first, second = together.enter(1), together.enter(2)
    assert together._takes_over(first)
    assert not together._takes_over(second)
    together.leave(second)
    assert list(together._waiting) == [first]
    together.leave(second)
    assert list(together._waiting) == [first]


def test_a_leader_interrupted_before_its_turn_names_another() -> None:
    together: Group[int, int] = Group(lambda items: [i * 10 for i in items], 5, "busy")
    first = together.enter(1)
    assert together._takes_over(first)
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(together.put, 2)
        until(lambda: len(together._waiting) == 2 and together._waiting[1].waits)
        together.leave(first)
        assert other.result(10) == 20
    assert together.put(3) == 30


def test_one_who_gives_up_just_when_named_leads_after_all() -> None:
    together: Group[int, int] = Group(lambda items: [i * 10 for i in items], 5, "busy")
    first, second = together.enter(1), together.enter(2)
    assert together._takes_over(first)
    assert not together._takes_over(second)
    together.leave(first)
    assert second.leads
    assert not together._left(second)
    together._lead(second, gather=False)
    assert second.answer == 20
    assert together.put(3) == 30


def test_an_item_in_line_is_taken_along_by_whoever_comes() -> None:
    batches: list[list[int]] = []

    def commit(items: Sequence[int]) -> Answers:
        batches.append(list(items))
        return [i * 10 for i in items]

    together: Group[int, int] = Group(commit, 5, "busy")
    early = [together.enter(n) for n in (1, 2)]
    assert batches == []
    assert together.put(3) == 30
    assert batches == [[3, 1, 2]]
    assert [together.finish(ticket) for ticket in early] == [10, 20]
    assert len(batches) == 1


def test_an_item_in_line_is_committed_when_it_is_finished() -> None:
    together: Group[int, int] = Group(lambda items: [i * 10 for i in items], 5, "busy")
    tickets = [together.enter(n) for n in range(1, 5)]
    assert together.finish(tickets[2], gather=False) == 30
    assert [ticket.answer for ticket in tickets] == [10, 20, 30, 40]
    assert together.finish(tickets[2]) == 30, "asked again it says the same"


def test_nobody_is_named_leader_who_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "LARGEST", 1)
    together: Group[int, int] = Group(lambda items: [i * 10 for i in items], 5, "busy")
    early = together.enter(1)
    assert together.put(2) == 20
    assert not together._led
    assert not early.leads
    assert together.finish(early) == 10


def test_a_failure_reaches_an_item_when_it_is_finished() -> None:
    def commit(_items: Sequence[int]) -> Answers:
        raise LedgerError("the disk is full")

    together: Group[int, int] = Group(commit, 5, "busy")
    early = together.enter(1)
    for ticket in (together.enter(2), early):
        with pytest.raises(LedgerError, match="the disk is full"):
            together.finish(ticket)


def test_an_item_that_left_the_line_is_not_committed() -> None:
    batches: list[list[int]] = []

    def commit(items: Sequence[int]) -> Answers:
        batches.append(list(items))
        return list(items)

    together: Group[int, int] = Group(commit, 5, "busy")
    early = together.enter(1)
    together.leave(early)
    together.leave(early)
    assert together.put(2) == 2
    assert batches == [[2]]


def test_who_is_alone_knows_it() -> None:
    disk = Disk()
    together: Group[int, int] = Group(disk.commit, 5, "busy")
    assert together.alone
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(together.put, 1)
        assert disk.started.acquire(timeout=10)
        assert not together.alone
        disk.go_on.release()
        future.result(10)
    assert together.alone
    early = together.enter(2)
    assert not together.alone
    together.leave(early)
    assert together.alone


def test_callers_who_come_again_and_again_share_every_transaction() -> None:
    sizes: list[int] = []

    def commit(items: Sequence[int]) -> Answers:
        sizes.append(len(items))
        time.sleep(0.02)
        return list(items)

    together: Group[int, int] = Group(commit, 10, "busy")

    def come_again(number: int) -> None:
        for _ in range(10):
            together.put(number + 1)
            time.sleep(0.002)  # what a caller does between two records

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(come_again, range(8)))
    assert sum(sizes) == 80
    assert len(sizes) < 25, "without a moment's patience there would be one transaction for four"


def test_the_last_one_left_waits_for_the_others_once_and_not_long() -> None:
    together: Group[int, int] = Group(lambda items: list(items), 10, "busy")
    together._company, together._pause = 32, 0.05
    started = time.perf_counter()
    assert together.put(1) == 1
    first = time.perf_counter() - started
    assert [together.put(n) for n in range(1, 100)] == list(range(1, 100))
    assert 0.04 < first < 2.0
    assert time.perf_counter() - started - first < 2.0
    assert together._company == 1


def test_who_makes_the_company_complete_ends_the_wait() -> None:
    together: Group[int, int] = Group(lambda items: list(items), 10, "busy")
    together._company, together._pause = 3, 8.0
    started = time.perf_counter()
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(together.put, [1, 2, 3])) == [1, 2, 3]
    assert time.perf_counter() - started < 6.0
    assert together._gathered.locked()


def test_any_mix_of_callers_gets_its_own_answers() -> None:
    def commit(items: Sequence[int]) -> Answers:
        time.sleep(0.0005)
        return [LedgerError(str(i)) if i % 7 == 0 else i * 10 for i in items]

    together: Group[int, int] = Group(commit, 10, "busy")

    def ask(number: int) -> bool:
        try:
            return together.put(number) == number * 10
        except LedgerError as error:
            return str(error) == str(number)

    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(ask, range(2_000)))


@contextmanager
def commits(ledger: Ledger) -> Iterator[list[str]]:
    """The write transactions that begin meanwhile."""
    begun: list[str] = []

    def see(_c: object, _u: object, statement: str, *_: object) -> None:
        if statement.startswith("BEGIN"):
            begun.append(statement)

    engine = ledger._file._engine
    engine_event.listen(engine, "before_cursor_execute", see)
    yield begun
    engine_event.remove(engine, "before_cursor_execute", see)


def test_concurrent_appends_share_transactions_and_keep_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path) as ledger, ThreadPoolExecutor(33) as pool, commits(ledger) as begun:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # the first append waits here, the others behind it
            futures = [pool.submit(ledger.append, note(0))]
            until(lambda: len(begun) == 1)
            futures += [pool.submit(ledger.append, note(n)) for n in range(1, 33)]
            until(lambda: len(ledger._group._waiting) == 32)
            other.execute("ROLLBACK")
        appended = [f.result(10) for f in futures]
        assert len(begun) == 2
        stored = list(ledger.iterate())
    assert sorted(a.sequence for a in appended) == list(range(1, 34))
    for one in appended:
        assert stored[one.sequence - 1].digest == one.digest
        assert stored[one.sequence - 1].record == one.record
    assert verify(path).records == 33


def test_a_key_is_taken_once_within_one_transaction(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        from gate.ledger.store import draft

        first = ledger.append(erasure(1))
        answers = ledger._chain([(draft(erasure(n)),) for n in (2, 1, 2, 3)])
        assert [getattr(a, "sequence", None) for a in answers] == [2, None, None, 3]
        taken = [a.stored for a in answers if isinstance(a, DuplicateRequest)]
        assert [s.digest for s in taken] == [first.digest, list(ledger.iterate())[1].digest]
        assert ledger.head().sequence == 3


def test_a_shared_transaction_that_cannot_be_written_acknowledges_nobody(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path, busy_seconds=0.3) as ledger, ThreadPoolExecutor(8) as pool:
        ledger.append(note(0))
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            futures = [pool.submit(ledger.append, note(n)) for n in range(1, 9)]
            for future in futures:
                with pytest.raises(LedgerError, match="is locked by another"):
                    future.result(10)
            other.execute("ROLLBACK")
        assert ledger.head().sequence == 1
        assert ledger.append(note(9)).sequence == 2


def test_receipts_of_many_share_transactions_too(tmp_path: Path) -> None:
    with book_in(tmp_path) as book, ThreadPoolExecutor(32) as pool:
        written = list(pool.map(lambda n: record(book, numbered(n)), range(300)))
        for one in written:
            assert (
                book.receipts.get(one.record["text_commitment"]).decision_id
                == (one.record["decision_id"])
            )
    assert verify(tmp_path / "ledger.sqlite").records == 300


def test_a_receipt_kept_twice_in_one_transaction_is_refused_once(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        rows = [
            (name, "d", salt, b"{}", None, None, None)
            for name, salt in (("a", b"1"), ("b", b"2"), ("a", b"3"))
        ]
        answers = book.receipts._put_all(rows)
        assert answers[:2] == ["a", "b"]
        assert "refused the record: receipt `a` is there already" in str(answers[2])
        with book.receipts._file.reading() as connection:
            kept = connection.exec_driver_sql("SELECT receipt_id, salt FROM receipts").fetchall()
        assert sorted(tuple(row) for row in kept) == [("a", b"1"), ("b", b"2")]


def test_in_company_a_receipt_waits_with_its_record_and_comes_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[tuple[str, set[str]]] = []

    def watched(name: str, commit: Callable[..., Any], names: Callable[[Any], set[str]]) -> Any:
        def watch(items: Any) -> Any:
            answers = commit(items)
            order.append((name, names(items)))
            return answers

        return watch

    with book_in(tmp_path) as book, ThreadPoolExecutor(16) as pool:
        put_all, chain = book.receipts._put_all, book.ledger._chain
        book.receipts._group._commit = watched(
            "receipts", put_all, lambda rows: {r[1] for r in rows}
        )
        monkeypatch.setattr(
            type(book.ledger),
            "_chain",
            lambda _, items: watched("records", chain, lambda i: {d[0].key for d in i})(items),
        )
        list(pool.map(lambda n: record(book, numbered(n)), range(300)))
    kept: set[str] = set()
    for name, ids in order:
        if name == "receipts":
            kept |= ids
        else:
            assert ids <= kept, "a record before its receipt"
    shared = [ids for name, ids in order if name == "receipts" and len(ids) > 1]
    assert shared, "receipts went together"
    assert len(kept) == 300


def test_a_receipt_that_cannot_be_kept_keeps_its_record_out_and_no_other(tmp_path: Path) -> None:
    """In one line: two receipts of one name, of which the second is refused."""
    salt = b"s" * 32
    with book_in(tmp_path) as book, ThreadPoolExecutor(8) as pool:
        book.receipts._group._company = 8

        def one(number: int) -> bool:
            try:
                record(book, numbered(number % 4), salt=salt)
            except LedgerError as error:
                assert "refused the record" in str(error)
                return False
            return True

        ends = list(pool.map(one, range(8)))
        assert ends.count(True) == 4
        assert len(list(book.ledger.iterate())) == 4
    assert verify(tmp_path / "ledger.sqlite").ok


def test_a_record_that_is_refused_early_leaves_no_receipt_in_line(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        book.receipts._group._company = 8
        sealed = {**note(1), "kind": "NONSENSE"}
        from gate.ledger.book import keep
        from tests.gate.ledger.test_receipts import sample

        with pytest.raises(LedgerError, match="record kind `NONSENSE` is unknown"):
            keep(book, sample(), sealed)
        assert not book.receipts._group._waiting
        assert list(book.receipts.names()) == []
