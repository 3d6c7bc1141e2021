"""Any order of recording, repeating, erasing and reopening, against the plainest model of a book."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gate.ledger.book import Book, erase, recall
from gate.ledger.formats import Kind
from gate.ledger.pseudonym import new_salt
from gate.ledger.receipts import Erased
from gate.ledger.replay import Status, replay_all
from gate.ledger.store import DuplicateRequest, Head
from gate.ledger.verify import check_chain, verify
from tests.gate.ledger.samples import ANSWERS, NOW, book_in, decided, numbered, record

IDS = st.integers(0, 5)
BODIES = st.sampled_from(["first text", "second text 在"])


class Life(RuleBasedStateMachine):
    """A book beside a dictionary of what it should hold."""

    @initialize()
    def begin(self) -> None:
        """An empty folder."""
        self.folder = Path(tempfile.mkdtemp())
        self.book: Book = book_in(self.folder)
        self.decided: dict[int, tuple[str, str]] = {}
        self.erased: set[int] = set()
        self.kinds: list[Kind] = []
        self.heads: list[Head] = []

    @rule(number=IDS, body=BODIES, answer=st.sampled_from(ANSWERS))
    def ask(self, number: int, body: str, answer: Any) -> None:
        """A request, new or repeated, with the same body or another."""
        request = numbered(number, utterance=body)
        known = self.decided.get(number)
        if known is None:
            assert recall(self.book, request) is None
            written = record(self.book, request, answer, salt=new_salt())
            assert not written.replayed
            self.decided[number] = (body, written.record["decision_id"])
            self.kinds.append(Kind.DECISION)
            self.heads.append(Head(written.sequence, written.digest))
        elif known[0] == body and number not in self.erased:
            again = record(self.book, request, answer, salt=new_salt())
            assert again.replayed
            assert again == recall(self.book, request)
            assert again.record["decision_id"] == known[1]
        else:
            for attempt in (recall, lambda b, r: record(b, r, answer, salt=new_salt())):
                with pytest.raises(DuplicateRequest):
                    attempt(self.book, request)

    @precondition(lambda self: self.decided)
    @rule(number=IDS)
    def forget(self, number: int) -> None:
        """Erase a decision's text, perhaps again."""
        if number in self.decided:
            count = erase(self.book, self.decided[number][1], at=NOW, reason="asked")
            assert number in self.erased or count >= 1
            if number not in self.erased:
                self.kinds.append(Kind.ERASURE)
                self.heads.append(self.book.ledger.head())
            self.erased.add(number)

    @rule()
    def reopen(self) -> None:
        """Stop and start."""
        self.book.close()
        self.book = book_in(self.folder)

    @invariant()
    def holds(self) -> None:
        """Chain, receipts and replay agree with the dictionary."""
        rows = list(self.book.ledger.iterate())
        assert [row.kind for row in rows] == [kind.value for kind in self.kinds]
        report = check_chain(rows, self.heads[-1] if self.heads else None)
        assert report.ok
        assert report.head == self.book.ledger.head()
        gone = {self.decided[number][1] for number in self.erased}
        for row in rows:
            if row.kind == Kind.DECISION:
                kept = self.book.receipts.get(row.record["text_commitment"])
                assert isinstance(kept, Erased) == (row.key in gone)
        for again in replay_all(self.book, decided):
            expected = Status.ERASED if again.decision_id in gone else Status.SAME
            assert again.status is expected

    def teardown(self) -> None:
        """The file verifies, against every checkpoint there was."""
        self.book.close()
        for head in (None, *self.heads):
            assert verify(self.folder / "ledger.sqlite", head).ok
        for head in self.heads:
            other = replace(head, digest="0" * 64)
            assert not verify(self.folder / "ledger.sqlite", other).ok
        shutil.rmtree(self.folder)


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
