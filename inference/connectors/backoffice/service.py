"""The stand-in's HTTP service; requests are signed, and so are the answers to them.

PUT /orders/KEY   carry out an order      GET /orders/KEY   what became of it
GET /effects      what has changed        GET /state        state and session of a member
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool

from inference.connectors import signing
from inference.connectors.backoffice import bank, facts, faults
from inference.connectors.backoffice.bank import Clock, Reply, failure

BODY_BYTES: Final = 65_536
FIELDS: Final = frozenset(
    ("format", "decision_id", "action_id", "object_id", "slots", "subject", "valid_until", "text")
)
KEY = re.compile(r"[A-Za-z0-9_-]{8,100}")


@dataclass(frozen=True, slots=True)
class Office:
    """Everything that the service works with; `secret` is None where mutual TLS proves who asks."""

    database: Path
    secret: bytes | None
    clock: Clock
    window_s: float = signing.WINDOW_S
    fault_file: Path | None = None


def build(office: Office) -> FastAPI:
    """The application."""
    app = FastAPI(title="Back office (stand-in)", docs_url=None, redoc_url=None, openapi_url=None)

    @app.put("/orders/{key}")
    async def put_order(request: Request, key: str) -> Response:
        body = await _body(request)
        refusal = _refusal(office, request, body, key)
        return _answer(office, request, refusal or await _place(office, key, body))

    @app.get("/orders/{key}")
    async def get_order(request: Request, key: str) -> Response:
        refusal = _refusal(office, request, b"", key)
        return _answer(office, request, refusal or await _find(office, key))

    @app.get("/effects")
    async def get_effects(request: Request) -> Response:
        refusal = _refusal(office, request, b"")
        return _answer(office, request, refusal or await _show(office))

    @app.get("/state")
    async def get_state(request: Request, subject: str, object_id: str | None = None) -> Response:
        refusal = _refusal(office, request, b"")
        return _answer(office, request, refusal or await _tell(office, subject, object_id))

    return app


async def _find(office: Office, key: str) -> Reply:
    """What became of the order of a key."""
    return await run_in_threadpool(bank.look_up, office.database, key)


async def _show(office: Office) -> Reply:
    """The bank's rows and the journal of effects."""
    return Reply(200, await run_in_threadpool(bank.tables, office.database))


async def _tell(office: Office, subject: str, object_id: str | None) -> Reply:
    """State and session of a member, about an object of theirs if one is named."""
    now = office.clock()
    told = await run_in_threadpool(facts.situation, office.database, subject, object_id, now)
    return Reply(200, told)


async def _body(request: Request) -> bytes:
    """The body, cut off above the limit; a body that was cut off has no valid signature."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_BYTES:
            break
    return body


def _refusal(office: Office, request: Request, body: bytes, key: str | None = None) -> Reply | None:
    """Why the request is not let in; None if it is."""
    fault = None if office.secret is None else _fault(office, office.secret, request, body, key)
    if fault is not None:
        return Reply(401, {"status": "FAILED", "reason": fault}, signed=False)
    bad_key = key is not None and not KEY.fullmatch(key)
    return failure(400, "MALFORMED_ORDER") if bad_key else None


def _fault(
    office: Office, secret: bytes, request: Request, body: bytes, key: str | None
) -> str | None:
    """What is wrong with the request's signature, if anything is."""
    if len(body) > BODY_BYTES:
        return "TOO_LARGE"
    if key is not None and request.headers.get(signing.KEY, key) != key:
        return "BAD_SIGNATURE"
    return signing.request_fault(
        secret,
        request.method,
        _target(request),
        request.headers,
        body,
        office.clock(),
        office.window_s,
    )


def _target(request: Request) -> str:
    """Path and query exactly as they were sent."""
    query = request.scope["query_string"]
    raw: bytes = request.scope["raw_path"] + (b"?" + query if query else b"")
    return raw.decode("latin-1")


async def _place(office: Office, key: str, body: bytes) -> Reply:
    """Carry out the order of a body, with the faults that a test has asked for."""
    order = parse_order(body)
    if order is None:
        return failure(422, "MALFORMED_ORDER")
    fault = faults.take(office.fault_file)
    fault.crash(faults.BEFORE)
    await asyncio.sleep(fault.delay(faults.BEFORE))
    if fault.is_error(faults.BEFORE):
        return Reply(500, {})
    reply = await run_in_threadpool(
        bank.place, office.database, key, order, office.clock, lambda: fault.crash(faults.INSIDE)
    )
    fault.crash(faults.AFTER)
    await asyncio.sleep(fault.delay(faults.AFTER))
    return Reply(500, {}) if fault.is_error(faults.AFTER) else reply


def parse_order(body: bytes) -> Mapping[str, Any] | None:
    """The order in a body, or None if it is not one of format 1."""
    try:
        order = json.loads(body)
        if order.keys() != FIELDS or order["format"] != 1 or not isinstance(order["slots"], dict):
            return None
        texts = (order["subject"], order["action_id"], order["object_id"] or "", order["text"])
        zoned = datetime.fromisoformat(order["valid_until"]).utcoffset() is not None
        return order if zoned and all(isinstance(text, str) for text in texts) else None
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def _answer(office: Office, request: Request, reply: Reply) -> Response:
    """The reply as JSON, signed for the request that it answers if that was signed itself."""
    body = json.dumps(reply.value).encode()
    headers = {}
    if office.secret is not None and reply.signed:
        asked = request.headers.get(signing.SIGNATURE, "")
        signed = signing.answer_signature(office.secret, asked, reply.code, body)
        headers[signing.SIGNATURE] = signed
    return Response(body, reply.code, headers, "application/json")
