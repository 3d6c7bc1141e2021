"""The HTTP connector against a real process: one effect for one key, whatever goes wrong."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from inference.connectors import signing
from inference.connectors.call import Endpoint
from inference.connectors.http import HttpConnector
from inference.connectors.protocol import Outcome, Prepared, Reason, Status, failed, in_doubt
from inference.connectors.roster import Dispatched, Duty, Roster, reconcile
from tests.inference.connectors.offices import ACTIONS, BackOffice, new_key, now, order
from tests.inference.connectors.scripted import SECRET, Asked, Script, answer, says, serving


@dataclass(frozen=True)
class Case:
    """A fault: what `execute` says within its deadline, and how many effects there are in the end."""

    reason: Reason
    effects: int
    valid_s: float
    deadline_s: float = 5.0


FAULTS = {
    "crash-before": Case(Reason.CONNECTION_LOST, 0, valid_s=0.8),
    "crash-inside": Case(Reason.CONNECTION_LOST, 0, valid_s=2.0),
    "crash-after": Case(Reason.CONNECTION_LOST, 1, valid_s=10.0),
    "delay-before:1.2": Case(Reason.DEADLINE, 0, valid_s=0.8, deadline_s=0.5),
    "delay-after:1.2": Case(Reason.DEADLINE, 1, valid_s=10.0, deadline_s=0.5),
    "error-before": Case(Reason.SERVICE_ERROR, 0, valid_s=0.8),
    "error-after": Case(Reason.SERVICE_ERROR, 1, valid_s=10.0),
}


def connecting(url: str) -> HttpConnector:
    """A connector to a scripted service."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return HttpConnector("scripted", Endpoint(url, SECRET, context), ACTIONS, now)


def roster(connector: HttpConnector) -> Roster:
    return Roster({"FUND_ORDER": Duty(connector, 1.0, 60.0)}, (), now)


def settled(connector: HttpConnector, dispatched: Dispatched) -> Outcome:
    """Reconcile until the outcome is settled."""
    for _ in range(100):
        outcome = reconcile(roster(connector), dispatched)
        if outcome.settled:
            return outcome
        time.sleep(0.05)
    raise AssertionError(f"still {outcome}")


def test_order_is_done_once_for_its_key(office: BackOffice, connector: HttpConnector) -> None:
    given, key = order(), new_key()
    first = connector.execute(given, key, 5)
    assert first.status is Status.DONE
    assert connector.execute(given, key, 5) == first
    assert connector.status(key) == first
    assert office.effects(key) == 1


def test_prepare_shows_the_very_body_that_is_sent() -> None:
    def script(connection: socket.socket, asked: Asked) -> None:
        connection.sendall(answer(asked, {"status": "DONE", "reference": asked.body.hex()[:8]}))

    with serving(script) as (url, seen):
        given = order()
        prepared = connecting(url).prepare(given)
        assert seen == []
        assert connecting(url).execute(given, new_key(), 2).status is Status.DONE
    assert isinstance(prepared, Prepared)
    assert seen[0].body == prepared.body


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_leaves_the_order_in_doubt_and_its_key_settles_it(
    office: BackOffice, connector: HttpConnector, fault: str
) -> None:
    case, key = FAULTS[fault], new_key()
    until = now() + timedelta(seconds=case.valid_s)
    office.fail_next(fault)
    outcome = connector.execute(order(valid_until=until), key, case.deadline_s)
    assert outcome == in_doubt(case.reason)
    if fault.startswith("crash"):
        office.running.process.wait(5)
        assert connector.status(key) == in_doubt(Reason.UNREACHABLE)
        office.start_again()
    last = settled(connector, Dispatched(key, "FUND_ORDER", until))
    assert last.status is (Status.DONE if case.effects else Status.FAILED)
    assert last.reason == ("" if case.effects else Reason.NOT_DONE)
    time.sleep(0.3 if fault.startswith("delay") else 0)
    assert office.effects(key) == case.effects


def test_order_that_is_slow_but_valid_is_not_given_up(
    office: BackOffice, connector: HttpConnector
) -> None:
    key, until = new_key(), now() + timedelta(seconds=30)
    office.fail_next("delay-before:1.2")
    assert connector.execute(order(valid_until=until), key, 0.5) == in_doubt(Reason.DEADLINE)
    dispatched = Dispatched(key, "FUND_ORDER", until)
    assert reconcile(roster(connector), dispatched) == in_doubt(Reason.NOT_YET_KNOWN)
    assert settled(connector, dispatched).status is Status.DONE
    assert office.effects(key) == 1


def test_process_that_slept_past_the_validity_has_no_effect(
    office: BackOffice, connector: HttpConnector
) -> None:
    """Its own clock still lets it send; the service does not take the order on."""
    asleep = replace(connector, clock=lambda: now() - timedelta(seconds=5))
    key, until = new_key(), now() - timedelta(seconds=2)
    assert asleep.execute(order(valid_until=until), key, 2) == failed(Reason.EXPIRED)
    assert office.effects(key) == 0


