"""Connectors of other houses: an entry point in the group `routelock.connectors`.

The entry point names a function `connect(name, settings, actions, clock) -> Connector`. `settings`
are the plug-in's own keys of connectors.yaml; it checks them itself and raises ValueError for what
it does not know. Before it is used, a plug-in passes inference.connectors.conformance.

Here is where foreign code is kept from doing harm: whatever it raises or returns, and however long
it takes, an order ends in one Outcome within its deadline.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Final

from gate.load.fixes import did_you_mean
from inference.connectors.protocol import (
    Clock,
    Connector,
    Order,
    Outcome,
    Prepared,
    Reason,
    Refused,
    in_doubt,
)
from inference.errors import AssemblyError

GROUP: Final = "routelock.connectors"
ASKING_S: Final = 5.0
"""Most seconds for `prepare` and `status`."""

Connect = Callable[[str, Mapping[str, Any], frozenset[str], Clock], Connector]


@dataclass(frozen=True, slots=True)
class Guarded:
    """A plug-in's connector whose faults become outcomes."""

    name: str
    inner: Connector
    settle_s: float
    may_repeat: bool = False

    def prepare(self, order: Order) -> Prepared | Refused:
        """As the plug-in; a fault is a refusal."""
        found = _within(lambda: self.inner.prepare(order), ASKING_S)
        if isinstance(found, Prepared | Refused):
            return found
        return Refused(Reason.CONNECTOR_FAILED, f"plug-in `{self.name}` {_told(found)}")

    def execute(self, order: Order, key: str, deadline_s: float) -> Outcome:
        """As the plug-in; after a fault, or at the deadline, the order is in doubt."""
        return _outcome(_within(lambda: self.inner.execute(order, key, deadline_s), deadline_s))

    def status(self, key: str) -> Outcome:
        """As the plug-in; after a fault the order is in doubt."""
        return _outcome(_within(lambda: self.inner.status(key), ASKING_S))


def load(
    name: str, plugin: str, settings: Mapping[str, Any], actions: frozenset[str], clock: Clock
) -> Guarded:
    """The connector of the entry point `plugin`; AssemblyError if there is none that can be used."""
    found = {point.name: point for point in entry_points(group=GROUP)}
    if plugin not in found:
        fix = did_you_mean(plugin, found)
        raise AssemblyError(f"no plug-in `{plugin}` in the group {GROUP} is installed; {fix}")
    try:
        connect: Connect = found[plugin].load()
        inner = connect(name, settings, actions, clock)
        settle_s = float(inner.settle_s)
    except Exception as error:
        problem = f"plug-in `{plugin}` of connector `{name}` does not start: {error}"
        raise AssemblyError(f"{problem}; check its `settings`") from error
    if not isinstance(inner, Connector):
        raise AssemblyError(f"plug-in `{plugin}` gave no connector; run the conformance test on it")
    return Guarded(name, inner, settle_s)


@dataclass(slots=True)
class _Call:
    """What a call has come to so far."""

    value: object = None
    error: BaseException | None = None
    ended: bool = False


def _within(work: Callable[[], object], seconds: float) -> object:
    """What `work` returns; the exception that it raised; TimeoutError once the time is over.

    Work that does not end keeps its thread until it does; nothing waits for it.
    """
    call = _Call()

    def run() -> None:
        try:
            call.value = work()
        except BaseException as error:  # even SystemExit is only an answer here
            call.error = error
        call.ended = True

    thread = threading.Thread(target=run, name="connector", daemon=True)
    thread.start()
    thread.join(seconds)
    if not call.ended:
        return TimeoutError(f"took longer than {seconds} s")
    return call.error if call.error is not None else call.value


def _outcome(found: object) -> Outcome:
    if isinstance(found, Outcome):
        return found
    late = isinstance(found, TimeoutError)
    return in_doubt(Reason.DEADLINE if late else Reason.CONNECTOR_FAILED, _told(found))


def _told(found: object) -> str:
    return (
        f"failed: {found}" if isinstance(found, BaseException) else "gave no answer of the protocol"
    )
