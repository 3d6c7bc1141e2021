"""How long connectors and the state source take: `python -m tests.inference.connectors.bench [N]`.

One line of JSON, in milliseconds, against the back office stand-in on loopback.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles

from gate.load import load
from inference.connectors.http import HttpConnector
from inference.connectors.outbox import open_outbox
from inference.sources.http import HttpSource
from tests.inference.connectors.offices import ACTIONS, DEMO, BackOffice, new_key, now, order


def timed(count: int, work: Callable[[], object]) -> dict[str, float]:
    """Median and 95th percentile of `count` runs after two to warm up, in milliseconds."""
    times = []
    for _ in range(count + 2):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1000)
    cuts = quantiles(times[2:], n=20)
    return {"p50": round(cuts[9], 2), "p95": round(cuts[18], 2)}


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        office = BackOffice(Path(folder))
        try:
            direct = HttpConnector("office", office.endpoint(), ACTIONS, now)
            outbox = open_outbox("desk", Path(folder) / "outbox.sqlite", direct, now)
            source = HttpSource(office.endpoint(), load(DEMO), now, 2.0, 65_536)
            key = new_key()
            direct.execute(order(), key, 5)
            result = {
                "count": count,
                "prepare": timed(count, lambda: direct.prepare(order())),
                "execute": timed(count, lambda: direct.execute(order(), new_key(), 5)),
                "status": timed(count, lambda: direct.status(key)),
                "outbox_execute": timed(count, lambda: outbox.execute(order(), new_key(), 5)),
                "outbox_status": timed(count, lambda: outbox.status(key)),
                "state_read": timed(count, lambda: source.read("C-1001", "FREEZE_CARD")),
            }
            outbox.close()
        finally:
            office.running.stop()
    print(json.dumps(result))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
