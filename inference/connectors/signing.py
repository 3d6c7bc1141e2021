"""Signed requests and signed answers: who asked for what, when; and what was answered to that.

A request's signature is an HMAC-SHA-256 (RFC 2104) over method, target, time, key and the digest
of its body; a service refuses one that is older or newer than the window. An answer's signature is
over the request's signature, the status code and the digest of the body, so that no answer can be
taken for the answer to something else. A secret is 32 bytes or more, in hexadecimal, in a file
that only its owner can read.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from inference.errors import AssemblyError

TIME: Final = "routelock-time"
KEY: Final = "routelock-key"
SIGNATURE: Final = "routelock-signature"

WINDOW_S: Final = 30.0
"""Greatest difference between a request's time and the service's clock, in seconds."""

SECRET_BYTES: Final = 32

_SECRET = re.compile(r"[0-9a-f]{64,512}")
_TIME = re.compile(r"[0-9]{1,12}\.[0-9]{6}")


def request_headers(
    secret: bytes, method: str, target: str, at: datetime, key: str, body: bytes
) -> dict[str, str]:
    """The headers that sign one request; `target` is path and query exactly as sent."""
    time = f"{at.timestamp():.6f}"
    return {TIME: time, KEY: key, SIGNATURE: _request(secret, method, target, time, key, body)}


def request_fault(
    secret: bytes,
    method: str,
    target: str,
    headers: Mapping[str, str],
    body: bytes,
    now: datetime,
    window_s: float = WINDOW_S,
) -> str | None:
    """Why a service must refuse the request: UNSIGNED, BAD_SIGNATURE or OUTSIDE_WINDOW; else None.

    `headers` are read by small names.
    """
    time, key = headers.get(TIME, ""), headers.get(KEY, "")
    given = headers.get(SIGNATURE, "")
    if not (given and key and _TIME.fullmatch(time)):
        return "UNSIGNED"
    if not _same(given, _request(secret, method, target, time, key, body)):
        return "BAD_SIGNATURE"
    return None if abs(now.timestamp() - float(time)) <= window_s else "OUTSIDE_WINDOW"


def answer_signature(secret: bytes, request: str, status: int, body: bytes) -> str:
    """The signature of an answer to the request whose signature is `request`."""
    return _sign(secret, "routelock-answer-1", request, str(status), _digest(body))


def answer_is_signed(secret: bytes, request: str, status: int, body: bytes, given: str) -> bool:
    """True if `given` is the signature of this answer to that request."""
    return _same(given, answer_signature(secret, request, status, body))


def new_secret(path: Path) -> None:
    """Write a new secret that only its owner can read; a file that exists is left alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(SECRET_BYTES) + "\n")
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()


def read_secret(path: Path) -> bytes:
    """The secret in a file; AssemblyError if it is missing, open to others, short or no hex."""
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise AssemblyError(f"secret file `{path}` cannot be read; put a secret there") from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise AssemblyError(f"secret file `{path}` is open to others; run `chmod 600` on it")
    if not _SECRET.fullmatch(text) or len(text) % 2:
        raise AssemblyError(f"secret file `{path}` holds no secret; write 64 or more hex digits")
    return bytes.fromhex(text)


def _request(secret: bytes, method: str, target: str, time: str, key: str, body: bytes) -> str:
    return _sign(secret, "routelock-request-1", method, target, time, key, _digest(body))


def _sign(secret: bytes, *lines: str) -> str:
    return hmac.new(secret, "\n".join(lines).encode(), hashlib.sha256).hexdigest()


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(), right.encode())
