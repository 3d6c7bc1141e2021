"""A language that is not configured is recognised, told, recorded, and replayed without the library."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest

from eval.languages import Reader, sentences
from gate.ledger.decision import redecide, rejudge
from gate.ledger.replay import Status, replay_all
from gate.records import Request
from inference.appliance import Appliance
from inference.recognition import Recogniser
from inference.way import answer, route
from tests.gate import small
from tests.gate.demo import demo
from tests.inference.asking import proposing
from tests.inference.test_way import STATE

GERMAN = "Ich möchte bitte sofort meine verlorene Karte sperren lassen"
SURE = 0.8
"""Least share of the sentences of each of the five large languages that must be recognised."""


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(demo())


def ask(text: str, **more: Any) -> Request:
    return Request("r-1", "web", text, **more)


@pytest.mark.parametrize("text", sentences()[0])
def test_names_short_texts_and_loan_words_are_no_other_language(reader: Reader, text: str) -> None:
    assert reader.read(text) in ("en", "zh")


@pytest.mark.parametrize("tag", ["de", "fr", "es", "it", "pt"])
def test_sentences_of_another_language_are_recognised(reader: Reader, tag: str) -> None:
    texts = sentences()[1][tag]
    assert len(texts) >= 20
    assert sum(reader.read(text) is None for text in texts) >= SURE * len(texts)


@pytest.mark.parametrize("tag", ["ja", "ko", "ru", "ar", "th"])
def test_a_script_of_its_own_decides_at_once(reader: Reader, tag: str) -> None:
    assert [reader.read(text) for text in sentences()[1][tag]] == [None] * 10


@pytest.mark.parametrize(
    "text",
    [
        "adrs chng nw hse",
        "pls chng adrs nw hse str",
        "thx fr ur hlp wth crd",
        "bkn svc pls hlp acct",
    ],
)
def test_abbreviations_are_no_other_language(text: str) -> None:
    assert Recogniser(demo()).recognise(ask(text)) == ""


def test_a_stated_language_is_not_questioned() -> None:
    recogniser = Recogniser(demo())
    assert recogniser.recognise(ask(GERMAN)) == "de"
    assert recogniser.recognise(ask(GERMAN, language="en")) == ""


def test_text_in_capitals_is_read_as_a_whole() -> None:
    assert Recogniser(demo()).recognise(ask(GERMAN.upper())) == "de"


@pytest.mark.parametrize("languages", [("xx",), ("xx", "en")])
def test_a_configured_language_that_it_does_not_know_turns_it_off(languages: Any) -> None:
    recogniser = Recogniser(small.institution(languages=languages))
    assert not recogniser.on
    assert recogniser.recognise(ask(GERMAN)) == ""
    assert recogniser.versions == {}


def test_language_ends_in_its_terminal_and_replays_without_the_library(
    appliance: Appliance, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen = proposing(appliance, "FREEZE_CARD")
    said = answer(frozen, ask(GERMAN, state=dict(STATE)))
    assert (said.terminal, said.rule_id) == ("HANDOFF", "G-LANGUAGE")
    assert said.reasons == ("LANGUAGE_NOT_CONFIGURED",)
    assert [tried.tier for tried in said.routed.tried] == [""]
    stored = appliance.book.ledger.get(str(said.routed.decision_id))
    assert stored is not None
    assert stored.current["findings"]["recognised"] == "de"
    assert stored.current["findings"]["language"] is None
    assert "recogniser" in stored.current["versions"]

    monkeypatch.setitem(sys.modules, "lingua", None)
    stands = appliance.configuration, appliance.versions
    replayed = list(replay_all(appliance.book, redecide(*stands), rejudge(*stands)))
    assert [one.status for one in replayed] == [Status.SAME]
    unread = replace(frozen, recogniser=Recogniser(appliance.configuration))
    again = route(unread, ask(GERMAN, state=dict(STATE)))
    assert again.replayed
    assert again.findings.recognised == "de"
