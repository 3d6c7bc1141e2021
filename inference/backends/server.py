"""A backend behind an OpenAI-compatible server: vLLM, or any other that speaks chat completions.

One call per choice; reasoning before the label, where it is switched on, is a second one. What is
sent and what came back are the receipt, byte for byte.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from gate.load.backends import BackendEntry
from gate.records import NONE, UNRESOLVED
from inference.backends import Choice, Form, Usage, form_of, reading, wire
from inference.errors import BackendError
from inference.prompts import Prompt

OBJECTS = (UNRESOLVED, NONE)
"""Objects of the JSON form: the object is the gate's finding."""
TRANSPORT = "backend_down"
"""Reason of a call whose connection failed; the only one that is tried again."""

_UNIX = "unix:"


class ServerBackend:
    """Speaks to one server as `entry` declares it; connections are kept open between calls."""

    def __init__(self, entry: BackendEntry, root: Path = Path()) -> None:
        self.entry = entry
        self.name = entry.name
        self.form: Form = form_of(entry.form)
        self.digest = _digest(entry)
        self._root = root
        self._speech = wire.Speech(entry.model, entry.form, entry.constraint, entry.specials)
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def choose(self, prompt: Prompt, codes: Sequence[str]) -> Choice:
        """The server's choice; BackendError for anything but exactly one legal answer."""
        thoughts, first = "", Usage(0)
        if self.entry.reasoning_tokens:
            thoughts, first = await self._think(prompt)
        if self.form == "json":
            choice = await self._json(prompt, codes, thoughts)
        else:
            choice = await self._closed(prompt, codes, thoughts)
        return replace(choice, usage=_sum(first, choice.usage)) if thoughts else choice

    async def get(self, path: str) -> Any:
        """JSON of a path beside or below the API, for the hand-shake; BackendError without."""
        async with self._answering("GET", path, b"") as response:
            body = await _whole(response)
            if response.status_code != 200:
                raise reading.refused(response.status_code, body)
        try:
            return json.loads(body)
        except ValueError as error:
            raise BackendError(reading.SERVER, f"`{path}` answers no JSON") from error

    async def closed(self, body: wire.Body) -> tuple[reading.Answer, bytes, bytes]:
        """One closed-choice call: the answer with the bytes sent and received."""
        sent = wire.encoded(body)
        raw = await self.post(sent)
        try:
            return reading.completion(raw, self.entry.identities), sent, raw
        except BackendError as error:
            raise _with(error, sent, raw) from error

    async def streamed(self, body: wire.Body) -> tuple[reading.Answer, bytes]:
        """One JSON call; the connection is closed as soon as the answer is worth nothing."""
        sent = wire.encoded(body)
        stream, lines = reading.Stream(self.entry.identities), []
        try:
            async with self._answering("POST", "chat/completions", sent) as response:
                if response.status_code != 200:
                    raise reading.refused(response.status_code, await _whole(response))
                async for line in response.aiter_lines():
                    lines.append(line)
                    stream.add(line)
            return stream.ended(), sent
        except BackendError as error:
            raise _with(error, sent, "\n".join(lines).encode()) from error

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _closed(self, prompt: Prompt, codes: Sequence[str], thoughts: str) -> Choice:
        body = wire.closed(self._speech, prompt, codes, thoughts)
        answer, sent, raw = await self.closed(body)
        try:
            weights = reading.weigh(answer, codes)
        except BackendError as error:
            raise _with(error, sent, raw) from error
        return Choice(
            weights, raw.decode("utf-8", "replace"), None, sent.decode(), answer.model, answer.usage
        )

    async def _json(self, prompt: Prompt, codes: Sequence[str], thoughts: str) -> Choice:
        body = wire.json_form(self._speech, prompt, wire.schema(codes, OBJECTS), thoughts)
        answer, sent = await self.streamed(body)
        return Choice((), answer.text, answer.text, sent.decode(), answer.model, answer.usage)

    async def _think(self, prompt: Prompt) -> tuple[str, Usage]:
        sent = wire.encoded(wire.reasoning(self._speech, prompt, self.entry.reasoning_tokens))
        raw = await self.post(sent)
        try:
            return reading.thoughts(raw, self.entry.identities)
        except BackendError as error:
            raise _with(error, sent, raw) from error

    async def post(self, sent: bytes) -> bytes:
        """The bytes of one answered call; BackendError for any status but 200."""
        try:
            async with self._answering("POST", "chat/completions", sent) as response:
                raw = await _whole(response)
        except BackendError as error:
            raise _with(error, sent, b"") from error
        if response.status_code != 200:
            raise _with(reading.refused(response.status_code, raw), sent, raw)
        return raw

    @asynccontextmanager
    async def _answering(
        self, method: str, path: str, sent: bytes
    ) -> AsyncIterator[httpx.Response]:
        try:
            async with self._http().stream(method, path, content=sent or None) as response:
                yield response
        except httpx.TransportError as error:
            raise BackendError(TRANSPORT, f"{type(error).__name__}: {error}") from error

    def _http(self) -> httpx.AsyncClient:
        """The client of this event loop; connections belong to the loop that opened them."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client, self._loop = self._connected(), loop
        return self._client

    def _connected(self) -> httpx.AsyncClient:
        entry = self.entry
        headers = {"content-type": "application/json"}
        if entry.api_key_file is not None:
            key = (self._root / entry.api_key_file).read_text(encoding="utf-8").strip()
            headers["authorization"] = f"Bearer {key}"
        unix = entry.url.startswith(_UNIX)
        base = "http://localhost/v1" if unix else _api(entry)
        limits = httpx.Limits(
            max_connections=None, max_keepalive_connections=entry.bounds.concurrency
        )
        proof: ssl.SSLContext | bool = True
        if entry.ca_file is not None:
            proof = ssl.create_default_context(cafile=str(self._root / entry.ca_file))
        transport = None
        if not entry.hosted:  # a hosted one may stand behind the house's proxy
            uds = entry.url.removeprefix(_UNIX) if unix else None
            transport = httpx.AsyncHTTPTransport(verify=proof, uds=uds, limits=limits)
        return httpx.AsyncClient(
            base_url=base + "/",
            headers=headers,
            timeout=httpx.Timeout(None, connect=min(5.0, entry.bounds.deadline_s)),
            transport=transport,
            trust_env=entry.hosted,
            follow_redirects=False,
        )


def _api(entry: BackendEntry) -> str:
    return entry.url if entry.url.endswith("/v1") or entry.hosted else f"{entry.url}/v1"


def _digest(entry: BackendEntry) -> str:
    """Names what answers: everything declared that can change a choice."""
    told: list[Any] = [entry.kind, entry.model, entry.base, entry.identities, entry.versions]
    told += [entry.form, entry.constraint, entry.reasoning_tokens, sorted(entry.specials)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


async def _whole(response: httpx.Response) -> bytes:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > reading.ANSWER_BYTES:
            raise BackendError(reading.INVALID, f"the answer has over {reading.ANSWER_BYTES} bytes")
    return bytes(body)


def _with(error: BackendError, sent: bytes, raw: bytes) -> BackendError:
    return BackendError(error.reason, str(error), sent.decode(), raw.decode("utf-8", "replace"))


def _sum(first: Usage, second: Usage) -> Usage:
    def both(a: int | None, b: int | None) -> int | None:
        return None if a is None or b is None else a + b

    return Usage(
        first.calls + second.calls,
        both(first.tokens_in, second.tokens_in),
        both(first.tokens_out, second.tokens_out),
    )
