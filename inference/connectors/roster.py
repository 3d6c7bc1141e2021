"""The roster: which connector carries out which write action, and the calls of the way through.

prepare    before CLARIFY(confirm): is this an order that could be sent
execute    after the dispatch decision is durable
reconcile  for a dispatch without a settled outcome: at start, and from time to time
relay      deliver what the outboxes keep: from time to time
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType

from gate.catalog import Catalog
from gate.load.connectors import (
    HTTP,
    OUTBOX,
    PLUGIN,
    ConnectorEntry,
    Connectors,
    refuse_uncovered,
)
from inference.connectors import outbox, plugin
from inference.connectors.call import open_endpoint
from inference.connectors.http import HttpConnector
from inference.connectors.outbox import Outbox, Relayed, open_outbox
from inference.connectors.protocol import (
    Clock,
    Connector,
    Order,
    Outcome,
    Prepared,
    Reason,
    Refused,
    Status,
    failed,
    in_doubt,
)
from inference.connectors.record import RecordOnly
from inference.errors import AssemblyError

RECORDING_S = 60.0
"""Seconds for which a record-only order is valid."""


@dataclass(frozen=True, slots=True)
class Duty:
    """Who carries out an action, the customer's longest wait, and how long an order is valid (s)."""

    connector: Connector
    deadline_s: float
    valid_for_s: float


@dataclass(frozen=True, slots=True)
class Roster:
    """The duty of every write action that may be served."""

    duties: Mapping[str, Duty]
    outboxes: tuple[Outbox, ...]
    clock: Clock

    def close(self) -> None:
        """Close the outboxes."""
        for box in self.outboxes:
            box.close()


@dataclass(frozen=True, slots=True)
class Dispatched:
    """A dispatch without a settled outcome: what the ledger says of it.

    `order` is None where its text was erased; then it can only be asked about.
    """

    key: str
    action_id: str
    valid_until: datetime
    order: Order | None = None


def open_roster(
    settings: Connectors,
    catalog: Catalog,
    folder: Path,
    root: Path,
    clock: Clock,
    store_dir: Path | None = None,
) -> Roster:
    """Open every connector that an action uses; files are relative to `root`.

    `folder` is the institution's, for messages; `store_dir` keeps the outboxes in another folder,
    since an outbox belongs to one ledger. Services need not run yet. Raises ConfigError for a write
    action that nothing carries out, AssemblyError or LedgerError for a secret, certificate, plug-in
    or file that cannot be used.
    """
    refuse_uncovered(settings, catalog, folder)
    opened = {
        name: _reaching(entry, _served(settings, name), root, clock)
        for name, entry in settings.entries.items()
        if entry.kind != OUTBOX and _served(settings, name)
    }
    boxes = {
        name: open_outbox(name, _store(entry, root, store_dir), opened[str(entry.through)], clock)
        for name, entry in settings.entries.items()
        if entry.kind == OUTBOX and _served(settings, name)
    }
    connectors: dict[str, Connector] = {**opened, **boxes}
    duties = {
        action_id: Duty(connectors[a.connector], a.deadline_s, a.valid_for_s)
        for action_id, a in settings.assignments.items()
    }
    recording = RecordOnly(actions=frozenset(settings.record_only))
    duties |= {a: Duty(recording, RECORDING_S, RECORDING_S) for a in settings.record_only}
    return Roster(MappingProxyType(duties), tuple(boxes.values()), clock)


def _store(entry: ConnectorEntry, root: Path, store_dir: Path | None) -> Path:
    path = root / str(entry.file)
    return path if store_dir is None else store_dir / path.name


def _served(settings: Connectors, name: str) -> frozenset[str]:
    """The actions that reach a connector, itself or through an outbox."""
    names = {name, *(n for n, e in settings.entries.items() if e.through == name)}
    return frozenset(a for a, m in settings.assignments.items() if m.connector in names)


def _reaching(
    entry: ConnectorEntry, actions: frozenset[str], root: Path, clock: Clock
) -> Connector:
    """A connector that reaches a service itself."""
    if entry.kind == HTTP and entry.service is not None:
        endpoint = open_endpoint(entry.service, root)
        return HttpConnector(entry.name, endpoint, actions, clock, entry.settle_s)
    if entry.kind == PLUGIN:
        return plugin.load(entry.name, str(entry.plugin), entry.settings, actions, clock)
    raise AssemblyError(f"connector `{entry.name}` has the kind `{entry.kind}`; use http or plugin")


def valid_until(roster: Roster, action_id: str) -> datetime | None:
    """The end of validity of an order that is dispatched now; None for an action without duty."""
    duty = roster.duties.get(action_id)
    return None if duty is None else roster.clock() + timedelta(seconds=duty.valid_for_s)


def prepare(roster: Roster, order: Order) -> Prepared | Refused:
    """What the action's connector would send, or why it would not; nothing happens."""
    duty = roster.duties.get(order.action_id)
    if duty is None:
        return Refused(Reason.NO_CONNECTOR, f"action `{order.action_id}` has no connector")
    return duty.connector.prepare(order)


def execute(roster: Roster, order: Order, key: str) -> Outcome:
    """Have the order done within its action's deadline; never raises.

    Only after the decision that dispatches it is durable; the outcome is then made durable.
    """
    duty = roster.duties.get(order.action_id)
    return failed(Reason.NO_CONNECTOR) if duty is None else _execute(duty, order, key)


def _execute(duty: Duty, order: Order, key: str) -> Outcome:
    """The connector's outcome; whatever is raised once an order may be on its way is doubt."""
    try:
        return duty.connector.execute(order, key, duty.deadline_s)
    except Exception as error:
        return in_doubt(Reason.CONNECTOR_FAILED, f"connector `{duty.connector.name}`: {error!r}")


def reconcile(roster: Roster, dispatched: Dispatched) -> Outcome:
    """What became of a dispatch; IN_DOUBT if that cannot be told yet, so ask again later.

    An order that no service can take on any more, and that none has seen, has FAILED as NOT_DONE.
    One that never reached an outbox is handed over again, if it is still valid.
    """
    duty = roster.duties.get(dispatched.action_id)
    if duty is None:
        return in_doubt(Reason.NO_CONNECTOR)
    outcome = duty.connector.status(dispatched.key)
    if outcome.status is not Status.UNKNOWN:
        return outcome
    now, order = roster.clock(), dispatched.order
    if duty.connector.may_repeat and order is not None and now < dispatched.valid_until:
        return _execute(duty, order, dispatched.key)
    if now >= dispatched.valid_until + timedelta(seconds=duty.connector.settle_s):
        return failed(Reason.NOT_DONE)
    return in_doubt(Reason.NOT_YET_KNOWN)


def relay(roster: Roster, deadline_s: float = 5.0) -> tuple[Relayed, ...]:
    """Take every order that an outbox keeps and that is due one step further."""
    return tuple(outbox.relay(box, deadline_s) for box in roster.outboxes)
