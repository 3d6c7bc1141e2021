"""Receipts: kept before the record, found by its commitment, emptied for good."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gate.errors import LedgerError
from gate.ledger.encode import instant, plain
from gate.ledger.receipts import (
    APPLICATION_ID,
    CHANGES,
    OF_INTENT,
    OF_SPEAKER,
    SCHEMA,
    Erased,
    Receipt,
    Receipts,
    _row,
    context_from_receipt,
    receipt,
    request_from_receipt,
    tier_answer_from_receipt,
)
from gate.ledger.record import commitment
from gate.records import Proposal, TierAnswer, Unparsed
from tests.gate.ledger.samples import ANSWERS, NOW, PROPOSAL, REQUEST, SPOKEN, numbered

SALT = b"s" * 32


def sample(
    number: int = 1, decision_id: str = "d-1", answer: TierAnswer | None = PROPOSAL
) -> Receipt:
    """A receipt with text in every place that holds text."""
    return receipt(
        request=numbered(number),
        tier_answer=answer,
        decision_id=decision_id,
        salt=SALT,
        outputs=[{"tier": "fast", "text": f"out {SPOKEN}"}, {"score": 0.25}],
        prompts=[f"prompt {SPOKEN}"],
    )


def kept(receipts: Receipts, receipt_id: str) -> Receipt:
    """The receipt, which must not be erased."""
    found = receipts.get(receipt_id)
    assert isinstance(found, Receipt)
    return found


FIRST = (
    """CREATE TABLE receipts (
    receipt_id TEXT PRIMARY KEY,
    decision_id TEXT NOT NULL,
    salt BLOB,
    content BLOB,
    erased_at TEXT,
    CHECK ((erased_at IS NULL) = (salt IS NOT NULL)),
    CHECK ((salt IS NULL) = (content IS NULL))
) STRICT""",
    "CREATE INDEX receipts_of_decision ON receipts (decision_id)",
)
"""The schema of the first release, for ever."""


def first_release(folder: Path, numbers: Sequence[int]) -> Path:
    """A receipts file as the first release left it."""
    path = folder / "receipts.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
        for statement in FIRST:
            connection.execute(statement)
        for number in numbers:
            content = _row(sample(number))[:4]
            connection.execute("INSERT INTO receipts VALUES (?, ?, ?, ?, NULL)", content)
    return path


def version(path: Path) -> object:
    """The version that a file says it has."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def traces(folder: Path, *needles: bytes) -> list[str]:
    """Which files of a folder hold one of the byte strings."""
    return [f.name for f in folder.iterdir() if any(n in f.read_bytes() for n in needles)]


@pytest.mark.parametrize("answer", [*ANSWERS, None])
def test_a_receipt_comes_back_whole(tmp_path: Path, answer: TierAnswer | None) -> None:
    one = sample(answer=answer)
    with Receipts.open(tmp_path / "receipts.sqlite") as receipts:
        receipts.put(one)
        again = kept(receipts, one.receipt_id)
    assert again == one
    assert request_from_receipt({"state": plain(dict(REQUEST.state))}, again) == numbered(1)
    assert tier_answer_from_receipt(again) == answer


def test_a_receipt_is_named_by_the_commitment_to_its_request() -> None:
    assert sample().receipt_id == commitment(SALT, numbered(1))


def test_a_receipt_survives_reopening(tmp_path: Path) -> None:
    path = tmp_path / "receipts.sqlite"
    with Receipts.open(path) as receipts:
        receipts.put(sample())
    with Receipts.read(path) as receipts:
        assert kept(receipts, sample().receipt_id) == sample()


def test_lone_surrogates_in_text_survive(tmp_path: Path) -> None:
    request = replace(REQUEST, utterance="a\ud800b", request_id="\udfff")
    one = receipt(
        request=request,
        tier_answer=Unparsed("\ud800", "proposer"),
        decision_id="d",
        salt=SALT,
        outputs=["\ud800"],
    )
    with Receipts.open(tmp_path / "receipts.sqlite") as receipts:
        receipts.put(one)
        again = kept(receipts, one.receipt_id)
    assert request_from_receipt({"state": plain(dict(REQUEST.state))}, again) == request
    assert tier_answer_from_receipt(again) == Unparsed("\ud800", "proposer")


