"""The record-only connector: a dispatched write is a typed record and reaches no service."""

from __future__ import annotations

from dataclasses import dataclass

from inference.connectors import Handed, Order

RECORDED = "RECORDED"


@dataclass(frozen=True, slots=True)
class RecordOnly:
    """Accepts every order and does nothing with it; the ledger's outcome is all that remains."""

    name: str = "record-only"

    def hand_over(self, order: Order) -> Handed:
        """`RECORDED`, with the order's own key as reference."""
        return Handed(RECORDED, order.key)
