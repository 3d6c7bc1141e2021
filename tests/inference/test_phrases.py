"""The phrase tier before the gate: what it proposes, and that nothing follows from a phrase alone."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gate.confirmation import asks
from gate.controller import decide
from gate.errors import RequestError
from gate.findings import find
from gate.ledger.decision import redecide, rejudge
from gate.ledger.replay import Status, replay_all
from gate.load import Institution, load_institution
from gate.load.phrases import Phrase, PhraseBook, phrase_key
from gate.records import (
    Abstain,
    Mode,
    OutOfScope,
    Proposal,
    Request,
    Situation,
    Terminal,
    TierAnswer,
    Verdict,
)
from inference import question
from inference.appliance import Appliance
from inference.question import Question
from inference.tiers import phrases
from inference.way import answer, route
from tests.gate.demo import demo_state
from tests.gate.texts import DEMO, NOW, ROOT, request
from tests.inference.test_way import ask

CASES = yaml.safe_load((ROOT / "tests/fixtures/phrases.yaml").read_text("utf-8"))["cases"]
HARMLESS = st.lists(
    st.sampled_from(
        ["please", "thanks", "what are your fees", "HLGRX", "my card", "now", "?", "!", ".", "谢谢",
         "freeze it", "my balance"]
    ),
    max_size=5,
).map(" ".join)  # fmt: skip


@cache
def demo() -> Institution:
    return load_institution(DEMO)


def said(asked: Request, book: PhraseBook | None = None) -> TierAnswer:
    """What the tier answers to a request, as the way through asks it."""
    configuration = demo().configuration
    found = find(configuration, asked)
    tier = phrases.build(demo().phrases if book is None else book)
    return tier.propose(question.of(asked, configuration, found)).answer


def decided(asked: Request, said: TierAnswer, action: str = "") -> Verdict:
    """The gate's verdict where no rule stands against the action."""
    configuration = demo().configuration
    where = Situation(demo_state(action, {}), NOW, asked.session)
    return decide(configuration, where, find(configuration, asked), said)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["text"])
def test_what_a_text_means(case: Mapping[str, Any]) -> None:
    asked = request(case["text"], session="dana")
    meant, found = case.get("meant"), said(asked)
    if meant == "OUT_OF_SCOPE":
        assert found == OutOfScope("phrases", Decimal(1), "contains")
    elif meant is None:
        assert found == Abstain("no_phrase", "phrases")
    else:
        assert found == Proposal(meant, None, (meant,), Decimal(1), "phrases")
    verdict = decided(asked, found)
    assert (verdict.rule_id == "R-015") is ("alert" in case)
    alerts = [one.name for one in find(demo().configuration, asked).alerts]
    assert alerts[:1] == ([case["alert"]] if "alert" in case else [])


def meant_examples() -> list[tuple[str, str, tuple[tuple[str, str], ...]]]:
    found = demo().phrases.examples
    return [(e.text, e.leads_to, e.own) for e in found if e.meant and e.leads_to.isupper()]


@pytest.mark.parametrize(("text", "action", "own"), meant_examples())
def test_what_an_example_means_is_not_closed_by_its_words(
    text: str, action: str, own: tuple[tuple[str, str], ...]
) -> None:
    """Only the object may still be open, where the member has two."""
    if action == "OUT_OF_SCOPE":
        assert decided(request(text), said(request(text))).rule_id == "G-SCOPE"
        return
    asked = request(text, session="dana")
    proposed = Proposal(action, None, (action,), Decimal(1), "phrases")
    assert decided(asked, proposed).rule_id in ("R-999", "G-OBJECT")


@given(HARMLESS, HARMLESS, st.sampled_from(["tell me a joke", "天气预报", "Weather  forecast"]))
def test_words_around_a_pattern_never_undo_its_end(before: str, after: str, words: str) -> None:
    alone = request(words, session="dana")
    among = request(f"{before} {words} {after}", session="dana")
    assert said(among) == said(alone) == OutOfScope("phrases", Decimal(1), "contains")
    assert decided(among, said(among)).rule_id == decided(alone, said(alone)).rule_id == "G-SCOPE"


@given(
    HARMLESS,
    HARMLESS,
    st.sampled_from(["i am suicidal", "我想自杀", "he is forcing me"]),
    st.sampled_from(sorted(demo().configuration.catalog.actions)),
)
def test_words_around_an_alert_never_undo_its_end_whatever_a_tier_proposes(
    before: str, after: str, words: str, action: str
) -> None:
    among = request(f"{before} {words} {after}", session="marcus")
    proposed = Proposal(action, None, (action,), Decimal(1), "phrases")
    for given_answer in (proposed, said(among), OutOfScope("fast"), Abstain("low_confidence", "x")):
        verdict = decided(among, given_answer, action)
        assert (verdict.terminal, verdict.rule_id) == (Terminal.HANDOFF, "R-015")


PIECES = st.lists(
    st.sampled_from(
        ["freeze", "my card", "close", "my account", "please", "HLGRX", "buy", "it", "lost", "5316",
         "$50 of", "change my e-mail to a@b.example", "冻结", "我的卡", "how do i", "?"]
    ),
    max_size=6,
).map(" ".join)  # fmt: skip
WRITES = sorted(
    a.action_id for a in demo().configuration.catalog.actions.values() if a.mode is Mode.WRITE
)


