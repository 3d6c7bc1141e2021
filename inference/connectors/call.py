"""One HTTP exchange with a service in the house: bounded in time and size, proven on both sides.

Only declared addresses, no redirects, no proxies, no content encodings, no names to look up. The
deadline covers everything from the connection to the last byte. What comes back is an answer that
the service has signed or given over mutual TLS, or the reason why there is none, and whether the
request may have reached the service.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import httpx

from gate.errors import RequestError
from gate.load import strictjson
from gate.load.services import Service, Tls, service_fault
from inference.connectors import signing
from inference.connectors.protocol import Reason
from inference.errors import AssemblyError

BODY_BYTES: Final = 65_536
"""Largest answer that is read, unless its reader says otherwise."""

CONNECTING: Final = 0.25
"""Share of the deadline that each step of connecting may take; none has sent anything yet."""

_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A service that may be called; `secret` is None where mutual TLS proves both sides."""

    url: str
    secret: bytes | None
    tls: ssl.SSLContext
    server_name: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A service's own answer; `value` is the JSON value of its body."""

    code: int
    value: Any


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """There is no answer that can be relied on; `sent` is False if nothing went out for certain."""

    reason: Reason
    sent: bool


def open_endpoint(service: Service, root: Path) -> Endpoint:
    """The endpoint of a declared service, its files below `root`; AssemblyError with what to do."""
    fault = service_fault(service)
    if fault is not None:
        raise AssemblyError(f"{fault.problem}; {fault.fix}")
    secret = signing.read_secret(root / service.secret_file) if service.secret_file else None
    name = service.tls.server_name if service.tls else None
    return Endpoint(service.url.rstrip("/"), secret, _context(service.tls, root), name)


def _context(tls: Tls | None, root: Path) -> ssl.SSLContext:
    """TLS 1.2 or newer that trusts the declared authority alone; without one it trusts nobody."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if tls is None:
        return context
    try:
        context.load_verify_locations(root / tls.ca_file)
        if tls.certificate_file and tls.key_file:
            context.load_cert_chain(root / tls.certificate_file, root / tls.key_file)
    except OSError as error:  # ssl.SSLError is one
        problem = "certificate files of a service cannot be read"
        raise AssemblyError(f"{problem}: {error}; check `tls` in connectors.yaml") from error
    return context


def call(
    endpoint: Endpoint,
    method: str,
    path: str,
    *,
    key: str,
    at: datetime,
    deadline_s: float,
    body: bytes = b"",
    body_bytes: int = BODY_BYTES,
) -> Answer | NoAnswer:
    """Send one request, signed for the time `at`, and read its answer of at most `body_bytes`.

    Synchronous; not for a thread that runs an event loop.
    """
    return asyncio.run(_call(endpoint, method, path, key, at, deadline_s, body, body_bytes))


async def _call(
    endpoint: Endpoint,
    method: str,
    path: str,
    key: str,
    at: datetime,
    deadline_s: float,
    body: bytes,
    body_bytes: int,
) -> Answer | NoAnswer:
    timeout = httpx.Timeout(deadline_s, connect=deadline_s * CONNECTING)
    try:
        async with (
            asyncio.timeout(deadline_s),
            httpx.AsyncClient(
                verify=endpoint.tls, trust_env=False, follow_redirects=False, timeout=timeout
            ) as client,
        ):
            request = _request(client, endpoint, method, path, key, at, body)
            response = await client.send(request, stream=True)
            try:
                return await _read(endpoint, request, response, body_bytes)
            finally:
                await response.aclose()
    except _NEVER_SENT:
        return NoAnswer(Reason.UNREACHABLE, sent=False)
    except (TimeoutError, httpx.TimeoutException):
        return NoAnswer(Reason.DEADLINE, sent=True)
    except (httpx.HTTPError, OSError):  # a refused certificate of ours is an ssl.SSLError
        return NoAnswer(Reason.CONNECTION_LOST, sent=True)


def _request(
    client: httpx.AsyncClient,
    endpoint: Endpoint,
    method: str,
    path: str,
    key: str,
    at: datetime,
    body: bytes,
) -> httpx.Request:
    url = httpx.URL(endpoint.url + path)
    headers = {
        "accept": "application/json",
        "accept-encoding": "identity",
        "connection": "close",
        "content-type": "application/json",
        "user-agent": "routelock",
    }
    if endpoint.secret is not None:
        target = url.raw_path.decode("ascii")
        headers |= signing.request_headers(endpoint.secret, method, target, at, key, body)
    extensions = {"sni_hostname": endpoint.server_name} if endpoint.server_name else {}
    return client.build_request(method, url, headers=headers, content=body, extensions=extensions)


async def _read(
    endpoint: Endpoint, request: httpx.Request, response: httpx.Response, body_bytes: int
) -> Answer | NoAnswer:
    if response.status_code >= 500:
        return NoAnswer(Reason.SERVICE_ERROR, sent=True)
    if 300 <= response.status_code < 400:
        return NoAnswer(Reason.REDIRECTED, sent=True)
    if response.headers.get("content-encoding", "identity") != "identity":
        return NoAnswer(Reason.ANSWER_MALFORMED, sent=True)
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > body_bytes:
            return NoAnswer(Reason.ANSWER_TOO_LARGE, sent=True)
    if not _is_signed(endpoint, request, response, bytes(body)):
        return NoAnswer(Reason.ANSWER_UNSIGNED, sent=True)
    return _answer(response.status_code, bytes(body), body_bytes)


def _is_signed(
    endpoint: Endpoint, request: httpx.Request, response: httpx.Response, body: bytes
) -> bool:
    """True if the secret signs the answer, or there is none and mutual TLS has proven both sides."""
    if endpoint.secret is None:
        return True
    given, asked = response.headers.get(signing.SIGNATURE, ""), request.headers[signing.SIGNATURE]
    return signing.answer_is_signed(endpoint.secret, asked, response.status_code, body, given)


def _answer(code: int, body: bytes, body_bytes: int) -> Answer | NoAnswer:
    try:
        return Answer(code, strictjson.parse(body, body_bytes, "answer"))
    except RequestError:
        return NoAnswer(Reason.ANSWER_MALFORMED, sent=True)


def fields(value: Any, *names: str) -> Mapping[str, Any] | None:
    """The value, if it is an object of exactly these fields; else None."""
    return value if isinstance(value, dict) and value.keys() == set(names) else None
