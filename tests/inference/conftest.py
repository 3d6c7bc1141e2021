"""Real models, loaded once for all tests of inference."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gate.errors import RoutelockError
from inference.appliance import Appliance, open_appliance
from inference.backends.embedded import EmbeddedBackend
from inference.encoder import TorchEncoder
from tests.inference.branch import Branch, opened_day
from tests.inference.connectors.offices import BackOffice
from tests.models import ENCODER, PROPOSER, ROOT, model

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def encoder() -> TorchEncoder:
    """The packaged MiniLM."""
    return TorchEncoder(model(ENCODER))


@pytest.fixture(scope="session")
def backend() -> EmbeddedBackend:
    """The packaged SmolLM2, untuned."""
    return EmbeddedBackend("embedded", model(PROPOSER))


@pytest.fixture
def appliance(tmp_path: Path) -> Iterator[Appliance]:
    """The demo's appliance with its real artefacts and a ledger of its own."""
    try:
        opened = open_appliance(ROOT / "configs/demo", ROOT, lambda: NOW, tmp_path)
    except RoutelockError as error:
        pytest.fail(f"run scripts/setup: {error}")
    with opened:
        yield opened


@pytest.fixture(scope="module")
def _bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackOffice]:
    """The stand-in, once for a module; it takes orders of any time, since tests move the clock."""
    office = BackOffice(tmp_path_factory.mktemp("bank"), more=("--window", "1e9"))
    yield office
    office.running.stop()


@pytest.fixture(scope="session")
def _demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Appliance]:
    """The demo's loaded parts, for tests that bring a ledger of their own."""
    folder = tmp_path_factory.mktemp("demo")
    with open_appliance(ROOT / "configs/demo", ROOT, ledger_dir=folder) as opened:
        yield opened


@pytest.fixture
def branch(_bank: BackOffice, _demo: Appliance, tmp_path: Path) -> Iterator[Branch]:
    """The demo before a bank on its first day; when the test is over both must agree."""
    opened = Branch(opened_day(_bank), tmp_path, _demo)
    try:
        yield opened
        opened.check()
    finally:
        opened.close()
