"""Slots: typed values that a service needs besides its object, filled from findings alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from gate.catalog import Action
from gate.records import SlotValue
from gate.state import Broken, Value


class SlotFound(NamedTuple):
    """One candidate for a slot at [start, end) of the original text, or why it cannot be one."""

    slot: str
    start: int
    end: int
    value: str
    fault: str


class Filled(NamedTuple):
    """What an action's slots hold: for the record, for rules, and reasons for those left open."""

    values: Mapping[str, SlotValue]
    for_rules: Mapping[str, Value | Broken]
    open: tuple[str, ...]


UNFILLED: Final = Filled(MappingProxyType({}), MappingProxyType({}), ())
"""An action without slots."""


def fill(
    action: Action, specs: Mapping[str, Any], found: Sequence[SlotFound], now: datetime
) -> Filled:
    """The slots of an action; every one without a usable value is open."""
    missing = {name: Broken.ABSENT for name in action.slots}
    return Filled({}, missing, tuple(f"SLOT_MISSING:{name}" for name in action.slots))
