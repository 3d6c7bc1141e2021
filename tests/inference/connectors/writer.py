"""A process that hands one order to an outbox and dies where it is told to; run by a test.

`python writer.py OUTBOX URL SECRET_FILE KEY ORDER PLACE`: it dies when the order is kept, when it is
claimed, or when it was sent and nothing is written of that yet.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from inference.connectors import orders, outbox
from inference.connectors.http import HttpConnector
from inference.connectors.protocol import Order, Outcome
from tests.inference.connectors.offices import ACTIONS, endpoint_of, now


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Dying(HttpConnector):
    """Dies before or after the request."""

    __slots__ = ()

    def execute(self, order: Order, key: str, deadline_s: float) -> Outcome:
        if sys.argv[6] == "claimed":
            die()
        outcome = HttpConnector.execute(self, order, key, deadline_s)
        if sys.argv[6] == "sent":
            die()
        return outcome


def main(path: str, url: str, secret_file: str, key: str, order: str) -> None:
    inner = Dying("office", endpoint_of(url, Path(secret_file)), ACTIONS, now)
    opened = outbox.open_outbox("desk", Path(path), inner, now)
    given = orders.parse(order.encode())
    if sys.argv[6] == "kept":
        outbox._keep(opened, given, key)
        die()
    print(opened.execute(given, key, 5.0).status)


if __name__ == "__main__":
    main(*sys.argv[1:6])
