"""The record-only connector: a dispatched write is a typed record and reaches no service."""

from __future__ import annotations

from dataclasses import dataclass

from inference.connectors import orders
from inference.connectors.protocol import (
    UNKNOWN,
    Order,
    Outcome,
    Prepared,
    Refused,
    Status,
    failed,
)


@dataclass(frozen=True, slots=True)
class RecordOnly:
    """Accepts every sound order and does nothing with it; the ledger's outcome is all that remains."""

    name: str = "record-only"
    actions: frozenset[str] = frozenset()
    settle_s: float = 0.0
    may_repeat: bool = True

    def prepare(self, order: Order) -> Prepared | Refused:
        """The body that would be sent if there were a service."""
        return orders.prepare(self.name, order, self.actions)

    def execute(self, order: Order, key: str, deadline_s: float) -> Outcome:
        """RECORDED, with the order's own key as reference."""
        prepared = self.prepare(order)
        if isinstance(prepared, Refused):
            return failed(prepared.reason)
        return Outcome(Status.RECORDED, reference=key)

    def status(self, key: str) -> Outcome:
        """UNKNOWN: nothing is kept here; handing the order over again does no harm."""
        return UNKNOWN
