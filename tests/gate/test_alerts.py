"""Alerts: words that a rule closes on; what is said around them changes nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.alerts import NO_ALERT, Alert, Alerted, find
from gate.controller import gate_values
from gate.findings import find as find_all
from gate.findings import from_core, to_core
from tests.gate import small
from tests.gate.texts import request

ALERTS = (
    Alert("crisis", ("kill myself", "自杀")),
    Alert("coercion", ("being forced to", "blackmail", "勒索")),
)
HARMLESS = st.lists(
    st.sampled_from(
        ["please", "thank you", "my card", "what", "?", "...", "not", "谢谢", "HLGRX", "!"]
    ),
    max_size=6,
).map(" ".join)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("i want to kill myself", ["crisis"]),
        ("blackmail, and then kill myself", ["crisis", "coercion"]),
        ("我想自杀", ["crisis"]),
        ("blackmailed", []),
        ("a blackmail-letter", ["coercion"]),
        ("xblackmail blackmail", ["coercion"]),
        ("skill myself", []),
        ("", []),
    ],
)
def test_alerts_are_found_as_words_in_the_order_of_declaration(text: str, names: list[str]) -> None:
    assert [one.name for one in find(ALERTS, text)] == names


def test_an_alert_is_named_once_at_its_first_place() -> None:
    assert find(ALERTS, "blackmail is blackmail") == (Alerted(0, 9, "coercion"),)


@given(HARMLESS, HARMLESS, st.sampled_from([w for a in ALERTS for w in a.words]))
def test_words_around_an_alert_never_undo_it(before: str, after: str, words: str) -> None:
    configuration = small.institution(alerts=ALERTS)
    alone = find_all(configuration, request(words))
    among = find_all(configuration, request(f"{before} {words} {after}"))
    assert [a.name for a in among.alerts] == [a.name for a in alone.alerts] != []
    assert gate_values(among, None)["alert"] == gate_values(alone, None)["alert"]


def test_spans_lead_into_the_original_and_survive_the_record() -> None:
    configuration = small.institution(alerts=ALERTS)
    text = "I  am BEING  forced\u200b to pay"
    found = find_all(configuration, request(text))
    ((start, end, name),) = found.alerts
    assert (text[start:end], name) == ("BEING  forced\u200b to", "coercion")
    core = json.loads(json.dumps(to_core(found)))
    assert from_core(core) == found
    assert "forced" not in json.dumps(core)


def test_a_text_without_an_alert_says_so_to_rules_and_nothing_to_the_record() -> None:
    found = find_all(small.institution(alerts=ALERTS), request("hello"))
    assert gate_values(found, None)["alert"] == NO_ALERT
    assert "alerts" not in to_core(found)
