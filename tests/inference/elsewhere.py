"""Another process of the same appliance: `python -m tests.inference.elsewhere PLACE DIES`.

PLACE is JSON with the folder of the ledger, the bank's address and secret; the request comes on
standard input, the end goes to standard output. DIES is where the process is killed: `decided`,
before the connector is called, `executed`, when it has answered, or `never`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gate.load.requests import request_of
from inference.appliance import open_appliance
from inference.connectors.protocol import Connector, Order, Outcome, Prepared, Refused
from inference.way import answer
from tests.inference.asking import proposing
from tests.inference.branch import DEMO, Branch, Clock, ended, placed, through
from tests.models import ROOT


@dataclass(frozen=True)
class Dying:
    """A connector in whose hands the process dies."""

    inner: Connector
    at: str
    name: str = "dying"
    settle_s: float = 0.0
    may_repeat: bool = False

    def prepare(self, order: Order) -> Prepared | Refused:
        return self.inner.prepare(order)

    def execute(self, order: Order, key: str, deadline_s: float) -> Outcome:
        if self.at == "decided":
            os.kill(os.getpid(), signal.SIGKILL)
        outcome = self.inner.execute(order, key, deadline_s)
        os.kill(os.getpid(), signal.SIGKILL)
        return outcome

    def status(self, key: str) -> Outcome:
        return self.inner.status(key)


def elsewhere(branch: Branch, fields: Mapping[str, Any], dies: str = "never") -> str:
    """How another process of the appliance ends a request; empty if it died over it."""
    place = {
        "folder": str(branch.folder),
        "url": branch.office.url,
        "secret": str(branch.office.secret_file),
    }
    command = [sys.executable, "-m", "tests.inference.elsewhere", json.dumps(place), dies]
    done = subprocess.run(  # noqa: S603
        command, input=json.dumps(fields), capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.stderr == ""
    return done.stdout.strip()


def main() -> None:
    """Answer one request, or die over it."""
    place, dies = json.loads(sys.argv[1]), sys.argv[2]
    at = placed(place["url"], place["secret"])
    with open_appliance(DEMO, ROOT, Clock(), Path(place["folder"]), at) as appliance:
        request = request_of(json.load(sys.stdin), appliance.configuration, "standard input")
        served = proposing(appliance, "FREEZE_CARD")
        if dies != "never":
            inner = served.roster.duties["FREEZE_CARD"].connector
            served = through(served, "FREEZE_CARD", Dying(inner, dies))
        print(ended(answer(served, request)))


if __name__ == "__main__":
    main()
