"""Direction and action evidence: sentences from the fixtures, and what the findings hold of them."""

from __future__ import annotations

import pytest

from gate.findings import find
from gate.records import Direction
from tests.gate.texts import INSTITUTIONS, cases, request

DIRECTIONS = {tag: cases("direction", tag) for tag in INSTITUTIONS}


@pytest.mark.parametrize(
    ("tag", "case"),
    [(tag, case) for tag, found in DIRECTIONS.items() for case in found],
    ids=lambda value: value if isinstance(value, str) else value["text"],
)
def test_sentence(tag: str, case: dict[str, object]) -> None:
    session = case.get("session")
    asked_for = request(str(case["text"]), session=str(session) if session else None)
    found = find(INSTITUTIONS[tag](), asked_for)
    asked = sorted({action for a in found.asked for action in a.actions})
    assert (found.direction.value, asked, found.several_requests) == (
        case["direction"],
        case.get("asked", []),
        case.get("several", False),
    ), case["why"]


def test_fixtures_are_many_and_different() -> None:
    for tag, found in DIRECTIONS.items():
        assert len(found) >= 60, tag
        assert len({c["text"] for c in found}) == len(found), tag
        assert {c["direction"] for c in found} == {d.value for d in Direction}, tag


def test_spans_are_those_of_the_original() -> None:
    text = "Please\u200b  FREEZE my  card, and what\u2019s its fee?"
    found = find(INSTITUTIONS["en"](), request(text))
    assert [text[a.start : a.end] for a in found.asked] == ["FREEZE"]
    cues = {(text[c.start : c.end], c.direction.value) for c in found.cues}
    assert cues == {("FREEZE", "WRITE"), ("what\u2019s", "READ")}


def test_a_verb_that_two_actions_declare_is_evidence_only_with_a_noun_of_one() -> None:
    english = INSTITUTIONS["en"]()
    assert find(english, request("change it")).asked == ()
    (asked,) = find(english, request("change my email address")).asked
    assert asked.actions == ("CHANGE_EMAIL",)
    (asked,) = find(english, request("change my email and address")).asked
    assert asked.actions == ("CHANGE_ADDRESS", "CHANGE_EMAIL")


def test_counts_request_clauses() -> None:
    english = INSTITUTIONS["en"]()
    assert find(english, request("Freeze my card. Do not close my account.")).request_clauses == 1
    assert find(english, request("Freeze my card and close my account.")).request_clauses == 2
    assert find(english, request("hello")).request_clauses == 0
