"""A small sealed database, and the demo's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import duckdb
import pytest

from sqlpath.execute import Database, Limits, write_manifest

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
