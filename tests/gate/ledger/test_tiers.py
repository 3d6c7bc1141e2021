"""Tier answers in receipts (whole) and in records (nothing unlisted in the clear)."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any, cast

import pytest

from gate.errors import ReplayError
from gate.ledger.encode import canonical, parse
from gate.ledger.record import seal
from gate.ledger.tiers import (
    PRIVATE,
    hidden,
    shown,
    tier_answer_from_core,
    tier_answer_of,
    tier_body,
    tier_core,
)
from gate.records import Abstain, OutOfScope, Proposal, TierAnswer, Unparsed
from tests.gate.ledger.samples import ANSWERS, NOW, PROPOSAL, REQUEST, decided, public

JUNK: list[Any] = [None, 1, -2.5, True, "x", ["a"], {"a": 1}, Decimal("NaN"), "\ud800"]


def sealed(answer: TierAnswer | None) -> dict[str, Any]:
    """A record that holds the answer."""
    from gate.ledger.record import Identity

    clear = decided(REQUEST, answer, NOW)
    identity = Identity("d" * 32, None)
    return seal(clear, identity=identity, salt=b"s" * 32, text_commitment="t")


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_comes_back_from_its_body(answer: TierAnswer) -> None:
    body = parse(canonical(tier_body(answer)))
    assert tier_answer_of(body) == answer


@pytest.mark.parametrize("digits", ["0.9730", "0", "1E-7", "1.0", "0.10000000000000000001", "NaN"])
def test_a_confidence_keeps_its_digits(digits: str) -> None:
    body = tier_body(replace(PROPOSAL, confidence=Decimal(digits)))
    assert body["confidence"] == digits
    again = cast(Proposal, tier_answer_of(body))
    assert str(again.confidence) == digits


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize("name", ["action_id", "object_id", "topk", "confidence"])
def test_junk_that_a_tier_returns_comes_back_as_it_was(name: str, junk: Any) -> None:
    answer = replace(PROPOSAL, **{name: junk})
    body = parse(canonical(tier_body(answer)))
    again = tier_answer_of(body)
    expected = tuple(junk) if name == "topk" and isinstance(junk, list) else junk
    found = getattr(again, name)
    assert type(found) is type(expected)
    assert repr(found) == repr(expected)


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize("name", ["action_id", "object_id", "topk", "confidence"])
def test_junk_that_a_tier_returns_can_be_recorded(name: str, junk: Any) -> None:
    canonical(tier_core(replace(PROPOSAL, **{name: junk}), public))


def test_a_value_of_a_closed_list_is_shown_and_others_are_marked() -> None:
    assert shown("FUND_PRICE", public) == "FUND_PRICE"
    assert shown(None, public) is None
    assert shown("ACC-9", public) == {PRIVATE: "ACC-9"}
    assert shown(5, public) == {PRIVATE: 5}


def test_the_record_hides_unlisted_ids_and_raw_text() -> None:
    proposal = replace(PROPOSAL, action_id="Bob's account", topk=("CARD_HELP", "tel 555"))
    body = json.dumps(sealed(proposal)["tier_result"])
    assert "Bob" not in body
    assert "555" not in body
    assert "CARD_HELP" in body
    raw = sealed(Unparsed("my name is Bob", "proposer"))["tier_result"]
    assert hidden(raw["text"])


def test_a_listed_answer_needs_no_receipt() -> None:
    for answer in (
        replace(PROPOSAL, object_id="HLF-001"),
        replace(PROPOSAL, object_id=None),
        OutOfScope("fast", Decimal("0.2")),
        Abstain("low_confidence", "fast", ("CARD_HELP",)),
        None,
    ):
        assert tier_answer_from_core(sealed(answer)) == answer


@pytest.mark.parametrize(
    "answer",
    [
        PROPOSAL,  # names an own object
        replace(PROPOSAL, object_id=None, topk=("CARD_STATUS", "made up")),
        Abstain("low_confidence", "fast", ("made up",)),
        Unparsed("{}", "proposer"),
    ],
)
def test_a_hidden_answer_needs_its_receipt(answer: TierAnswer) -> None:
    with pytest.raises(ReplayError, match="its receipt is needed"):
        tier_answer_from_core(sealed(answer))