def test_parallel_calls_under_one_key_have_one_effect(
    office: BackOffice, connector: HttpConnector
) -> None:
    given, key = order(), new_key()
    outcomes: list[Outcome] = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(connector.execute(given, key, 5)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {outcome.status for outcome in outcomes} == {Status.DONE}
    assert len({outcome.reference for outcome in outcomes}) == 1
    assert office.effects(key) == 1


def test_other_order_under_a_used_key_is_refused(
    office: BackOffice, connector: HttpConnector
) -> None:
    key = new_key()
    assert connector.execute(order(), key, 5).status is Status.DONE
    assert connector.execute(order(), key, 5) == failed(Reason.KEY_REUSED)
    assert office.effects(key) == 1


def test_service_that_is_down_failed_before_anything_began(connector: HttpConnector) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        down = connecting(f"http://127.0.0.1:{taken.getsockname()[1]}")
        outcome = down.execute(order(), new_key(), 1)
    assert outcome == failed(Reason.UNREACHABLE)
    assert outcome.may_retry


def test_malformed_key_is_never_sent() -> None:
    with serving(says({})) as (url, seen):
        for key in ("", "short", "a/../../effects", "k" * 101, "ключ-ключ"):
            assert connecting(url).execute(order(), key, 1) == failed(Reason.MALFORMED_ORDER)
            assert connecting(url).status(key) == failed(Reason.MALFORMED_ORDER)
    assert seen == []


def test_expired_order_is_never_sent() -> None:
    with serving(says({})) as (url, seen):
        late = order(valid_until=now())
        assert connecting(url).execute(late, new_key(), 1) == failed(Reason.EXPIRED)
    assert seen == []


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (says({"status": "DONE", "reference": "R-1"}), Outcome(Status.DONE, "R-1")),
        (says({"status": "IN_DOUBT", "reason": "PENDING"}, 202), in_doubt("PENDING")),
        (says({"status": "FAILED", "reason": "NO_SUCH_CARD"}, 422), failed("NO_SUCH_CARD")),
        (says({"status": "FAILED", "reason": "BUSY"}, 429), in_doubt(Reason.BUSY)),
    ],
)
def test_well_formed_answer_is_the_outcome(script: Script, expected: Outcome) -> None:
    with serving(script) as (url, _):
        assert connecting(url).execute(order(), new_key(), 2) == expected


@pytest.mark.parametrize(
    "script",
    [
        says({}),
        says([]),
        says("DONE"),
        says({"status": "DONE"}),
        says({"status": "DONE", "reference": ""}),
        says({"status": "DONE", "reference": 7}),
        says({"status": "DONE", "reference": "two words"}),
        says({"status": "DONE", "reference": "R", "more": 1}),
        says({"status": "DONE", "reference": "R"}, 201),
        says({"status": "DONE", "reference": "R"}, 422),
        says({"status": "FAILED", "reason": "NO"}, 200),
        says({"status": "FAILED", "reason": "not a code"}, 422),
        says({"status": "FAILED", "reason": None}, 422),
        says({"status": "UNKNOWN"}, 404),
        says({"status": "RECORDED", "reference": "R"}),
        says({"status": "done", "reference": "R"}),
        says({"detail": "Not Found"}, 404),
    ],
)
def test_any_other_answer_leaves_the_order_in_doubt(script: Script) -> None:
    with serving(script) as (url, _):
        outcome = connecting(url).execute(order(), new_key(), 2)
    assert outcome == in_doubt(Reason.ANSWER_MALFORMED)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (says({"status": "DONE", "reference": "R-1"}), Outcome(Status.DONE, "R-1")),
        (says({"status": "FAILED", "reason": "NO"}), failed("NO")),
        (says({"status": "IN_DOUBT", "reason": "PENDING"}), in_doubt("PENDING")),
        (says({"status": "UNKNOWN"}, 404), Outcome(Status.UNKNOWN)),
        (says({"status": "UNKNOWN"}, 200), in_doubt(Reason.ANSWER_MALFORMED)),
        (says({"status": "FAILED", "reason": "UNSIGNED"}, 401), in_doubt(Reason.ANSWER_MALFORMED)),
        (says({"detail": "Not Found"}, 404), in_doubt(Reason.ANSWER_MALFORMED)),
        (says({"status": "UNKNOWN"}, 503), in_doubt(Reason.SERVICE_ERROR)),
        (says({"status": "UNKNOWN"}, 404, secret=bytes(32)), in_doubt(Reason.ANSWER_UNSIGNED)),
    ],
)
def test_status_says_only_what_the_service_has_signed(script: Script, expected: Outcome) -> None:
    with serving(script) as (url, seen):
        assert connecting(url).status("k" * 32) == expected
    assert (seen[0].method, seen[0].target) == ("GET", "/orders/" + "k" * 32)
    assert signing.KEY in seen[0].headers