def test_a_decimal_keeps_its_digits(tmp_path: Path) -> None:
    one = sample()
    with Receipts.open(tmp_path / "receipts.sqlite") as receipts:
        receipts.put(one)
        answer = tier_answer_from_receipt(kept(receipts, one.receipt_id))
    assert isinstance(answer, Proposal)
    assert str(answer.confidence) == "0.9730"


def test_a_receipt_is_put_once(tmp_path: Path) -> None:
    with Receipts.open(tmp_path / "receipts.sqlite") as receipts:
        receipts.put(sample())
        with pytest.raises(LedgerError, match="refused the record"):
            receipts.put(replace(sample(), prompts=["other"]))
        assert kept(receipts, sample().receipt_id).prompts == [f"prompt {SPOKEN}"]


def test_a_receipt_that_was_never_kept_is_named(tmp_path: Path) -> None:
    with (
        Receipts.open(tmp_path / "receipts.sqlite") as receipts,
        pytest.raises(LedgerError, match="has no receipt `nope`; restore its copy"),
    ):
        receipts.get("nope")


def test_erasing_empties_every_receipt_of_a_decision_and_no_other(tmp_path: Path) -> None:
    with Receipts.open(tmp_path / "receipts.sqlite") as receipts:
        for number, decision in ((1, "d-1"), (2, "d-1"), (3, "d-2")):
            receipts.put(sample(number, decision))
        assert receipts.erase("d-1", NOW) == 2
        for number in (1, 2):
            found = receipts.get(sample(number).receipt_id)
            name = sample(number).receipt_id
            assert found == Erased(name, "d-1", "2026-12-01T09:00:00.123456Z")
        assert kept(receipts, sample(3).receipt_id) == sample(3, "d-2")
        assert receipts.erase("d-1", datetime(2027, 1, 1, tzinfo=UTC)) == 0
        first = receipts.get(sample(1).receipt_id)
        assert isinstance(first, Erased)
        assert first.erased_at.startswith("2026-12-01")


def test_erased_bytes_are_on_no_file(tmp_path: Path) -> None:
    needles = (SPOKEN.encode(), SALT, b"Debit card ending", b"C-1001")
    path = tmp_path / "receipts.sqlite"
    with Receipts.open(path) as receipts:
        for number in range(20):
            receipts.put(sample(number, f"d-{number}"))
        assert traces(tmp_path, *needles)
        for number in range(20):
            assert receipts.erase(f"d-{number}", NOW) == 1
        assert traces(tmp_path, *needles) == []
    assert traces(tmp_path, *needles) == []


def test_erasing_while_somebody_reads_says_so_and_can_be_finished(tmp_path: Path) -> None:
    path = tmp_path / "receipts.sqlite"
    with Receipts.open(path, busy_seconds=0.2) as receipts:
        receipts.put(sample())
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM receipts").fetchall()
            with pytest.raises(LedgerError, match="still has erased text in its log; erase again"):
                receipts.erase("d-1", NOW)
            reader.execute("COMMIT")
        assert receipts.erase("d-1", NOW) == 0
        assert traces(tmp_path, SPOKEN.encode(), SALT) == []


def test_an_erased_receipt_cannot_keep_half(tmp_path: Path) -> None:
    path = tmp_path / "receipts.sqlite"
    with Receipts.open(path) as receipts:
        receipts.put(sample())
    with closing(sqlite3.connect(path)) as connection:
        for half in ("salt = NULL", "content = NULL", "erased_at = 'now'"):
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(f"UPDATE receipts SET {half}")  # noqa: S608


def test_a_locked_file_is_an_error_within_the_bound(tmp_path: Path) -> None:
    path = tmp_path / "receipts.sqlite"
    with (
        Receipts.open(path, busy_seconds=0.1) as receipts,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match=r"receipts\.sqlite` is locked by another process"):
            receipts.put(sample())


def test_a_ledger_is_not_taken_for_receipts(tmp_path: Path) -> None:
    from gate.ledger.store import Ledger

    Ledger.open(tmp_path / "ledger.sqlite").close()
    with pytest.raises(LedgerError, match="is another program's file"):
        Receipts.open(tmp_path / "ledger.sqlite")


