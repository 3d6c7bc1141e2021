"""The back office as a process, its connector, and an outbox before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from inference.connectors.http import HttpConnector
from inference.connectors.outbox import Outbox, open_outbox
from tests.inference.connectors.offices import ACTIONS, BackOffice, now


@pytest.fixture(scope="session")
def _office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackOffice]:
    office = BackOffice(tmp_path_factory.mktemp("office"))
    yield office
    office.running.stop()


@pytest.fixture
def office(_office: BackOffice) -> BackOffice:
    """The back office, running and without a pending fault; its effects add up over the tests."""
    _office.fault_file.unlink(missing_ok=True)
    if _office.running.process.poll() is not None:
        _office.start_again()
    return _office


@pytest.fixture
def connector(office: BackOffice) -> HttpConnector:
    """An HTTP connector to the back office that settles soon."""
    return HttpConnector("office", office.endpoint(), ACTIONS, now, settle_s=0.3)


@pytest.fixture
def outbox(connector: HttpConnector, tmp_path: Path) -> Iterator[Outbox]:
    """An outbox before the back office, with short leases and pauses."""
    opened = open_outbox("desk", tmp_path / "outbox.sqlite", connector, now)
    yield replace(opened, lease_s=0.5, pause_s=0.05)
    opened.close()
