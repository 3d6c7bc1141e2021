"""What every connector must do, as plain functions that raise AssertionError; runs under any runner.

    from inference.connectors import conformance

    @pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
    def test_connector_conforms(check, bench):
        check(bench)

`bench` is a `Bench` around your connector and a service of yours whose effects it can count. Each
check uses keys and orders of its own, so one bench may serve them all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from inference.connectors.protocol import (
    Clock,
    Connector,
    Order,
    Outcome,
    Prepared,
    Refused,
    Status,
)

LATE_S: Final = 0.5
"""The deadline that a slow service misses, in seconds."""
PATIENCE_S: Final = 1.0
"""Seconds past its deadline in which a call must have returned."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A connector and what it is tested with.

    `order()` makes an order that its service carries out, a different one each time, valid for at
    least 30 seconds; `key()` a key that was never used; `effects()` counts the effects at the
    service so far; `slow(s)` makes the service take `s` seconds for the next order, or is None
    where there is nothing that could be slow.
    """

    connector: Connector
    order: Callable[[], Order]
    key: Callable[[], str]
    effects: Callable[[], int]
    clock: Clock
    deadline_s: float = 5.0
    slow: Callable[[float], None] | None = None


class NonConforming(AssertionError):
    """A connector breaks the protocol; the message says how."""


def prepare_has_no_effect(bench: Bench) -> None:
    """`prepare` gives bytes and a digest, the same each time, and changes nothing."""
    order, before = bench.order(), bench.effects()
    first, second = bench.connector.prepare(order), bench.connector.prepare(order)
    _expect(isinstance(first, Prepared), f"a good order was refused: {first}")
    _expect(first == second, "the same order was prepared in two ways")
    _expect(bench.effects() == before, "prepare had an effect")


def one_order_has_one_effect(bench: Bench) -> None:
    """`execute` has the order done once and says so with a reference."""
    before = bench.effects()
    outcome = _execute(bench, bench.order(), bench.key())
    _expect(outcome.status is Status.DONE, f"a good order was not done: {outcome}")
    _expect(bool(outcome.reference), "DONE without a reference")
    _expect(bench.effects() == before + 1, "one order did not have one effect")


def same_key_has_no_second_effect(bench: Bench) -> None:
    """The same order under the same key gives the same outcome and changes nothing more."""
    order, key = bench.order(), bench.key()
    first, before = _execute(bench, order, key), bench.effects()
    _expect(_execute(bench, order, key) == first, "a repeated key had another outcome")
    _expect(bench.effects() == before, "a repeated key had a second effect")


def later_decision_under_the_same_key_is_the_same_order(bench: Bench) -> None:
    """When and by which decision an order comes does not make it another one."""
    order, key = bench.order(), bench.key()
    first, before = _execute(bench, order, key), bench.effects()
    later = order.valid_until - timedelta(seconds=1)
    again = replace(order, decision_id="another-decision", valid_until=later)
    _expect(_execute(bench, again, key) == first, "the decision's id made it another order")
    _expect(bench.effects() == before, "a later decision had a second effect")


def other_order_under_the_same_key_is_refused(bench: Bench) -> None:
    """A key belongs to one order: another one fails and changes nothing."""
    key = bench.key()
    _execute(bench, bench.order(), key)
    before = bench.effects()
    outcome = _execute(bench, bench.order(), key)
    _expect(outcome.status is Status.FAILED, f"another order under a used key: {outcome}")
    _expect(bench.effects() == before, "another order under a used key had an effect")


def parallel_calls_under_one_key_have_one_effect(bench: Bench) -> None:
    """Calls at the same time under one key have one effect, and none of them is told FAILED."""
    order, key, before = bench.order(), bench.key(), bench.effects()
    outcomes: list[Outcome] = []

    def call() -> None:
        outcomes.append(bench.connector.execute(order, key, bench.deadline_s))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _expect(len(outcomes) == len(threads), "a call raised an exception")
    statuses = {outcome.status for outcome in outcomes}
    _expect(statuses <= {Status.DONE, Status.IN_DOUBT}, f"parallel calls gave {statuses}")
    _expect(bench.effects() == before + 1, "parallel calls did not have one effect")


def status_tells_by_key(bench: Bench) -> None:
    """`status` is UNKNOWN before, the outcome after, and has no effect of its own."""
    order, key, before = bench.order(), bench.key(), bench.effects()
    _expect(bench.connector.status(key).status is Status.UNKNOWN, "an unused key is known")
    _expect(bench.effects() == before, "status had an effect")
    outcome = _execute(bench, order, key)
    _expect(bench.connector.status(key) == outcome, "status differs from what execute said")
    _expect(bench.effects() == before + 1, "status had an effect")


def unknown_action_is_refused(bench: Bench) -> None:
    """An action that the connector does not serve is refused at both calls."""
    _is_refused(bench, replace(bench.order(), action_id="NO_SUCH_ACTION"))


def malformed_order_is_refused(bench: Bench) -> None:
    """A float, an unresolved object or no subject: refused at both calls, never an exception."""
    order = bench.order()
    _is_refused(bench, replace(order, slots={**order.slots, "share": 0.1}))
    _is_refused(bench, replace(order, object_id="UNRESOLVED"))
    _is_refused(bench, replace(order, subject=""))


def expired_order_has_no_effect(bench: Bench) -> None:
    """An order after its end of validity fails and changes nothing."""
    order, before = bench.order(), bench.effects()
    late = replace(order, valid_until=bench.clock() - timedelta(seconds=1))
    outcome = _execute(bench, late, bench.key())
    _expect(outcome.status is Status.FAILED, f"an expired order was not refused: {outcome}")
    _expect(bench.effects() == before, "an expired order had an effect")


def deadline_is_honoured(bench: Bench) -> None:
    """A slow service leaves the order in doubt in time; the key tells what became of it later."""
    if bench.slow is None:
        return
    order, key, before = bench.order(), bench.key(), bench.effects()
    bench.slow(2 * LATE_S)
    started = time.monotonic()
    outcome = bench.connector.execute(order, key, LATE_S)
    took = time.monotonic() - started
    _expect(took < LATE_S + PATIENCE_S, f"a deadline of {LATE_S} s took {took:.1f} s")
    _expect(outcome.status is Status.IN_DOUBT, f"after the deadline: {outcome}")
    time.sleep(2 * LATE_S)
    known = bench.connector.status(key).status
    _expect(known is not Status.FAILED or bench.effects() == before, "FAILED, but with an effect")
    _expect(
        known is not Status.DONE or bench.effects() == before + 1, "DONE, but without one effect"
    )


CHECKS: Final[tuple[Callable[[Bench], None], ...]] = (
    prepare_has_no_effect,
    one_order_has_one_effect,
    same_key_has_no_second_effect,
    later_decision_under_the_same_key_is_the_same_order,
    other_order_under_the_same_key_is_refused,
    parallel_calls_under_one_key_have_one_effect,
    status_tells_by_key,
    unknown_action_is_refused,
    malformed_order_is_refused,
    expired_order_has_no_effect,
    deadline_is_honoured,
)
"""Every check, in reading order."""


def _is_refused(bench: Bench, order: Order) -> None:
    before = bench.effects()
    prepared = bench.connector.prepare(order)
    _expect(isinstance(prepared, Refused), "prepare accepted what it must refuse")
    outcome = _execute(bench, order, bench.key())
    _expect(outcome.status is Status.FAILED, f"execute gave {outcome} for what it must refuse")
    _expect(bench.effects() == before, "a refused order had an effect")


def _execute(bench: Bench, order: Order, key: str) -> Outcome:
    outcome = bench.connector.execute(order, key, bench.deadline_s)
    _expect(isinstance(outcome, Outcome), f"execute gave {outcome!r}, which is no Outcome")
    return outcome


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise NonConforming(otherwise)
