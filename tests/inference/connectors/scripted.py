"""A service on a real socket that does exactly what a test says, byte by byte."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from inference.connectors import signing

SECRET = bytes(range(32))


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


Script = Callable[[socket.socket, Asked], None]


@contextmanager
def serving(script: Script) -> Iterator[tuple[str, list[Asked]]]:
    """A server that plays the script on every connection: its address, and what it was asked."""
    listener = socket.create_server(("127.0.0.1", 0))
    seen: list[Asked] = []
    threads: list[threading.Thread] = []

    def play(connection: socket.socket) -> None:
        with connection:
            try:
                asked = read(connection)
                seen.append(asked)
                script(connection, asked)
            except OSError:  # the client has gone; what it saw is what the test is about
                return

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.settimeout(5)
            thread = threading.Thread(target=play, args=(connection,))
            threads.append(thread)
            thread.start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", seen
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        accepting.join()
        for thread in threads:
            thread.join()


def read(connection: socket.socket) -> Asked:
    """One whole request."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionError("closed in the headers")
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    return Asked(method, target, headers, body)


def answer(
    asked: Asked, value: Any, code: int = 200, secret: bytes = SECRET, **headers: str
) -> bytes:
    """A signed answer in bytes; `value` is JSON unless it is bytes already."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    request = asked.headers.get(signing.SIGNATURE, "")
    lines = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        signing.SIGNATURE: signing.answer_signature(secret, request, code, body),
        **{name.replace("_", "-"): text for name, text in headers.items()},
    }
    head = "".join(f"{name}: {text}\r\n" for name, text in lines.items())
    return f"HTTP/1.1 {code} Said\r\n{head}\r\n".encode() + body


def says(value: Any, code: int = 200, **changes: Any) -> Script:
    """A script that gives one signed answer."""

    def script(connection: socket.socket, asked: Asked) -> None:
        connection.sendall(answer(asked, value, code, **changes))

    return script
