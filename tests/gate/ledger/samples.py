"""Requests, answers and decisions that the ledger tests share, and a stand-in controller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from gate.ledger.book import Book, Written, open_book, write
from gate.ledger.pseudonym import digest
from gate.ledger.record import NO_SWITCHES, core
from gate.records import (
    NONE,
    UNRESOLVED,
    Abstain,
    Boundary,
    Entry,
    OutOfScope,
    Proposal,
    Request,
    Session,
    Switches,
    Terminal,
    TierAnswer,
    Turn,
    Unparsed,
    Verdict,
)

NOW = datetime(2026, 12, 1, 9, 0, 0, 123456, tzinfo=UTC)
VERSIONS = {"catalog.yaml": "a" * 64, "rules.yaml": "b" * 64, "code": "c" * 64}
LISTED = frozenset({"FUND_PRICE", "CARD_STATUS", "CARD_HELP", "HLF-001", NONE, UNRESOLVED})
SPOKEN = "my card 4411 was stolen in Zürich 在苏黎世"

OWN = Entry("CARD-1001-1", "CARD", "Debit card ending 4411", ("4411", "debit card"), own=True)
SESSION = Session("C-1001", ("member", "premium"), (OWN,))
REQUEST = Request(
    request_id="r-1",
    channel="web",
    utterance=SPOKEN,
    history=(Turn("user", "hello"), Turn("assistant", "good morning")),
    state={
        "identity_verified": {"value": True, "as_of": "2026-12-01T08:59:00Z"},
        "available_balance": 12.5,
        "risk_tier": "low",
        "limit": "250.00",
        "visits": 3,
    },
    session=SESSION,
    candidates=("HLF-001", "CARD-1001-1"),
)
PROPOSAL = Proposal(
    "CARD_STATUS",
    "CARD-1001-1",
    ("CARD_STATUS", "CARD_HELP"),
    Decimal("0.9730"),
    "fast",
    "setfit",
    "out-7",
)
ANSWERS: tuple[TierAnswer, ...] = (
    PROPOSAL,
    replace(PROPOSAL, object_id=None, confidence=None, receipt=None),
    replace(PROPOSAL, object_id=UNRESOLVED, topk=("CARD_STATUS",)),
    OutOfScope("fast", Decimal("1E-7"), "setfit"),
    Abstain("low_confidence", "proposer", ("CARD_STATUS", "CARD_HELP")),
    Unparsed('{"action_id": "卡"', "proposer", Decimal("0.5"), "vllm", "out-8"),
)


def public(value: str) -> bool:
    """The closed lists of these samples."""
    return value in LISTED


def decided(
    request: Request,
    answer: TierAnswer | None,
    now: datetime,
    switches: Switches = NO_SWITCHES,
    context: Mapping[str, Any] | None = None,
    *,
    versions: Mapping[str, str] = VERSIONS,
    **more: Any,
) -> dict[str, Any]:
    """What a controller would make of a request: structure enough to see replay compare it.

    A `context` says for which reason the decision was made.
    """
    allowed = request.state.get("identity_verified") == {
        "value": True,
        "as_of": "2026-12-01T08:59:00Z",
    }
    verdict = Verdict(
        Terminal.DISPATCH if allowed else Terminal.HANDOFF,
        Boundary.ALLOW if allowed else Boundary.HANDOFF,
        "R-999" if allowed else "R-010",
        (() if allowed else ("IDENTITY",)) if context is None else (str(context["reason"]),),
        "CARD_STATUS",
        OWN.object_id,
    )
    at = request.utterance.find("4411")
    findings = {"language": "en", "mentions": [[at, at + 4, [OWN.object_id], "found"]]}
    return core(
        request=request,
        tier_answer=answer,
        verdict=verdict,
        findings=findings,
        now=now,
        versions=versions,
        public=public,
        switches=switches,
        **more,
    )


def numbered(number: int, **changes: Any) -> Request:
    """The sample request under another id."""
    return replace(REQUEST, request_id=f"r-{number}", **changes)


def salt_of(request: Request) -> bytes:
    """A salt that depends on the request id alone, so that a ledger can be built twice alike."""
    return bytes.fromhex(digest(request.request_id.encode("utf-8", "surrogatepass")))


def record(
    book: Book, request: Request, answer: TierAnswer | None = PROPOSAL, salt: bytes = b""
) -> Written:
    """Decide and write one request; under its own fixed salt unless another is given."""
    clear = decided(request, answer, NOW)
    return write(
        book,
        request=request,
        tier_answer=answer,
        clear=clear,
        salt=salt or salt_of(request),
        outputs=[{"tier": "fast", "text": SPOKEN}],
        prompts=[{"tier": "fast", "text": f"classify: {SPOKEN}"}],
    )


def book_in(folder: Path, **more: Any) -> Book:
    """The book of a folder."""
    return open_book(folder / "ledger.sqlite", folder / "receipts.sqlite", **more)


def filled(folder: Path, count: int, **more: Any) -> Path:
    """A closed ledger of `count` decisions in `folder`; returns the ledger's path."""
    with book_in(folder, **more) as book:
        for number in range(1, count + 1):
            record(book, numbered(number))
    return folder / "ledger.sqlite"
