"""Plug-ins: found by their entry point, and kept from doing harm."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from inference.connectors import plugin
from inference.connectors.plugin import Guarded
from inference.connectors.protocol import (
    Order,
    Outcome,
    Prepared,
    Reason,
    Refused,
    Status,
    in_doubt,
)
from inference.errors import AssemblyError
from tests.inference.connectors.offices import ACTIONS, new_key, now, order
from tests.inference.connectors.toy import Toy

POINTS = """\
[routelock.connectors]
acme = tests.inference.connectors.toy:connect
absent = tests.inference.connectors.toy:nothing
hollow = tests.inference.connectors.test_plugin:hollow
"""


def hollow(name: str, settings: Mapping[str, Any], actions: frozenset[str], clock: Any) -> Any:
    """A plug-in that gives no connector."""
    return type("Hollow", (), {"settle_s": 0.0})()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution with entry points, as pip would install it."""
    folder = tmp_path / "acme_connector-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-connector\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(tmp_path)


def load(name: str, **settings: Any) -> Guarded:
    return plugin.load("mainframe", name, settings, ACTIONS, now)


@pytest.mark.usefixtures("installed")
def test_entry_point_gives_a_connector_for_its_actions() -> None:
    connector = load("acme")
    assert connector.name == "mainframe"
    assert isinstance(connector.prepare(order()), Prepared)
    assert isinstance(connector.prepare(order(action_id="SELL")), Refused)
    key = new_key()
    outcome = connector.execute(order(), key, 1)
    assert outcome.status is Status.DONE
    assert connector.status(key) == outcome


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "settings", "says"),
    [
        ("acne", {}, "did you mean `acme`"),
        ("absent", {}, "does not start"),
        ("hollow", {}, "no connector"),
        ("acme", {"queue": "Q"}, "unknown setting `queue`"),
    ],
)
def test_plugin_that_cannot_be_used_does_not_open(
    name: str, settings: dict[str, Any], says: str
) -> None:
    with pytest.raises(AssemblyError, match=says):
        load(name, **settings)


def test_none_installed_says_so() -> None:
    with pytest.raises(AssemblyError, match="no plug-in `acme`"):
        load("acme")


class Odd:
    """A connector that misbehaves in every call."""

    name, settle_s, may_repeat = "odd", 0.0, True

    def __init__(self, act: Any) -> None:
        self.act = act

    def prepare(self, order: Order) -> Any:
        return self.act()

    def execute(self, order: Order, key: str, deadline_s: float) -> Any:
        return self.act()

    def status(self, key: str) -> Any:
        return self.act()


def raising() -> None:
    raise RuntimeError("boom")


def leaving() -> None:
    raise SystemExit(3)


@pytest.mark.parametrize("act", [raising, leaving, lambda: None, lambda: "DONE"])
def test_fault_of_a_plugin_is_doubt_and_no_exception(act: Any) -> None:
    guarded = Guarded("odd", Odd(act), 0.0)
    assert guarded.execute(order(), new_key(), 1) == in_doubt(Reason.CONNECTOR_FAILED)
    assert guarded.status(new_key()) == in_doubt(Reason.CONNECTOR_FAILED)
    refused = guarded.prepare(order())
    assert isinstance(refused, Refused)
    assert refused.reason == Reason.CONNECTOR_FAILED
    assert not guarded.may_repeat, "a plug-in's promise is not enough"


def test_plugin_that_hangs_is_left_at_the_deadline() -> None:
    go_on = threading.Event()
    guarded = Guarded("odd", Odd(lambda: go_on.wait(5)), 0.0)
    started = time.monotonic()
    assert guarded.execute(order(), new_key(), 0.2) == in_doubt(Reason.DEADLINE)
    assert time.monotonic() - started < 1.0
    go_on.set()


def test_late_outcome_is_found_by_key() -> None:
    toy, key = Toy("deadline", pause=0.4), new_key()
    guarded = Guarded("toy", toy, 0.0)
    assert guarded.execute(order(), key, 0.1) == in_doubt(Reason.DEADLINE)
    assert guarded.status(key) == Outcome(Status.UNKNOWN)
    time.sleep(0.6)
    assert guarded.status(key).status is Status.DONE
    assert toy.effects == [key]
