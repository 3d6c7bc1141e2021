"""The fault server, one for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.inference.backends.fault_server import FaultServer, running


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with running() as told:
        yield told
