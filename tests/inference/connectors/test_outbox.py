"""The outbox: kept before it is sent, sent again only where nothing happened, one effect in the end."""

from __future__ import annotations

import itertools
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from gate.errors import LedgerError
from inference.connectors import orders
from inference.connectors.outbox import Outbox, Relayed, forget, open_outbox, relay
from inference.connectors.protocol import (
    UNKNOWN,
    Connector,
    Order,
    Outcome,
    Prepared,
    Reason,
    Refused,
    Status,
    done,
    failed,
    in_doubt,
)
from tests.inference.connectors.offices import ACTIONS, BackOffice, new_key, now, order

ROOT = Path(__file__).resolve().parents[3]


@dataclass
class Played:
    """An inner connector that answers from lists and notes what it is asked."""

    executing: list[Outcome] = field(default_factory=list)
    telling: list[Outcome] = field(default_factory=list)
    sent: list[Order] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    name: str = "played"
    settle_s: float = 5.0
    may_repeat: bool = False

    def prepare(self, order: Order) -> Prepared | Refused:
        return orders.prepare(self.name, order, ACTIONS)

    def execute(self, order: Order, key: str, deadline_s: float) -> Outcome:
        self.sent.append(order)
        return self.executing.pop(0)

    def status(self, key: str) -> Outcome:
        self.asked.append(key)
        return self.telling.pop(0)


