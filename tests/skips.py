"""In CI a skipped test is a failed one, unless it is listed here with its reason."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from typing import TypeVar

import pytest

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

# Node id -> why CI cannot run it.
ALLOWED: Mapping[str, str] = {}


def refuse(report: Report) -> Report:
    """The report, turned into a failure where CI skipped what is not on the list."""
    skipped = report.skipped and not hasattr(report, "wasxfail")
    if skipped and os.environ.get("CI") and report.nodeid not in ALLOWED:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{reason} (CI allows no skip that tests/skips.py does not list)"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return refuse((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return refuse((yield))
