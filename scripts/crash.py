"""A process that dies between a durable decision and its execution; for the demo and the tests.

    python -m scripts.crash CONFIG LEDGER_DIR URL < request.json

It decides one request, makes the decision durable, and kills itself before the write is handed over.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from scripts import environment


def main() -> None:
    """Route the request on standard input, then die by SIGKILL."""
    environment.apply()
    from gate.load.requests import parse_request
    from inference.appliance import open_appliance, utc_now
    from inference.way import route
    from scripts.showcase import Office

    config, ledger_dir, url = sys.argv[1:]
    placed = Office(url, Path()).placed
    appliance = open_appliance(Path(config), Path(), utc_now, Path(ledger_dir), placed)
    line = sys.stdin.read()
    routed = route(appliance, parse_request(line, appliance.configuration, "standard input"))
    if routed.due is None:
        raise SystemExit(f"no write was dispatched: {routed.verdict.rule_id}")
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