@dataclass
class Watch:
    """A clock that is moved by hand."""

    time: datetime

    def __call__(self) -> datetime:
        return self.time

    def pass_(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


Play = Callable[..., tuple[Outbox, Played, Watch]]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    def opened(
        executing: list[Outcome], telling: list[Outcome] | None = None
    ) -> tuple[Outbox, Played, Watch]:
        inner, watch = Played(executing, telling or []), Watch(now())
        assert isinstance(inner, Connector)
        return open_outbox("desk", tmp_path / "outbox.sqlite", inner, watch), inner, watch

    return opened


def rows(box: Outbox) -> list[dict[str, object]]:
    with closing(sqlite3.connect(box.file.path)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute("SELECT * FROM orders")]


def settle(box: Outbox, key: str, seconds: float = 10.0) -> Outcome:
    """Run the relay until the order is settled."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        relay(box, 0.5)
        outcome = box.status(key)
        if outcome.settled:
            return outcome
        time.sleep(0.05)
    raise AssertionError(f"still {outcome}")


# -- against a real back office ------------------------------------------------------------------


def test_order_is_kept_and_delivered_at_once(office: BackOffice, outbox: Outbox) -> None:
    given, key = order(), new_key()
    outcome = outbox.execute(given, key, 5)
    assert outcome.status is Status.DONE
    assert outbox.execute(given, key, 5) == outcome
    assert outbox.status(key) == outcome
    assert relay(outbox, 5) == Relayed(seen=0, settled=0, open=0)
    assert office.effects(key) == 1


@pytest.mark.parametrize(
    "fault",
    [
        *("crash-before", "crash-inside", "crash-after"),
        *("delay-before:1.0", "delay-after:1.0", "error-before", "error-after"),
    ],
)
def test_every_fault_of_the_service_ends_in_one_effect(
    office: BackOffice, outbox: Outbox, fault: str
) -> None:
    key = new_key()
    office.fail_next(fault)
    outcome = outbox.execute(order(), key, 0.5 if fault.startswith("delay") else 1.5)
    assert outcome.status is Status.IN_DOUBT
    if fault.startswith("crash"):
        office.start_again()
    assert settle(outbox, key).status is Status.DONE
    assert office.effects(key) == 1


@pytest.mark.parametrize("place", ["kept", "claimed", "sent"])
def test_every_crash_of_the_appliance_ends_in_one_effect(
    office: BackOffice, outbox: Outbox, place: str
) -> None:
    key, given = new_key(), orders.body(order()).decode()
    path, secret = str(outbox.file.path), str(office.secret_file)
    writer = str(Path(__file__).with_name("writer.py"))
    command = [sys.executable, writer, path, office.url, secret, key, given, place]
    died = subprocess.run(  # noqa: S603
        command, env={"PYTHONPATH": str(ROOT)}, capture_output=True, timeout=30, check=False
    )
    assert died.returncode == -9, died.stderr
    state = rows(outbox)[0]["state"]
    assert state == ("QUEUED" if place == "kept" else "SENDING")
    assert office.effects(key) == (1 if place == "sent" else 0)
    later = replace(outbox, clock=lambda: now() + timedelta(seconds=20))
    assert settle(later, key).status is Status.DONE
    assert office.effects(key) == 1


def test_outage_is_outlived(office: BackOffice, outbox: Outbox) -> None:
    office.running.stop()
    keys = [new_key() for _ in range(3)]
    for key in keys:
        assert outbox.execute(order(), key, 0.5) == in_doubt(Reason.QUEUED)
    office.start_again()
    assert [settle(outbox, key).status for key in keys] == [Status.DONE] * 3
    assert [office.effects(key) for key in keys] == [1] * 3


def test_many_relays_at_once_deliver_every_order_once(office: BackOffice, outbox: Outbox) -> None:
    refusing = replace(outbox, inner=Played([failed(Reason.UNREACHABLE)] * 12))
    keys = [new_key() for _ in range(12)]
    for key in keys:
        refusing.execute(order(), key, 1)
    time.sleep(0.2)
    second = open_outbox("desk", outbox.file.path, outbox.inner, now)
    boxes = [outbox, second, outbox, second]
    threads = [threading.Thread(target=relay, args=(box, 5.0)) for box in boxes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    second.close()
    assert [office.effects(key) for key in keys] == [1] * 12
    assert relay(outbox, 5.0).open == 0


def test_refusal_of_the_bank_is_final(office: BackOffice, outbox: Outbox) -> None:
    given, key = order(action_id="FREEZE_CARD", object_id="CARD-9999-9", slots={}), new_key()
    assert outbox.execute(given, key, 5) == failed("NOT_FOUND")
    assert relay(outbox, 5) == Relayed(0, 0, 0)
    assert outbox.execute(given, key, 5) == failed("NOT_FOUND")
    assert office.effects(key) == 0


# -- step by step --------------------------------------------------------------------------------


def test_order_is_on_the_disk_before_it_is_sent(play: Play) -> None:
    box, inner, _ = play([done("R")])
    states: list[object] = []
    inner.execute = lambda order, key, deadline_s: (
        states.append((rows(box)[0]["state"], rows(box)[0]["attempts"])) or done("R")
    )
    assert box.execute(order(), new_key(), 1) == done("R")
    assert states == [("SENDING", 1)]


def test_failure_before_anything_began_is_tried_again_with_longer_pauses(play: Play) -> None:
    box, inner, watch = play([failed(Reason.UNREACHABLE), failed(Reason.BUSY), done("R")])
    key = new_key()
    assert box.execute(order(), key, 1) == in_doubt(Reason.QUEUED)
    assert relay(box, 1).seen == 0, "the pause is not over"
    watch.pass_(1.0)
    assert relay(box, 1) == Relayed(seen=1, settled=0, open=1)
    watch.pass_(1.0)
    assert relay(box, 1).seen == 0, "the second pause is twice as long"
    watch.pass_(1.0)
    assert relay(box, 1) == Relayed(seen=1, settled=1, open=0)
    assert box.status(key) == done("R")
    assert len(inner.sent) == 3


def test_order_in_doubt_is_asked_about_and_not_sent_again(play: Play) -> None:
    lost, unsure = in_doubt(Reason.CONNECTION_LOST), in_doubt(Reason.UNREACHABLE)
    box, inner, watch = play([lost], [unsure, UNKNOWN, done("R")])
    key = new_key()
    assert box.execute(order(), key, 1) == lost
    for expected in (unsure, in_doubt(Reason.NOT_YET_KNOWN), done("R")):
        watch.pass_(2.0)
        relay(box, 1)
        assert box.status(key) == expected
    assert (len(inner.sent), inner.asked) == (1, [key] * 3)


def test_attempt_that_can_no_longer_arrive_is_followed_by_another(play: Play) -> None:
    box, inner, watch = play([in_doubt(Reason.DEADLINE), done("R")], [UNKNOWN, UNKNOWN])
    key = new_key()
    given = order(valid_until=watch() + timedelta(seconds=60))
    box.execute(given, key, 1)
    assert inner.sent[0].valid_until == watch() + timedelta(seconds=10), "one lease"
    watch.pass_(14.9)
    relay(box, 1)
    assert len(inner.sent) == 1, "within the time to settle it may arrive yet"
    watch.pass_(1.0)
    relay(box, 1)
    assert len(inner.sent) == 1, "known not to have happened, not sent in the same step"
    watch.pass_(1.0)
    relay(box, 1)
    assert box.status(key) == done("R")
    assert [o.valid_until <= given.valid_until for o in inner.sent] == [True, True]


def test_attempt_never_outlives_the_order(play: Play) -> None:
    box, inner, watch = play([in_doubt(Reason.DEADLINE)], [UNKNOWN, UNKNOWN])
    key, until = new_key(), watch() + timedelta(seconds=3)
    box.execute(order(valid_until=until), key, 1)
    assert inner.sent[0].valid_until == until
    watch.pass_(7.9)
    relay(box, 1)
    assert box.status(key) == in_doubt(Reason.NOT_YET_KNOWN)
    watch.pass_(2.0)
    relay(box, 1)
    assert box.status(key) == failed(Reason.NOT_DONE)
    assert len(inner.sent) == 1


def test_order_that_waited_too_long_is_not_sent(play: Play) -> None:
    box, inner, watch = play([failed(Reason.UNREACHABLE)])
    key = new_key()
    box.execute(order(valid_until=watch() + timedelta(seconds=2)), key, 1)
    watch.pass_(2.0)
    relay(box, 1)
    assert box.status(key) == failed(Reason.EXPIRED)
    assert len(inner.sent) == 1


def test_attempt_refused_as_expired_is_made_again_while_the_order_is_valid(play: Play) -> None:
    box, inner, watch = play([failed(Reason.EXPIRED), failed(Reason.EXPIRED)])
    key = new_key()
    box.execute(order(valid_until=watch() + timedelta(seconds=15)), key, 1)
    assert box.status(key) == in_doubt(Reason.QUEUED)
    watch.pass_(14.0)
    inner.execute = lambda order, key, deadline_s: watch.pass_(2.0) or failed(Reason.EXPIRED)
    relay(box, 1)
    assert box.status(key) == failed(Reason.EXPIRED)


def test_claim_of_a_live_sender_is_left_alone(play: Play) -> None:
    box, inner, _ = play([])
    key, given = new_key(), order()
    seen: list[Outcome] = []

    def execute(order: Order, key: str, deadline_s: float) -> Outcome:
        relay(box, 1)
        seen.append(box.execute(given, key, 1))
        return done("R")

    inner.execute = execute
    assert box.execute(given, key, 1) == done("R")
    assert seen == [in_doubt(Reason.SENDING)]
    assert inner.asked == []


def test_late_sender_does_not_overwrite_what_was_found_out(play: Play) -> None:
    box, inner, watch = play([], [done("R")])
    key = new_key()

    def execute(order: Order, key: str, deadline_s: float) -> Outcome:
        watch.pass_(11.0)
        relay(box, 1)
        return in_doubt(Reason.DEADLINE)

    inner.execute = execute
    assert box.execute(order(), key, 1) == done("R")
    assert box.status(key) == done("R")


def test_outcome_outside_the_protocol_is_doubt(play: Play) -> None:
    box, _, _ = play([UNKNOWN])
    assert box.execute(order(), new_key(), 1) == in_doubt(Reason.NOT_YET_KNOWN)


def test_other_order_under_a_used_key_is_refused(play: Play) -> None:
    box, inner, _ = play([done("R")])
    key = new_key()
    box.execute(order(), key, 1)
    assert box.execute(order(), key, 1) == failed(Reason.KEY_REUSED)
    assert len(inner.sent) == 1


def test_expired_malformed_and_unserved_orders_are_not_kept(play: Play) -> None:
    box, _, watch = play([])
    assert box.execute(order(valid_until=watch()), new_key(), 1) == failed(Reason.EXPIRED)
    assert box.execute(order(subject=""), new_key(), 1) == failed(Reason.MALFORMED_ORDER)
    assert box.execute(order(), "short", 1) == failed(Reason.MALFORMED_ORDER)
    assert box.execute(order(action_id="SELL"), new_key(), 1) == failed(Reason.UNKNOWN_ACTION)
    assert rows(box) == []


def test_prepare_names_the_outbox_and_keeps_nothing(play: Play) -> None:
    box, _, _ = play([])
    prepared = box.prepare(order())
    assert isinstance(prepared, Prepared)
    assert prepared.connector == "desk"
    assert isinstance(box.prepare(order(subject="")), Refused)
    assert rows(box) == []


def test_forgotten_order_keeps_its_outcome_only(play: Play) -> None:
    box, inner, _ = play([done("R"), in_doubt(Reason.DEADLINE)])
    key, open_key = new_key(), new_key()
    box.execute(order(), key, 1)
    box.execute(order(), open_key, 1)
    assert forget(box, key)
    assert not forget(box, open_key), "an open order is needed yet"
    assert not forget(box, new_key())
    first = rows(box)[0]
    assert (first["body"], first["content"], first["reference"]) == (None, None, "R")
    assert b"C-1001" not in first.__repr__().encode()
    assert box.execute(order(), key, 1) == done("R"), "nothing is sent for a settled key"
    assert len(inner.sent) == 2


@pytest.mark.parametrize("call", ["execute", "status"])
def test_store_that_fails_leaves_the_order_in_doubt(
    play: Play, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    box, inner, _ = play([])

    def full(self: object) -> None:
        raise LedgerError("the disk is full")

    monkeypatch.setattr(type(box.file), "writing", full)
    monkeypatch.setattr(type(box.file), "reading", full)
    key = new_key()
    outcome = box.execute(order(), key, 1) if call == "execute" else box.status(key)
    assert outcome == in_doubt(Reason.STORE)
    assert inner.sent == []
    with pytest.raises(LedgerError):
        relay(box, 1)


def test_file_of_another_kind_does_not_open(tmp_path: Path) -> None:
    path = tmp_path / "outbox.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE orders (key TEXT)")
    with pytest.raises(LedgerError, match="another program"):
        open_outbox("desk", path, Played(), now)


def test_unreachable_service_leaves_the_order_queued(tmp_path: Path, outbox: Outbox) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        inner = outbox.inner
        down = replace(inner, endpoint=replace(inner.endpoint, url=url))
        box = replace(outbox, inner=down)
        assert box.execute(order(), new_key(), 1) == in_doubt(Reason.QUEUED)


def test_service_that_cannot_be_asked_leaves_the_order_in_doubt_however_long(play: Play) -> None:
    silent = in_doubt(Reason.UNREACHABLE)
    box, inner, watch = play([in_doubt(Reason.DEADLINE)], [silent, silent, done("R")])
    key = new_key()
    box.execute(order(valid_until=watch() + timedelta(hours=1)), key, 1)
    for seconds, expected in ((60, silent), (60, silent), (60, done("R"))):
        watch.pass_(seconds)
        relay(box, 1)
        assert box.status(key) == expected
    assert len(inner.sent) == 1


def test_sender_that_loses_the_claim_does_not_send(play: Play, tmp_path: Path) -> None:
    box, inner, watch = play([failed(Reason.UNREACHABLE), done("R")])
    key = new_key()
    box.execute(order(), key, 1)
    watch.pass_(5.0)
    rival = replace(box, clock=interrupted(watch, lambda: relay(box, 1)))
    relay(rival, 1)
    assert box.status(key) == done("R")
    assert len(inner.sent) == 2, "one attempt that failed, one that did not"


def interrupted(watch: Watch, act: Callable[[], object]) -> Callable[[], datetime]:
    """A clock that lets something happen when it is read for the second time."""
    reads = itertools.count(1)

    def clock() -> datetime:
        if next(reads) == 2:
            act()
        return watch()

    return clock
