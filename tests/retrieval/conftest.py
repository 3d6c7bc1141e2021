"""The packaged encoder, loaded once."""

from __future__ import annotations

import pytest

from inference.encoder import TorchEncoder
from tests.models import ENCODER, model


@pytest.fixture(scope="session")
def encoder() -> TorchEncoder:
    """The packaged MiniLM."""
    return TorchEncoder(model(ENCODER))
