"""State and session over HTTP: typed against state.yaml, in time, signed; otherwise nothing is told."""

from __future__ import annotations

import json
import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gate.configuration import Configuration
from gate.load import load
from gate.load.connectors import moved_state
from gate.records import Request, Session
from gate.state import Broken, read
from inference.connectors import signing
from inference.connectors.backoffice.process import running
from inference.connectors.call import Endpoint
from inference.sources import Fault, StateSource, Told, Unread, Untold, inline
from inference.sources.http import HttpSource, open_source
from tests.inference.connectors.offices import DEMO, parsed
from tests.inference.connectors.scripted import SECRET, Asked, Script, answer, says, serving

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
CONFIGURATION = load(DEMO)
SESSION = {
    "subject": "C-1001",
    "entitlements": ["member"],
    "objects": [
        {
            "object_id": "CARD-1001-1",
            "object_type": "CARD",
            "display_name": "Debit card ending 5316",
            "aliases": ["debit card"],
        }
    ],
}


def dated(value: Any, seconds: float = 1.0) -> dict[str, Any]:
    as_of = (NOW - timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    return {"value": value, "as_of": as_of}


STATE = {"service_available": True, "risk_tier": "low", "identity_verified": dated(True)}


def source(url: str, **changes: Any) -> HttpSource:
    endpoint = Endpoint(url, SECRET, ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    made = HttpSource(endpoint, CONFIGURATION, lambda: NOW, 1.0, 4096)
    return replace(made, **changes)


def told(script: Script, **changes: Any) -> Told | Untold:
    with serving(script) as (url, _):
        return source(url, **changes).read("C-1001", "FREEZE_CARD", "CARD-1001-1")


def state(value: dict[str, Any]) -> Told:
    found = told(says({"state": value, "session": None}))
    assert isinstance(found, Told)
    return found


def test_state_and_session_are_told_as_a_channel_would_send_them() -> None:
    found = told(says({"state": STATE, "session": SESSION}))
    assert isinstance(found, Told)
    assert found.state == STATE
    assert found.session is not None
    assert (found.session.subject, found.session.objects[0].own) == ("C-1001", True)
    assert (found.read_at, found.faults) == (NOW, ())
    for name in STATE:
        assert read(CONFIGURATION.predicates, name, found.state, {}, NOW).broken is None


def test_request_is_one_signed_get_with_nothing_in_it() -> None:
    with serving(says({"state": {}, "session": None})) as (url, seen):
        asking = source(url)
        assert isinstance(asking.read("C 1&x=ü", "FREEZE_CARD", "FUND:A"), Told)
        asking.read("C-1001", "CHANGE_EMAIL", "NONE")
        asking.read("C-1001")
    assert [asked.method for asked in seen] == ["GET"] * 3
    assert [asked.target for asked in seen] == [
        "/state?subject=C+1%26x%3D%C3%BC&action_id=FREEZE_CARD&object_id=FUND%3AA",
        "/state?subject=C-1001&action_id=CHANGE_EMAIL",
        "/state?subject=C-1001",
    ]
    for asked in seen:
        assert asked.body == b""
        assert not signing.request_fault(SECRET, "GET", asked.target, asked.headers, b"", NOW)
    assert len({asked.headers[signing.KEY] for asked in seen}) == 3


@pytest.mark.parametrize(
    ("name", "raw", "code"),
    [
        ("identity_verified", True, Broken.STALE),
        ("identity_verified", dated(True, 901), Broken.STALE),
        ("identity_verified", dated(True, -60), Broken.FUTURE),
        ("service_available", "true", Broken.MISTYPED),
        ("service_available", None, Broken.ABSENT),
        ("risk_tier", "extreme", Broken.UNKNOWN_VALUE),
        ("available_balance", dated("nan"), Broken.NOT_A_NUMBER),
        ("available_balance", dated(True), Broken.MISTYPED),
    ],
)
def test_value_that_no_rule_can_use_stays_for_the_gate_and_is_named(
    name: str, raw: Any, code: Broken
) -> None:
    found = state({name: raw, "request_supported": True})
    assert found.faults == (Fault(name, code.value),)
    assert found.state == {name: raw, "request_supported": True}
    assert read(CONFIGURATION.predicates, name, found.state, {}, NOW).broken is code


@pytest.mark.parametrize(
    ("name", "raw", "code"),
    [
        ("no_such_predicate", True, Broken.UNDECLARED),
        ("service_available", [True], Broken.MISTYPED),
        ("service_available", {"value": True}, Broken.MISTYPED),
        ("identity_verified", {**dated(True), "more": 1}, Broken.MISTYPED),
        ("identity_verified", dated({"value": True}), Broken.MISTYPED),
    ],
)
def test_what_is_not_declared_or_no_single_value_is_left_out_and_named(
    name: str, raw: Any, code: Broken
) -> None:
    found = state({name: raw, "request_supported": True})
    assert found.faults == (Fault(name, code.value),)
    assert found.state == {"request_supported": True}


def test_what_the_gate_computes_is_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = dict(CONFIGURATION.predicates)
    declared["entity_resolved"] = replace(declared["service_available"], source="gate")
    configuration = replace(CONFIGURATION, predicates=declared)
    script = says({"state": {"entity_resolved": True}, "session": None})
    found = told(script, configuration=configuration)
    assert isinstance(found, Told)
    assert found.state == {}
    assert found.faults == (Fault("entity_resolved", Broken.REFUSED.value),)


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        None,
        "state",
        {"state": {}},
        {"state": {}, "session": None, "candidates": []},
        {"state": [], "session": None},
        {"state": None, "session": None},
        {"state": {f"p{n}": 1 for n in range(1001)}, "session": None},
    ],
    ids=lambda value: json.dumps(value)[:40],
)
def test_answer_of_another_form_tells_nothing(value: Any) -> None:
    assert told(says(value), body_bytes=65_536) == Untold(Unread.ANSWER_MALFORMED)


