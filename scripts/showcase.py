"""The showcase of the demo: its cases, the requests that they are, and the stand-in of the bank."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from gate.errors import RequestError
from gate.load.connectors import Connectors, moved, moved_state
from gate.load.requests import request_of
from gate.records import Request
from inference.connectors.backoffice import bank
from inference.connectors.backoffice.process import running

if TYPE_CHECKING:
    from inference.appliance import Appliance
    from inference.way import Answered

FILE: Final = Path(__file__).resolve().parents[1] / "eval/suites/demo/showcase.yaml"
SESSION: Final = "dana"
SERVICE: Final = "back-office"
UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

Case = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Office:
    """The running stand-in: where it listens and its database."""

    url: str
    database: Path

    def placed(self, connectors: Connectors) -> Connectors:
        """The connectors of the demo, with the service and the state source where they run."""
        return moved_state(moved(connectors, SERVICE, self.url), self.url)

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Its rows, and the journal of effects."""
        return bank.tables(self.database)


@contextmanager
def office(folder: Path, root: Path, connectors: Connectors) -> Iterator[Office]:
    """The stand-in as a process of its own with a new database in `folder`."""
    service = connectors.entries[SERVICE].service
    secret = root / str(service.secret_file) if service else None
    database = folder / "bank.sqlite"
    with running(database, secret) as process:
        yield Office(process.url, database)


def cases() -> Sequence[Case]:
    """The cases in order, with the state that each is decided in."""
    showcase = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    shared = showcase["state"]
    return [{**case, "state": {**shared, **case.get("state", {})}} for case in showcase["requests"]]


def body(
    number: int, case: Case, before: Answered | None, sessions: Case, now: datetime
) -> dict[str, Any]:
    """One case as a channel would send it; `goes_on` takes the handle of the request before."""
    handles = before.routed if before is not None else None
    goes_on = case.get("goes_on")
    token = handles.token if goes_on == "confirm" and handles else None
    return {
        "request_id": f"demo-{number:02d}",
        "channel": "web",
        "utterance": case["utterance"],
        "history": case.get("history", []),
        "state": dated(case["state"], now),
        "session": case.get("session", sessions[SESSION]),
        "confirm": {"token": token} if token else None,
        "dialogue_id": handles.dialogue_id if goes_on == "dialogue" and handles else None,
    }


def sessions(config: Path) -> Case:
    """The example sessions of an institution by name."""
    found: Case = yaml.safe_load((config / "sessions.yaml").read_text(encoding="utf-8"))["sessions"]
    return found


def request(appliance: Appliance, number: int, value: Mapping[str, Any]) -> Request:
    """The request of a body; RequestError if the showcase is wrong."""
    return request_of(value, appliance.configuration, f"{FILE.name} request {number}")


def dated(value: Any, now: datetime) -> Any:
    """`value` with every `{ago: 5m}` replaced by the RFC 3339 time that long before `now`."""
    if not isinstance(value, dict):
        return value
    if set(value) == {"ago"}:
        count, unit = int(value["ago"][:-1]), value["ago"][-1]
        return (now - timedelta(**{UNITS[unit]: count})).isoformat()
    return {name: dated(part, now) for name, part in value.items()}


def crash(config: Path, ledger_dir: Path, url: str, value: Mapping[str, Any]) -> None:
    """Have a process of its own decide a request durably and die before anything is carried out."""
    command = [sys.executable, "-m", "scripts.crash", str(config), str(ledger_dir), url]
    done = subprocess.run(  # noqa: S603
        command, input=json.dumps(value), text=True, capture_output=True, check=False
    )
    if done.returncode >= 0:
        raise RequestError(
            f"the process that had to die ended with {done.returncode}: {done.stderr.strip()}",
            where="crash",
            fix="run the demo again",
        )


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What changed at the bank, row by row, and how many effects it journalled."""
    found: list[str] = []
    for name, key in (("objects", "object_id"), ("members", "subject")):
        old = {row[key]: row for row in before[name]}
        for row in after[name]:
            kept = old[row[key]]
            named = row.get("display_name", row[key])
            fields = [f for f in row if row[f] != kept[f] and not f.endswith("_at")]
            found += [f"{named}: {field} {kept[field]} -> {row[field]}" for field in fields]
    new = after["order_book"][len(before["order_book"]) :]
    found += [f"order book: {row['fund_id']} {row['amount']} {row['currency']}" for row in new]
    count = len(after["effects"]) - len(before["effects"])
    return [*found, f"{count} effect(s) in the bank's journal"] if count else found
