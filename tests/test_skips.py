"""A skip fails in CI, and only there, unless it is on the list."""

from __future__ import annotations

import pytest

from tests import skips


def skipped(nodeid: str) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid=nodeid,
        location=("tests/test_x.py", 1, "test_x"),
        keywords={},
        outcome="skipped",
        longrepr=("tests/test_x.py", 1, "Skipped: no data"),
        when="setup",
    )


def test_skip_in_ci_fails_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    report = skips.refuse(skipped("tests/test_x.py::test_x"))
    assert report.outcome == "failed"
    assert "Skipped: no data" in str(report.longrepr)


def test_skip_outside_ci_stays_a_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert skips.refuse(skipped("tests/test_x.py::test_x")).outcome == "skipped"


def test_listed_skip_stays_a_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(skips, "ALLOWED", {"tests/test_x.py::test_x": "needs a GPU"})
    assert skips.refuse(skipped("tests/test_x.py::test_x")).outcome == "skipped"


def test_every_listed_skip_has_a_reason() -> None:
    assert all(skips.ALLOWED.values())
