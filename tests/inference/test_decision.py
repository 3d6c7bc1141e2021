"""The decision over the evidence, and the words that go out."""

from __future__ import annotations

import pytest

from gate.evidence import Evidence, Statement
from gate.ledger.outcome import Outcome
from gate.load import load
from gate.records import Boundary, Entry, Option, Reserved, Terminal, Verdict
from gate.registry import build
from inference import messages
from inference.decision import BASIS, RELEVANT, Reply, choose
from inference.drafts import Citation, Draft, refused
from inference.naming import names_of
from retrieval.evidence import About
from tests.models import ROOT

SAID = (Statement("A wire costs $20.00.", ("E1",)),)
LISTED = (Evidence("E1", "A wire costs $20.00."),)
PACK = load(ROOT / "configs/demo").pack


@pytest.mark.parametrize(
    ("draft", "reply", "reason"),
    [
        (Draft(SAID, LISTED, score=RELEVANT), Reply.ANSWER, "EVIDENCE"),
        (Draft(SAID, LISTED, score=None), Reply.ANSWER, "EVIDENCE"),
        (Draft(SAID, LISTED, score=RELEVANT - 0.001), Reply.HAND_OFF, "NOT_RELEVANT"),
        (Draft((), LISTED, score=0.9), Reply.HAND_OFF, "NO_EVIDENCE"),
        (refused("NO_ROWS", "Nothing."), Reply.HAND_OFF, "NO_ROWS"),
    ],
)
def test_choice_is_a_fixed_heuristic_and_says_so(draft: Draft, reply: Reply, reason: str) -> None:
    choice = choose(draft)
    assert (choice.reply, choice.reason, choice.basis) == (reply, reason, BASIS)
    assert BASIS == "heuristic"


def test_cited_are_the_places_of_the_statements_once_each() -> None:
    places = {i: Citation(i, f"{i}.md", "t", "0") for i in ("E1", "E2", "E3")}
    said = (Statement("a", ("E3",)), Statement("b", ("E3", "E1")))
    draft = Draft(said, (), places)
    assert [place.evidence_id for place in draft.cited] == ["E3", "E1"]


def test_every_reserved_id_has_its_message() -> None:
    for reserved in Reserved:
        assert messages.bounded(PACK, Terminal.CLARIFY, reserved.value)


def test_rule_is_never_named_to_the_customer() -> None:
    text = messages.bounded(PACK, Terminal.REJECT, "R-230")
    assert text == PACK.templates["REJECT"]


def test_options_are_listed_where_the_template_has_room() -> None:
    names = ("Everyday Checking", "Savings {options}")
    text = messages.bounded(PACK, Terminal.CLARIFY, "G-OBJECT", names)
    assert text == "Which one do you mean? Everyday Checking; Savings {options}"
    alone = messages.bounded(PACK, Terminal.CLARIFY, "G-OBJECT")
    assert alone == PACK.templates["CLARIFY"], "a template that offers is no good without options"


def offered(*options: Option) -> tuple[str, ...]:
    """What a clarification with these options names."""
    demo = load(ROOT / "configs/demo")
    entries = {"A": Entry("A", "CARD", "Debit card"), "B": Entry("B", "CARD", "Visa card")}
    verdict = Verdict(Terminal.CLARIFY, Boundary.ALLOW, "G-OBJECT", (), None, "", options=options)
    return messages.option_names(demo.catalog, "en", verdict, entries.get)


def test_option_that_nobody_knows_is_left_out() -> None:
    freeze = [Option("FREEZE_CARD", i) for i in ("A", "C", "A", "B")]
    assert offered(*freeze) == ("Debit card", "Visa card")


def test_options_of_several_services_are_named_with_their_service() -> None:
    found = offered(Option("FREEZE_CARD", "A"), Option("CARD_STATUS", "A"))
    assert found == ("Freeze a card: Debit card", "Card status: Debit card")


def test_statements_carry_their_citations() -> None:
    said = (Statement("One.", ("E1",)), Statement("Two.", ("E1", "E2")))
    assert messages.answered(said) == "One. [E1]\nTwo. [E1][E2]"


@pytest.mark.parametrize("how", messages.EXECUTED)
def test_every_end_of_a_write_has_its_message(how: str) -> None:
    said = messages.executed(PACK, how, "Freeze a card: Debit", "HL-1")
    assert said
    assert "{" not in said


@pytest.mark.parametrize("how", Outcome)
def test_no_end_of_a_write_is_without_a_message(how: Outcome) -> None:
    assert how in messages.EXECUTED or how is Outcome.RE_ASKED


def test_order_is_told_by_service_object_and_slots() -> None:
    demo = load(ROOT / "configs/demo")
    action, card = demo.catalog.actions["FREEZE_CARD"], Entry("C", "CARD", "Debit")
    assert messages.order(action, None, (), "en") == "Freeze a card"
    assert messages.order(action, card, (), "en") == "Freeze a card: Debit"
    amount = ("1,250.50 USD",)
    told = messages.order(demo.catalog.actions["FUND_ORDER"], card, amount, "en")
    assert told == "Buy a fund: Debit, 1,250.50 USD"


GROWTH = Entry("F1", "FUND", "Harbor Growth Fund", ("HLGRX",))
SECOND = Entry("F2", "FUND", "Harbor Growth Fund II", ("HLGTX",))
LOAN = Entry("L1", "LOAN", "Growth Loan", ())


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Harbor Growth Fund (HLGRX)", About.THIS),
        ("HARBOR  GROWTH FUND", About.THIS),
        ("Harbor Growth Fund II", About.OTHER),
        ("Harbor Growth Fund and Harbor Growth Fund II", About.THIS),
        ("hlgtx costs more", About.OTHER),
        ("Growth Loan", About.NONE),
        ("funds in general", About.NONE),
        ("", About.NONE),
    ],
)
def test_text_is_about_the_longest_name_in_it(text: str, about: About) -> None:
    assert names_of(build([GROWTH, SECOND, LOAN]), GROWTH)(text) is about
