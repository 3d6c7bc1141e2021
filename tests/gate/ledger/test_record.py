"""What a decision record holds, what it hides, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from gate.errors import LedgerError
from gate.ledger.encode import canonical
from gate.ledger.formats import FIELDS, Kind, key_of, kind_of, newest
from gate.ledger.record import (
    GENESIS,
    Identity,
    commitment,
    event,
    halves,
    identify,
    mark,
    public_ids,
    seal,
)
from gate.ledger.tiers import hidden
from gate.records import NONE, UNRESOLVED, Boundary, Option, Request, Switches, Terminal, Verdict
from tests.gate.ledger.samples import (
    ANSWERS,
    NOW,
    OWN,
    PROPOSAL,
    REQUEST,
    SPOKEN,
    VERSIONS,
    decided,
    public,
)

KEY, SALT = b"k" * 32, b"s" * 32
DESIGN = (
    "decision_id decided_at terminal action_id object_id slots boundary rule_id reason_codes state "
    "findings candidates tier_result first_failed_contract repair fallback reported_model subject "
    "entitlements dialogue confirm switches text_commitment versions previous"
).split()


def closed(clear: Mapping[str, Any], request: Request, salt: bytes) -> dict[str, Any]:
    """A clear decision sealed for who asked."""
    text = commitment(salt, request)
    return seal(clear, identity=identify(KEY, request), salt=salt, text_commitment=text)


def sealed(salt: bytes = SALT, **more: Any) -> dict[str, Any]:
    """The sample decision as a complete record."""
    clear = decided(REQUEST, PROPOSAL, NOW, **more)
    record = closed(clear, REQUEST, salt)
    return {**record, "previous": GENESIS}


def test_a_decision_has_exactly_the_fields_of_the_design() -> None:
    assert set(sealed()) == {*DESIGN, "format", "kind"}
    assert kind_of(sealed()) is Kind.DECISION


def test_every_record_kind_has_a_format_a_kind_and_a_link() -> None:
    assert set(FIELDS) == set(Kind)
    for fields in FIELDS.values():
        assert {"format", "kind", "previous"} <= fields


def test_the_record_is_json_without_floats() -> None:
    def refuse(text: str) -> None:
        raise AssertionError(text)

    json.loads(canonical(sealed()), parse_float=refuse, parse_constant=refuse)


def test_the_record_says_what_was_decided() -> None:
    record = sealed(fallback="proposer->phrases", reported_model="m-1")
    assert record["decided_at"] == "2026-12-01T09:00:00.123456Z"
    assert (record["terminal"], record["boundary"]) == ("DISPATCH", "ALLOW")
    assert (record["rule_id"], record["reason_codes"]) == ("R-999", [])
    assert record["action_id"] == "CARD_STATUS"
    assert record["entitlements"] == ["member", "premium"]
    assert record["versions"] == VERSIONS
    assert record["state"]["limit"] == "250.00"
    assert record["state"]["available_balance"] == {"$float": "12.5"}
    assert record["tier_result"]["confidence"] == "0.9730"
    assert (record["fallback"], record["reported_model"]) == ("proposer->phrases", "m-1")
    assert record["switches"] == {"set": [], "inert": []}
    assert record["dialogue"] is record["confirm"] is record["first_failed_contract"] is None


def test_no_text_no_subject_and_no_own_object_is_in_the_bytes() -> None:
    for answer in (*ANSWERS, None):
        clear = decided(REQUEST, answer, NOW)
        record = closed(clear, REQUEST, SALT)
        data = canonical(record).decode()
        for personal in (SPOKEN, "Zürich", "4411", OWN.object_id, "C-1001", OWN.display_name, "卡"):
            assert personal not in data


def test_an_own_object_is_one_digest_throughout_a_record_and_another_in_the_next() -> None:
    record, other = sealed(), sealed(salt=b"t" * 32)
    assert hidden(record["object_id"])
    assert record["findings"]["mentions"][0][2] == [record["object_id"]]
    assert record["tier_result"]["object_id"] == record["object_id"]
    assert record["candidates"] == ["HLF-001", record["object_id"]]
    assert other["object_id"] != record["object_id"]


def test_a_public_object_is_shown() -> None:
    clear = decided(REQUEST, replace(PROPOSAL, object_id="HLF-001"), NOW)
    assert clear["tier_result"]["object_id"] == "HLF-001"


def test_an_own_object_is_hidden_even_if_its_id_is_public_too() -> None:
    session = replace(
        REQUEST.session or pytest.fail(), objects=(replace(OWN, object_id="HLF-001"),)
    )
    clear = decided(replace(REQUEST, session=session), replace(PROPOSAL, object_id="HLF-001"), NOW)
    assert clear["tier_result"]["object_id"] == {"$private": "HLF-001"}
    assert clear["candidates"][0] == {"$private": "HLF-001"}


def test_marking_reaches_lists_mappings_and_keys() -> None:
    own = frozenset({"A-1"})
    assert mark("A-1", own) == {"$private": "A-1"}
    assert mark({"x": ["A-1", ("A-1", 2)]}, own) == {
        "x": [{"$private": "A-1"}, [{"$private": "A-1"}, 2]]
    }
    assert mark({"A-1": "y"}, own) == [{"key": {"$private": "A-1"}, "value": "y"}]
    assert mark({"$private": 1.5}, own) == {"$private": {"$float": "1.5"}}
    assert mark({"at": 3, "n": None}, own) == {"at": 3, "n": None}


def test_slots_dialogue_and_confirm_are_sealed_too() -> None:
    record = sealed(
        slots={"amount": "12.50", "payee": {"$private": "Bob"}},
        dialogue={"issued": "d-2", "options": [OWN.object_id]},
        confirm={"issued": "t-hash"},
    )
    assert record["slots"]["amount"] == "12.50"
    assert hidden(record["slots"]["payee"])
    assert hidden(record["dialogue"]["options"][0])
    assert record["confirm"] == {"given": None, "issued": "t-hash"}


def test_what_a_dialogue_and_a_confirmation_brought_is_kept() -> None:
    request = replace(REQUEST, dialogue_id="d-1", confirm_token="token-1")  # noqa: S106
    clear = decided(request, PROPOSAL, NOW)
    assert clear["dialogue"] == {"given": "d-1", "options": []}
    record = closed(clear, request, SALT)
    assert hidden(record["confirm"]["given"])
    assert "token-1" not in canonical(record).decode()


def core_of(verdict: Verdict, **more: Any) -> dict[str, Any]:
    """A clear record of any verdict."""
    from gate.ledger.record import core

    return core(
        request=REQUEST,
        tier_answer=PROPOSAL,
        verdict=verdict,
        findings={},
        now=NOW,
        versions=VERSIONS,
        public=public,
        **more,
    )


CONTRACT = Verdict(
    Terminal.CLARIFY,
    Boundary.CLARIFY,
    "G-CONTRACT",
    ("C-CLOSED:object_id",),
    None,
    UNRESOLVED,
    first_failed_contract="C-CLOSED:object_id",
    supplied="card 5500 of Bob",
    repair="fence",
    inert=("G-DIRECTION",),
)


def test_a_failed_contract_keeps_its_name_and_hides_the_value() -> None:
    clear = core_of(CONTRACT, switches=Switches(no_state=True))
    assert clear["first_failed_contract"] == {
        "name": "C-CLOSED:object_id",
        "supplied": {"$private": "card 5500 of Bob"},
    }
    assert clear["repair"] == "fence"
    assert clear["action_id"] is None
    assert clear["object_id"] == UNRESOLVED
    assert clear["switches"] == {"set": ["no-state"], "inert": ["G-DIRECTION"]}


def test_offered_options_are_kept() -> None:
    options = (Option("CARD_STATUS", OWN.object_id), Option("FUND_PRICE", "HLF-001"))
    clear = core_of(replace(CONTRACT, options=options))
    assert clear["dialogue"] == {
        "given": None,
        "options": [
            {"action_id": "CARD_STATUS", "object_id": {"$private": OWN.object_id}},
            {"action_id": "FUND_PRICE", "object_id": "HLF-001"},
        ],
    }


def test_a_request_without_session_has_no_subject() -> None:
    request = replace(REQUEST, session=None)
    clear = decided(request, None, NOW)
    record = closed(clear, request, SALT)
    assert record["subject"] is None
    assert record["entitlements"] == []
    assert record["tier_result"] is None


def test_no_candidates_and_an_empty_list_differ() -> None:
    assert decided(replace(REQUEST, candidates=None), None, NOW)["candidates"] is None
    assert decided(replace(REQUEST, candidates=()), None, NOW)["candidates"] == []


def test_a_subject_keeps_its_pseudonym_under_one_key() -> None:
    one = identify(KEY, REQUEST)
    assert identify(KEY, replace(REQUEST, request_id="r-2")).subject == one.subject
    assert identify(b"j" * 32, REQUEST).subject != one.subject
    assert one.subject != identify(KEY, replace(REQUEST, session=None)).subject


def test_the_decision_id_is_of_channel_subject_and_request_id() -> None:
    other = replace(REQUEST.session or pytest.fail(), subject="C-2")
    ids = {
        identify(KEY, request).decision_id
        for request in (
            REQUEST,
            replace(REQUEST, utterance="else", state={}, history=(), candidates=None),
            replace(REQUEST, channel="counter"),
            replace(REQUEST, request_id="r-2"),
            replace(REQUEST, session=other),
            replace(REQUEST, session=None),
        )
    }
    assert len(ids) == 5
    assert {len(i) for i in ids} == {32}


def test_ids_with_shifted_borders_differ() -> None:
    one = identify(KEY, replace(REQUEST, channel="web1", request_id="2"))
    assert one != identify(KEY, replace(REQUEST, channel="web", request_id="12"))


@pytest.mark.parametrize(
    "changes",
    [
        {"request_id": "x"},
        {"channel": "x"},
        {"utterance": SPOKEN + " "},
        {"history": ()},
        {"state": {**REQUEST.state, "visits": "3"}},
        {"session": None},
        {"candidates": None},
        {"dialogue_id": "d"},
        {"confirm_token": "t"},
        {"language": "en"},
    ],
)
def test_the_commitment_covers_every_field(changes: dict[str, Any]) -> None:
    assert commitment(SALT, replace(REQUEST, **changes)) != commitment(SALT, REQUEST)


def test_the_commitment_tells_numbers_and_truth_values_apart() -> None:
    values = [1, 1.0, True, "1"]
    assert len({commitment(SALT, replace(REQUEST, state={"x": v})) for v in values}) == 4


def test_the_commitment_is_mute_under_another_salt() -> None:
    assert commitment(SALT, REQUEST) != commitment(b"t" * 32, REQUEST)


def test_public_ids_are_those_of_the_closed_lists() -> None:
    configuration: Any = SimpleNamespace(
        catalog=SimpleNamespace(actions={"A": 1}), registry=SimpleNamespace(entries={"O": 1})
    )
    known = public_ids(configuration)
    assert [known(v) for v in ("A", "O", NONE, UNRESOLVED, "x", "")] == [True] * 4 + [False] * 2


def test_a_naive_clock_is_refused() -> None:
    with pytest.raises(LedgerError, match="has no zone"):
        decided(REQUEST, PROPOSAL, datetime(2026, 12, 1))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"format": newest() + 1}, "record format `2` is not 1; upgrade"),
        ({"format": None}, "record format `None`"),
        ({"kind": "NOTE"}, "record kind `NOTE` is unknown; use one of DECISION, OUTCOME"),
        ({"kind": ["DECISION"]}, "is unknown"),
        ({"extra": 1}, "check `extra`"),
    ],
)
def test_a_record_of_another_shape_is_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(LedgerError, match=problem):
        kind_of({**sealed(), **changes})


def test_a_record_without_a_field_is_refused() -> None:
    for name in FIELDS[Kind.DECISION] - {"format", "kind"}:
        rest = {k: v for k, v in sealed().items() if k != name}
        with pytest.raises(LedgerError, match=f"check `{name}`"):
            kind_of(rest)


EVENTS: dict[Kind, dict[str, Any]] = {
    Kind.OUTCOME: {"decision_id": "d", "status": "completed", "detail": {"evidence": ["a#1"]}},
    Kind.ERASURE: {"decision_id": "d", "reason": "asked"},
    Kind.CHECKPOINT: {"sequence": 7, "digest": "a" * 64},
    Kind.CONFIG: {"versions": VERSIONS, "detail": {}},
}


@pytest.mark.parametrize("kind", list(EVENTS))
def test_every_event_kind_can_be_written(kind: Kind) -> None:
    record = {**event(kind, NOW, **EVENTS[kind]), "previous": GENESIS}
    assert kind_of(record) is kind
    canonical(record)


def test_an_event_with_other_fields_is_refused() -> None:
    with pytest.raises(LedgerError, match="check `reason`, `why`"):
        kind_of({**event(Kind.ERASURE, NOW, decision_id="d", why="x"), "previous": GENESIS})


def test_keys_are_per_decision_and_erasure() -> None:
    assert key_of({"kind": "DECISION", "decision_id": "d"}) == "d"
    assert key_of({"kind": "ERASURE", "decision_id": "d"}) == "erasure:d"
    for kind in (Kind.OUTCOME, Kind.CHECKPOINT, Kind.CONFIG):
        assert key_of({"kind": kind.value, "decision_id": "d"}) is None


def test_identity_does_not_depend_on_the_salt() -> None:
    one, two = sealed(), sealed(salt=b"t" * 32)
    assert Identity(one["decision_id"], one["subject"]) == identify(KEY, REQUEST)
    assert two["decision_id"] == one["decision_id"]


@pytest.mark.parametrize(
    "detail",
    [
        {},
        {"previous": GENESIS},
        {"a": 1, "previous": GENESIS},
        [{"a": 1, "previous": GENESIS}, {"a": 1, "previous": GENESIS}],
        {"a": f',"previous":"{GENESIS}"'},
        {"text": "创业板 \U0001f512"},
    ],
)
@pytest.mark.parametrize("kind", [Kind.OUTCOME, Kind.CONFIG])
def test_the_halves_of_a_record_meet_at_its_link(detail: Any, kind: Kind) -> None:
    more = {Kind.OUTCOME: {"decision_id": "d", "status": "x"}, Kind.CONFIG: {"versions": {}}}[kind]
    record = event(kind, NOW, detail=detail, **more)
    before, after = halves(record)
    for link in (GENESIS, "ab" * 32):
        assert before + link.encode() + after == canonical({**record, "previous": link})


def test_the_halves_of_a_decision_meet_at_its_link() -> None:
    record = sealed()
    before, after = halves(record)
    assert before + b"e" * 64 + after == canonical({**record, "previous": "e" * 64})
