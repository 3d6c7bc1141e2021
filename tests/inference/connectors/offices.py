"""Back offices and orders for the tests of connectors and sources."""

from __future__ import annotations

import itertools
import os
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gate.catalog import Catalog
from gate.load import yamlfile
from gate.load.connectors import Connectors, read
from gate.load.digests import Source
from gate.load.services import Service
from inference.connectors import signing
from inference.connectors.backoffice import bank
from inference.connectors.backoffice.process import Running, start
from inference.connectors.call import Endpoint, open_endpoint
from inference.connectors.protocol import Order

ACTIONS = frozenset(
    ("FREEZE_CARD", "CHANGE_EMAIL", "CHANGE_ADDRESS", "FUND_ORDER", "CLOSE_ACCOUNT")
)


ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "configs/demo"


def parsed(text: str, catalog: Catalog) -> Connectors:
    """The connectors in the text of a connectors.yaml."""
    source = Source("connectors.yaml", "connectors.yaml", text.encode())
    return read(yamlfile.parse(source), catalog)


def now() -> datetime:
    """The machine's clock."""
    return datetime.now(UTC)


def new_key() -> str:
    """A key that was never used."""
    return secrets.token_hex(16)


_AMOUNTS = itertools.count(250)


def order(**changes: Any) -> Order:
    """A fund order that differs from every other in its amount, with some fields changed."""
    given: dict[str, Any] = {
        "decision_id": secrets.token_hex(16),
        "action_id": "FUND_ORDER",
        "object_id": "FUND:HLVLX",
        "slots": {"amount": {"value": f"{next(_AMOUNTS)}.00", "currency": "USD"}},
        "subject": "C-1001",
        "valid_until": now() + timedelta(seconds=60),
        "text": "Buy shares of Harbor Value Fund?",
    }
    return Order(**{**given, **changes})


def endpoint_of(url: str, secret_file: Path) -> Endpoint:
    """The endpoint of a service that shares a secret."""
    return open_endpoint(Service(url, str(secret_file)), Path())


@dataclass
class BackOffice:
    """The stand-in, which can be killed and started again on its port."""

    folder: Path
    running: Running = field(init=False)
    more: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        signing.new_secret(self.secret_file)
        self.running = self._start(0)

    @property
    def secret_file(self) -> Path:
        return self.folder / "office.key"

    @property
    def database(self) -> Path:
        return self.folder / "bank.sqlite"

    @property
    def fault_file(self) -> Path:
        return self.folder / "fault"

    @property
    def url(self) -> str:
        return self.running.url

    def _start(self, port: int) -> Running:
        more = ("--fault-file", str(self.fault_file), *self.more)
        return start(self.database, self.secret_file, *more, port=port)

    def fail_next(self, fault: str) -> None:
        """The next order meets a fault (inference/connectors/backoffice/faults.py)."""
        draft = self.fault_file.with_suffix(".draft")
        draft.write_text(fault)
        os.replace(draft, self.fault_file)

    def start_again(self) -> None:
        """Start it on the same port after it died or was stopped."""
        self.running.stop()
        self.running = self._start(self.running.port)

    def effects(self, key: str | None = None) -> int:
        """How many effects there were, of one key or of all: counted in its journal."""
        journal = bank.tables(self.database)["effects"]
        return sum(key in (None, effect["key"]) for effect in journal)

    def endpoint(self) -> Endpoint:
        return endpoint_of(self.url, self.secret_file)
