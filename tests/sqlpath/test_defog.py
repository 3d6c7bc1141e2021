"""Real analytics: a guard that refuses them is a failure.

Every accepted query of two public PostgreSQL schemas is admitted, and gives the rows, or the class of
error, that DuckDB gives without any of this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from sqlpath.admit import Admit, admit
from sqlpath.errors import QueryError
from sqlpath.execute import Database
from sqlpath.pool import Limits
from sqlpath.schema import Schema
from sqlpath.scope import scope
from tests.models import ROOT
from tests.sqlpath import defog
from tests.sqlpath.defog import NAMES, NOW, Variant

DATA = ROOT.parent / "shared/data/defog"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/defog is not here")

VARIANTS = defog.variants(DATA) if DATA.is_dir() else ()


@pytest.fixture(scope="module")
def built(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, tuple[Database, Path, Schema]]]:
    folder = tmp_path_factory.mktemp("defog")
    opened = {}
    for name in NAMES:
        path = folder / f"{name}.duckdb"
        described = defog.build(DATA, name, path)
        opened[name] = (Database.open(path, Limits(rows=1000, seconds=10)), path, described)
    yield opened
    for database, _, _ in opened.values():
        database.close()


def unconfined(path: Path, sql: str) -> object:
    """Rows in any order, or the class of the error."""
    with duckdb.connect(str(path), read_only=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        try:
            return Counter(map(repr, connection.execute(sql).fetchall()))
        except duckdb.Error as error:
            return type(error).__name__


def confined(database: Database, described: Schema, sql: str) -> object:
    verdict = admit(sql, database.parse(sql), described, verified_subject=False)
    assert isinstance(verdict, Admit), (sql, verdict)
    try:
        found = database.run_scoped("q", scope(verdict, described, 1000, NOW), {})
    except QueryError as error:
        return error.kind or error.reason
    return Counter(map(repr, found.rows))


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.name)
def test_accepted_query_is_admitted_with_the_same_rows_or_error(
    built: dict[str, tuple[Database, Path, Schema]], variant: Variant
) -> None:
    database, path, described = built[variant.database]
    assert confined(database, described, variant.sql) == unconfined(path, variant.frozen)


def test_most_of_them_do_answer(built: dict[str, tuple[Database, Path, Schema]]) -> None:
    answers = [unconfined(built[v.database][1], v.frozen) for v in VARIANTS]
    rows = sum(isinstance(a, Counter) and bool(a) for a in answers)
    assert len(VARIANTS) >= 62
    assert rows > len(VARIANTS) * 3 // 4
