"""What a connector is: an order, what became of it, and the three questions that it answers.

prepare(order)                  would this order be accepted, as far as can be told without asking
execute(order, key, deadline_s) have it done, at most once for one key
status(key)                     what became of it

A key is the `decision_id` of the CLARIFY whose token was confirmed, so one confirmation can have
one effect. An order that is IN_DOUBT is settled by `status`, never by sending it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Protocol, runtime_checkable

Clock = Callable[[], datetime]
"""Tells the time, with zone."""


class Status(StrEnum):
    """What became of an order."""

    DONE = "DONE"
    """It took effect."""
    FAILED = "FAILED"
    """It had no effect and, under this key, never will; unless `Outcome.may_retry`."""
    IN_DOUBT = "IN_DOUBT"
    """It may have had its effect, or have it yet."""
    UNKNOWN = "UNKNOWN"
    """No order of this key was seen (yet)."""
    RECORDED = "RECORDED"
    """It is kept as a record and reaches no service."""


class Reason(StrEnum):
    """Why an order failed or is in doubt; services and plug-ins have codes of their own besides."""

    # Nothing was sent, or nothing was taken on.
    UNREACHABLE = "UNREACHABLE"
    BUSY = "BUSY"
    # The order is not one that can be sent.
    MALFORMED_ORDER = "MALFORMED_ORDER"
    UNKNOWN_ACTION = "UNKNOWN_ACTION"
    EXPIRED = "EXPIRED"
    KEY_REUSED = "KEY_REUSED"
    NO_CONNECTOR = "NO_CONNECTOR"
    # It was sent, and no answer that can be relied on came back.
    DEADLINE = "DEADLINE"
    CONNECTION_LOST = "CONNECTION_LOST"
    SERVICE_ERROR = "SERVICE_ERROR"
    REDIRECTED = "REDIRECTED"
    ANSWER_TOO_LARGE = "ANSWER_TOO_LARGE"
    ANSWER_UNSIGNED = "ANSWER_UNSIGNED"
    ANSWER_MALFORMED = "ANSWER_MALFORMED"
    CONNECTOR_FAILED = "CONNECTOR_FAILED"
    # It is kept by us and on its way.
    QUEUED = "QUEUED"
    SENDING = "SENDING"
    STORE = "STORE"
    # Reconciliation.
    NOT_YET_KNOWN = "NOT_YET_KNOWN"
    NOT_DONE = "NOT_DONE"


NOT_TAKEN_ON: Final = frozenset({Reason.UNREACHABLE.value, Reason.BUSY.value})
"""Reasons after which the same order may be tried again: it is certain that nothing began."""


@dataclass(frozen=True, slots=True)
class Order:
    """One confirmed write, as its service gets it.

    `decision_id` is the decision that dispatched it; `object_id` is a closed-list id or NONE;
    `slots` hold JSON values without floats (decimals are strings); `text` is what the customer
    confirmed; it must not take effect after `valid_until` (with zone).
    """

    decision_id: str
    action_id: str
    object_id: str
    slots: Mapping[str, Any]
    subject: str
    valid_until: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """An order that its connector would send: the bytes of its body and their SHA-256."""

    connector: str
    body: bytes
    digest: str


@dataclass(frozen=True, slots=True)
class Refused:
    """An order that its connector will not send; `problem` is for the operator."""

    reason: str
    problem: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an order: the service's reference, or the code of the reason.

    `problem` is for the operator and no part of the outcome.
    """

    status: Status
    reference: str = ""
    reason: str = ""
    problem: str = field(default="", compare=False)

    @property
    def settled(self) -> bool:
        """True if nothing more can become of it under its key."""
        return self.status in (Status.DONE, Status.FAILED, Status.RECORDED)

    @property
    def may_retry(self) -> bool:
        """True if it failed before anything began, so that the same order may be tried again."""
        return self.status is Status.FAILED and self.reason in NOT_TAKEN_ON


UNKNOWN: Final = Outcome(Status.UNKNOWN)


def done(reference: str) -> Outcome:
    """The order took effect; `reference` is the service's own."""
    return Outcome(Status.DONE, reference=reference)


def failed(reason: str) -> Outcome:
    """The order had no effect."""
    return Outcome(Status.FAILED, reason=str(reason))


def in_doubt(reason: str, problem: str = "") -> Outcome:
    """Whether the order had, or will have, its effect is not known."""
    return Outcome(Status.IN_DOUBT, reason=str(reason), problem=problem)


@runtime_checkable
class Connector(Protocol):
    """One way to have writes done. No method raises for what a service does or an order holds."""

    @property
    def name(self) -> str:
        """Its name in records."""
        ...

    @property
    def settle_s(self) -> float:
        """Seconds after an order's `valid_until` from which UNKNOWN means that it never happened."""
        ...

    @property
    def may_repeat(self) -> bool:
        """True if an order that is UNKNOWN may be handed over again under its key.

        Only where its own store, not a service's promise, keeps one key to one effect.
        """
        ...

    def prepare(self, order: Order) -> Prepared | Refused:
        """What would be sent, or why it would not; nothing happens."""
        ...

    def execute(self, order: Order, key: str, deadline_s: float) -> Outcome:
        """Have the order done within `deadline_s` seconds; the same key again has no more effect."""
        ...

    def status(self, key: str) -> Outcome:
        """What became of the order of that key; nothing happens."""
        ...
