"""A connector of another house: a service in memory, and the ways in which it can be wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inference.connectors import orders
from inference.connectors.conformance import Bench
from inference.connectors.protocol import (
    UNKNOWN,
    Clock,
    Order,
    Outcome,
    Prepared,
    Reason,
    Refused,
    done,
    failed,
    in_doubt,
)
from tests.inference.connectors.offices import ACTIONS, new_key, now, order


@dataclass
class Toy:
    """Keeps effects in a list; `wrong` names the one promise that it breaks."""

    wrong: str = ""
    name: str = "toy"
    settle_s: float = 0.0
    may_repeat: bool = False
    actions: frozenset[str] = ACTIONS
    clock: Clock = now
    effects: list[str] = field(default_factory=list)
    kept: dict[str, tuple[str, Outcome]] = field(default_factory=dict)
    pause: float = 0.0
    turn: Any = field(default_factory=threading.Lock)

    def prepare(self, order: Order) -> Prepared | Refused:
        if self.wrong == "effect on prepare":
            self.effects.append("")
        if self.wrong == "any action":
            return Prepared(self.name, b"", "")
        found = orders.prepare(self.name, order, self.actions)
        if self.wrong == "prepare differs" and isinstance(found, Prepared):
            return Prepared(self.name, found.body, str(time.monotonic()))
        return found

    def execute(self, order: Order, key: str, deadline_s: float) -> Outcome:
        if self.wrong == "raises":
            raise ValueError("no")
        if self.wrong == "no outcome":
            return None  # type: ignore[return-value]
        if self.wrong == "does nothing":
            return done("T-0")
        if self.wrong == "floats" and isinstance(order.slots.get("share"), float):
            return self._once(order, key)
        if self.wrong == "any action" and order.action_id not in self.actions:
            return self._once(order, key)
        refused = orders.prepare(self.name, order, self.actions)
        if isinstance(refused, Refused):
            return failed(refused.reason)
        if self.wrong != "expired" and self.clock() >= order.valid_until:
            return failed(Reason.EXPIRED)
        pause, self.pause = self.pause, 0.0
        if pause > deadline_s and self.wrong != "deadline":
            self._once(order, key)
            time.sleep(deadline_s)
            return in_doubt(Reason.DEADLINE)
        time.sleep(pause)
        return self._once(order, key)

    def _once(self, order: Order, key: str) -> Outcome:
        if self.wrong == "twice":
            self.effects.append(key)
            return done("T-1")
        if self.wrong == "races":
            time.sleep(0.02)
            if key in self.kept:
                return self.kept[key][1]
            time.sleep(0.02)
            return self._effect(order, key)
        with self.turn:
            if key not in self.kept:
                return self._effect(order, key)
        content, outcome = self.kept[key]
        if self.wrong in ("any order", "new reference"):
            return outcome if self.wrong == "any order" else done(f"T-{time.monotonic_ns()}")
        same = content == self._content(order)
        return outcome if same else failed(Reason.KEY_REUSED)

    def _effect(self, order: Order, key: str) -> Outcome:
        self.effects.append(key)
        reference = "" if self.wrong == "no reference" else f"T-{len(self.effects)}"
        self.kept[key] = (self._content(order), done(reference))
        return self.kept[key][1]

    def _content(self, order: Order) -> str:
        whole = self.wrong == "whole body"
        return orders.body(order).decode() if whole else orders.content_digest(order)

    def status(self, key: str) -> Outcome:
        if self.wrong == "effect on status":
            self.effects.append(key)
        if self.wrong == "forgets" or key not in self.kept:
            return failed("NONE") if self.wrong == "knows all" else UNKNOWN
        return self.kept[key][1]

    def slow(self, seconds: float) -> None:
        self.pause = seconds


def connect(name: str, settings: Mapping[str, Any], actions: frozenset[str], clock: Clock) -> Toy:
    """What the entry point names."""
    unknown = set(settings) - {"wrong"}
    if unknown:
        raise ValueError(f"unknown setting `{min(unknown)}`; remove it")
    return Toy(settings.get("wrong", ""), name, actions=actions, clock=clock)


def bench(toy: Toy) -> Bench:
    """The toy on a bench."""
    return Bench(
        connector=toy,
        order=order,
        key=new_key,
        effects=lambda: len(toy.effects),
        clock=now,
        deadline_s=2.0,
        slow=toy.slow,
    )
