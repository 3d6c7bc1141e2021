"""The records pathway end to end: sentences with digest and day, or a bounded end with its reason."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, timedelta

import pytest

from gate.records import Session
from inference.pathways import from_records
from sqlpath.execute import Database
from sqlpath.pool import Limits
from tests.sqlpath.test_queries import query

AS_OF = date(2026, 11, 30)
ASKED = query()


def test_answer_names_snapshot_and_day(database: Database) -> None:
    draft = from_records(database, ASKED, "A1", Session("C1"), "en", AS_OF)
    assert [s.text for s in draft.statements] == ["Checking: 1,234.50 USD."]
    (citation,) = draft.citations.values()
    assert (citation.digest, citation.as_of) == (database.snapshot.digest, AS_OF)


@pytest.mark.parametrize(("days", "answered"), [(0, True), (7, True), (8, False), (400, False)])
def test_data_beyond_its_greatest_age_is_not_answered_from(
    database: Database, days: int, answered: bool
) -> None:
    database.snapshot = replace(database.snapshot, max_age_days=7)
    draft = from_records(database, ASKED, "A1", Session("C1"), "en", AS_OF + timedelta(days=days))
    assert (draft.refusal is None) == answered
    assert draft.refusal in (None, "STALE")


def test_data_of_no_known_day_is_stale_where_age_is_limited(database: Database) -> None:
    database.snapshot = replace(database.snapshot, as_of=None, max_age_days=7)
    draft = from_records(database, ASKED, "A1", Session("C1"), "en", AS_OF)
    assert draft.refusal == "STALE"


@pytest.mark.parametrize(
    ("sql", "refusal"),
    [
        ("SELECT name, balance FROM accounts WHERE name = $subject AND account_id = $object", "NO_ROWS"),
        ("SELECT 1 / 0 AS name, CAST($subject AS INTEGER) AS balance WHERE $object <> ''", "QUERY_FAILED"),
        ("SELECT $subject AS name, $object AS balance, pg_sleep(60)", "DEADLINE"),
        ("SELECT $subject AS name, $object AS balance FROM days a, days b", "ROW_LIMIT"),
        ("SELECT repeat($subject, 2000000) AS name, $object AS balance", "BYTE_LIMIT"),
    ],
)  # fmt: skip
def test_what_gives_no_answer_is_a_bounded_end_with_its_reason(
    opened: Callable[[Limits], Database], sql: str, refusal: str
) -> None:
    database = opened(Limits(seconds=0.5))
    draft = from_records(database, query(sql=sql), "A1", Session("C1"), "en", AS_OF)
    assert (draft.refusal, draft.statements) == (refusal, ())


def test_thirty_two_ask_at_once_and_none_fails(database: Database) -> None:
    def ask(number: int) -> str:
        subject, account = (("C1", "A1"), ("C2", "A2"))[number % 2]
        draft = from_records(database, ASKED, account, Session(subject), "en", AS_OF)
        return draft.statements[0].text

    with ThreadPoolExecutor(32) as pool:
        said = list(pool.map(ask, range(320)))
    assert said == ["Checking: 1,234.50 USD.", "Savings: -7.00 USD."] * 160


def test_lost_process_is_replaced(opened: Callable[[Limits], Database]) -> None:
    import os
    import signal

    database = opened(Limits(processes=1))
    (worker,) = database._pool._free
    os.kill(worker.pid, signal.SIGKILL)
    assert from_records(database, ASKED, "A1", Session("C1"), "en").refusal == "WORKER_LOST"
    assert from_records(database, ASKED, "A1", Session("C1"), "en").refusal is None


def test_closed_database_answers_nothing(opened: Callable[[Limits], Database]) -> None:
    database = opened(Limits())
    database.close()
    assert from_records(database, ASKED, "A1", Session("C1"), "en").refusal == "BUSY"
