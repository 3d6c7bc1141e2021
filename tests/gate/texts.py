"""Texts through the gate: the institutions of the fixtures, sessions, requests, decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from gate.configuration import Configuration
from gate.controller import decide
from gate.findings import find
from gate.load import load
from gate.records import (
    Entry,
    Proposal,
    Request,
    Session,
    Situation,
    Switches,
    TierAnswer,
    Turn,
    Verdict,
)

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "gate"
DEMO = ROOT / "configs" / "demo"
NOW = datetime(2026, 12, 1, 9, 0, 0, tzinfo=UTC)


@cache
def demo() -> Configuration:
    """The demo institution, in English and Chinese."""
    return load(DEMO)


@cache
def haideng() -> Configuration:
    """The institution of the Chinese fixtures."""
    return load(FIXTURES / "zh")


INSTITUTIONS: Mapping[str, Callable[[], Configuration]] = {
    "en": demo,
    "zh": haideng,
    "zh-bank": demo,
}
"""The institutions by the ending of their fixture files; `zh-bank` is the demo in Chinese."""


def cases(name: str, tag: str) -> list[dict[str, Any]]:
    """The cases of one fixture file."""
    text = (FIXTURES / f"{name}.{tag}.yaml").read_text(encoding="utf-8")
    return list(yaml.safe_load(text)["cases"])


def entry(object_id: str, object_type: str, name: str, *aliases: str) -> Entry:
    """One of a session's own objects."""
    return Entry(object_id, object_type, name, aliases, own=True)


SESSIONS: Mapping[str, Session] = {
    # Two accounts and two cards.
    "dana": Session(
        "C-1001",
        ("member",),
        (
            entry(
                "ACC-1001-1",
                "ACCOUNT",
                "Everyday Checking ending 4411",
                "checking",
                "4411",
                "支票账户",
            ),
            entry(
                "ACC-1001-2",
                "ACCOUNT",
                "Rainy Day Savings ending 7702",
                "savings",
                "7702",
                "储蓄账户",
            ),
            entry("CARD-1001-1", "CARD", "Debit card ending 5316", "debit card", "5316", "借记卡"),
            entry(
                "CARD-1001-2",
                "CARD",
                "Visa credit card ending 9024",
                "credit card",
                "9024",
                "信用卡",
            ),
        ),
    ),
    # One of each.
    "marcus": Session(
        "C-1002",
        ("member",),
        (
            entry("ACC-1002-1", "ACCOUNT", "Everyday Checking ending 2208", "checking", "2208"),
            entry("CARD-1002-1", "CARD", "Debit card ending 3380", "debit card", "3380"),
        ),
    ),
    # Two accounts of one name.
    "twins": Session(
        "C-1003",
        (),
        (
            entry("ACC-1003-1", "ACCOUNT", "Savings"),
            entry("ACC-1003-2", "ACCOUNT", "Savings"),
        ),
    ),
    # Nothing.
    "newcomer": Session("C-1004"),
    # 中文
    "haideng": Session(
        "C-2001",
        (),
        (
            entry("ACC-2001-1", "ACCOUNT", "活期账户", "活期"),
            entry("CARD-2001-1", "CARD", "尾号5316的银行卡", "5316"),
        ),
    ),
}


def request(
    text: str,
    *,
    history: Sequence[Mapping[str, str] | str] = (),
    session: str | None = None,
    state: Mapping[str, object] | None = None,
    candidates: Sequence[str] | None = None,
    language: str | None = None,
) -> Request:
    """A request as a trusted channel would send it; a bare turn is the user's."""
    turns = [{"user": t} if isinstance(t, str) else t for t in history]
    return Request(
        request_id="r-1",
        channel="counter",
        utterance=text,
        history=tuple(Turn(role, said) for turn in turns for role, said in turn.items()),
        state=state or {},
        session=SESSIONS[session] if session else None,
        candidates=None if candidates is None else tuple(candidates),
        language=language,
    )


def situation(asked: Request) -> Situation:
    """What a decision reads of a request besides its text."""
    return Situation(asked.state, NOW, asked.session, asked.candidates)


def proposal(
    action_id: str,
    object_id: str | None = None,
    *,
    confidence: str | None = "0.99",
    topk: Sequence[str] | None = None,
    tier: str = "test",
) -> Proposal:
    """A tier's proposal; confident, of the given action alone."""
    ids = (action_id,) if topk is None else tuple(topk)
    given = None if confidence is None else Decimal(confidence)
    return Proposal(action_id, object_id, ids, given, tier)


def decided(
    configuration: Configuration,
    asked: Request,
    answer: TierAnswer,
    switches: Switches | None = None,
) -> Verdict:
    """Read and decide one request."""
    return decide(
        configuration, situation(asked), find(configuration, asked), answer, switches or Switches()
    )