def test_damaged_receipts_are_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "receipts.sqlite"
    with Receipts.open(path) as receipts:
        for number in range(30):
            receipts.put(sample(number))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(LedgerError, match="is damaged or cut short"):
        Receipts.open(path)


# What a receipt is found by, and what else a decision stood on

CONTEXT = {"earlier": ["before-1"], "at": NOW, "amount": Decimal("12.50"), "$x": [1.5, None]}


def filed(number: int, decision_id: str, at: datetime = NOW, **more: Any) -> Receipt:
    """A receipt that can be found again."""
    return receipt(
        request=numbered(number),
        tier_answer=PROPOSAL,
        decision_id=decision_id,
        salt=SALT,
        at=instant(at),
        **more,
    )


@pytest.mark.parametrize("context", [CONTEXT, {}, None])
def test_a_context_comes_back_as_it_was_given(tmp_path: Path, context: Any) -> None:
    one = filed(1, "d-1", context=context, intent="i", speaker="s")
    with Receipts.open(tmp_path / "receipts.sqlite") as receipts:
        receipts.put(one)
        again = kept(receipts, one.receipt_id)
    assert again == one
    assert context_from_receipt(again) == context
    assert (again.intent, again.speaker) == ("i", "s")


def test_receipts_of_an_intent_are_found_in_the_order_of_writing(tmp_path: Path) -> None:
    with Receipts.open(tmp_path / "receipts.sqlite") as receipts:
        for number, intent in enumerate(("a", "b", None, "a", "a", "b")):
            receipts.put(filed(number, f"d-{9 - number}", intent=intent))
        receipts.put(filed(9, "d-9", intent="a"))
        assert receipts.by_intent("a") == ["d-9", "d-6", "d-5"], "a decision is named once"
        assert receipts.by_intent("b") == ["d-8", "d-4"]
        assert receipts.by_intent("") == receipts.by_intent("c") == []


def test_receipts_of_a_speaker_are_found_newest_first(tmp_path: Path) -> None:
    minutes = (5, 1, 4, 4, 9, 2)
    with Receipts.open(tmp_path / "receipts.sqlite") as receipts:
        for number, minute in enumerate(minutes):
            at = NOW + timedelta(minutes=minute)
            receipts.put(filed(number, f"d-{number}", at, speaker="s"))
        receipts.put(filed(10, "d-0", NOW + timedelta(minutes=5), speaker="s"))
        receipts.put(filed(11, "d-11", NOW + timedelta(minutes=7), speaker="t"))
        receipts.put(filed(12, "d-12", NOW + timedelta(minutes=7)))
        assert receipts.by_speaker("s", NOW, 9) == ["d-4", "d-0", "d-3", "d-2", "d-5", "d-1"]
        assert receipts.by_speaker("s", NOW, 3) == ["d-4", "d-0", "d-3"]
        assert receipts.by_speaker("s", NOW, 0) == []
        since = NOW + timedelta(minutes=4)
        assert receipts.by_speaker("s", since, 9) == ["d-4", "d-0", "d-3", "d-2"]
        assert receipts.by_speaker("s", since + timedelta(microseconds=1), 9) == ["d-4", "d-0"]
        assert receipts.by_speaker("t", since, 9) == ["d-11"]
        with pytest.raises(LedgerError, match="has no zone"):
            receipts.by_speaker("s", datetime(2026, 12, 1), 9)


@pytest.mark.parametrize(
    ("query", "index"),
    [(OF_INTENT, "receipts_of_intent"), (OF_SPEAKER, "receipts_of_speaker")],
)
def test_receipts_are_found_by_an_index_and_without_sorting(
    tmp_path: Path, query: str, index: str
) -> None:
    Receipts.open(tmp_path / "receipts.sqlite").close()
    with closing(sqlite3.connect(tmp_path / "receipts.sqlite")) as connection:
        values = ("x",) * query.count("?")
        (step,) = connection.execute(f"EXPLAIN QUERY PLAN {query}", values).fetchall()
    assert f"USING INDEX {index}" in step[-1]


