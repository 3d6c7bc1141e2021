"""A vLLM server on this machine as a backend under test: `vllm:URL`, or `vllm:URL#MODEL`."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from eval.errors import ProposerError
from gate.load import backends as declared
from gate.load.backends import BackendEntry
from inference.backends import Backend
from inference.backends.opening import open_backend

SECONDS = 10.0
"""Most seconds to wait for the server's list of models."""


def open_server(place: str) -> Backend:
    """The server's closed choice, behind its hand-shake; ProposerError where none can be asked.

    Without a model's name the first that the server lists is taken. Only addresses of this machine
    are asked: other servers are declared in backends.yaml.
    """
    url, _, named = place.partition("#")
    _local(url)
    asked = named or _first(url)
    entry = BackendEntry(
        name=f"vllm:{asked}",
        kind=declared.VLLM,
        url=url.rstrip("/"),
        model=asked,
        identities=(asked,),
        form="codes",
        constraint="structured_outputs",
    )
    return open_backend(entry, Path())


def _local(url: str) -> None:
    """ProposerError for an address that is not this machine's."""
    host = urlsplit(url).hostname or ""
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise ProposerError(f"`{url}` is no address of this machine; use http://127.0.0.1:PORT")


def _first(url: str) -> str:
    """The first model that the server lists."""
    try:
        answer = httpx.get(f"{url.rstrip('/')}/v1/models", timeout=SECONDS).raise_for_status()
        return str(answer.json()["data"][0]["id"])
    except (httpx.HTTPError, ValueError, KeyError, IndexError, TypeError) as error:
        raise ProposerError(
            f"no vLLM server answers at `{url}`: {error}; start it, or correct the address"
        ) from error
