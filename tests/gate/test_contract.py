"""The contract: every way in which a tier's answer can be wrong, named by its first failed stage."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.contract import MAX_TEXT, SHOWN, Accepted, Failed, check
from gate.records import NONE, UNRESOLVED, Abstain, OutOfScope, Proposal, Unparsed
from tests.gate.small import CARD, ENTRIES, institution, proposal

CATALOG = institution().catalog
REGISTRY = {e.object_id: e for e in ENTRIES}
OWN = {CARD.object_id: CARD}
GOOD = {"action_id": "PRICE", "object_id": "F1", "topk": ["PRICE", "BUY"]}


def held(answer: Any) -> Accepted | Failed:
    return check(answer, CATALOG, REGISTRY, OWN)


def raw(text: str, confidence: str | None = "0.9") -> Unparsed:
    return Unparsed(text, "proposer", None if confidence is None else Decimal(confidence), "b", "r")


def form(**changes: Any) -> str:
    return json.dumps({**GOOD, **changes})


def failure(answer: Any) -> tuple[str, str | None]:
    found = held(answer)
    assert isinstance(found, Failed), found
    return found.contract, found.action_id


@pytest.mark.parametrize(
    "answer",
    [
        proposal("PRICE"),
        proposal("PRICE", "F1"),
        proposal("PRICE", UNRESOLVED),
        proposal("LOANS", NONE),
        proposal("HELP", NONE),
        proposal("FREEZE", "C1"),
        proposal("PRICE", confidence=None),
        proposal("PRICE", confidence="0"),
        proposal("PRICE", confidence="1"),
        proposal("PRICE", topk=("PRICE", "BUY", "SELL")),
        OutOfScope("fast"),
        Abstain("low_confidence", "fast", ("PRICE", "BUY")),
    ],
)
def test_an_answer_that_holds_is_accepted_as_it_is(answer: Any) -> None:
    assert held(answer) == Accepted(answer)


@pytest.mark.parametrize(
    ("answer", "contract", "action"),
    [
        # closed identifiers
        (proposal("NO_SUCH"), "C-CLOSED:action_id", None),
        (proposal(""), "C-CLOSED:action_id", None),
        (proposal("price"), "C-CLOSED:action_id", None),
        (replace(proposal("PRICE"), action_id=["PRICE"]), "C-CLOSED:action_id", None),
        (replace(proposal("PRICE"), action_id=None), "C-CLOSED:action_id", None),
        (proposal("PRICE", "F9"), "C-CLOSED:object_id", "PRICE"),
        (proposal("PRICE", "f1"), "C-CLOSED:object_id", "PRICE"),
        (proposal("PRICE", ""), "C-CLOSED:object_id", "PRICE"),
        (replace(proposal("PRICE"), object_id=["F1"]), "C-CLOSED:object_id", "PRICE"),
        (proposal("PRICE", topk=("PRICE", "NO_SUCH")), "C-CLOSED:topk", "PRICE"),
        (proposal("PRICE", topk=("PRICE", ["BUY"])), "C-CLOSED:topk", "PRICE"),
        (proposal("PRICE", topk=["PRICE"]), "C-CLOSED:topk", "PRICE"),
        (proposal("PRICE", topk=None), "C-CLOSED:topk", "PRICE"),
        # cross-field relations
        (proposal("PRICE", topk=()), "C-CROSS:topk", "PRICE"),
        (proposal("PRICE", topk=("PRICE", "BUY", "SELL", "HELP")), "C-CROSS:topk", "PRICE"),
        (proposal("PRICE", topk=("PRICE", "PRICE")), "C-CROSS:topk", "PRICE"),
        (proposal("PRICE", topk=("BUY", "PRICE")), "C-CROSS:primary", "PRICE"),
        (proposal("PRICE", topk=("BUY",)), "C-CROSS:primary", "PRICE"),
        (proposal("PRICE", "L1"), "C-CROSS:object_type", "PRICE"),
        (proposal("PRICE", "C1"), "C-CROSS:object_type", "PRICE"),
        (proposal("HELP", "F1"), "C-CROSS:object_type", "HELP"),
        (proposal("PRICE", NONE), "C-CROSS:object_required", "PRICE"),
        (proposal("PRICE", confidence="-0.1"), "C-CROSS:confidence", "PRICE"),
        (proposal("PRICE", confidence="1.1"), "C-CROSS:confidence", "PRICE"),
        (proposal("PRICE", confidence="NaN"), "C-CROSS:confidence", "PRICE"),
        (proposal("PRICE", confidence="Infinity"), "C-CROSS:confidence", "PRICE"),
        (replace(proposal("PRICE"), confidence=0.9), "C-CROSS:confidence", "PRICE"),
        (replace(proposal("PRICE"), confidence=True), "C-CROSS:confidence", "PRICE"),
        # the first that fails, in order
        (proposal("PRICE", "F9", topk=("NO_SUCH",)), "C-CLOSED:object_id", "PRICE"),
        (proposal("PRICE", "L1", topk=("NO_SUCH",)), "C-CLOSED:topk", "PRICE"),
        (proposal("PRICE", "L1", topk=("BUY",)), "C-CROSS:primary", "PRICE"),
        (proposal("PRICE", NONE, "7"), "C-CROSS:object_required", "PRICE"),
        # no tier answer at all
        (None, "C-SYNTAX:type", None),
        ("PRICE", "C-SYNTAX:type", None),
        (GOOD, "C-SYNTAX:type", None),
    ],
)
def test_the_first_failed_contract_is_named(answer: Any, contract: str, action: str | None) -> None:
    assert failure(answer) == (contract, action)


@pytest.mark.parametrize(
    ("text", "contract", "action"),
    [
        ("", "C-SYNTAX:json", None),
        ("PRICE", "C-SYNTAX:json", None),
        (form() + "}", "C-SYNTAX:json", None),
        ("Sure! " + form(), "C-SYNTAX:json", None),
        ('{"action_id": NaN}', "C-SYNTAX:json", None),
        ('{"action_id": -Infinity}', "C-SYNTAX:json", None),
        ('{"action_id": "PRICE", "action_id": "BUY", "object_id": "F1", "topk": ["PRICE"]}',
         "C-SYNTAX:json", None),
        ("[" * 2000, "C-SYNTAX:json", None),
        ("9" * 4000, "C-SYNTAX:fields", None),
        ("{}", "C-SYNTAX:fields", None),
        ("[]", "C-SYNTAX:fields", None),
        ("null", "C-SYNTAX:fields", None),
        (form(extra=1), "C-SYNTAX:fields", None),
        ('{"action_id": "PRICE", "object_id": "F1"}', "C-SYNTAX:fields", None),
        (form(action_id=1), "C-SYNTAX:action_id", None),
        (form(action_id=None), "C-SYNTAX:action_id", None),
        (form(object_id=None), "C-SYNTAX:object_id", None),
        (form(object_id={"id": "F1"}), "C-SYNTAX:object_id", None),
        (form(topk="PRICE"), "C-SYNTAX:topk", None),
        (form(topk=["PRICE", 1]), "C-SYNTAX:topk", None),
        (form(action_id="NO_SUCH"), "C-CLOSED:action_id", None),
        (form(object_id="F9"), "C-CLOSED:object_id", "PRICE"),
        (form(topk=["BUY"]), "C-CROSS:primary", "PRICE"),
        (form() + " " * MAX_TEXT, "C-SYNTAX:length", None),
    ],
)  # fmt: skip
def test_the_first_failed_contract_of_a_text_is_named(
    text: str, contract: str, action: str | None
) -> None:
    assert failure(raw(text)) == (contract, action)


def test_a_text_that_holds_is_the_proposal_it_says() -> None:
    expected = Proposal("PRICE", "F1", ("PRICE", "BUY"), Decimal("0.9"), "proposer", "b", "r")
    assert held(raw(form())) == Accepted(expected)
    assert held(raw(" \n" + form() + "\n ")) == Accepted(expected)


@pytest.mark.parametrize(
    ("text", "repair"),
    [
        (f"```json\n{form()}\n```", "fence"),
        (f"```\n{form()}\n```", "fence"),
        (f"\n ```json \n{form()}\n``` \n", "fence"),
        (f"\ufeff{form()}", "bom"),
    ],
)
def test_one_repair_of_the_format_is_made_and_named(text: str, repair: str) -> None:
    found = held(raw(text))
    assert isinstance(found, Accepted)
    assert found.repair == repair
    assert found.result == held(raw(form())).result  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n```json\n{form()}\n```\n```",
        f"```\n\ufeff{form()}\n```",
        f"\ufeff```json\n{form()}\n```",
        f"```json {form()} ```",
        f"'{form()}'",
        form().replace('"', "'"),
        form()[:-1],
    ],
)
def test_nothing_is_repaired_twice_nor_its_content(text: str) -> None:
    assert failure(raw(text))[0] == "C-SYNTAX:json"


def test_a_repair_is_named_where_the_content_fails() -> None:
    for broken, contract in (
        ("{", "C-SYNTAX:json"),
        ("{}", "C-SYNTAX:fields"),
        (form(topk=1), "C-SYNTAX:topk"),
        (form(object_id=1), "C-SYNTAX:object_id"),
        (form(action_id="NO_SUCH"), "C-CLOSED:action_id"),
        (form(object_id="F9"), "C-CLOSED:object_id"),
    ):
        found = held(raw(f"```json\n{broken}\n```"))
        assert isinstance(found, Failed)
        assert (found.contract, found.repair) == (contract, "fence")


def test_the_supplied_value_is_kept_and_cut() -> None:
    assert held(proposal("NO_SUCH")).supplied == "NO_SUCH"  # type: ignore[union-attr]
    long = held(proposal("X" * 500))
    assert isinstance(long, Failed)
    assert len(long.supplied) == SHOWN and long.supplied.endswith("…")
    assert held(raw("{}")).supplied == "{}"  # type: ignore[union-attr]
    assert held(proposal("PRICE", topk=("BUY",))).supplied == "('BUY',)"  # type: ignore[union-attr]


@given(st.text() | st.binary().map(lambda b: b.decode("latin-1")))
def test_any_text_holds_or_fails(text: str) -> None:
    assert isinstance(held(raw(text)), Accepted | Failed)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            key: st.recursive(
                st.sampled_from(["PRICE", "BUY", "F1", "L1", NONE, UNRESOLVED, "x", 1, None, 0.5]),
                lambda inner: st.lists(inner, max_size=4),
                max_leaves=4,
            )
            for key in ("action_id", "object_id", "topk", "more")
        },
    )
)
def test_what_is_accepted_lies_in_the_closed_lists(value: dict[str, Any]) -> None:
    found = held(raw(json.dumps(value)))
    if isinstance(found, Accepted):
        result = found.result
        assert isinstance(result, Proposal)
        assert result.action_id in CATALOG.actions
        assert result.object_id in {*REGISTRY, *OWN, NONE, UNRESOLVED}
        assert result.topk[0] == result.action_id and set(result.topk) <= set(CATALOG.actions)
