"""P-14: the SQL path cannot write, read files, reach a network, change settings, leave state, see another
subject's rows, or exceed its limits. All statements and the fuzz: `tests/sqlpath`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sqlpath.errors import QueryError
from tests.sqlpath.hostile import CANARY, LIMITS, SLACK, World, end, small_schema, world


@pytest.fixture(scope="module")
def here() -> Iterator[World]:
    with world() as opened:
        yield opened


BREACHES = {
    "write": "WITH x AS (DELETE FROM accounts RETURNING *) SELECT * FROM x",
    "write a file": "COPY accounts TO '{out}/x.csv'",
    "read a file": "SELECT * FROM read_text('{inside}')",
    "read a file by its name": "SELECT * FROM '{inside}'",
    "reach a network": "SELECT * FROM 'https://127.0.0.1:9/x.csv'",
    "change settings": "SET memory_limit = '100GB'",
    "leave state": "CREATE TABLE mine AS SELECT 1",
    "exceed its time": "SELECT pg_sleep(600)",
    "exceed its memory": "SELECT length(array_to_string(range(100000000), ','))",
}


@pytest.mark.parametrize("what", BREACHES)
def test_it_cannot_be_asked_to(here: World, what: str) -> None:
    text = BREACHES[what].replace("{inside}", f"{here.folder}/inside.csv")
    found = end(text.replace("{out}", f"{here.folder}/out"), here, small_schema())
    assert found.what.startswith(("refuse", "unsupported"))


@pytest.mark.parametrize("what", BREACHES)
def test_it_could_not_even_if_it_were_asked_to(here: World, what: str) -> None:
    """Behind a hole in admission stand the engine's settings, and behind those the process's walls."""
    before = here.files()
    text = BREACHES[what].replace("{inside}", f"{here.folder}/inside.csv")
    with pytest.raises(QueryError) as caught:
        here.full.run("q", text.replace("{out}", f"{here.folder}/out"), {})
    assert CANARY not in str(caught.value)
    assert here.files() == before


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM accounts WHERE customer_id = 'C2'",
        "SELECT max(name) FROM accounts",
        "SELECT CAST(name AS INTEGER) FROM accounts",
        "SELECT count(*) FROM days a, days b, days c, days d, days e, days f",
    ],
)
def test_what_it_may_be_asked_stays_within_the_subject_and_the_limits(
    here: World, text: str
) -> None:
    found = end(text, here, small_schema())
    assert found.what.startswith("contained")
    assert found.seconds < LIMITS.seconds + SLACK


def test_the_statement_of_the_subject_itself_is_answered(here: World) -> None:
    text = "SELECT name, balance FROM accounts"
    assert end(text, here, small_schema()).what == "contained own_rows"