@given(PIECES, st.sampled_from(WRITES), st.booleans())
def test_no_phrase_and_no_intent_leads_to_a_write_without_the_gates_evidence(
    text: str, action: str, by_intent: bool
) -> None:
    """Whatever stands in phrases.yaml: the write is read back at most, and only if it is asked for."""
    written = PhraseBook((Phrase(phrase_key(text), action, "en", text),))
    asked = request(text, session="marcus")
    found = find(demo().configuration, asked)
    tier = phrases.build(PhraseBook() if by_intent else written)
    proposed = tier.propose(Question(text, intent=action if by_intent else None)).answer
    assert isinstance(proposed, Proposal)
    verdict = decided(asked, proposed, action)
    assert verdict.terminal is not Terminal.DISPATCH
    if asks(verdict):
        assert any(action in one.actions for one in found.asked)


def test_an_intent_is_proposed_with_certainty() -> None:
    tier = phrases.build(demo().phrases)
    found = tier.propose(Question("", intent="FEE_INFO")).answer
    assert found == Proposal("FEE_INFO", None, ("FEE_INFO",), Decimal(1), "phrases", "intent")
    same = tier.propose(Question("What are your fees?", intent="FEE_INFO")).answer
    assert same == found


def test_a_text_that_means_another_action_than_the_intent_is_asked_back() -> None:
    tier = phrases.build(demo().phrases)
    found = tier.propose(Question("What are your fees?", intent="CARD_HELP")).answer
    assert found == Abstain("clarify", "phrases", ("CARD_HELP", "FEE_INFO"), "intent")


def test_words_that_nothing_is_offered_for_come_before_an_intent() -> None:
    tier = phrases.build(demo().phrases)
    found = tier.propose(Question("tell me a joke", intent="FEE_INFO")).answer
    assert found == OutOfScope("phrases", Decimal(1), "contains")


def test_an_intent_is_recorded_and_replays(appliance: Appliance) -> None:
    asked = ask(appliance, "", channel="counter", intent="CONTACT_DETAILS")
    ended = answer(appliance, asked)
    assert (ended.terminal, ended.routed.verdict.rule_id) == (Terminal.DISPATCH, "R-999")
    (stored, _) = [one.record for one in appliance.book.ledger.iterate()]
    assert stored["tier_result"]["backend"] == "intent"
    assert stored["tier_result"]["action_id"] == "CONTACT_DETAILS"
    stands = appliance.configuration, appliance.versions
    reports = list(replay_all(appliance.book, redecide(*stands), rejudge(*stands)))
    assert [one.status for one in reports] == [Status.SAME]


def test_another_intent_is_another_request(appliance: Appliance) -> None:
    first = ask(appliance, "", channel="counter", intent="CONTACT_DETAILS")
    route(appliance, first)
    assert route(appliance, first).replayed
    other = ask(appliance, "", channel="counter", intent="FEE_INFO")
    for changed in (other, ask(appliance, "", channel="counter")):
        refused = route(appliance, changed)
        assert (refused.verdict.rule_id, refused.decision_id) == ("G-REQUEST", None)


def test_an_intent_for_a_write_is_no_evidence(appliance: Appliance) -> None:
    clicked = route(appliance, ask(appliance, "5316", channel="counter", intent="FREEZE_CARD"))
    assert clicked.verdict.rule_id in ("G-DIRECTION", "G-ACTION")
    assert clicked.token is None
    asked = ask(
        appliance, "freeze my 5316", channel="counter", intent="FREEZE_CARD", request_id="2"
    )
    assert route(appliance, asked).token is not None


def test_an_alert_ends_a_turn_that_would_pick_an_option(appliance: Appliance) -> None:
    opening = route(
        appliance, ask(appliance, "freeze my card", channel="counter", intent="FREEZE_CARD")
    )
    assert opening.dialogue_id is not None
    text = "the debit card, he is forcing me"
    turn = ask(appliance, text, channel="counter", dialogue_id=opening.dialogue_id, request_id="2")
    assert route(appliance, turn).verdict.rule_id == "R-015"


@pytest.mark.parametrize(
    ("fields", "problem", "fix"),
    [
        ({"channel": "web"}, "`web` is not trusted to send `intent`", "intent_channels"),
        ({"channel": "sms", "state": {}, "session": None}, "`sms` is not trusted", "intent_channels"),
        ({"intent": "FEE_INFOS"}, "intent `FEE_INFOS` is no action", "FEE_INFO"),
        ({"confirm": {"token": "t"}}, "beside `confirm`", "leave `intent` out"),
    ],
)  # fmt: skip
def test_an_intent_that_may_not_be_sent_is_one_error(
    appliance: Appliance, fields: Mapping[str, Any], problem: str, fix: str
) -> None:
    with pytest.raises(RequestError) as caught:
        ask(appliance, "", **{"channel": "counter", "intent": "FEE_INFO", **fields})
    assert problem in caught.value.problem and fix in caught.value.fix
    assert caught.value.where.endswith("field intent")