@pytest.mark.parametrize(
    "change",
    [
        {"subject": ""},
        {"subject": 7},
        {"more": 1},
        {"objects": [{**SESSION["objects"][0], "object_type": "FUND"}]},
        {"objects": [SESSION["objects"][0]] * 2},
        {"objects": [{**SESSION["objects"][0], "object_id": min(CONFIGURATION.registry.entries)}]},
        {"objects": [{**SESSION["objects"][0], "object_id": "NONE"}]},
        {"entitlements": "member"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_session_that_a_request_could_not_carry_tells_nothing(change: dict[str, Any]) -> None:
    found = told(says({"state": STATE, "session": {**SESSION, **change}}))
    assert found == Untold(Unread.SESSION_MALFORMED)


def test_session_of_somebody_else_tells_nothing() -> None:
    other = {**SESSION, "subject": "C-1002"}
    assert told(says({"state": STATE, "session": other})) == Untold(Unread.SUBJECT_DIFFERS)


GOOD = {"state": STATE, "session": None}


def silent(connection: socket.socket, asked: Asked) -> None:
    connection.recv(1)


def dripping(connection: socket.socket, asked: Asked) -> None:
    for byte in answer(asked, GOOD):
        connection.sendall(bytes([byte]))
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (says(GOOD, 404), Unread.REFUSED),
        (says(GOOD, 401), Unread.REFUSED),
        (says(GOOD, 201), Unread.REFUSED),
        (says(GOOD, 500), Unread.SERVICE_ERROR),
        (says(GOOD, 302, location="http://127.0.0.1:1/"), Unread.REDIRECTED),
        (says(GOOD, secret=bytes(32)), Unread.ANSWER_UNSIGNED),
        (says(b"{"), Unread.ANSWER_MALFORMED),
        (says(b'{"state":{"a":1,"a":2},"session":null}'), Unread.ANSWER_MALFORMED),
        (says({**GOOD, "state": {"risk_tier": "x" * 5000}}), Unread.ANSWER_TOO_LARGE),
        (lambda connection, asked: None, Unread.CONNECTION_LOST),
        (silent, Unread.DEADLINE),
        (dripping, Unread.DEADLINE),
    ],
)
def test_failure_has_a_name_and_tells_nothing(script: Script, reason: Unread) -> None:
    started = time.monotonic()
    assert told(script, deadline_s=0.4) == Untold(reason)
    assert time.monotonic() - started < 1.5


def test_service_that_is_down_tells_nothing() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert source(url).read("C-1001") == Untold(Unread.UNREACHABLE)


def test_old_answer_fits_no_new_request() -> None:
    kept: list[bytes] = []

    def script(connection: socket.socket, asked: Asked) -> None:
        kept.append(answer(asked, GOOD))
        connection.sendall(kept[0])

    with serving(script) as (url, _):
        asking = source(url)
        assert isinstance(asking.read("C-1001"), Told)
        assert asking.read("C-1001") == Untold(Unread.ANSWER_UNSIGNED)


def test_inline_is_what_the_channel_sent() -> None:
    request = Request("1", "web", "hi", state=STATE, session=Session("C-1001"))
    assert inline(request, lambda: NOW) == Told(STATE, Session("C-1001"), NOW)


@pytest.fixture(scope="module")
def over_the_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StateSource]:
    """The back office stand-in as the demo's state source."""
    root = tmp_path_factory.mktemp("house")
    secret = root / "var/demo/back-office.key"
    signing.new_secret(secret)
    catalog = CONFIGURATION.catalog
    with running(root / "bank.sqlite", secret) as office:
        text = (DEMO / "connectors.yaml").read_text()
        settings = moved_state(parsed(text, catalog), office.url).state
        assert settings is not None
        yield open_source(settings, CONFIGURATION, root, lambda: datetime.now(UTC))


@pytest.mark.parametrize("subject", ["C-1001", "C-1002", "C-1003"])
def test_demo_is_told_everything_its_rules_read(over_the_house: StateSource, subject: str) -> None:
    found = over_the_house.read(subject, "CLOSE_ACCOUNT")
    assert isinstance(found, Told)
    assert found.faults == ()
    assert found.session is not None
    assert found.session.subject == subject
    own = {"available_balance"} if subject == "C-1003" else set()
    needed = set(_needed(CONFIGURATION)) - {"card_already_frozen"} - own
    assert needed <= set(found.state)


def _needed(configuration: Configuration) -> Iterator[str]:
    return (n for n, p in configuration.predicates.items() if p.source != "gate" and "." not in n)


def test_state_of_a_card_is_told_for_that_card(over_the_house: StateSource) -> None:
    found = over_the_house.read("C-1001", "FREEZE_CARD", "CARD-1001-2")
    assert isinstance(found, Told)
    assert found.state["card_already_frozen"]["value"] is False
    other = over_the_house.read("C-1002", "FREEZE_CARD", "CARD-1001-2")
    assert isinstance(other, Told)
    assert "card_already_frozen" not in other.state


def test_stranger_has_neither_state_nor_session(over_the_house: StateSource) -> None:
    found = over_the_house.read("C-9999")
    assert isinstance(found, Told)
    assert (found.state, found.session) == ({}, None)


def test_secret_of_somebody_else_opens_nothing(over_the_house: HttpSource, tmp_path: Path) -> None:
    forged = replace(over_the_house.endpoint, secret=bytes(32))
    found = replace(over_the_house, endpoint=forged).read("C-1001")
    assert found == Untold(Unread.ANSWER_UNSIGNED)
