"""An OpenAI-compatible server on loopback that misbehaves on demand.

Left alone it is a good server: it chooses the first legal code, fills the schema, and passes the
hand-shake. `behave` replaces the answer to one kind of call.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "good-model"
USAGE = {"prompt_tokens": 50, "completion_tokens": 2}
CANARY = "You choose one of the marks"
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """What goes back: a status, and bytes in pieces with a pause after each (seconds)."""

    pieces: tuple[bytes, ...]
    status: int = 200
    pause_s: float = 0.0


Behaviour = Callable[[Body], Said]


def chat(
    content: str | None,
    finish: str = "stop",
    model: str = MODEL,
    legal: tuple[str, ...] = (),
    index: object = 0,
    **message: object,
) -> Said:
    """One chat completion; `legal` codes get falling log-probabilities, the content's own first."""
    tokens = [] if content is None else _tokens(content, legal)
    choice = {
        "index": index,
        "message": {"role": "assistant", "content": content, **message},
        "logprobs": {"content": tokens},
        "finish_reason": finish,
    }
    return Said((json.dumps({"model": model, "choices": [choice], "usage": USAGE}).encode(),))


def _tokens(content: str, legal: tuple[str, ...]) -> list[Body]:
    others = [code for code in legal if code != content]
    rest = 0.3 / len(others) if others else 0.0
    weights = [(content, 1.0 - rest * len(others)), *((code, rest) for code in others)]
    top = [{"token": t, "logprob": _log(p), "bytes": list(t.encode())} for t, p in weights]
    return [{**top[0], "top_logprobs": top}]


def _log(probability: float) -> float:
    import math

    return math.log(probability) if probability else -9999.0


def stream(
    *pieces: str, finish: str | None = "stop", model: str = MODEL, pause_s: float = 0.0
) -> Said:
    """A streamed completion, one event per piece."""
    events = [{"index": 0, "delta": {"content": p}, "finish_reason": None} for p in pieces]
    if finish is not None:
        events.append({"index": 0, "delta": {}, "finish_reason": finish})
    counted = {"model": model, "choices": [], "usage": USAGE}
    told = [*({"model": model, "choices": [e]} for e in events), counted]
    lines = [b"data: " + json.dumps(one).encode() for one in told]
    return Said((*(line + b"\n\n" for line in lines), b"data: [DONE]\n\n"), pause_s=pause_s)


def good(body: Body) -> Said:
    """The answer of a good server."""
    held = body.get("structured_outputs", {})
    if "choice" in held:
        return chat(held["choice"][0], legal=tuple(held["choice"]), model=body["model"])
    wanted = held.get("json") or body.get("response_format", {}).get("json_schema", {}).get(
        "schema"
    )
    if wanted:
        legal = wanted["properties"]
        action, thing = legal["action_id"]["enum"][0], legal["object_id"]["enum"][0]
        said = {"action_id": action, "object_id": thing, "topk": [action]}
        return stream(json.dumps(said, ensure_ascii=False), model=body["model"])
    return chat("free words", model=body["model"])


@dataclass(slots=True)
class FaultServer:
    """The running server: what it was sent, who hung up, and how it behaves."""

    url: str = ""
    behave: Behaviour = good
    canaries: Behaviour = good
    models: tuple[str, ...] = (MODEL,)
    version: str = "0.32.0"
    bodies: list[Body] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)
    calls: int = 0

    def asked(self) -> list[Body]:
        """The bodies that were no canaries."""
        return [body for body in self.bodies if not is_canary(body)]


def is_canary(body: Mapping[str, Any]) -> bool:
    """True for a call of the hand-shake."""
    return str(body["messages"][0]["content"]).startswith(CANARY)


@contextmanager
def running(port: int = 0) -> Iterator[FaultServer]:
    """A server on a free port of loopback, stopped at the end."""
    told = FaultServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

        def do_GET(self) -> None:
            if self.path.endswith("/version"):
                said: Body = {"version": told.version}
            else:
                said = {"data": [{"id": name} for name in told.models]}
            self._send(Said((json.dumps(said).encode(),)))

        def do_POST(self) -> None:
            told.calls += 1
            raw = self.rfile.read(int(self.headers["content-length"]))
            body = json.loads(raw)
            told.raw.append(raw)
            told.bodies.append(body)
            self._send(told.canaries(body) if is_canary(body) else told.behave(body))

        def _send(self, said: Said) -> None:
            try:
                self.send_response(said.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(sum(map(len, said.pieces))))
                self.end_headers()
                for piece in said.pieces:
                    self.wfile.write(piece)
                    self.wfile.flush()
                    if said.pause_s:
                        time.sleep(said.pause_s)
            except OSError:
                self.close_connection = True
                told.hung_up.set()

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *_: object) -> None:
            """A client that hung up is no error here."""
            told.hung_up.set()

    server = Server(("127.0.0.1", port), Handler)
    told.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
