"""Signatures: the written formula, everything it covers, the window, and the secret's file."""

from __future__ import annotations

import hashlib
import hmac
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from inference.connectors import signing
from inference.errors import AssemblyError

SECRET = bytes(range(32))
AT = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
PUT = ("PUT", "/orders/k1?a=b")


def headers() -> dict[str, str]:
    return signing.request_headers(SECRET, *PUT, AT, "k1", b"body")


def test_request_signature_is_the_hmac_that_the_readme_writes_down() -> None:
    digest = hashlib.sha256(b"body").hexdigest()
    message = f"routelock-request-1\nPUT\n/orders/k1?a=b\n1796115600.000000\nk1\n{digest}"
    expected = hmac.new(SECRET, message.encode(), "sha256").hexdigest()
    assert headers() == {
        "routelock-time": "1796115600.000000",
        "routelock-key": "k1",
        "routelock-signature": expected,
    }


def test_answer_signature_is_the_hmac_that_the_readme_writes_down() -> None:
    digest = hashlib.sha256(b"{}").hexdigest()
    message = f"routelock-answer-1\nASKED\n200\n{digest}"
    expected = hmac.new(SECRET, message.encode(), "sha256").hexdigest()
    assert signing.answer_signature(SECRET, "ASKED", 200, b"{}") == expected


def test_signed_request_is_let_in_within_the_window() -> None:
    for seconds in (-30, 0, 30):
        now = AT + timedelta(seconds=seconds)
        assert signing.request_fault(SECRET, *PUT, headers(), b"body", now) is None


@pytest.mark.parametrize("seconds", [-31, 31, 86400])
def test_request_outside_the_window_is_refused(seconds: int) -> None:
    now = AT + timedelta(seconds=seconds)
    assert signing.request_fault(SECRET, *PUT, headers(), b"body", now) == "OUTSIDE_WINDOW"


@pytest.mark.parametrize("name", [signing.TIME, signing.KEY, signing.SIGNATURE])
def test_request_without_one_of_the_headers_is_unsigned(name: str) -> None:
    fewer = {n: v for n, v in headers().items() if n != name}
    assert signing.request_fault(SECRET, *PUT, fewer, b"body", AT) == "UNSIGNED"


@pytest.mark.parametrize("time", ["", "now", "1e9", "nan", "-1.000000", "1796115600"])
def test_time_of_another_form_is_unsigned(time: str) -> None:
    changed = {**headers(), signing.TIME: time}
    assert signing.request_fault(SECRET, *PUT, changed, b"body", AT) == "UNSIGNED"


def test_every_signed_part_counts() -> None:
    def fault(
        method: str = "PUT",
        target: str = "/orders/k1?a=b",
        body: bytes = b"body",
        secret: bytes = SECRET,
        **changed: str,
    ) -> str | None:
        given = {**headers(), **{f"routelock-{n}": v for n, v in changed.items()}}
        return signing.request_fault(secret, method, target, given, body, AT)

    assert fault() is None
    for changed in (
        fault(method="POST"),
        fault(target="/orders/k1"),
        fault(body=b"Body"),
        fault(secret=bytes(32)),
        fault(key="k2"),
        fault(time="1796115601.000000"),
        fault(signature="0" * 64),
        fault(signature="ü"),
    ):
        assert changed == "BAD_SIGNATURE"


def test_answer_fits_its_own_request_code_and_body_only() -> None:
    signature = signing.answer_signature(SECRET, "asked", 200, b"body")
    assert signing.answer_is_signed(SECRET, "asked", 200, b"body", signature)
    assert not signing.answer_is_signed(SECRET, "Asked", 200, b"body", signature)
    assert not signing.answer_is_signed(SECRET, "asked", 201, b"body", signature)
    assert not signing.answer_is_signed(SECRET, "asked", 200, b"Body", signature)
    assert not signing.answer_is_signed(SECRET, "asked", 200, b"body", "")


def test_new_secret_is_for_its_owner_only_and_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "key"
    signing.new_secret(path)
    first = signing.read_secret(path)
    signing.new_secret(path)
    assert signing.read_secret(path) == first
    assert len(first) == signing.SECRET_BYTES
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in path.parent.iterdir()] == ["key"]


@pytest.mark.parametrize(
    ("text", "mode", "says"),
    [
        ("ab" * 32, 0o640, "chmod 600"),
        ("ab" * 32, 0o604, "chmod 600"),
        ("ab" * 31, 0o600, "64 or more"),
        ("ab" * 32 + "c", 0o600, "64 or more"),
        ("not hex" * 20, 0o600, "64 or more"),
        ("", 0o600, "64 or more"),
    ],
)
def test_secret_that_is_open_short_or_no_hex_is_refused(
    tmp_path: Path, text: str, mode: int, says: str
) -> None:
    path = tmp_path / "key"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(AssemblyError, match=says):
        signing.read_secret(path)


def test_missing_or_binary_secret_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssemblyError, match="put a secret there"):
        signing.read_secret(tmp_path / "none")
    (tmp_path / "key").write_bytes(b"\xff" * 64)
    with pytest.raises(AssemblyError, match="put a secret there"):
        signing.read_secret(tmp_path / "key")
