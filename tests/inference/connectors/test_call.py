"""One exchange over real sockets: every way to fail has a name, and is over by its deadline."""

from __future__ import annotations

import gzip
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gate.load.services import Service
from inference.connectors import signing
from inference.connectors.call import Answer, Endpoint, NoAnswer, call, fields, open_endpoint
from inference.connectors.protocol import Reason
from inference.errors import AssemblyError
from tests.inference.connectors import scripted
from tests.inference.connectors.scripted import SECRET, Asked, Script, answer, says, serving

AT = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(SECRET.hex())
    path.chmod(0o600)
    return path


def endpoint(url: str, secret_file: Path) -> Endpoint:
    return open_endpoint(Service(url, str(secret_file)), Path())


def ask(url: str, secret_file: Path, **changes: Any) -> Answer | NoAnswer:
    given = {"key": "k" * 32, "at": AT, "deadline_s": 2.0, "body": b"{}", **changes}
    return call(endpoint(url, secret_file), "PUT", "/orders/k?x=%20", **given)


def failing(script: Script, secret_file: Path, **changes: Any) -> NoAnswer:
    with serving(script) as (url, seen):
        found = ask(url, secret_file, **changes)
        assert len(seen) == 1, "nothing is asked twice"
    assert isinstance(found, NoAnswer)
    assert found.sent
    return found


def test_signed_answer_is_read(secret_file: Path) -> None:
    with serving(says({"a": [1, "x", None]})) as (url, seen):
        assert ask(url, secret_file) == Answer(200, {"a": [1, "x", None]})
    asked = seen[0]
    assert (asked.method, asked.target, asked.body) == ("PUT", "/orders/k?x=%20", b"{}")
    assert not signing.request_fault(SECRET, "PUT", asked.target, asked.headers, asked.body, AT)
    assert asked.headers["accept-encoding"] == "identity"
    assert asked.headers["user-agent"] == "routelock"


def test_base_address_with_a_path_is_kept_and_signed(secret_file: Path) -> None:
    with serving(says({})) as (url, seen):
        assert ask(f"{url}/bank/v2/", secret_file) == Answer(200, {})
    assert seen[0].target == "/bank/v2/orders/k?x=%20"


def test_answer_in_pieces_is_read(secret_file: Path) -> None:
    def script(connection: socket.socket, asked: Asked) -> None:
        for byte in answer(asked, {"ok": True}):
            connection.sendall(bytes([byte]))

    with serving(script) as (url, _):
        assert ask(url, secret_file) == Answer(200, {"ok": True})


def test_refusal_is_an_answer_too(secret_file: Path) -> None:
    with serving(says({"status": "FAILED"}, code=422)) as (url, _):
        assert ask(url, secret_file) == Answer(422, {"status": "FAILED"})


