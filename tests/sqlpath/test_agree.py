"""Two statements agree where they mean the same, and not because of one state of the data."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import pytest

from sqlpath.admit import Admit, admit
from sqlpath.agree import COPIES, Agreement, compare
from sqlpath.execute import Database, write_manifest
from sqlpath.pool import Limits
from sqlpath.schema import Schema
from sqlpath.scope import SUBJECT

NOW = datetime(2026, 12, 1, tzinfo=UTC)
SETUP = """
CREATE TABLE accounts (account_id VARCHAR, customer_id VARCHAR, name VARCHAR, balance DECIMAL(12,2),
    as_of DATE);
INSERT INTO accounts SELECT 'A' || i, 'C' || (1 + i % 2), 'n' || (i % 7), i * 10, DATE '2026-01-01' + i::INTEGER
    FROM range(40) r(i);
CREATE TABLE days AS SELECT range AS day FROM range(60);
"""


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path: Path = tmp_path_factory.mktemp("agree") / "bank.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SETUP)
    write_manifest(path, date(2026, 11, 30), {})
    with Database.open(path, Limits(rows=200, processes=1)) as opened:
        yield opened


def asked(
    bank: Database, schema: Schema, first: str, second: str, subject: str = "C1"
) -> Agreement:
    admitted = []
    for text in (first, second):
        verdict = admit(text, bank.parse(text), schema, verified_subject=True)
        assert isinstance(verdict, Admit), text
        admitted.append(verdict)
    return compare(bank, admitted[0], admitted[1], schema, {SUBJECT: subject}, NOW)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SELECT count(*) FROM accounts", "SELECT sum(1) FROM accounts"),
        ("SELECT name FROM accounts WHERE balance > 50", "SELECT name FROM accounts WHERE NOT balance <= 50"),
        ("SELECT max(day) FROM days", "SELECT day FROM days ORDER BY day DESC LIMIT 1"),
        ("SELECT name, balance FROM accounts ORDER BY 1, 2", "SELECT name, balance FROM accounts"),
    ],
)  # fmt: skip
def test_statements_that_mean_the_same_agree(
    bank: Database, schema: Schema, first: str, second: str
) -> None:
    found = asked(bank, schema, first, second)
    assert (found.agreed, found.differs_on) == (True, None)
    assert found.rows is not None and found.rows.rows


@pytest.mark.parametrize(
    ("first", "second", "where"),
    [
        ("SELECT count(*) FROM accounts", "SELECT count(*) FROM days", "as_is"),
        ("SELECT day FROM days LIMIT 3", "SELECT day FROM days ORDER BY day LIMIT 3", "order"),
        ("SELECT count(*) FROM days", "SELECT count(DISTINCT day) FROM days", "doubled"),
        ("SELECT count(*) FROM accounts", "SELECT 20", "doubled"),
        ("SELECT max(day) FROM days", "SELECT count(DISTINCT day) - 1 FROM days", "dropped"),
        ("SELECT count(*) FROM accounts WHERE balance % 10 = 0", "SELECT count(*) FROM accounts", "revalued"),
        ("SELECT name FROM accounts", "SELECT name, balance FROM accounts", "as_is"),
        ("SELECT 1 FROM days WHERE CAST('x' AS INTEGER) = day", "SELECT 1 FROM days WHERE false", "as_is"),
    ],
)  # fmt: skip
def test_statements_that_agree_by_chance_are_found(
    bank: Database, schema: Schema, first: str, second: str, where: str
) -> None:
    assert asked(bank, schema, first, second) == Agreement(False, where, None)


def test_copies_hold_the_subjects_rows_alone(bank: Database, schema: Schema) -> None:
    text = "SELECT DISTINCT customer_id FROM accounts"
    for subject in ("C1", "C2"):
        found = asked(bank, schema, text, text, subject)
        assert found.rows is not None
        assert found.rows.rows == ((subject,),)


def test_nothing_is_written(bank: Database, schema: Schema) -> None:
    before = bank.path.read_bytes()
    text = "SELECT * FROM accounts, days LIMIT 5"
    asked(bank, schema, text, text)
    assert bank.path.read_bytes() == before
    assert list(COPIES) == ["as_is", "order", "doubled", "dropped", "revalued"]
