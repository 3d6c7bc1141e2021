"""The back office stand-in: its five writes, who is let in, and what it shows before and after."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from gate.load.services import Service, Tls
from inference.connectors import orders, signing
from inference.connectors.backoffice import bank, facts, faults, writes
from inference.connectors.backoffice.process import ROOT, Running, running, start
from inference.connectors.backoffice.service import parse_order
from inference.connectors.call import Answer, NoAnswer, call, open_endpoint
from inference.connectors.http import HttpConnector
from inference.connectors.protocol import Order, Outcome, Reason, Status, failed, in_doubt
from inference.errors import AssemblyError
from tests.inference.connectors import certificates
from tests.inference.connectors.offices import ACTIONS, BackOffice, new_key, now, order

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
SESSION = {
    "subject": "C-1001",
    "entitlements": ["member"],
    "objects": [
        {
            "object_id": f"{kind}-1001-{n}",
            "object_type": kind_name,
            "display_name": "x",
            "aliases": [],
        }
        for kind, kind_name in (("ACC", "ACCOUNT"), ("CARD", "CARD"))
        for n in (1, 2)
    ],
}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "bank.sqlite"
    bank.create(path, [SESSION, {**SESSION, "subject": "C-1002", "objects": []}], NOW)
    return path


def place(database: Path, given: Order, key: str | None = None) -> bank.Reply:
    read = parse_order(orders.body(given))
    assert read is not None
    return bank.place(database, key or new_key(), read, lambda: NOW, lambda: None)


def write(action_id: str, object_id: str = "NONE", **slots: Any) -> Order:
    return order(
        action_id=action_id,
        object_id=object_id,
        slots=slots,
        valid_until=NOW + timedelta(seconds=30),
    )


def refused(reply: bank.Reply) -> str:
    assert reply.code == 422
    assert reply.value["status"] == "FAILED"
    return str(reply.value["reason"])


def test_every_write_changes_its_row_and_leaves_one_effect(database: Path) -> None:
    before = bank.tables(database)
    done = [
        write("FREEZE_CARD", "CARD-1001-1"),
        write("CLOSE_ACCOUNT", "ACC-1001-2"),
        write("CHANGE_EMAIL", email="dana@example.org"),
        write("CHANGE_ADDRESS", address="4 Fog Court, Saltmarsh"),
        write("FUND_ORDER", "FUND:HLVLX", amount={"value": "500.00", "currency": "USD"}),
    ]
    for number, given in enumerate(done, start=1):
        assert place(database, given).value == {"status": "DONE", "reference": f"HL-{number:06d}"}
    after = bank.tables(database)
    status = {row["object_id"]: row["status"] for row in after["objects"]}
    assert status == {
        "CARD-1001-1": "frozen",
        "CARD-1001-2": "active",
        "ACC-1001-1": "open",
        "ACC-1001-2": "closed",
    }
    member = after["members"][0]
    assert (member["email"], member["address"]) == ("dana@example.org", "4 Fog Court, Saltmarsh")
    assert member["address_changes"] == 1
    assert after["members"][1] == before["members"][1]
    book = after["order_book"]
    assert [(r["fund_id"], r["amount"], r["currency"]) for r in book] == [
        ("FUND:HLVLX", "500.00", "USD")
    ]
    assert [e["action_id"] for e in after["effects"]] == [o.action_id for o in done]
    assert set(writes.EFFECTS) == {o.action_id for o in done} == ACTIONS


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (write("FREEZE_CARD", "CARD-9999-1"), "NOT_FOUND"),
        (write("FREEZE_CARD", "ACC-1001-1"), "NOT_FOUND"),
        (replace(write("FREEZE_CARD", "CARD-1001-1"), subject="C-1002"), "NOT_FOUND"),
        (write("CLOSE_ACCOUNT", "ACC-1001-1"), "NOT_EMPTY"),
        (write("CLOSE_ACCOUNT", "CARD-1001-1"), "NOT_FOUND"),
        (write("CHANGE_EMAIL"), "SLOT_MISSING"),
        (write("CHANGE_EMAIL", email="no address"), "SLOT_MISSING"),
        (replace(write("CHANGE_EMAIL", email="a@b"), subject="C-9"), "NOT_FOUND"),
        (write("CHANGE_ADDRESS", address=""), "SLOT_MISSING"),
        (write("FUND_ORDER", "FUND:HLVLX"), "SLOT_MISSING"),
        (write("FUND_ORDER", "FUND:HLVLX", amount="500"), "SLOT_MISSING"),
        (write("FUND_ORDER", "F", amount={"value": "0.00", "currency": "USD"}), "AMOUNT_REFUSED"),
        (write("FUND_ORDER", "F", amount={"value": "-5", "currency": "USD"}), "AMOUNT_REFUSED"),
        (write("FUND_ORDER", "F", amount={"value": "5", "currency": "EUR"}), "CURRENCY_REFUSED"),
        (write("FUND_ORDER", amount={"value": "5", "currency": "USD"}), "NOT_FOUND"),
        (write("SELL_FUND", "F"), "UNKNOWN_ACTION"),
    ],
)
def test_refused_write_changes_nothing(database: Path, given: Order, reason: str) -> None:
    before = bank.tables(database)
    assert refused(place(database, given)) == reason
    assert bank.tables(database) == before


def test_refusal_is_kept_under_its_key(database: Path) -> None:
    key = new_key()
    given = write("FREEZE_CARD", "CARD-1001-1")
    assert place(database, given).value["status"] == "DONE"
    again = replace(given, text="again")
    assert refused(place(database, again, key)) == "ALREADY_FROZEN"
    assert bank.look_up(database, key) == bank.failure(200, "ALREADY_FROZEN")
    assert refused(place(database, again, key)) == "ALREADY_FROZEN"


def test_expired_order_is_not_taken_on_and_not_kept(database: Path) -> None:
    key = new_key()
    late = replace(write("FREEZE_CARD", "CARD-1001-1"), valid_until=NOW)
    assert place(database, late, key) == bank.failure(410, "EXPIRED")
    assert bank.look_up(database, key) == bank.Reply(404, {"status": "UNKNOWN"})


def test_state_follows_the_rows(database: Path) -> None:
    def told(object_id: str | None = None) -> dict[str, Any]:
        return dict(facts.situation(database, "C-1001", object_id, NOW)["state"])

    assert told("CARD-1001-1")["card_already_frozen"]["value"] is False
    assert told()["available_balance"]["value"] == "1840.25"
    place(database, write("FREEZE_CARD", "CARD-1001-1"))
    place(database, write("CHANGE_ADDRESS", address="4 Fog Court"))
    place(database, write("FUND_ORDER", "F", amount={"value": "5", "currency": "USD"}))
    place(database, write("CLOSE_ACCOUNT", "ACC-1001-2"))
    assert told("CARD-1001-1")["card_already_frozen"]["value"] is True
    assert told("CARD-1001-2")["card_already_frozen"]["value"] is False
    assert told()["address_changes_this_year"] == 1
    assert told()["orders_today"]["value"] == 1
    assert told()["contact_changed_at"] == "2026-12-01T09:00:00.000000Z"
    session = facts.situation(database, "C-1001", None, NOW)["session"]
    assert "ACC-1001-2" not in [o["object_id"] for o in session["objects"]]
    assert facts.situation(database, "C-9", None, NOW) == {"state": {}, "session": None}
    assert "available_balance" not in facts.situation(database, "C-1002", None, NOW)["state"]


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"more": 1},
        {"slots": []},
        {"subject": 7},
        {"text": None},
        {"valid_until": "2026-12-01T09:00:00"},
        {"valid_until": "soon"},
        {"valid_until": None},
    ],
)
def test_order_of_another_form_is_not_read(change: dict[str, Any]) -> None:
    value = {**json.loads(orders.body(order())), **change}
    assert parse_order(json.dumps(value).encode()) is None


@pytest.mark.parametrize("body", [b"", b"[]", b"7", b"{", b"\xff", b"[" * 100_000])
def test_body_that_is_no_object_is_not_read(body: bytes) -> None:
    assert parse_order(body) is None


def test_fault_happens_once(tmp_path: Path) -> None:
    path = tmp_path / "fault"
    path.write_text("delay-after:1.5\n")
    found = faults.take(path)
    assert (found.delay(faults.AFTER), found.delay(faults.BEFORE)) == (1.5, 0.0)
    assert faults.take(path) == faults.take(None) == faults.Fault()
    assert not faults.Fault().is_error(faults.BEFORE)


# -- the process ---------------------------------------------------------------------------------


def send(office: BackOffice, method: str, path: str, **given: Any) -> httpx.Response:
    with httpx.Client(trust_env=False) as client:
        return client.request(method, office.url + path, **given)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/orders/" + "k" * 32),
        ("GET", "/orders/" + "k" * 32),
        ("GET", "/effects"),
        ("GET", "/state?subject=C-1001"),
    ],
)
def test_unsigned_stale_and_forged_requests_are_refused(
    office: BackOffice, method: str, path: str
) -> None:
    secret = signing.read_secret(office.secret_file)
    body = orders.body(order()) if method == "PUT" else b""

    def reason(headers: dict[str, str]) -> tuple[int, str]:
        said = send(office, method, path, headers=headers, content=body)
        assert signing.SIGNATURE not in said.headers, "an answer that could be shown around"
        return said.status_code, said.json()["reason"]

    def signed(secret: bytes = secret, path: str = path, at: datetime | None = None) -> Any:
        at = at or now()
        return signing.request_headers(secret, method, path, at, "k" * 32, body)

    assert reason({}) == (401, "UNSIGNED")
    assert reason({signing.KEY: "k" * 32}) == (401, "UNSIGNED")
    assert reason(signed(bytes(32))) == (401, "BAD_SIGNATURE")
    assert reason(signed(path="/other")) == (401, "BAD_SIGNATURE")
    assert reason(signed(at=now() - timedelta(seconds=60))) == (401, "OUTSIDE_WINDOW")
    assert office.effects("k" * 32) == 0


def test_replayed_request_has_no_second_effect(office: BackOffice) -> None:
    key, body = new_key(), orders.body(order())
    secret = signing.read_secret(office.secret_file)
    headers = signing.request_headers(secret, "PUT", f"/orders/{key}", now(), key, body)
    said = [send(office, "PUT", f"/orders/{key}", headers=headers, content=body) for _ in (1, 2)]
    assert said[0].json() == said[1].json()
    assert said[0].json()["status"] == "DONE"
    assert office.effects(key) == 1
    other = send(office, "PUT", f"/orders/{new_key()}", headers=headers, content=body)
    assert other.json()["reason"] == "BAD_SIGNATURE"


def test_oversized_and_malformed_orders_are_refused(office: BackOffice) -> None:
    endpoint, key = office.endpoint(), new_key()

    def said(body: bytes) -> Any:
        path = f"/orders/{key}"
        return call(endpoint, "PUT", path, key=key, at=now(), deadline_s=5, body=body)

    assert said(b"x" * 70_000) == NoAnswer(Reason.ANSWER_UNSIGNED, sent=True)
    assert said(b"{}") == Answer(422, {"status": "FAILED", "reason": "MALFORMED_ORDER"})
    bad = call(endpoint, "GET", "/orders/short", key="short", at=now(), deadline_s=5)
    assert bad == Answer(400, {"status": "FAILED", "reason": "MALFORMED_ORDER"})


def test_effects_are_shown_before_and_after(office: BackOffice, connector: HttpConnector) -> None:
    def shown() -> dict[str, Any]:
        found = call(office.endpoint(), "GET", "/effects", key=new_key(), at=now(), deadline_s=5)
        assert isinstance(found, Answer)
        return dict(found.value)

    before = shown()
    assert connector.execute(order(), new_key(), 5).status is Status.DONE
    after = shown()
    assert len(after["effects"]) == len(before["effects"]) + 1
    assert len(after["order_book"]) == len(before["order_book"]) + 1


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "inference.connectors.backoffice", *arguments]
    return subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, cwd=ROOT, timeout=30, check=False
    )


def test_process_refuses_to_run_without_proof_of_who_asks(tmp_path: Path) -> None:
    database = ("--database", str(tmp_path / "b"))
    without = run(*database)
    assert (without.returncode, "--secret-file" in without.stderr) == (2, True)
    missing = run(*database, "--secret-file", str(tmp_path / "none"))
    assert (missing.returncode, "put a secret there" in missing.stderr) == (2, True)


def test_process_that_cannot_start_says_so(
    office: BackOffice, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssemblyError, match="ended with code `2`"):
        start(tmp_path / "b", office.secret_file, port=office.running.port)
    assert "Address already in use" in capfd.readouterr().err


# -- mutual TLS ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    for name, address in (("bank", "DNS:backoffice.test"), ("lock", "DNS:lock"), ("evil", "DNS:x")):
        certificates.make(folder, name, address)
    return folder


@pytest.fixture(scope="module")
def over_tls(authority: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    more = [
        *("--tls-certificate", str(authority / "bank/own.pem")),
        *("--tls-key", str(authority / "bank/own.key")),
        *("--tls-ca", str(authority / "lock/ca.pem")),
    ]
    with running(tmp_path_factory.mktemp("bank") / "b.sqlite", None, more) as found:
        yield found


def over(running: Running, authority: Path, who: str = "lock", **changes: Any) -> HttpConnector:
    tls = {
        "ca_file": "bank/ca.pem",
        "certificate_file": f"{who}/own.pem",
        "key_file": f"{who}/own.key",
        "server_name": "backoffice.test",
        **changes,
    }
    service = Service(running.url.replace("http:", "https:"), None, Tls(**tls))
    return HttpConnector("tls", open_endpoint(service, authority), ACTIONS, now)


def test_mutual_tls_carries_an_order_without_a_secret(over_tls: Running, authority: Path) -> None:
    connector, key = over(over_tls, authority), new_key()
    outcome = connector.execute(order(), key, 5)
    assert outcome == Outcome(Status.DONE, "HL-000001")
    assert connector.status(key) == outcome


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"server_name": "another.test"}, failed(Reason.UNREACHABLE)),
        ({"ca_file": "evil/ca.pem"}, failed(Reason.UNREACHABLE)),
        ({"who": "evil"}, in_doubt(Reason.CONNECTION_LOST)),
    ],
    ids=["other name", "other authority", "client of another authority"],
)
def test_wrong_certificate_on_either_side_has_no_effect(
    over_tls: Running, authority: Path, changes: dict[str, str], expected: Outcome
) -> None:
    key = new_key()
    assert over(over_tls, authority, **changes).execute(order(), key, 5) == expected
    assert over(over_tls, authority).status(key).status is Status.UNKNOWN


def test_client_without_a_certificate_is_not_let_in(over_tls: Running, authority: Path) -> None:
    secret = authority / "secret"
    signing.new_secret(secret)
    tls = Tls("bank/ca.pem", server_name="backoffice.test")
    service = Service(over_tls.url.replace("http:", "https:"), "secret", tls)
    endpoint = open_endpoint(service, authority)
    found = call(endpoint, "GET", "/effects", key=new_key(), at=now(), deadline_s=5)
    assert isinstance(found, NoAnswer)


def test_unreadable_certificates_do_not_open(authority: Path) -> None:
    for broken in (
        Tls("none.pem"),
        Tls("bank/own.key"),
        Tls("bank/ca.pem", "bank/own.pem", "lock/own.key"),
    ):
        signing.new_secret(authority / "secret")
        with pytest.raises(AssemblyError, match="certificate files"):
            open_endpoint(Service("https://127.0.0.1:1", "secret", broken), authority)