def test_erasing_takes_intent_speaker_and_context_along(tmp_path: Path) -> None:
    needles = (b"intent-1", b"speaker-1", b"before-1")
    more = {"intent": "intent-1", "speaker": "speaker-1", "context": CONTEXT}
    with Receipts.open(tmp_path / "receipts.sqlite") as receipts:
        receipts.put(filed(1, "d-1", **more))
        receipts.put(filed(2, "d-2", intent="intent-2", speaker="speaker-2"))
        assert traces(tmp_path, *needles)
        assert receipts.erase("d-1", NOW) == 1
        assert receipts.by_intent("intent-1") == receipts.by_speaker("speaker-1", NOW, 9) == []
        assert receipts.by_intent("intent-2") == receipts.by_speaker("speaker-2", NOW, 9)
        assert traces(tmp_path, *needles) == []
    assert traces(tmp_path, *needles) == []


@pytest.mark.parametrize("column", ["intent", "speaker"])
def test_an_erased_receipt_cannot_be_found_again(tmp_path: Path, column: str) -> None:
    path = tmp_path / "receipts.sqlite"
    with Receipts.open(path) as receipts:
        receipts.put(filed(1, "d-1"))
        receipts.erase("d-1", NOW)
    with (
        closing(sqlite3.connect(path)) as connection,
        pytest.raises(sqlite3.IntegrityError, match="CHECK"),
    ):
        connection.execute(f"UPDATE receipts SET {column} = 'x'")  # noqa: S608


# Files of the first release


def test_a_file_of_the_first_release_is_brought_up_to_date(tmp_path: Path) -> None:
    path = first_release(tmp_path, range(1, 4))
    with Receipts.open(path) as receipts:
        assert [kept(receipts, sample(n).receipt_id) for n in (1, 2, 3)] == [
            sample(n) for n in (1, 2, 3)
        ]
        assert receipts.by_intent("i") == receipts.by_speaker("s", NOW, 9) == []
        receipts.put(filed(4, "d-4", intent="i", speaker="s", context=CONTEXT))
        assert receipts.by_intent("i") == receipts.by_speaker("s", NOW, 9) == ["d-4"]
        assert receipts.erase("d-1", NOW) == 3
    assert version(path) == 2
    with Receipts.open(path) as receipts:
        assert receipts.by_intent("i") == ["d-4"]


def test_a_changed_file_has_the_schema_of_a_new_one(tmp_path: Path) -> None:
    path = first_release(tmp_path, [])
    Receipts.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
        assert {row[0] for row in rows} == set(SCHEMA)


def test_a_file_of_the_first_release_can_be_read_as_it_is(tmp_path: Path) -> None:
    path = first_release(tmp_path, [1])
    with Receipts.read(path) as receipts:
        assert kept(receipts, sample(1).receipt_id) == sample(1)
        assert [one.decision_id for one in receipts.names()] == ["d-1"]
        assert receipts.by_intent("i") == receipts.by_speaker("s", NOW, 9) == []
        Receipts.open(path).close()
        assert kept(receipts, sample(1).receipt_id) == sample(1)
    assert version(path) == 2


def test_a_change_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = first_release(tmp_path, [1])
    broken = ((*CHANGES[0], "CREATE INDEX receipts_of_shape ON receipts (shape)"),)
    with monkeypatch.context() as patched:
        patched.setattr("gate.ledger.receipts.CHANGES", broken)
        with pytest.raises(LedgerError, match="no such column: shape"):
            Receipts.open(path)
    assert version(path) == 1
    with Receipts.open(path) as receipts:
        assert kept(receipts, sample(1).receipt_id) == sample(1)
    assert version(path) == 2


def test_a_file_whose_version_says_more_than_its_tables_is_refused(tmp_path: Path) -> None:
    path = first_release(tmp_path, [1])
    for number, match in (
        (2, "was changed"),
        (3, "has file version `3`, not 2"),
        (0, "version `0`"),
    ):
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA user_version = {number}")
        with pytest.raises(LedgerError, match=match):
            Receipts.open(path)


def test_who_opens_an_old_file_at_once_finds_it_changed_once(tmp_path: Path) -> None:
    path = first_release(tmp_path, [1])
    with ThreadPoolExecutor(8) as pool:
        for receipts in pool.map(lambda _: Receipts.open(path), range(8)):
            receipts.close()
    assert version(path) == 2
