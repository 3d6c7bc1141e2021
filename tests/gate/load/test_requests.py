"""Requests and proposals from JSON."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.configuration import Configuration
from gate.errors import RequestError
from gate.load import load
from gate.load.requests import parse_decide, parse_proposal, parse_request
from gate.records import Abstain, Entry, OutOfScope, Proposal, Request, Session, Turn, Unparsed
from tests.gate.load.folders import GOOD, write

BASE: Mapping[str, Any] = {"request_id": "q1", "channel": "web", "utterance": "Hello"}
OWN = {
    "object_id": "CARD-1",
    "object_type": "CARD",
    "display_name": "Debit card",
    "aliases": ["debit"],
}


@pytest.fixture(scope="module")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Configuration:
    return load(write(tmp_path_factory.mktemp("good"), GOOD))


@pytest.fixture(scope="module")
def bare_history(tmp_path_factory: pytest.TempPathFactory) -> Configuration:
    appliance = GOOD["appliance.yaml"] + "history_role: user\n"
    folder: Path = tmp_path_factory.mktemp("bare")
    return load(write(folder, {**GOOD, "appliance.yaml": appliance}))


@pytest.fixture(scope="module")
def clicking(tmp_path_factory: pytest.TempPathFactory) -> Configuration:
    """An institution whose web channel has buttons, and whose counter has none."""
    appliance = GOOD["appliance.yaml"].replace("[web]", "[web, counter]\nintent_channels: [web]")
    folder: Path = tmp_path_factory.mktemp("clicking")
    return load(write(folder, {**GOOD, "appliance.yaml": appliance}))


def line(**fields: Any) -> str:
    return json.dumps({**BASE, **fields})


def refused(text: str, configuration: Configuration) -> RequestError:
    with pytest.raises(RequestError) as caught:
        parse_request(text, configuration, "line 7")
    assert caught.value.where.startswith("line 7")
    assert caught.value.fix
    return caught.value


def test_three_fields_are_enough(configuration: Configuration) -> None:
    request = parse_request(line(), configuration, "line 1")
    assert (request.request_id, request.channel, request.utterance) == ("q1", "web", "Hello")
    assert request.history == ()
    assert request.state == {}
    assert request.session is None
    assert request.candidates is None
    assert request.confirm_token is None


def test_every_field_is_read(configuration: Configuration) -> None:
    text = line(
        history=[{"role": "user", "text": "a"}, {"role": "assistant", "text": "b"}],
        state={"available": True, "balance": {"value": "1.50", "as_of": "2026-12-01T09:00:00Z"}},
        session={"subject": "C-1", "entitlements": ["member"], "objects": [OWN]},
        candidates=["F:ONE", "CARD-1", "F:ONE"],
        dialogue_id="d1",
        confirm={"token": "t1"},
        language="en",
    )
    request = parse_request(text.encode(), configuration, "line 1")
    assert request.history == (Turn("user", "a"), Turn("assistant", "b"))
    assert request.state["balance"] == {"value": "1.50", "as_of": "2026-12-01T09:00:00Z"}
    own = Entry("CARD-1", "CARD", "Debit card", ("debit",), own=True)
    assert request.session == Session("C-1", ("member",), (own,))
    assert request.candidates == ("F:ONE", "CARD-1")
    assert (request.dialogue_id, request.confirm_token, request.language) == ("d1", "t1", "en")


def test_nulls_stand_for_absent_fields(configuration: Configuration) -> None:
    text = line(session=None, candidates=None, dialogue_id=None, confirm=None, language=None)
    assert parse_request(text, configuration, "line 1").session is None


def test_empty_candidates_differ_from_null(configuration: Configuration) -> None:
    assert parse_request(line(candidates=[]), configuration, "line 1").candidates == ()


def test_state_that_no_rule_reads_may_be_anything(configuration: Configuration) -> None:
    state = {"available": "not a boolean", "unknown": {"deep": [1]}}
    assert parse_request(line(state=state), configuration, "line 1").state == state


def test_bare_history_needs_a_declared_role(
    configuration: Configuration, bare_history: Configuration
) -> None:
    text = line(history=["earlier", {"role": "system", "text": "x"}])
    assert parse_request(text, bare_history, "line 1").history == (
        Turn("user", "earlier"),
        Turn("system", "x"),
    )
    error = refused(text, configuration)
    assert (error.where, error.problem) == ("line 7, field history.0", "turn is a bare text")
    assert "`history_role: user`" in error.fix


@pytest.mark.parametrize(
    ("text", "where", "problem", "fix"),
    [
        ("[1]", "", "`[...]` is no JSON object", "one JSON object"),
        ("{", "", "not valid JSON", "one JSON object"),
        ('{"channel": "web"}', "request_id", "key `request_id` is missing", "add"),
        (line(utterence="x"), "utterence", "unknown key `utterence`", "did you mean `utterance`?"),
        (line(request_id=7), "request_id", "`request_id` is `7`, not text", "quotes"),
        (line(request_id=""), "request_id", "`request_id`", "correct"),
        (line(utterance=None), "utterance", "`utterance` is `null`, not text", "text"),
        (line(utterance="x" * 2001), "utterance", "has 2001 characters", "at most 2000"),
        (line(history="x"), "history", "`history` is `x`, not a list", "list"),
        (line(history=[1]), "history.0", "`1` is no JSON object", "object"),
        (line(history=[{"role": "user"}]), "history.0, field text", "missing", "add"),
        (line(history=[{"role": "bot", "text": ""}]), "history.0, field role", "`bot`", "use one"),
        (
            line(history=[{"role": "user", "text": "x" * 4001}]),
            "history",
            "has 4001 characters",
            "at most 4000",
        ),
        (line(state=[1]), "state", "`state` is `[...]`, not a set of keys", "key: value"),
        (line(state={"entity_resolved": True}), "state.entity_resolved", "by the gate", "leave"),
        (line(state={"slot.amount": 1}), "state.slot.amount", "computed by the gate", "leave"),
        (line(state={"slot.other": 1}), "state.slot.other", "computed by the gate", "leave"),
        (line(session={}), "session.subject", "key `subject` is missing", "add"),
        (line(session={"subject": "C", "objects": [{}]}), "session.objects.0", "missing", "add"),
        (
            line(session={"subject": "C", "objects": [OWN, OWN]}),
            "session.objects.1",
            "object id `CARD-1` is taken",
            "its own",
        ),
        (
            line(session={"subject": "C", "objects": [{**OWN, "object_id": "F:ONE"}]}),
            "session.objects.0",
            "object id `F:ONE` is taken",
            "its own",
        ),
        (
            line(session={"subject": "C", "objects": [{**OWN, "object_id": "NONE"}]}),
            "session.objects.0",
            "`NONE` is reserved",
            "another",
        ),
        (
            line(session={"subject": "C", "objects": [{**OWN, "object_type": "FUND"}]}),
            "session.objects.0",
            "object type `FUND` is not declared as the customer's own",
            "`CARD`",
        ),
        (line(candidates=["F:ONE", "F:NO"]), "candidates.1", "candidate `F:NO`", "known"),
        (line(candidates=["F:ONE"] * 201), "candidates", "201 candidates", "at most 200"),
        (line(confirm={}), "confirm.token", "key `token` is missing", "add"),
        (line(confirm="t"), "confirm", "`confirm` is `t`, not a set of keys", "key: value"),
        (line(state={"x": 1}, channel="sms"), "state", "`sms` is not trusted", "channels:"),
        (line(session={"subject": "C"}, channel="sms"), "session", "not trusted", "channels:"),
        (line(candidates=[], channel="sms"), "candidates", "not trusted", "channels:"),
    ],
)
def test_malformed_request_names_field_and_fix(
    configuration: Configuration, text: str, where: str, problem: str, fix: str
) -> None:
    error = refused(text, configuration)
    assert error.where.removeprefix("line 7").removeprefix(", field ").startswith(where)
    assert problem in error.problem
    assert fix in error.fix


def test_an_intent_comes_from_a_channel_that_is_trusted_for_it(clicking: Configuration) -> None:
    assert parse_request(line(intent="FEES"), clicking, "line 1").intent == "FEES"
    assert parse_request(line(intent=None, channel="sms"), clicking, "line 1").intent is None
    for channel in ("counter", "sms", "WEB"):
        error = refused(line(intent="FEES", channel=channel), clicking)
        assert error.where == "line 7, field intent"
        assert f"`{channel}` is not trusted to send `intent`" in error.problem
        assert "intent_channels:" in error.fix


@pytest.mark.parametrize("intent", ["FEE", "fees", "OUT_OF_SCOPE", "*", "FEES "])
def test_an_intent_names_an_action(clicking: Configuration, intent: str) -> None:
    error = refused(line(intent=intent), clicking)
    assert f"intent `{intent}` is no action" in error.problem
    assert "FEES" in error.fix


@pytest.mark.parametrize("intent", ["", 1, ["FEES"], {"action": "FEES"}])
def test_an_intent_is_a_text(clicking: Configuration, intent: Any) -> None:
    assert "`intent` is" in refused(line(intent=intent), clicking).problem


def test_an_intent_beside_a_confirmation_is_refused(clicking: Configuration) -> None:
    error = refused(line(intent="FEES", confirm={"token": "t"}), clicking)
    assert "stands beside `confirm`" in error.problem


def test_untrusted_channel_may_send_a_text(configuration: Configuration) -> None:
    text = line(channel="sms", state={}, session=None, candidates=None)
    assert parse_request(text, configuration, "line 1").channel == "sms"


def test_body_above_the_limit_is_refused(configuration: Configuration) -> None:
    assert "request has" in refused(line(utterance="x" * 65_536), configuration).problem


def test_decide_line_is_a_request_with_its_proposal(configuration: Configuration) -> None:
    proposal = {"action_id": "FEES", "object_id": "NONE", "topk": ["FEES"], "confidence": "0.9"}
    request, answer = parse_decide(line(proposal=proposal), configuration, "line 1")
    assert request.utterance == "Hello"
    assert answer == Proposal("FEES", "NONE", ("FEES",), Decimal("0.9"), "given")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (line(), "field `proposal` is missing"),
        ("[]", "field `proposal` is missing"),
        (line(proposal=3), "`3` is no JSON object"),
        (line(proposal="x", extra=1), "unknown key `extra`"),
        (line(proposal={}), "not exactly one of"),
    ],
)
def test_malformed_decide_line_is_refused(
    configuration: Configuration, text: str, problem: str
) -> None:
    with pytest.raises(RequestError) as caught:
        parse_decide(text, configuration, "line 2")
    assert problem in caught.value.problem


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ('{"action_id"', Unparsed('{"action_id"', "given")),
        ({"out_of_scope": True}, OutOfScope("given")),
        (
            {"out_of_scope": True, "tier": "fast", "confidence": 1, "backend": "b"},
            OutOfScope("fast", Decimal(1), "b"),
        ),
        (
            {"abstain": {"reason": "low_confidence", "top2": ["FEES", "FREEZE"]}},
            Abstain("low_confidence", "given", ("FEES", "FREEZE")),
        ),
        (
            {"action_id": "A", "object_id": None, "topk": ["A", "B"], "tier": "t", "receipt": "r"},
            Proposal("A", None, ("A", "B"), None, "t", "", "r"),
        ),
        ({"action_id": 7}, Unparsed('{"action_id": 7}', "given")),
        (
            {"action_id": "A", "object_id": "NONE", "topk": "A", "confidence": "0.5"},
            Unparsed(
                '{"action_id": "A", "object_id": "NONE", "topk": "A"}', "given", Decimal("0.5")
            ),
        ),
        (
            {"action_id": "A", "object_id": 1, "topk": []},
            Unparsed('{"action_id": "A", "object_id": 1, "topk": []}', "given"),
        ),
        (
            {"action_id": "A", "object_id": "O", "topk": [1]},
            Unparsed('{"action_id": "A", "object_id": "O", "topk": [1]}', "given"),
        ),
        ({"action_id": "A", "topk": ["A"]}, Unparsed('{"action_id": "A", "topk": ["A"]}', "given")),
        ({"action_id": None}, Unparsed('{"action_id": null}', "given")),
    ],
)
def test_proposal_forms(value: Any, answer: Any) -> None:
    assert parse_proposal(value) == answer


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({}, "not exactly one of"),
        ({"tier": "fast"}, "not exactly one of"),
        ({"action_id": "A", "out_of_scope": True}, "not exactly one of"),
        ({"out_of_scope": True, "abstain": {"reason": "x"}}, "not exactly one of"),
        ({"out_of_scope": False}, "not exactly one of"),
        ({"out_of_scope": 1}, "`out_of_scope` is `1`, not true or false"),
        ({"abstain": {}}, "key `reason` is missing"),
        ({"abstain": {"reason": "x", "top2": ["a", "b", "c"]}}, "`top2`"),
        ({"action_id": "A", "confidence": "1.2"}, "`confidence` is `1.2`"),
        ({"action_id": "A", "confidence": "nan"}, "`confidence` is `nan`, not a number"),
        ({"action_id": "A", "confidence": True}, "`confidence` is `true`, not a number"),
        ({"action_id": "A", "tier": 3}, "`tier` is `3`, not text"),
        ({"action_id": "A", "actoin": 3}, "unknown key `actoin`"),
        (["A"], "no JSON object"),
    ],
)
def test_malformed_proposal_is_refused(value: Any, problem: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_proposal(value, "line 4, field proposal")
    assert problem in caught.value.problem
    assert caught.value.where.startswith("line 4, field proposal")
    assert caught.value.fix


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = (*Request.__slots__, "confirm", "proposal")


@given(st.dictionaries(st.sampled_from(FIELDS), junk))
def test_any_fields_are_a_request_or_a_request_error(
    configuration: Configuration, fields: dict[str, Any]
) -> None:
    text = json.dumps({**BASE, **fields})
    for parse in (parse_request, parse_decide):
        with contextlib.suppress(RequestError):
            parse(text, configuration, "line 1")
    with contextlib.suppress(RequestError):
        parse_proposal(fields)
