"""`routelock index`: what is found and why, for an administrator alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scripts.cli import app
from tests.models import ENCODER, ROOT, model

DEMO = str(ROOT / "configs/demo")


def test_raw_search_is_refused_without_admin() -> None:
    result = CliRunner().invoke(app, ["index", "search", "wire", "--config", DEMO])
    assert result.exit_code == 2
    assert "--admin" in result.stderr


def test_search_says_why_a_passage_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    model(ENCODER)
    monkeypatch.chdir(ROOT)
    asked = "how much does the bank charge for an outgoing wire"
    given = ["index", "search", asked, "--config", DEMO, "--admin", "--on", "2026-12-01", "-k", "3"]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.stderr
    head, *hits = [json.loads(line) for line in result.stdout.splitlines()]
    assert {"financial institution", "fee"} <= set(head["added"])
    assert len(hits) == 3
    assert "wire" in hits[0]["text"]
    assert set(hits[0]["channels"]) <= {"dense", "title", "bm25"}
    assert hits[0]["reranked"] >= hits[1]["reranked"] >= hits[2]["reranked"]
    assert Path(ROOT / "configs/demo" / hits[0]["id"].partition("#")[0]).is_file()
