"""Run the stand-in: `python -m inference.connectors.backoffice --database F --secret-file S`.

Prints one line of JSON with its port as soon as it accepts connections.
"""

from __future__ import annotations

import argparse
import socket
import ssl
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import uvicorn
import yaml

from gate.errors import RoutelockError
from inference import sinks
from inference.connectors import signing
from inference.connectors.backoffice import bank
from inference.connectors.backoffice.service import Office, build


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop; 2 for wrong use."""
    given = _parser().parse_args(arguments)
    if given.secret_file is None and given.tls_ca is None:
        return _fail("give --secret-file, or --tls-ca for mutual TLS")
    try:
        secret = signing.read_secret(given.secret_file) if given.secret_file else None
        bank.create(given.database, _members(given.members), _now())
        listener = _listening(given.port)
    except (RoutelockError, OSError) as error:
        return _fail(str(error))
    office = Office(given.database, secret, _now, given.window, given.fault_file)
    with listener:
        print(sinks.json_text({"port": listener.getsockname()[1]}), flush=True)
        uvicorn.Server(_settings(office, given)).run(sockets=[listener])
    return 0


def _fail(problem: str) -> int:
    print(sinks.terminal(f"error: {problem}"), file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m inference.connectors.backoffice",
        description="A stand-in for a bank's own system, on loopback; for demo and tests only.",
    )
    parser.add_argument("--port", type=int, default=8791, help="0 takes any free port")
    parser.add_argument("--database", type=Path, required=True, help="SQLite file, made if absent")
    parser.add_argument("--secret-file", type=Path, help="secret that signs requests and answers")
    parser.add_argument(
        "--members",
        type=Path,
        default=Path("configs/demo/sessions.yaml"),
        help="sessions whose subjects are the members",
    )
    parser.add_argument("--window", type=float, default=signing.WINDOW_S, help="seconds")
    parser.add_argument("--fault-file", type=Path, help="names the fault of the next order")
    parser.add_argument("--tls-certificate", type=Path, help="own certificate (PEM)")
    parser.add_argument("--tls-key", type=Path, help="key of the own certificate")
    parser.add_argument("--tls-ca", type=Path, help="clients must show a certificate of this CA")
    return parser


def _members(path: Path) -> list[dict[str, object]]:
    return list(yaml.safe_load(path.read_text(encoding="utf-8"))["sessions"].values())


def _now() -> datetime:
    return datetime.now(UTC)


def _listening(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(64)
    return listener


def _settings(office: Office, given: argparse.Namespace) -> uvicorn.Config:
    return uvicorn.Config(
        build(office),
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        ssl_certfile=given.tls_certificate,
        ssl_keyfile=given.tls_key,
        ssl_ca_certs=str(given.tls_ca) if given.tls_ca else None,
        ssl_cert_reqs=ssl.CERT_REQUIRED if given.tls_ca else ssl.CERT_NONE,
    )


if __name__ == "__main__":
    sys.exit(main())
