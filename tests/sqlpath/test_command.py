"""`routelock sql check` and `inference.records`: the verdict and the offending node."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
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


QUERIES = """schema_version: 1
queries:
  - id: own
    sql: SELECT name FROM accounts WHERE customer_id = $subject
    parameters: {subject: subject}
    scope: subject
    answer: {en: "{name}"}
  - id: anybodys
    sql: SELECT name FROM accounts WHERE account_id = $object
    parameters: {object: object}
    answer: {en: "{name}"}
  - id: settings
    sql: SELECT current_setting('threads') AS name
    answer: {en: "{name}"}
"""


def test_check_names_verified_queries_that_would_not_be_admitted(config: Path) -> None:
    (config / "queries.yaml").write_text(QUERIES)
    result = CliRunner().invoke(app, ["sql", "check", "--config", str(config)])
    assert result.exit_code == 1, result.output
    said = json.loads(result.stdout)
    assert said["queries"] == 3
    assert said["not_admitted"] == {
        "anybodys": {"verdict": "needs_permission", "table": "accounts"},
        "settings": {
            "verdict": "refuse",
            "reason": "function_not_allowed",
            "node": "current_setting('threads')",
        },
    }


def test_institution_without_a_schema_is_checked_as_before(config: Path) -> None:
    (config / "queries.yaml").write_text(QUERIES)
    (config / "schema.yaml").unlink()
    result = CliRunner().invoke(app, ["sql", "check", "--config", str(config)])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["not_admitted"] == {}


def test_every_verified_query_of_the_demo_is_admitted() -> None:
    from gate.load import load_institution
    from sqlpath import schema
    from sqlpath.admit import Parsed, admit
    from sqlpath.worker import parse

    described = schema.load(ROOT / "configs/demo")
    connection = duckdb.connect()
    for query in load_institution(ROOT / "configs/demo").queries.values():
        verdict = admit(
            query.sql,
            Parsed(*parse(connection.cursor(), query.sql)["ok"]),
            described,
            verified_subject=query.scope is not None,
            parameters=frozenset(query.parameters),
        )
        assert isinstance(verdict, Admit), query.query_id


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
