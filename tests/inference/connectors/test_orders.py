"""Orders as bytes: canonical, bounded, and the same order whenever it asks for the same."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import pytest

from gate.records import NONE
from inference.connectors import orders
from inference.connectors.protocol import Prepared, Reason, Refused
from tests.inference.connectors.offices import ACTIONS, order

UNTIL = datetime(2026, 12, 1, 10, 0, tzinfo=timezone(timedelta(hours=1)))


def test_body_is_canonical_json_in_utc() -> None:
    given = order(
        decision_id="d1",
        slots={"b": 1, "a": ["é", None, True]},
        object_id=NONE,
        subject="C-1",
        text="Sure?",
        valid_until=UNTIL,
    )
    assert orders.body(given).decode() == (
        '{"action_id":"FUND_ORDER","decision_id":"d1","format":1,"object_id":null,'
        '"slots":{"a":["é",null,true],"b":1},"subject":"C-1","text":"Sure?",'
        '"valid_until":"2026-12-01T09:00:00.000000Z"}'
    )


def test_body_is_read_back_to_the_same_order() -> None:
    given = order(valid_until=UNTIL.astimezone(UTC), object_id=NONE)
    assert orders.parse(orders.body(given)) == given


def test_slots_of_any_mapping_and_sequence_give_the_same_body() -> None:
    plain = order(slots={"a": {"b": [1, 2]}})
    frozen = replace(plain, slots=MappingProxyType({"a": MappingProxyType({"b": (1, 2)})}))
    assert orders.body(frozen) == orders.body(plain)


def test_same_content_is_the_same_order_whenever_it_is_sent() -> None:
    first = order()
    later = replace(first, decision_id="x", valid_until=UNTIL, text="other words")
    assert orders.content_digest(first) == orders.content_digest(later)


@pytest.mark.parametrize(
    "change",
    [
        {"action_id": "FREEZE_CARD"},
        {"object_id": "FUND:HLGRX"},
        {"slots": {"amount": {"value": "1.00", "currency": "USD"}}},
        {"subject": "C-1002"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_other_content_is_another_order(change: dict[str, Any]) -> None:
    first = order()
    assert orders.content_digest(first) != orders.content_digest(replace(first, **change))


def test_good_order_is_prepared_with_the_digest_of_its_body() -> None:
    given = order()
    prepared = orders.prepare("desk", given, ACTIONS)
    assert isinstance(prepared, Prepared)
    assert json.loads(prepared.body)["subject"] == "C-1001"
    assert (prepared.connector, len(prepared.digest)) == ("desk", 64)


@pytest.mark.parametrize(
    "change",
    [
        {"subject": ""},
        {"subject": "x" * 201},
        {"subject": "a\ud800"},
        {"subject": "a\0"},
        {"subject": None},
        {"object_id": ""},
        {"object_id": "UNRESOLVED"},
        {"text": ""},
        {"text": "x" * 4001},
        {"decision_id": ""},
        {"valid_until": datetime(2026, 12, 1)},
        {"slots": {"share": 0.5}},
        {"slots": {"amount": object()}},
        {"slots": {"amount": b"1"}},
        {"slots": {"Amount": "1"}},
        {"slots": {1: "1"}},
        {"slots": {"n": 2**53}},
        {"slots": {"t": "x" * 2001}},
        {"slots": {"a": [[[[["deep"]]]]]}},
        {"slots": {"a": {"B": 1}}},
        {"slots": {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}},
        {"slots": {f"s{n}": "x" * 2000 for n in range(9)}},
    ],
    ids=lambda change: str(change)[:40],
)
def test_malformed_order_is_refused(change: dict[str, Any]) -> None:
    refused = orders.prepare("desk", order(**change), ACTIONS)
    assert isinstance(refused, Refused)
    assert refused.reason == Reason.MALFORMED_ORDER
    assert refused.problem and "x" * 100 not in refused.problem


def test_malformed_action_of_a_served_name_is_refused() -> None:
    refused = orders.prepare("desk", order(action_id="a b"), frozenset({"a b"}))
    assert isinstance(refused, Refused)
    assert refused.reason == Reason.MALFORMED_ORDER


def test_unserved_action_is_refused_by_name() -> None:
    refused = orders.prepare("desk", order(action_id="SELL_FUND"), ACTIONS)
    assert isinstance(refused, Refused)
    assert (refused.reason, "`SELL_FUND`" in refused.problem) == (Reason.UNKNOWN_ACTION, True)


def test_until_only_shortens() -> None:
    given = order(valid_until=UNTIL)
    assert orders.until(given, UNTIL + timedelta(days=1)).valid_until == UNTIL
    assert orders.until(given, UNTIL - timedelta(days=1)).valid_until == UNTIL - timedelta(days=1)
