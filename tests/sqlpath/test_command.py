"""`routelock sql check` and `inference.records`: the verdict and the offending node."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inference import records
from scripts.cli import app
from sqlpath.admit import Admit, NeedsPermission, Refuse, Unsupported, Verdict
from tests.models import ROOT


@pytest.fixture
def config(tmp_path: Path, file: Path) -> Path:
    """The demo's folder over the small database, described as it is."""
    from tests.sqlpath.conftest import SCHEMA

    folder = tmp_path / "bank"
    folder.mkdir()
    (folder / "catalog.yaml").write_text(
        "schema_version: 1\nversion: '1'\nactions:\n"
        "  - {id: A, name: A, description: A, mode: read, pathway: none}\n"
    )
    (folder / "appliance.yaml").write_text(
        f"schema_version: 1\nname: bank\nlanguages: [en]\npaths: {{database: {file}}}\n"
    )
    (folder / "schema.yaml").write_text(SCHEMA)
    return folder


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["SELECT count(*) FROM accounts"], 0, {"verdict": "admit", "tables": ["accounts"]}),
        (
            ["SELECT * FROM '/etc/passwd'"],
            1,
            {"verdict": "refuse", "reason": "table_not_described", "node": "'/etc/passwd'"},
        ),
        (
            ["SELECT name FROM accounts", "--no-subject"],
            1,
            {"verdict": "needs_permission", "table": "accounts"},
        ),
        (
            ["SELECT #1 FROM days"],
            1,
            {"verdict": "unsupported", "what": "POSITIONAL_REFERENCE", "node": "#1"},
        ),
    ],
)
def test_check_says_verdict_and_node(
    config: Path, arguments: list[str], code: int, said: dict[str, object]
) -> None:
    result = CliRunner().invoke(app, ["sql", "check", "--config", str(config), *arguments])
    assert result.exit_code == code, result.output
    assert json.loads(result.stdout) == said


@pytest.mark.parametrize(
    "verdict", [Admit({}, (), True), Refuse("a", "b"), NeedsPermission("t"), Unsupported("w", "n")]
)
def test_every_verdict_is_shown(verdict: Verdict) -> None:
    assert json.dumps(dict(records.shown(verdict)))


def test_demos_schema_is_read(tmp_path: Path) -> None:
    from sqlpath import schema

    folder = tmp_path / "demo"
    folder.mkdir()
    shutil.copy(ROOT / "configs/demo/schema.yaml", folder)
    described = schema.load(folder)
    assert described.tables["accounts"].scope == "customer_id"
    assert described.find("FUND_PRICES") is not None
