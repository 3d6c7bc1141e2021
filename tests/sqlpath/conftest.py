"""A small sealed database, and the demo's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import duckdb
import pytest

from gate.load.digests import Source
from gate.load.yamlfile import parse
from sqlpath.admit import Parsed, Verdict, admit
from sqlpath.execute import Database, write_manifest
from sqlpath.pool import Limits
from sqlpath.schema import Schema
from sqlpath.schema import read as read_schema
from sqlpath.worker import parse as parse_here

ROWS = 60
SETUP = """
CREATE TABLE accounts (
    account_id VARCHAR, customer_id VARCHAR, name VARCHAR, balance DECIMAL(12,2), as_of DATE
);
INSERT INTO accounts VALUES
    ('A1', 'C1', 'Checking', 1234.50, DATE '2026-11-30'),
    ('A2', 'C2', 'Savings', -7.00, DATE '2026-11-30'),
    ('A3', 'C2', NULL, NULL, NULL);
CREATE TABLE days AS SELECT range AS day FROM range(60);
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bank.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SETUP)
    write_manifest(path, date(2026, 11, 30), {"code": "1"})
    return path


@pytest.fixture
def opened(file: Path) -> Iterator[Callable[[Limits], Database]]:
    """Opens the small database with the limits given; closed at the end."""
    open_: list[Database] = []

    def open_with(limits: Limits) -> Database:
        open_.append(Database.open(file, limits))
        return open_[-1]

    yield open_with
    for database in open_:
        database.close()


@pytest.fixture
def database(opened: Callable[[Limits], Database]) -> Database:
    return opened(Limits())


SCHEMA = """
schema_version: 1
tables:
  - name: accounts
    description: One row per account
    scope: customer_id
    columns:
      - {name: account_id, type: VARCHAR}
      - {name: customer_id, type: VARCHAR}
      - {name: name, type: VARCHAR}
      - {name: balance, type: "DECIMAL(12,2)"}
      - {name: as_of, type: DATE}
  - name: days
    description: One row per day
    scope: null
    columns:
      - {name: day, type: BIGINT}
"""


@pytest.fixture(scope="session")
def schema() -> Schema:
    """The description of the small database."""
    return read_schema(parse(Source("schema.yaml", "schema.yaml", SCHEMA.encode())))


@pytest.fixture(scope="session")
def judge(schema: Schema) -> Callable[..., Verdict]:
    """Admission of a text with the engine in this process."""
    connection = duckdb.connect()

    def verdict(text: str, described: Schema = schema, *, subject: bool = True) -> Verdict:
        parsed = Parsed(*parse_here(connection, text)["ok"])
        return admit(text, parsed, described, verified_subject=subject)

    return verdict