def test_closed_port_was_never_reached(secret_file: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert ask(url, secret_file) == NoAnswer(Reason.UNREACHABLE, sent=False)


def test_full_backlog_is_unreachable_in_time(secret_file: Path) -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        started = time.monotonic()
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        assert ask(url, secret_file, deadline_s=0.8) == NoAnswer(Reason.UNREACHABLE, sent=False)
        assert time.monotonic() - started < 0.8
        for one in waiting:
            one.close()


@pytest.mark.parametrize("code", [500, 502, 503, 599])
def test_service_error_is_no_answer_even_if_signed(secret_file: Path, code: int) -> None:
    script = says({"status": "FAILED", "reason": "NO"}, code=code)
    assert failing(script, secret_file).reason is Reason.SERVICE_ERROR


@pytest.mark.parametrize("code", [300, 301, 302, 303, 304, 307, 308])
def test_redirect_is_not_followed(secret_file: Path, code: int) -> None:
    with serving(says({})) as (elsewhere, asked_elsewhere):
        found = failing(says({}, code=code, location=f"{elsewhere}/orders/k"), secret_file)
        assert found.reason is Reason.REDIRECTED
    assert asked_elsewhere == []


def test_answer_above_the_limit_is_not_read_on(secret_file: Path) -> None:
    script = says(b'"' + b"x" * 5000 + b'"')
    found = failing(script, secret_file, body_bytes=4096)
    assert found.reason is Reason.ANSWER_TOO_LARGE


def test_endless_answer_is_cut_off(secret_file: Path) -> None:
    def script(connection: socket.socket, asked: Asked) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    assert failing(script, secret_file).reason is Reason.ANSWER_TOO_LARGE


def test_endless_headers_are_cut_off(secret_file: Path) -> None:
    def script(connection: socket.socket, asked: Asked) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            connection.sendall(b"x: " + b"y" * 4096 + b"\r\n")

    assert failing(script, secret_file).reason is Reason.CONNECTION_LOST


@pytest.mark.parametrize(
    "script",
    [
        says({}, secret=bytes(32)),
        says({}, routelock_signature=""),
        says({}, routelock_signature="0" * 64),
        lambda connection, asked: connection.sendall(
            answer(asked, {"status": "DONE"}).replace(b"DONE", b"GONE")
        ),
        lambda connection, asked: connection.sendall(
            answer(asked, {}).replace(b"HTTP/1.1 200", b"HTTP/1.1 202")
        ),
        lambda connection, asked: connection.sendall(
            answer(Asked("PUT", "", {signing.SIGNATURE: "another"}, b""), {})
        ),
    ],
    ids=["other secret", "no signature", "zeros", "body", "code", "answer to something else"],
)
def test_answer_without_its_signature_is_not_relied_on(secret_file: Path, script: Script) -> None:
    assert failing(script, secret_file).reason is Reason.ANSWER_UNSIGNED


@pytest.mark.parametrize(
    "body", [b"", b"ok", b"{}{}", b'{"a":1,"a":2}', b'{"a":NaN}', b"\xff", b"[" * 5000]
)
def test_body_that_is_no_strict_json_is_malformed(secret_file: Path, body: bytes) -> None:
    assert failing(says(body), secret_file).reason is Reason.ANSWER_MALFORMED


def test_compressed_answer_is_refused(secret_file: Path) -> None:
    script = says(gzip.compress(b"{}"), content_encoding="gzip")
    assert failing(script, secret_file).reason is Reason.ANSWER_MALFORMED


@pytest.mark.parametrize(
    "said", [b"", b"HTTP/1.1 200 OK\r\n", b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n{"]
)
def test_connection_that_ends_early_is_lost(secret_file: Path, said: bytes) -> None:
    def script(connection: socket.socket, asked: Asked) -> None:
        connection.sendall(said.replace(b"OK\r\n\r\n", b"OK\r\ncontent-length: 9\r\n\r\n"))

    assert failing(script, secret_file).reason is Reason.CONNECTION_LOST


def silent(connection: socket.socket, asked: Asked) -> None:
    connection.recv(1)


def dripping_headers(connection: socket.socket, asked: Asked) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(100):
        connection.sendall(f"x-{number}: y\r\n".encode())
        time.sleep(0.05)


def dripping_body(connection: socket.socket, asked: Asked) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
    for _ in range(100):
        connection.sendall(b" ")
        time.sleep(0.05)


@pytest.mark.parametrize("script", [silent, dripping_headers, dripping_body])
def test_deadline_covers_the_whole_exchange(secret_file: Path, script: Script) -> None:
    with serving(script) as (url, _):
        started = time.monotonic()
        found = ask(url, secret_file, deadline_s=0.3)
        assert time.monotonic() - started < 0.8
    assert found == NoAnswer(Reason.DEADLINE, sent=True)


def test_proxies_of_the_environment_are_not_asked(
    secret_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(says({"from": "proxy"})) as (proxy, seen), serving(says({})) as (url, _):
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy)
        assert ask(url, secret_file) == Answer(200, {})
    assert seen == []


@pytest.mark.parametrize(
    "service",
    [
        Service("http://10.0.0.1:80", "key"),
        Service("http://localhost:80", "key"),
        Service("http://127.0.0.1:80"),
        Service("ftp://127.0.0.1:80", "key"),
    ],
)
def test_endpoint_outside_the_declared_addresses_does_not_open(
    secret_file: Path, service: Service
) -> None:
    with pytest.raises(AssemblyError):
        open_endpoint(service, secret_file.parent)


def test_fields_are_exactly_these() -> None:
    assert fields({"a": 1, "b": 2}, "a", "b") == {"a": 1, "b": 2}
    for other in ({"a": 1}, {"a": 1, "b": 2, "c": 3}, ["a", "b"], "ab", None):
        assert fields(other, "a", "b") is None


def test_scripted_service_is_closed_after_use() -> None:
    with scripted.serving(says({})) as (url, _):
        port = int(url.rpartition(":")[2])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
