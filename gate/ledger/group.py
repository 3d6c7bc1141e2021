"""One durable transaction for all who wait: whoever comes first commits for the others.

While one caller's transaction is being flushed, the items of the next callers gather; the next
transaction takes all of them. Where several callers were there a moment ago it first gives them a
moment to come back. A lone caller never waits for company.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, cast

from gate.errors import LedgerError

Item = TypeVar("Item")
Result = TypeVar("Result")

LARGEST = 256
"""Items that one transaction takes; the others wait for the next one."""


class Ticket(Generic[Item, Result]):
    """One item on its way; `bell` opens when it leads the next transaction or has its answer."""

    __slots__ = ("answer", "bell", "item", "leads", "waits")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.answer: Result | LedgerError | None = None
        self.leads = False
        self.waits = False
        self.bell = threading.Lock()
        self.bell.acquire()


class Group(Generic[Item, Result]):
    """Items of many threads, made durable together by `commit`.

    `commit` takes the items of one transaction and returns their answers in the same order, once
    all of them are durable: a result, or the LedgerError of an item that was refused alone. What
    it raises fails every item.
    """

    def __init__(
        self,
        commit: Callable[[Sequence[Item]], Sequence[Result | LedgerError]],
        patience_seconds: float,
        busy: str,
    ) -> None:
        self._commit = commit
        self._patience = patience_seconds
        self._busy = busy
        self._mutex = threading.Lock()
        self._waiting: deque[Ticket[Item, Result]] = deque()
        self._led = False
        self._company = 1  # callers who were there at the end of the last transaction
        self._pause = 0.0  # half the seconds that it took
        self._wanted = 0
        self._gathered = threading.Lock()
        self._gathered.acquire()

    def put(self, item: Item) -> Result:
        """Commit an item, perhaps with others; it is durable on return.

        LedgerError if it was refused, if the shared transaction failed, or if its turn does not
        come within the patience; then nothing of it is written unless the message says so.
        """
        return self.finish(self.enter(item))

    @property
    def alone(self) -> bool:
        """True if nobody else was here of late."""
        return self._company <= 1 and not self._waiting and not self._led

    def enter(self, item: Item) -> Ticket[Item, Result]:
        """Stand in line; somebody's transaction takes the item along, at the latest `finish`."""
        ticket: Ticket[Item, Result] = Ticket(item)
        with self._mutex:
            self._waiting.append(ticket)
            if 0 < self._wanted <= len(self._waiting):
                self._wanted = 0
                self._gathered.release()
        return ticket

    def finish(self, ticket: Ticket[Item, Result], gather: bool = True) -> Result:
        """What `put` does, for an item that stands in line; `gather` as a rule for others first."""
        try:
            if ticket.answer is None and (self._takes_over(ticket) or self._called(ticket)):
                self._lead(ticket, gather)
        except BaseException:
            self.leave(ticket)
            raise
        if isinstance(ticket.answer, LedgerError):
            raise ticket.answer
        return cast(Result, ticket.answer)

    def _takes_over(self, ticket: Ticket[Item, Result]) -> bool:
        """True if nobody leads, so that this caller must."""
        with self._mutex:
            ticket.waits = True
            if self._led or ticket not in self._waiting:
                return False
            self._led = ticket.leads = True
            return True

    def _called(self, ticket: Ticket[Item, Result]) -> bool:
        """Wait for the answer; True if this caller must lead the next transaction instead."""
        if not ticket.bell.acquire(timeout=self._patience) and self._left(ticket):
            raise LedgerError(self._busy)
        if ticket.answer is None and not ticket.leads:  # taken along by a leader who is slow
            if not ticket.bell.acquire(timeout=2 * self._patience):
                raise LedgerError(f"{self._busy}; the record may be durable or not")
        return ticket.leads

    def _left(self, ticket: Ticket[Item, Result]) -> bool:
        """Leave the line; False if a leader has taken the item already, or named us."""
        with self._mutex:
            if ticket.leads or ticket not in self._waiting:
                return False
            self._waiting.remove(ticket)
            return True

    def _gather(self) -> None:
        """Let come back who was there last time, for at most half the time of a transaction."""
        with self._mutex:
            if len(self._waiting) >= self._company:
                return
            self._wanted = self._company
        self._gathered.acquire(timeout=self._pause)
        with self._mutex:
            self._wanted = 0
            self._gathered.acquire(blocking=False)  # it may have been opened just now

    def _lead(self, own: Ticket[Item, Result], gather: bool) -> None:
        """Commit what waits, answer everyone, and name the next leader."""
        batch: list[Ticket[Item, Result]] = []
        answers: Sequence[Result | LedgerError] = ()
        failed = "the transaction that this record shared was broken off; it is not recorded"
        started = time.perf_counter()
        try:
            if gather:
                self._gather()
            with self._mutex:
                self._waiting.remove(own)
                batch.append(own)
                while self._waiting and len(batch) < LARGEST:
                    batch.append(self._waiting.popleft())
            started = time.perf_counter()
            answers = self._commit([ticket.item for ticket in batch])
        except LedgerError as error:
            failed = str(error)
            own.answer = error
        finally:
            self._pause = (time.perf_counter() - started) / 2
            for place, ticket in enumerate(batch):
                if ticket.answer is None:
                    ticket.answer = answers[place] if answers else LedgerError(failed)
                if ticket is not own:
                    ticket.bell.release()
            own.leads = False
            self._hand_over(len(batch))

    def _hand_over(self, served: int) -> None:
        with self._mutex:
            self._company = min(served + len(self._waiting), LARGEST)
            following = next((ticket for ticket in self._waiting if ticket.waits), None)
            self._led = following is not None
            if following is not None:
                following.leads = True
                following.bell.release()

    def leave(self, ticket: Ticket[Item, Result]) -> None:
        """Take an item out of line unless it is on its way; if its caller led, somebody else does."""
        with self._mutex:
            waiting = ticket in self._waiting
            if waiting:
                self._waiting.remove(ticket)
        if waiting and ticket.leads:
            self._hand_over(0)
