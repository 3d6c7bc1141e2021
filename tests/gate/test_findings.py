"""Findings: what one request holds, in the original's offsets, and their form in the record."""

# ruff: noqa: RUF001  (letters that look like others are what is tested)

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.findings import Findings, find, from_core, own_names, to_core
from gate.objects import Status
from gate.records import Turn
from tests.gate import small
from tests.gate.texts import SESSIONS, demo, request

PIECES = (
    "HLGRX ", "Harbor Growth Fund ", "freeze ", "my card ", "it ", "that fund ", "not ", "and also ",
    "her card ", "what is ", "4411 ", "$5 ", "HLZZX ", "\u200b", "ﬁ", "HLGRХ ", "credit card ", ". ",
    ", ", "?", "黄金 ", "\n",
)  # fmt: skip


def test_nothing_is_found_in_nothing() -> None:
    found = find(demo(), request(""))
    assert found == small.findings(language="en", direction=found.direction)
    assert found.direction.value == "UNDECLARED"


def test_spans_lead_into_the_original() -> None:
    text = "Please\u200b  FREEZE that  CARD, not HLZZX; what of\u200b HLGRX for her  account?"
    found = find(demo(), request(text, session="dana"))

    def cut(spans: object) -> list[str]:
        return [text[s[0] : s[1]] for s in spans]  # type: ignore[attr-defined]

    assert cut(found.asked) == ["FREEZE"]
    assert cut(found.mentions) == ["HLGRX"]
    assert cut(found.unmatched) == ["HLZZX"]
    assert cut(found.anaphors) == cut(found.referring) == ["that  CARD"]
    assert cut(found.third_person) == ["her  account"]
    assert found.set_aside == ()


def test_negated_anaphors_are_set_aside() -> None:
    text = "do not freeze it, freeze that card"
    found = find(demo(), request(text))
    assert [text[a:b] for a, b in found.set_aside] == ["it"]


def test_overlapping_anaphors_count_once() -> None:
    text = "that fund, that one, it"
    found = find(demo(), request(text))
    assert [text[a:b] for a, b in found.anaphors] == ["that fund", "that one", "it"]
    assert [text[a:b] for a, b in found.referring] == ["that fund"]


def test_an_anaphor_inside_a_name_is_none() -> None:
    named = replace(SESSIONS["marcus"].objects[0], aliases=("make it count",))
    asked = replace(
        request("balance of make it count"),
        session=replace(SESSIONS["marcus"], objects=(named,)),
    )
    assert find(demo(), asked).anaphors == ()


def test_history_is_read_only_where_the_text_refers_back() -> None:
    assert find(demo(), request("price", history=["HLGRX"])).history == ()
    (turn,) = find(demo(), request("its price", history=["HLGRX, not HLZZX"])).history
    assert turn.user and turn.unmatched
    assert [(m.owners, m.status) for m in turn.mentions] == [(("FUND:HLGRX",), Status.OK)]


@pytest.mark.parametrize(
    ("turns", "most", "read"),
    [
        (["u1", "u2", "u3"], 2, ["u", "u"]),
        (["u1", "a1", "u2", "a2", "u3", "a3"], 2, ["u", "a", "u", "a"]),
        (["a1", "u1", "a2"], 2, ["a", "u", "a"]),
        (["a1", "a2"], 2, ["a", "a"]),
        (["u1", "a1"], 0, []),
        ([], 4, []),
    ],
)
def test_history_is_the_last_user_turns_and_what_was_said_since(
    turns: list[str], most: int, read: list[str]
) -> None:
    configuration = small.institution(history_turns=most)
    history = tuple(Turn("user" if t[0] == "u" else "assistant", t) for t in turns)
    found = find(configuration, replace(request("that fund"), history=history))
    assert ["u" if t.user else "a" for t in found.history] == read


def test_kinds_of_own_objects_outside_of_names() -> None:
    text = "freeze my credit card"
    found = find(demo(), request(text, session="marcus"))
    assert [text[a:b] for a, b in found.kinds] == ["credit card"]
    assert find(demo(), request(text, session="dana")).kinds == ()


def test_own_names_are_indexed_once() -> None:
    objects = SESSIONS["dana"].objects
    assert own_names(objects) is own_names(objects)


def test_findings_survive_the_record() -> None:
    text = "Freeze that card, her card, credit card and not HLGRX HLZZX or it"
    found = find(demo(), request(text, session="marcus", history=["HLGRX", {"assistant": "HLZZX"}]))
    for name in Findings._fields:
        assert name in ("slots", "alerts") or getattr(found, name) not in ((), None), name
    core = to_core(found)
    assert from_core(json.loads(json.dumps(core))) == found
    assert not any(w in json.dumps(core).casefold() for w in ("that card", "credit", "hlzzx"))


@given(
    st.lists(st.sampled_from(PIECES), max_size=10).map("".join) | st.text(max_size=40),
    st.lists(st.lists(st.sampled_from(PIECES), max_size=4).map("".join), max_size=3),
)
def test_any_findings_survive_the_record_and_lie_in_the_text(text: str, history: list[str]) -> None:
    found = find(demo(), request(text, session="dana", history=history))
    assert from_core(json.loads(json.dumps(to_core(found)))) == found
    spans = [
        *((s[0], s[1]) for s in (*found.cues, *found.asked, *found.mentions)),
        *found.unmatched, *found.anaphors, *found.third_person, *found.kinds,
    ]  # fmt: skip
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert set(found.referring) | set(found.set_aside) <= set(found.anaphors)
    assert find(demo(), request(text, session="dana", history=history)) == found
