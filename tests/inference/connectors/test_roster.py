"""The roster: every write action has one connector, and what the way through asks of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gate.errors import ConfigError
from gate.load import load
from gate.load.connectors import ConnectorEntry, Connectors, moved
from inference.connectors import roster, signing
from inference.connectors.http import HttpConnector
from inference.connectors.outbox import Outbox
from inference.connectors.protocol import (
    UNKNOWN,
    Outcome,
    Prepared,
    Reason,
    Refused,
    Status,
    failed,
    in_doubt,
)
from inference.connectors.record import RecordOnly
from inference.connectors.roster import Dispatched, Duty, Roster
from inference.errors import AssemblyError
from tests.inference.connectors.offices import DEMO, BackOffice, new_key, now, order, parsed
from tests.inference.connectors.toy import Toy

CATALOG = load(DEMO).catalog


@pytest.fixture
def demo() -> Connectors:
    return parsed((DEMO / "connectors.yaml").read_text(), CATALOG)


def opened(given: Connectors, root: Path) -> Roster:
    return roster.open_roster(given, CATALOG, DEMO, root, now)


def test_demo_opens_with_a_connector_for_every_write(demo: Connectors, tmp_path: Path) -> None:
    signing.new_secret(tmp_path / "var/demo/back-office.key")
    found = opened(demo, tmp_path)
    kinds = {action: type(duty.connector) for action, duty in found.duties.items()}
    assert kinds.pop("FUND_ORDER") is Outbox
    assert set(kinds.values()) == {HttpConnector}
    assert found.duties["FREEZE_CARD"].deadline_s == 5.0
    assert (tmp_path / "var/demo/outbox.sqlite").exists()
    desk = found.duties["FUND_ORDER"].connector
    assert isinstance(desk, Outbox)
    assert isinstance(desk.inner, HttpConnector)
    assert "FUND_ORDER" in desk.inner.actions
    found.close()


def test_demo_confirms_executes_and_relays(
    demo: Connectors, office: BackOffice, tmp_path: Path
) -> None:
    secret = tmp_path / "var/demo/back-office.key"
    secret.parent.mkdir(parents=True)
    secret.write_text(office.secret_file.read_text())
    secret.chmod(0o600)
    found = opened(moved(demo, "back-office", office.url), tmp_path)
    until = roster.valid_until(found, "FUND_ORDER")
    assert until is not None
    given, key = order(valid_until=until), new_key()
    assert isinstance(roster.prepare(found, given), Prepared)
    assert office.effects(key) == 0
    assert roster.execute(found, given, key).status is Status.DONE
    assert [r.open for r in roster.relay(found)] == [0]
    assert office.effects(key) == 1
    found.close()


def test_write_without_a_connector_is_refused(demo: Connectors, tmp_path: Path) -> None:
    fewer = replace(demo, assignments={})
    with pytest.raises(ConfigError, match="`FREEZE_CARD` has no connector"):
        opened(fewer, tmp_path)


def test_outboxes_can_be_kept_beside_their_ledger(demo: Connectors, tmp_path: Path) -> None:
    signing.new_secret(tmp_path / "var/demo/back-office.key")
    store = tmp_path / "showcase"
    roster.open_roster(demo, CATALOG, DEMO, tmp_path, now, store).close()
    assert [path.name for path in store.iterdir()] == ["outbox.sqlite"]
    assert not (tmp_path / "var/demo/outbox.sqlite").exists()


def test_plugin_that_is_not_installed_is_refused(demo: Connectors, tmp_path: Path) -> None:
    entry = ConnectorEntry("back-office", "plugin", plugin="acme")
    foreign = replace(demo, entries={**demo.entries, "back-office": entry})
    with pytest.raises(AssemblyError, match="no plug-in `acme`"):
        opened(foreign, tmp_path)


def test_missing_secret_is_refused_before_anything_opens(demo: Connectors, tmp_path: Path) -> None:
    with pytest.raises(AssemblyError, match="put a secret there"):
        opened(demo, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_record_only_writes_reach_no_service(tmp_path: Path) -> None:
    writes = tuple(a.action_id for a in CATALOG.actions.values() if a.mode == "write")
    found = opened(Connectors(record_only=writes), tmp_path)
    key, given = new_key(), order()
    assert isinstance(roster.prepare(found, given), Prepared)
    recorded = Outcome(Status.RECORDED, reference=key)
    assert roster.execute(found, given, key) == recorded
    assert recorded.settled
    assert roster.execute(found, order(subject=""), key) == failed(Reason.MALFORMED_ORDER)
    until = now() + timedelta(seconds=9)
    assert roster.reconcile(found, Dispatched(key, "FUND_ORDER", until, given)) == recorded
    assert list(tmp_path.iterdir()) == []


def test_action_without_duty_is_refused_everywhere() -> None:
    empty = Roster({}, (), now)
    refused = roster.prepare(empty, order())
    assert isinstance(refused, Refused)
    assert refused.reason == Reason.NO_CONNECTOR
    assert roster.valid_until(empty, "FUND_ORDER") is None
    assert roster.execute(empty, order(), new_key()) == failed(Reason.NO_CONNECTOR)
    asked = roster.reconcile(empty, Dispatched(new_key(), "FUND_ORDER", now()))
    assert asked == in_doubt(Reason.NO_CONNECTOR)


@pytest.mark.parametrize("erased", [False, True], ids=["kept", "erased"])
def test_crash_between_decision_and_outbox_is_made_good_while_it_can_be(
    office: BackOffice, outbox: Outbox, erased: bool
) -> None:
    """The decision is durable, nothing was handed over yet: the outbox has not seen the key."""
    found = Roster({"FUND_ORDER": Duty(outbox, 5.0, 60.0)}, (outbox,), now)
    given, key = order(valid_until=now() + timedelta(seconds=30)), new_key()
    dispatched = Dispatched(key, "FUND_ORDER", given.valid_until, None if erased else given)
    first = roster.reconcile(found, dispatched)
    assert first.status is (Status.IN_DOUBT if erased else Status.DONE)
    assert roster.reconcile(found, dispatched) == first
    later = replace(found, clock=lambda: now() + timedelta(seconds=40))
    last = roster.reconcile(later, dispatched)
    assert last == (failed(Reason.NOT_DONE) if erased else first)
    assert office.effects(key) == (0 if erased else 1)


def test_crash_between_decision_and_service_is_not_sent_again(
    office: BackOffice, connector: HttpConnector
) -> None:
    """A request may be on its way, so the order is asked about until it can no longer arrive."""
    found = Roster({"FUND_ORDER": Duty(connector, 5.0, 60.0)}, (), now)
    given, key = order(valid_until=now() + timedelta(seconds=30)), new_key()
    dispatched = Dispatched(key, "FUND_ORDER", given.valid_until, given)
    assert connector.status(key) == UNKNOWN
    assert roster.reconcile(found, dispatched) == in_doubt(Reason.NOT_YET_KNOWN)
    later = replace(found, clock=lambda: now() + timedelta(seconds=31))
    assert roster.reconcile(later, dispatched) == failed(Reason.NOT_DONE)
    assert office.effects(key) == 0


def test_record_only_serves_its_own_actions_alone() -> None:
    refused = RecordOnly(actions=frozenset({"FREEZE_CARD"})).prepare(order())
    assert isinstance(refused, Refused)
    assert RecordOnly().status(new_key()) == UNKNOWN


def test_connector_that_raises_leaves_the_order_in_doubt() -> None:
    found = Roster({"FUND_ORDER": Duty(Toy("raises"), 1.0, 60.0)}, (), now)
    outcome = roster.execute(found, order(), new_key())
    assert outcome == in_doubt(Reason.CONNECTOR_FAILED)
    assert outcome.problem == "connector `toy`: ValueError('no')"
