"""Connectors: the typed hand-over of a dispatched write to a service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Order:
    """One write to be done; `key` makes it idempotent and is a decision's id."""

    key: str
    action_id: str
    object_id: str
    slots: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Handed:
    """What became of an order: `RECORDED` reached no service."""

    status: str
    reference: str = ""


class Connector(Protocol):
    """One way to reach a service."""

    @property
    def name(self) -> str:
        """Its name in outcomes."""
        ...

    def hand_over(self, order: Order) -> Handed:
        """Hand an order over once; the same key again does nothing more."""
        ...
