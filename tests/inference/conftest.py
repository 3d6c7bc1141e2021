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
