"""The fault server, one for each test; the real vLLM, one for the session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.inference.backends import vllm_server
from tests.inference.backends.fault_server import FaultServer, running
from tests.inference.backends.vllm_server import Vllm
from tests.models import ROOT


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with running() as told:
        yield told


@pytest.fixture(scope="session")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vllm]:
    """A running vLLM; a machine without its environment skips these tests, CI may not."""
    if not (ROOT / ".venv-vllm/bin/python").exists():
        pytest.skip("no vLLM here; `scripts/setup-vllm` installs it (3.5 GB)")
    with vllm_server.serving(tmp_path_factory.mktemp("vllm")) as told:
        yield told
