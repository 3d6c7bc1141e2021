"""Records stay as they were written; a reader of a later format reads and replays them all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from gate.errors import LedgerError
from gate.ledger import formats, receipts, replay, segment
from gate.ledger.book import erase, recall
from gate.ledger.formats import (
    FIELDS,
    FORMATS,
    Format,
    Kind,
    as_written,
    current,
    key_of,
    kind_of,
    newest,
)
from gate.ledger.pseudonym import digest
from gate.ledger.receipts import Receipt
from gate.ledger.record import GENESIS, event
from gate.ledger.replay import Status, replay_all
from gate.ledger.replay import replay as replay_one
from gate.ledger.segment import Stored
from gate.ledger.sweep import sweep
from gate.ledger.verify import check_chain, verify
from gate.records import Request, Switches, TierAnswer
from tests.gate.ledger.samples import NOW, book_in, decided, numbered
from tests.gate.ledger.samples import record as record_decision

FIXTURES = Path(__file__).parents[2] / "fixtures" / "ledger"


# What was written once


@dataclass(frozen=True, slots=True)
class Line:
    """A record that some release wrote, and the receipt of a decision."""

    row: Stored
    receipt: Receipt | None


def lines(number: int) -> list[Line]:
    """The records of a format, as they were stored when it was written."""
    found = []
    for text in (FIXTURES / f"format-{number}.jsonl").read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        kept = line.pop("receipt", None)
        row = Stored(data=line.pop("bytes").encode(), **line)
        salted = None if kept is None else Receipt(**{**kept, "salt": bytes.fromhex(kept["salt"])})
        found.append(Line(row, salted))
    return found


@pytest.mark.parametrize("number", [one.number for one in FORMATS])
def test_records_of_every_format_verify_for_ever(number: int) -> None:
    stored = lines(number)
    assert {line.row.kind for line in stored} == {kind.value for kind in FORMATS[number - 1].fields}
    assert check_chain([line.row for line in stored]).ok
    assert {line.row.record["format"] for line in stored} == {number}


@pytest.mark.parametrize("number", [one.number for one in FORMATS])
def test_decisions_of_every_format_replay_to_the_same_bytes_for_ever(number: int) -> None:
    """If this fails, `core` writes another record: that needs a new format, with this one lowered."""
    replayed = 0
    for line in lines(number):
        if line.receipt is not None:
            report = replay_one(line.row.data, line.receipt, decided, key=b"k" * 32)
            assert report.status is Status.SAME, report
            replayed += 1
    assert replayed == 6


def test_the_files_are_those_that_were_written() -> None:
    """Compared word for word when a file is opened: another word, and no old file opens."""
    assert digest("\n".join(segment.SCHEMA).encode()) == (
        "f0596eee8b973d58f7cf226f7d63f835abd938180e25d3e21b7d23987b5350d3"
    )
    assert digest("\n".join(receipts.SCHEMA).encode()) == (
        "a8aa7a19d81feae745c6e360c81898de6c1dda05d429f94e84aadded42740e38"
    )


def test_every_format_has_all_kinds_and_lowers_what_it_lifts() -> None:
    assert [one.number for one in FORMATS] == list(range(1, len(FORMATS) + 1))
    for one in FORMATS:
        assert set(one.fields) == set(Kind)
        for line in lines(one.number):
            record = line.row.record
            assert as_written(current(record), one.number) == record


# A format that is to come


def lifted(record: Mapping[str, Any]) -> dict[str, Any]:
    """A decision says which model it used as `model`, and in which language it was asked."""
    if record["kind"] != Kind.DECISION:
        return dict(record)
    fresh = {**record, "model": record["reported_model"], "asked_in": None}
    del fresh["reported_model"]
    return fresh


def lowered(record: Mapping[str, Any]) -> dict[str, Any]:
    """The same the other way round."""
    if record["kind"] != Kind.DECISION:
        return dict(record)
    old = {**record, "reported_model": record["model"]}
    del old["model"], old["asked_in"]
    return old


SECOND = Format(
    2,
    {**FIELDS, Kind.DECISION: FIELDS[Kind.DECISION] - {"reported_model"} | {"model", "asked_in"}},
    lifted,
    lowered,
)


def decided_later(
    request: Request,
    answer: TierAnswer | None,
    now: datetime,
    switches: Switches = Switches(),  # noqa: B008  a frozen value
    _context: object = None,
) -> dict[str, Any]:
    """What a later release makes of a request: a record of the second format."""
    clear = {**lifted(decided(request, answer, now, switches)), "asked_in": "en"}
    return {**clear, "format": 2}


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that writes the second format."""
    monkeypatch.setattr(formats, "FORMATS", (*FORMATS, SECOND))
    monkeypatch.setattr(replay, "CARRIED", ("fallback", "model"))
    monkeypatch.setattr("tests.gate.ledger.samples.decided", decided_later)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder in which this release recorded three decisions, one of them erased."""
    with book_in(tmp_path) as book:
        for number in range(3):
            written = record_decision(book, numbered(number))
        erase(book, written.record["decision_id"], at=NOW, reason="asked")
    return tmp_path


def test_a_later_release_goes_on_in_the_same_chain(
    old: Path, request: pytest.FixtureRequest
) -> None:
    before = (old / "ledger.sqlite").read_bytes()
    request.getfixturevalue("later")
    with book_in(old) as book:
        for number in range(10, 13):
            written = record_decision(book, numbered(number))
            assert written.record["asked_in"] == "en"
        erase(book, written.record["decision_id"], at=NOW, reason="asked")
        rows = list(book.ledger.iterate())
    assert [row.record["format"] for row in rows] == [1] * 4 + [2] * 4
    report = verify(old / "ledger.sqlite")
    assert (report.ok, report.records) == (True, 8)
    assert all(row.data in before for row in rows[:4]), "old records are not touched"


def test_old_and_new_records_replay_side_by_side(old: Path, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("later")
    with book_in(old) as book:
        record_decision(book, numbered(10))
        statuses = [one.status for one in replay_all(book, decided_later)]
        assert statuses == [Status.SAME, Status.SAME, Status.ERASED, Status.SAME]


def test_a_difference_in_an_old_record_is_named_in_its_own_words(
    old: Path, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("later")

    def otherwise(*given: Any) -> dict[str, Any]:
        return {**decided_later(*given), "action_id": "CARD_HELP", "asked_in": "zh"}

    with book_in(old) as book:
        (first, *_) = replay_all(book, otherwise)
        assert (first.status, first.differing_field) == (Status.DIFFERS, "action_id")
        (first, *_) = replay_all(book, lambda *given: {**decided_later(*given), "asked_in": "zh"})
        assert first.status is Status.SAME, "the old format has no such field"


def test_what_an_erased_old_record_still_says_is_compared(
    old: Path, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("later")
    seen: list[Mapping[str, Any]] = []

    def rejudge(record: Mapping[str, Any]) -> Mapping[str, Any]:
        seen.append(record)
        return {"terminal": record["terminal"], "asked_in": None}

    with book_in(old) as book:
        *_, erased = replay_all(book, decided_later, rejudge)
    assert erased.status is Status.ERASED
    assert (erased.differing_field, erased.reproduced) == (None, ("asked_in", "terminal"))
    assert seen[0]["format"] == 2
    assert "reported_model" not in seen[0]


def test_an_old_request_is_recalled_as_the_new_release_reads_it(
    old: Path, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("later")
    with book_in(old) as book:
        again = recall(book, numbered(1))
        assert again is not None
        assert again.replayed
        assert (again.record["model"], again.record["asked_in"]) == (None, None)
        assert book.ledger.get(again.record["decision_id"]) is not None
        assert sweep_is_quiet(book)


def sweep_is_quiet(book: Any) -> bool:
    """True if every receipt still belongs to its record."""
    from datetime import timedelta

    return sweep(book, timedelta(hours=1), NOW + timedelta(days=1)).decisions == ()


def test_the_earlier_release_names_a_record_of_the_later(
    old: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    request.getfixturevalue("later")
    with book_in(old) as book:
        record_decision(book, numbered(10))
    monkeypatch.undo()
    report = verify(old / "ledger.sqlite")
    assert report.records == 4
    assert report.first_problem is not None
    assert report.first_problem.what == "record format `2` is not 1; upgrade to read it"


def test_an_old_format_is_only_read(old: Path, request: pytest.FixtureRequest) -> None:
    note = event(Kind.CONFIG, NOW, versions={}, detail={})
    request.getfixturevalue("later")
    assert newest() == 2
    with book_in(old) as book:
        with pytest.raises(LedgerError, match="records of format `1` are only read; write 2"):
            book.ledger.append(note)
        assert book.ledger.append({**note, "format": 2}).sequence == 5


def test_a_segment_is_sealed_behind_records_of_an_old_format(
    old: Path, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("later")
    with book_in(old) as book:
        assert book.ledger.rotate()
        record_decision(book, numbered(10))
        assert [row.record["format"] for row in book.ledger.iterate()] == [1] * 4 + [2] * 3
    assert verify(old / "ledger.sqlite").ok


@pytest.mark.usefixtures("later")
def test_steps_are_taken_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    third = Format(
        3,
        SECOND.fields,
        lambda record: {**record, "at": f"{record['at']}+"},
        lambda record: {**record, "at": record["at"].removesuffix("+")},
    )
    monkeypatch.setattr(formats, "FORMATS", (*FORMATS, SECOND, third))
    note = {**event(Kind.CONFIG, NOW, versions={}, detail={}), "format": 1}
    assert current(note) == {**note, "format": 3, "at": f"{note['at']}+"}
    for number in (1, 2, 3):
        old = as_written(current(note), number)
        assert old["format"] == number
        assert current(old) == current(note)
    assert as_written(current(note), 1) == note


@pytest.mark.parametrize("number", [0, -1, 2, None, "1", True, 1.0, [1]])
def test_a_format_that_never_was_is_refused(number: object) -> None:
    record = {**event(Kind.CONFIG, NOW, versions={}, detail={}), "previous": GENESIS}
    assert kind_of(record) is Kind.CONFIG
    for use in (kind_of, current):
        with pytest.raises(LedgerError, match=r"record format `.*` is not 1; upgrade"):
            use({**record, "format": number})


def test_keys_of_old_records_are_those_that_they_had() -> None:
    for line in lines(1):
        assert key_of(line.row.record) == line.row.key
