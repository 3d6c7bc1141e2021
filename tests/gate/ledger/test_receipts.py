"""Receipts: kept before the record, found by its commitment, emptied for good."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gate.errors import LedgerError
from gate.ledger.encode import plain
from gate.ledger.receipts import (
    Erased,
    Receipt,
    Receipts,
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
