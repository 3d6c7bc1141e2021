"""Replay: the same bytes from record and receipt, or the name of what differs."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gate.errors import ErasedError, LedgerError, ReplayError
from gate.ledger.book import Book, erase, read_book, write
from gate.ledger.encode import canonical, parse
from gate.ledger.formats import Kind
from gate.ledger.receipts import Erased, Receipt
from gate.ledger.record import event
from gate.ledger.replay import (
    ABSENT,
    Redecide,
    ReplayReport,
    Status,
    difference,
    replay,
    replay_all,
)
from gate.records import Request, Switches, TierAnswer
from tests.gate.ledger.samples import (
    ANSWERS,
    NOW,
    PROPOSAL,
    REQUEST,
    VERSIONS,
    book_in,
    decided,
    numbered,
    record,
)


def of(book: Book, number: int = 1) -> tuple[bytes, Receipt | Erased]:
    """Bytes and receipt of the record with that sequence."""
    stored = next(book.ledger.iterate(number))
    return stored.data, book.receipts.get(stored.record["text_commitment"])


def replayed(book: Book, redecide: Any = decided, number: int = 1, **more: Any) -> ReplayReport:
    """Replay one record of a book."""
    data, kept = of(book, number)
    return replay(data, kept, redecide, **more)


@pytest.mark.parametrize("answer", [*ANSWERS, None])
def test_every_kind_of_answer_replays_to_the_same_bytes(
    tmp_path: Path, answer: TierAnswer | None
) -> None:
    with book_in(tmp_path) as book:
        written = record(book, REQUEST, answer)
        assert replayed(book, key=book.key) == ReplayReport(
            written.record["decision_id"], Status.SAME
        )


STATES: list[Mapping[str, Any]] = [
    {},
    {"x": float("nan"), "y": float("-inf"), "z": -0.0},
    {"x": 10**30, "y": 1.0, "z": True, "n": None},
    {"x": {"value": [1, {"$int": "0x1"}], "as_of": "2026-12-01T08:59:00Z"}},
    {"\ud800": "\udfff", "在": "苏黎世", "": ""},
]


@pytest.mark.parametrize("state", STATES)
def test_any_state_replays_to_the_same_bytes(tmp_path: Path, state: Mapping[str, Any]) -> None:
    with book_in(tmp_path) as book:
        record(book, replace(REQUEST, state=state))
        assert replayed(book).status is Status.SAME


REQUESTS = [
    replace(REQUEST, session=None),
    replace(REQUEST, candidates=None, dialogue_id="d-1", language="en"),
    replace(REQUEST, candidates=(), history=(), utterance=""),
    replace(REQUEST, confirm_token="t-1"),  # noqa: S106
    replace(REQUEST, utterance="ｃａｆé 🔒\u202e", request_id="请求-1", channel="канал"),
]


@pytest.mark.parametrize("request_", REQUESTS)
def test_any_request_replays_to_the_same_bytes(tmp_path: Path, request_: Request) -> None:
    with book_in(tmp_path) as book:
        record(book, request_)
        assert replayed(book, key=book.key).status is Status.SAME


def test_the_controller_gets_what_was_decided(tmp_path: Path) -> None:
    seen: list[object] = []

    def watch(*given: Any) -> Mapping[str, Any]:
        seen.extend(given)
        return decided(*given)

    with book_in(tmp_path) as book:
        record(book, REQUEST)
        replayed(book, watch)
    assert seen == [REQUEST, PROPOSAL, NOW, Switches(), None]


CONTEXT = {"reason": "CONFIRMED", "earlier": ["d-1"], "amount": Decimal("12.50"), "$odd": 1.5}


def in_context(book: Book, context: Mapping[str, Any] = CONTEXT) -> str:
    """Write a decision that stands on something besides its request; its id."""
    clear = decided(REQUEST, PROPOSAL, NOW, context=context)
    more: Any = {"tier_answer": PROPOSAL, "clear": clear, "salt": b"s" * 32}
    return str(write(book, request=REQUEST, context=context, **more).record["decision_id"])


def test_the_context_of_a_decision_comes_back_to_the_controller(tmp_path: Path) -> None:
    seen: list[object] = []

    def watch(*given: Any) -> Mapping[str, Any]:
        seen.append(given[-1])
        return decided(*given)

    with book_in(tmp_path) as book:
        in_context(book)
        assert replayed(book, watch).status is Status.SAME
    assert seen == [CONTEXT]


def test_another_context_is_found(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        in_context(book)
        data, kept = of(book)
        assert isinstance(kept, Receipt)
        for context in (None, {"reason": "OTHER"}):
            report = replay(data, replace(kept, context=context), decided)
            assert report.status is Status.DIFFERS
            assert str(report.differing_field).startswith("reason_codes")


def test_a_decision_that_stands_on_an_erased_one_is_erased(tmp_path: Path) -> None:
    def forgotten(*_: Any) -> Mapping[str, Any]:
        raise ErasedError("decision `d-1` was erased; nothing can be replayed that stands on it")

    with book_in(tmp_path) as book:
        decision_id = in_context(book)
        assert replayed(book, forgotten) == ReplayReport(decision_id, Status.ERASED)
        report = replayed(book, forgotten, rejudge=lambda record: {"terminal": "REJECT"})
    assert (report.status, report.differing_field, report.recorded, report.reproduced) == (
        Status.ERASED,
        "terminal",
        "DISPATCH",
        ("terminal",),
    )


def test_set_switches_are_set_again(tmp_path: Path) -> None:
    switches = Switches(no_state=True, ignore_confidence=True)
    with book_in(tmp_path) as book:
        clear = decided(REQUEST, PROPOSAL, NOW, switches)
        write(book, request=REQUEST, tier_answer=PROPOSAL, clear=clear, salt=b"s" * 32)
        assert replayed(book).status is Status.SAME


def test_what_happened_around_the_gate_is_copied(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        clear = decided(REQUEST, PROPOSAL, NOW, fallback="a->b", reported_model="m-1")
        write(book, request=REQUEST, tier_answer=PROPOSAL, clear=clear, salt=b"s" * 32)
        assert replayed(book).status is Status.SAME


def stricter(*given: Any) -> Mapping[str, Any]:
    """A controller that came to another mind."""
    return {**decided(*given), "terminal": "REJECT"}


def test_another_decision_is_named_with_both_values(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
        report = replayed(book, stricter)
    assert report.status is Status.DIFFERS
    assert (report.differing_field, report.recorded, report.today) == (
        "terminal",
        "DISPATCH",
        "REJECT",
    )


def test_a_changed_finding_is_named_by_its_path(tmp_path: Path) -> None:
    def shifted(*given: Any) -> Mapping[str, Any]:
        clear = decided(*given)
        clear["findings"]["mentions"][0][0] += 1
        return clear

    with book_in(tmp_path) as book:
        record(book, REQUEST)
        report = replayed(book, shifted)
    assert report.status is Status.DIFFERS
    assert report.differing_field == "findings.mentions[0][0]"


def under(versions: Mapping[str, str]) -> Redecide:
    """The same controller under other versions."""

    return partial(decided, versions=versions)


moved = under({**VERSIONS, "rules.yaml": "e" * 64})


def test_another_configuration_is_named(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
        report = replayed(book, moved)
    assert report.status is Status.VERSIONS_DIFFER
    assert (report.differing_field, report.recorded, report.today, report.besides) == (
        "versions.rules.yaml",
        "b" * 64,
        "e" * 64,
        None,
    )


def test_another_configuration_that_decides_otherwise_says_so(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
        report = replayed(book, lambda *given: {**moved(*given), "rule_id": "R-020"})
    assert report.status is Status.VERSIONS_DIFFER
    assert (report.differing_field, report.besides) == ("versions.rules.yaml", "rule_id")


@pytest.mark.parametrize(
    ("versions", "field", "recorded", "today"),
    [
        ({**VERSIONS, "state.yaml": "f" * 64}, "versions.state.yaml", ABSENT, "f" * 64),
        ({"catalog.yaml": "a" * 64, "code": "c" * 64}, "versions.rules.yaml", "b" * 64, ABSENT),
    ],
)
def test_a_file_more_or_less_is_named(
    tmp_path: Path, versions: dict[str, str], field: str, recorded: str, today: str
) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
        report = replayed(book, under(versions))
    assert (report.differing_field, report.recorded, report.today) == (field, recorded, today)


def test_an_edited_receipt_is_not_replayed(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
        data, kept = of(book)
        assert isinstance(kept, Receipt)
        edited = replace(kept, request={**kept.request, "utterance": "close my account"})
        with pytest.raises(ReplayError, match="was changed; restore its copy"):
            replay(data, edited, decided)
        with pytest.raises(ReplayError, match="was changed; restore its copy"):
            replay(data, replace(kept, salt=b"t" * 32), decided)


def test_an_edited_tier_answer_shows(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
        data, kept = of(book)
        assert isinstance(kept, Receipt)
        answer = {**(kept.tier_answer or {}), "confidence": "0.9731"}
        report = replay(data, replace(kept, tier_answer=answer), decided)
    assert report.differing_field == "tier_result.confidence"
    assert (report.recorded, report.today) == ("0.9730", "0.9731")


def test_another_appliance_key_shows(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
        report = replayed(book, key=b"x" * 32)
        assert report.differing_field == "decision_id"
        assert replayed(book).status is Status.SAME


def test_an_erased_decision_says_so(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        decision_id = record(book, REQUEST).record["decision_id"]
        erase(book, decision_id, at=NOW, reason="asked")
        assert replayed(book) == ReplayReport(decision_id, Status.ERASED)


def test_of_an_erased_decision_the_rest_is_compared(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        decision_id = record(book, REQUEST).record["decision_id"]
        erase(book, decision_id, at=NOW, reason="asked")
        fields = {"terminal": "DISPATCH", "rule_id": "R-999", "versions": VERSIONS}
        report = replayed(book, rejudge=lambda _: fields)
        assert report == ReplayReport(
            decision_id, Status.ERASED, reproduced=("rule_id", "terminal", "versions")
        )
        other = {**fields, "terminal": "REJECT"}
        report = replayed(book, rejudge=lambda _: other)
        assert report.status is Status.ERASED
        assert (report.differing_field, report.today) == ("terminal", "REJECT")


def test_only_decisions_are_replayed() -> None:
    data = canonical({**event(Kind.CONFIG, NOW, versions={}, detail={}), "previous": "0" * 64})
    with pytest.raises(ReplayError, match="a CONFIG record decides nothing"):
        replay(data, Erased("", "", ""), decided)


def test_a_record_of_a_later_format_is_not_guessed_at(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
        data, kept = of(book)
    with pytest.raises(LedgerError, match="record format `9` is not 1; upgrade"):
        replay(canonical({**parse(data), "format": 9}), kept, decided)


def test_bytes_that_are_not_canonical_do_not_count_as_the_same(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
        data, kept = of(book)
    report = replay(data.replace(b'"DECISION"', b' "DECISION"'), kept, decided)
    assert (report.status, report.differing_field) == (Status.DIFFERS, "bytes")


def test_a_whole_book_is_replayed_in_order(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        ids = [record(book, numbered(n), a).record["decision_id"] for n, a in enumerate(ANSWERS)]
        erase(book, ids[1], at=NOW, reason="asked")
        reports = list(replay_all(book, decided, lambda _: {"versions": VERSIONS}))
    assert [r.decision_id for r in reports] == ids
    statuses = [r.status for r in reports]
    assert statuses == [Status.SAME, Status.ERASED, *[Status.SAME] * (len(ids) - 2)]
    assert reports[1].reproduced == ("versions",)


def test_a_copy_replays_where_the_key_did_not_come_along(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    with book_in(tmp_path / "here") as book:
        for n in range(3):
            record(book, numbered(n))
    there = tmp_path / "there"
    there.mkdir()
    for name in ("ledger.sqlite", "receipts.sqlite"):
        shutil.copy(tmp_path / "here" / name, there / name)
    with read_book(there / "ledger.sqlite", there / "receipts.sqlite") as book:
        assert [r.status for r in replay_all(book, decided)] == [Status.SAME] * 3


def test_a_missing_receipt_is_named(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record(book, REQUEST)
        with closing(sqlite3.connect(tmp_path / "receipts.sqlite", isolation_level=None)) as other:
            other.execute("DELETE FROM receipts")
        with pytest.raises(LedgerError, match=r"has no receipt `.*`; restore its copy"):
            list(replay_all(book, decided))


@pytest.mark.parametrize(
    ("recorded", "today", "found"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({"a": 1}, {"a": True}, ("a", 1, True)),
        ({"a": [1, 2]}, {"a": [1, 3]}, ("a[1]", 2, 3)),
        ({"a": [1]}, {"a": [1, 2]}, ("a", [1], [1, 2])),
        ({"a": {"b": 1}}, {"a": {"c": 1}}, ("a.b", 1, ABSENT)),
        ({"b": 1, "a": 1}, {"b": 2, "a": 2}, ("a", 1, 2)),
        ({"a": None}, {"a": {}}, ("a", None, {})),
        ([{"a": "x"}], [{"a": "y"}], ("[0].a", "x", "y")),
        ("x", "x", None),
        ("1", 1, ("", "1", 1)),
    ],
)
def test_the_first_difference_is_found(recorded: Any, today: Any, found: Any) -> None:
    assert difference(recorded, today) == found
