"""Turns, deadlines, retries and the circuit around any backend; callers that leave."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from gate.load.backends import Bounds
from inference.backends import Choice, Form, loop
from inference.backends.bounded import Bounded
from inference.errors import BackendError
from inference.prompts import Prompt
from tests.inference.backends.asking import ASKED, CODES

BOUNDS = Bounds(deadline_s=0.3, queue_s=0.1, concurrency=2, attempts=3, failures=2, open_s=10)
DONE = Choice((1.0, 0.0, 0.0))


class Model:
    """Does what its script says; knows how many calls there were and how many at once."""

    name, digest = "model", "model"
    form: Form = "codes"

    def __init__(self, script: Callable[[int], float | BackendError]) -> None:
        self.script = script
        self.calls = self.now = self.most = 0
        self.cancelled = threading.Event()

    async def choose(self, prompt: Prompt, codes: Sequence[str]) -> Choice:
        self.calls += 1
        said = self.script(self.calls)
        if isinstance(said, BackendError):
            raise said
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(said)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        finally:
            self.now -= 1
        return DONE


async def reasons(bounded: Bounded, times: int) -> list[str]:
    """What becomes of so many calls at once: `done` or a reason."""

    async def one() -> str:
        try:
            await bounded.choose(ASKED, CODES)
        except BackendError as error:
            return error.reason
        return "done"

    return list(await asyncio.gather(*(one() for _ in range(times))))


def test_no_more_calls_at_once_than_declared_and_the_rest_wait_only_so_long() -> None:
    model = Model(lambda number: 0.25)
    found = asyncio.run(reasons(Bounded(model, BOUNDS), 5))
    assert sorted(found) == ["backend_busy"] * 3 + ["done"] * 2
    assert model.most == 2


def test_slow_call_ends_at_its_deadline_and_is_cancelled() -> None:
    model = Model(lambda number: 60)
    assert asyncio.run(reasons(Bounded(model, BOUNDS), 1)) == ["backend_deadline"]
    assert model.cancelled.is_set()


def test_only_failed_connections_are_tried_again() -> None:
    down = Model(lambda n: BackendError("backend_down", "refused") if n < 3 else 0.0)
    assert asyncio.run(reasons(Bounded(down, BOUNDS), 1)) == ["done"]
    assert down.calls == 3
    for reason in ("backend_error", "invalid_choice", "unconstrained", "backend_configuration"):
        wrong = Model(lambda n, reason=reason: BackendError(reason, "x"))  # type: ignore[misc]
        assert asyncio.run(reasons(Bounded(wrong, BOUNDS), 1)) == [reason]
        assert wrong.calls == 1


def test_circuit_opens_tries_once_when_time_is_up_and_closes() -> None:
    now = [0.0]
    bad = BackendError("backend_error", "500")
    model = Model(lambda n: bad if n <= 3 else 0.0)

    async def work() -> None:
        bounded = Bounded(model, BOUNDS, lambda: now[0])
        assert [(await reasons(bounded, 1))[0] for _ in range(4)] == [
            *("backend_error", "backend_error", "circuit_open", "circuit_open")
        ]
        now[0] = 11.0
        assert await reasons(bounded, 1) == ["backend_error"]
        assert await reasons(bounded, 1) == ["circuit_open"]
        now[0] = 22.0
        assert sorted(await reasons(bounded, 2)) == ["circuit_open", "done"]
        assert await reasons(bounded, 2) == ["done", "done"]

    asyncio.run(work())
    assert model.calls == 6


def test_wrong_answers_do_not_open_the_circuit() -> None:
    model = Model(lambda n: BackendError("invalid_choice", "x"))

    async def work() -> list[str]:
        bounded = Bounded(model, BOUNDS)
        return [(await reasons(bounded, 1))[0] for _ in range(6)]

    assert asyncio.run(work()) == ["invalid_choice"] * 6


def test_cancelled_calls_say_nothing_about_the_backend() -> None:
    model = Model(lambda n: 60)

    async def work() -> list[str]:
        bounded = Bounded(model, replace(BOUNDS, deadline_s=30, failures=1))
        for _ in range(4):
            task = asyncio.create_task(bounded.choose(ASKED, CODES))
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        model.script = lambda n: 0.0
        return await reasons(bounded, 2)

    assert asyncio.run(work()) == ["done", "done"]


def test_caller_that_leaves_cancels_its_call_from_another_thread() -> None:
    model = Model(lambda n: 60)
    bounded, caller = Bounded(model, replace(BOUNDS, deadline_s=60)), loop.Caller()
    found: list[str] = []

    def wait() -> None:
        with loop.waiting(caller):
            try:
                loop.call(bounded.choose(ASKED, CODES))
            except BackendError as error:
                found.append(error.reason)

    thread = threading.Thread(target=wait)
    thread.start()
    until = time.monotonic() + 10
    while not model.now and time.monotonic() < until:
        time.sleep(0.01)
    caller.leave()
    thread.join(10)
    assert found == ["caller_left"]
    assert model.cancelled.wait(10)


def test_caller_that_has_left_asks_nothing_any_more() -> None:
    model, caller = Model(lambda n: 60), loop.Caller()
    caller.leave()
    with loop.waiting(caller), pytest.raises(BackendError) as caught:
        loop.call(Bounded(model, BOUNDS).choose(ASKED, CODES))
    assert caught.value.reason == "caller_left"


def test_calls_of_many_threads_run_at_once_on_one_loop() -> None:
    model = Model(lambda n: 0.2)
    bounded = Bounded(model, replace(BOUNDS, concurrency=8, deadline_s=10))
    threads = [
        threading.Thread(target=lambda: loop.call(bounded.choose(ASKED, CODES))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert model.most > 1
    assert model.calls == 8
