"""Options and profiles for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from scripts import environment

pytest_plugins = ("tests.skips",)
environment.apply()
settings.register_profile("routelock", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("routelock")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--random-states",
        type=int,
        default=100_000,
        help="how many random states the engine is compared on (P-04); a million in full",
    )


@pytest.fixture(scope="session")
def random_states(request: pytest.FixtureRequest) -> int:
    """How many random states to compare on."""
    return int(request.config.getoption("--random-states"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of public data beside the repository; a test that needs it is skipped without."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no public data at {folder}")
    return folder
