"""One decision is described the same way when it is new, replayed, or what erasure left of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gate.configuration import Configuration
from gate.errors import ReplayError
from gate.ledger.book import Book, erase, write
from gate.ledger.decision import decide_and_describe, redecide, rejudge
from gate.ledger.replay import Status, replay
from gate.load import load
from gate.records import Abstain, OutOfScope, Proposal, Session, Switches, TierAnswer, Unparsed
from tests.gate.ledger.samples import NOW, OWN, REQUEST, SESSION, book_in

DEMO = Path(__file__).parents[3] / "configs" / "demo"
VERSIONS = {"rules.yaml": "a" * 64}
HELP = Proposal("CARD_HELP", None, ("CARD_HELP",), Decimal("0.99"), "phrases")
STATUS = Proposal("CARD_STATUS", None, ("CARD_STATUS",), Decimal("0.99"), "phrases")
ASKED = replace(
    REQUEST,
    utterance="what do I do if my card is lost?",
    history=(),
    state={
        "safety_escalation_required": False,
        "request_supported": True,
        "service_available": True,
        "request_scope_clear": True,
    },
    session=None,
    candidates=None,
)


@pytest.fixture(scope="module")
def demo() -> Configuration:
    """The demo institution."""
    return load(DEMO)


def written(
    book: Book,
    demo: Configuration,
    request: Any = ASKED,
    answer: TierAnswer = HELP,
    switches: Switches = Switches(),  # noqa: B008
) -> Mapping[str, Any]:
    """Decide and record; the record."""
    decided = decide_and_describe(
        demo, VERSIONS, request=request, tier_answer=answer, now=NOW, switches=switches
    )
    record = write(
        book, request=request, tier_answer=answer, clear=decided.clear, salt=b"s" * 32
    ).record
    assert record["terminal"] == decided.verdict.terminal.value
    assert record["rule_id"] == decided.verdict.rule_id
    return record


def left(book: Book, demo: Configuration, record: Mapping[str, Any]) -> Any:
    """Erase a decision and replay what is left."""
    erase(book, record["decision_id"], at=NOW, reason="asked")
    stored = book.ledger.get(record["decision_id"])
    assert stored is not None
    kept = book.receipts.get(record["text_commitment"])
    again = redecide(demo, VERSIONS)
    return replay(stored.data, kept, again, rejudge=rejudge(demo, VERSIONS))


def test_a_document_question_is_dispatched_recorded_and_replayed(
    demo: Configuration, tmp_path: Path
) -> None:
    with book_in(tmp_path) as book:
        record = written(book, demo)
        assert (record["terminal"], record["action_id"]) == ("DISPATCH", "CARD_HELP")
        assert record["versions"] == VERSIONS
        assert record["findings"]["language"] == "en"
        stored = book.ledger.get(record["decision_id"])
        assert stored is not None
        kept = book.receipts.get(record["text_commitment"])
        assert replay(stored.data, kept, redecide(demo, VERSIONS)).status is Status.SAME


@pytest.mark.parametrize(
    "answer",
    [
        HELP,
        replace(HELP, confidence=None),
        OutOfScope("fast"),
        Abstain("low_confidence", "fast", ("CARD_HELP", "FEE_INFO")),
    ],
)
def test_a_verdict_that_read_no_erased_value_is_reproduced(
    demo: Configuration, tmp_path: Path, answer: TierAnswer
) -> None:
    with book_in(tmp_path) as book:
        report = left(book, demo, written(book, demo, answer=answer))
    assert report.status is Status.ERASED
    assert report.differing_field is None
    assert {"terminal", "boundary", "rule_id", "reason_codes", "versions"} <= {*report.reproduced}


OWNED = replace(ASKED, session=SESSION, utterance="is my debit card active?")


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (OWNED, STATUS),  # the own card is the object
        (replace(OWNED, session=Session("C-9", (), ())), STATUS),  # no own card: G-OBJECT
        (replace(ASKED, candidates=(OWN.object_id,), session=SESSION), HELP),
        (ASKED, replace(HELP, topk=("CARD_HELP", "made up"))),
        (ASKED, Unparsed("CARD_HELP", "proposer")),
    ],
)
def test_a_verdict_that_may_have_read_an_erased_value_is_not_claimed(
    demo: Configuration, tmp_path: Path, request_: Any, answer: TierAnswer
) -> None:
    sure = {**ASKED.state, "identity_verified": {"value": True, "as_of": "2026-12-01T08:59:30Z"}}
    sure |= {"session_started_at": "2026-12-01T08:59:30Z"}
    with book_in(tmp_path) as book:
        record = written(book, demo, replace(request_, state=sure), answer)
        report = left(book, demo, record)
    assert report.status is Status.ERASED
    assert report.reproduced == ("versions",)


def test_a_reproduced_verdict_that_changed_is_named(demo: Configuration, tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record = written(book, demo)
        strict = replace(demo, thresholds={"phrases": Decimal("1")})
        erase(book, record["decision_id"], at=NOW, reason="asked")
        stored = book.ledger.get(record["decision_id"])
        assert stored is not None
        kept = book.receipts.get(record["text_commitment"])
        steps = redecide(strict, VERSIONS), rejudge(strict, VERSIONS)
        report = replay(stored.data, kept, steps[0], rejudge=steps[1])
    assert report.status is Status.ERASED
    assert report.differing_field == "reason_codes"
    assert report.today == ["BELOW_THRESHOLD"]


def test_a_record_for_which_no_tier_was_asked_cannot_be_decided_again(
    demo: Configuration,
) -> None:
    with pytest.raises(ReplayError, match="no tier was asked"):
        redecide(demo, VERSIONS)(ASKED, None, NOW, Switches(), None)


def test_switches_of_an_ablation_are_recorded(demo: Configuration, tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        record = written(book, demo, switches=Switches(no_state=True))
        assert record["switches"]["set"] == ["no-state"]
        report = left(book, demo, record)
        assert report.differing_field is None
        assert "terminal" in report.reproduced
