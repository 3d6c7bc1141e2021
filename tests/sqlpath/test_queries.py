"""Verified queries: where their values come from, what is checked, how rows become words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.load import load_institution
from gate.load.queries import Query
from gate.records import NONE, UNRESOLVED, Session
from sqlpath import verbalise
from sqlpath.errors import QueryError, SnapshotError
from sqlpath.execute import Database, Rows
from sqlpath.queries import bind, check, fields
from tests.models import ROOT

SESSION = Session("C1")


def query(**fields_: Any) -> Query:
    given = {
        "query_id": "balance",
        "sql": "SELECT name, balance FROM accounts "
        "WHERE customer_id = $subject AND account_id = $object",
        "parameters": {"subject": "subject", "object": "object"},
        "scope": "subject",
        "answer": {"en": "{name}: {balance} USD."},
        "empty": {},
    }
    return Query(**{**given, **fields_})


def test_values_come_from_gate_and_session_alone() -> None:
    assert bind(query(), "A1", SESSION, {}) == {"subject": "C1", "object": "A1"}


def test_slot_is_passed_by_its_name() -> None:
    by_day = query(parameters={"day": "slot.day"}, scope=None)
    assert bind(by_day, NONE, None, {"day": date(2026, 1, 1)}) == {"day": date(2026, 1, 1)}


@pytest.mark.parametrize(
    ("asked", "object_id", "session", "reason"),
    [
        (query(), "A1", None, "no_session"),
        (query(scope=None), "A1", None, "no_session"),
        (query(), NONE, SESSION, "no_object"),
        (query(), UNRESOLVED, SESSION, "no_object"),
        (query(parameters={"day": "slot.day"}, scope=None), NONE, SESSION, "no_slot"),
        (query(parameters={}), "A1", None, "no_session"),
    ],
)
def test_query_never_runs_with_less_than_it_declares(
    asked: Query, object_id: str, session: Session | None, reason: str
) -> None:
    with pytest.raises(QueryError) as caught:
        bind(asked, object_id, session, {})
    assert caught.value.reason == reason


def test_rows_of_another_subject_are_never_read(database: Database) -> None:
    for subject, expected in (("C1", 1), ("C2", 0), ("C1' OR ''='", 0), ("", 0)):
        values = bind(query(), "A1", Session(subject), {})
        assert len(database.run("balance", query().sql, values).rows) == expected


def test_query_that_fits_its_template_passes(database: Database) -> None:
    check([query()], database)


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (query(sql="SELECT name FROM no_such_table"), "does not run"),
        (query(sql="SELEC name"), "does not run"),
        (query(answer={"en": "{nothing}"}), "no column `nothing`"),
        (query(answer={"en": "{name.__class__}"}), "no column name"),
        (query(answer={"en": "{name!r}"}), "no column name"),
        (query(answer={"en": "{balance:>10}"}), "no column name"),
        (query(answer={"en": "{}"}), "no column name"),
        (query(answer={"en": "{0}"}), "no column name"),
    ],
)
def test_query_that_does_not_fit_is_found_at_start(
    database: Database, broken: Query, problem: str
) -> None:
    with pytest.raises(SnapshotError, match=problem):
        check([broken], database)


def test_fields_are_read_in_order() -> None:
    assert fields("{a} and {{b}} and {c}") == ("a", "c")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Decimal("1234567.50"), "1,234,567.50"),
        (Decimal("-7.00"), "-7.00"),
        (1000, "1,000"),
        (True, "true"),
        (None, "-"),
        (date(2026, 11, 30), "2026-11-30"),
        (datetime(2026, 11, 30, 9, tzinfo=UTC), "2026-11-30T09:00:00+00:00"),
        ("text {name}", "text {name}"),
    ],
)
def test_value_is_shown_as_the_row_has_it(value: object, shown: str) -> None:
    assert verbalise.shown(value) == shown


@given(st.decimals(-(10**9), 10**9, places=2))
def test_amount_keeps_its_digits(amount: Decimal) -> None:
    assert Decimal(verbalise.shown(amount).replace(",", "")) == amount


def test_one_sentence_per_row_and_no_value_is_a_template() -> None:
    rows = Rows(("name", "balance"), (("{balance}", Decimal("1.00")), ("B", Decimal("2.00"))))
    said = verbalise.sentences(query(), rows, "en")
    assert said == ("{balance}: 1.00 USD.", "B: 2.00 USD.")


def test_words_for_no_rows_only_where_declared() -> None:
    assert verbalise.empty(query(empty={"en": "Nothing."}), "en") == "Nothing."
    assert verbalise.empty(query(), "en") is None


@pytest.fixture(scope="module")
def demo() -> Iterator[tuple[dict[str, Query], Database]]:
    institution = load_institution(ROOT / "configs/demo")
    try:
        opened = Database.open(ROOT / institution.appliance.paths.database)
    except SnapshotError as error:
        pytest.fail(f"run scripts/setup: {error}")
    yield dict(institution.queries), opened
    opened.close()


def test_every_demo_query_runs_and_fits_its_templates(
    demo: tuple[dict[str, Query], Database],
) -> None:
    check(demo[0].values(), demo[1])


def test_demo_shows_nobody_another_members_rows(demo: tuple[dict[str, Query], Database]) -> None:
    queries, database = demo
    rng = Random(1)  # noqa: S311 - reproducible, not secret
    accounts = database.run(
        "q", "SELECT account_id, customer_id FROM accounts ORDER BY ALL LIMIT 50", {}
    ).rows
    for _ in range(200):
        account, owner = rng.choice(accounts)
        asker = f"C-{rng.randrange(1001, 1030)}"
        for name in ("account_balance", "transactions"):
            values = bind(queries[name], str(account), Session(asker), {})
            found = database.run(name, queries[name].sql, values).rows
            assert bool(found) == (asker == owner)
