"""The way through on the demo's real artefacts: what is asked, what is recorded, what is said."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import yaml

from gate.errors import LedgerError
from gate.evidence import Evidence, Statement
from gate.ledger.decision import redecide, rejudge
from gate.ledger.record import Kind
from gate.ledger.replay import Status, replay_all
from gate.load.requests import request_of
from gate.records import Abstain, OutOfScope, Proposal, Request, Terminal, TierAnswer
from inference import pathways
from inference.appliance import Appliance
from inference.connectors.protocol import Order, Outcome, done
from inference.connectors.record import RecordOnly
from inference.drafts import Draft, refused
from inference.way import answer, route
from retrieval.disagree import Disagreement
from retrieval.evidence import Names, Passage
from tests.inference.asking import proposing, saying
from tests.inference.branch import ended, through
from tests.inference.conftest import NOW
from tests.models import ROOT

AS_OF = "2026-12-01T08:59:30Z"
STATE: Mapping[str, Any] = {
    "safety_escalation_required": False,
    "request_supported": True,
    "service_available": True,
    "request_scope_clear": True,
    "price_feed_updated_at": "2026-11-30T22:00:00Z",
    "identity_verified": {"value": True, "as_of": AS_OF},
    "session_started_at": "2026-12-01T08:50:00Z",
    "risk_tier": "low",
    "card_control_permitted": True,
    "card_already_frozen": {"value": False, "as_of": AS_OF},
}
SESSIONS = yaml.safe_load((ROOT / "configs/demo/sessions.yaml").read_text())["sessions"]


@dataclass(frozen=True)
class Unwritable:
    """A ledger on a disk that is full."""

    ledger: Any
    kinds: tuple[Kind, ...]

    def append(self, record: Mapping[str, Any], **more: Any) -> Any:
        if Kind(record["kind"]) in self.kinds:
            raise LedgerError("the disk is full; free some space")
        return self.ledger.append(record, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ledger, name)


def ask(appliance: Appliance, text: str, session: str | None = "dana", **fields: Any) -> Request:
    given = {
        "request_id": "1",
        "channel": "web",
        "utterance": text,
        "state": dict(STATE),
        "session": SESSIONS.get(session),
        **fields,
    }
    return request_of(given, appliance.configuration, "test")


def records(appliance: Appliance) -> list[dict[str, Any]]:
    return [stored.record for stored in appliance.book.ledger.iterate()]


@dataclass(frozen=True)
class Watching(RecordOnly):
    """A connector that tells what it is asked to do, and says that it is done."""

    watch: Callable[[Order], object] = print

    def execute(self, order: Order, key: str, deadline_s: float) -> Outcome:
        self.watch(order)
        return done("W-1")


def watched(appliance: Appliance, watch: Callable[[Order], object]) -> Appliance:
    connector = Watching(actions=frozenset({"FREEZE_CARD"}), watch=watch)
    return through(appliance, "FREEZE_CARD", connector)


@pytest.fixture
def freezing(appliance: Appliance) -> Appliance:
    """A model that proposes FREEZE_CARD, a channel that is the only source, and no service."""
    alone = proposing(replace(appliance, source=None), "FREEZE_CARD")
    return through(alone, "FREEZE_CARD", RecordOnly(actions=frozenset({"FREEZE_CARD"})))


FREEZE = "please freeze my debit card"


def confirms(appliance: Appliance, text: str = FREEZE) -> Request:
    """The yes to what a text is answered with."""
    token = route(appliance, ask(appliance, text, request_id="0")).token
    assert token is not None
    return ask(appliance, "yes", confirm={"token": token})


def test_document_question_is_quoted_with_its_place(appliance: Appliance) -> None:
    said = answer(
        proposing(appliance, "FEE_INFO"), ask(appliance, "how much is an outgoing domestic wire?")
    )
    assert (said.terminal, said.status, said.basis) == (Terminal.DISPATCH, "ANSWERED", "heuristic")
    assert "Outgoing domestic wire | $20.00" in said.message
    place = said.citations[0]
    assert place.source == "documents/fees/fee-schedule.md"
    assert place.headings == ("Fee schedule", "Payments")
    assert place.paragraph == 13
    assert len(place.digest) == 64


def test_every_sentence_said_is_word_for_word_in_its_source(appliance: Appliance) -> None:
    said = answer(
        proposing(appliance, "DISPUTE_HELP"), ask(appliance, "how do I dispute a charge?")
    )
    texts = {item.evidence_id: item.text for item in said.evidence}
    for line in said.message.splitlines():
        text, _, rest = line.rpartition(" [")
        assert text in texts[rest.rstrip("]")]


def test_fund_question_is_answered_for_that_fund_alone(appliance: Appliance) -> None:
    facts = proposing(appliance, "FUND_FACTS")
    said = answer(facts, ask(appliance, "what is the expense ratio of Harbor Growth Fund II?"))
    assert said.routed.verdict.object_id == "FUND:HLGTX"
    assert "0.79 percent" in said.message
    assert said.citations[0].headings[-1] == "Harbor Growth Fund II (HLGTX)"


def test_records_question_is_answered_from_the_members_own_row(appliance: Appliance) -> None:
    balance = proposing(appliance, "ACCOUNT_BALANCE")
    said = answer(balance, ask(appliance, "what is my balance?", "marcus"))
    assert said.status == "ANSWERED"
    assert said.message.startswith("Everyday Checking ending 2208: balance 16,907.75 USD")
    assert said.citations[0].source == "account_balance"
    assert str(said.citations[0].as_of) == "2026-11-30"


def test_somebody_elses_account_finds_no_row_whatever_the_session_lists(
    appliance: Appliance,
) -> None:
    request = ask(appliance, "balance of my account", "marcus")
    assert request.session is not None
    foreign = replace(request.session.objects[0], object_id="ACC-1001-1")
    request = replace(request, session=replace(request.session, objects=(foreign,)))
    said = answer(proposing(appliance, "ACCOUNT_BALANCE"), request)
    assert (said.rule_id, said.reasons) == ("G-EVIDENCE", ("NO_ROWS",))
    assert said.message == "There is nothing to show for this account."


def test_members_document_is_not_there_for_others(appliance: Appliance) -> None:
    help_ = proposing(appliance, "CARD_HELP")
    member = answer(help_, ask(appliance, "what is the daily limit at an ATM?"))
    other = answer(help_, ask(appliance, "what is the daily limit at an ATM?", None))
    assert "documents/cards/card-limits.md" in {c.source for c in member.citations}
    assert "documents/cards/card-limits.md" not in {e.source for e in other.evidence}


def test_irrelevant_question_is_handed_off_without_an_answer(appliance: Appliance) -> None:
    said = answer(proposing(appliance, "FEE_INFO"), ask(appliance, "how do I bake bread?"))
    assert (said.terminal, said.rule_id) == (Terminal.HANDOFF, "G-EVIDENCE")
    assert said.reasons == ("NOT_RELEVANT",)
    assert said.citations == ()


@pytest.mark.parametrize(("least", "answered"), [("0.5", True), ("9", False)])
def test_nothing_is_answered_below_the_declared_score(
    appliance: Appliance, least: str, answered: bool
) -> None:
    assert appliance.documents is not None
    documents = replace(appliance.documents, least=Decimal(least))
    bounded = replace(proposing(appliance, "FEE_INFO"), documents=documents)
    said = answer(bounded, ask(appliance, "what does an outgoing wire cost?"))
    assert (said.status == "ANSWERED") is answered
    assert ("NOT_RELEVANT" in said.reasons) is not answered


def test_documents_that_disagree_are_handed_off_citing_both(
    appliance: Appliance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def first_two(passages: Sequence[Passage], _names: Names) -> Disagreement:
        return Disagreement("NUMBER", passages[0], passages[1], ("It is 5.", "It is 6."))

    monkeypatch.setattr(pathways, "disagreement", first_two)
    asked = ask(appliance, "what does an outgoing wire cost?")
    said = answer(proposing(appliance, "FEE_INFO"), asked)
    assert (said.terminal, said.rule_id) == (Terminal.HANDOFF, "G-EVIDENCE")
    assert said.reasons == ("DISAGREE_NUMBER",)
    assert len(said.citations) == len(said.evidence) == 2


def test_write_is_read_back_first(freezing: Appliance) -> None:
    said = answer(freezing, ask(freezing, FREEZE))
    assert ended(said) == "CLARIFY G-CONFIRM CONFIRMATION_NEEDED"
    assert said.message.startswith("Freeze Debit card ending 5316 now?")
    assert [record["kind"] for record in records(freezing)] == ["DECISION"]


def test_confirmed_write_is_recorded_where_no_service_is_reached(freezing: Appliance) -> None:
    said = answer(freezing, confirms(freezing))
    assert ended(said) == "DISPATCH R-999 RECORDED_ONLY"
    assert said.message.endswith("carried out: Freeze a card: Debit card ending 5316.")


def test_order_names_what_was_confirmed_and_by_which_decision(freezing: Appliance) -> None:
    sent: list[Order] = []
    said = answer(watched(freezing, sent.append), confirms(freezing))
    assert ended(said) == "DISPATCH R-999 COMPLETED"
    assert "W-1" in said.message
    order = sent[0]
    assert order.decision_id == said.routed.decision_id
    assert (order.action_id, order.object_id, order.slots) == ("FREEZE_CARD", "CARD-1001-1", {})
    assert (order.subject, order.valid_until) == ("C-1001", NOW + timedelta(seconds=30))
    assert (
        order.text == "Freeze Debit card ending 5316 now? It cannot be used until it is unfrozen."
    )


def test_ambiguous_object_offers_the_members_own(freezing: Appliance) -> None:
    said = answer(freezing, ask(freezing, "freeze my card"))
    assert (said.terminal, said.rule_id) == (Terminal.CLARIFY, "G-OBJECT")
    assert said.message == (
        "Which one do you mean? Debit card ending 5316; Visa credit card ending 9024"
    )


def test_rule_that_says_no_ends_before_any_pathway(freezing: Appliance) -> None:
    state = {**STATE, "card_control_permitted": False}
    said = answer(freezing, ask(freezing, "please freeze my debit card", state=state))
    assert (said.terminal, said.rule_id, said.status) == (Terminal.REJECT, "R-210", "BOUNDED")
    assert "R-210" not in said.message
    assert [record["kind"] for record in records(freezing)] == ["DECISION"]


@pytest.mark.parametrize(
    ("told", "rule_id"),
    [
        (OutOfScope("saying", Decimal("0.9")), "G-SCOPE"),
        (Abstain("low_confidence", "saying"), "G-ABSTAIN"),
        (Proposal("NO_SUCH", None, ("NO_SUCH",), Decimal("0.99"), "saying"), "G-CONTRACT"),
    ],
)
def test_no_usable_proposal_ends_in_its_own_terminal(
    appliance: Appliance, told: TierAnswer, rule_id: str
) -> None:
    said = answer(saying(appliance, told), ask(appliance, "hm"))
    assert said.rule_id == rule_id
    assert said.message


def test_language_that_is_not_configured_is_not_shown_to_any_tier(appliance: Appliance) -> None:
    routed = route(appliance, ask(appliance, "Каков мой баланс?"))
    assert routed.verdict.rule_id == "G-LANGUAGE"
    assert [tried.tier for tried in routed.tried] == [""]


def test_decision_is_durable_before_the_order_is_sent(freezing: Appliance) -> None:
    seen: list[list[str]] = []

    def watch(order: Order) -> None:
        path = freezing.book.ledger.path
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            seen.append([row[0] for row in connection.execute("SELECT kind FROM ledger")])

    answer(watched(freezing, watch), confirms(freezing))
    assert seen == [["DECISION", "DECISION", "CONSUMED"]]
    kinds = [record["kind"] for record in records(freezing)]
    assert kinds == ["DECISION", "DECISION", "CONSUMED", "OUTCOME"]


def test_outcome_names_what_was_cited_and_holds_no_text(appliance: Appliance) -> None:
    text = "how much is an outgoing domestic wire?"
    said = answer(proposing(appliance, "FEE_INFO"), ask(appliance, text))
    outcome = records(appliance)[-1]
    assert outcome["status"] == "ANSWERED"
    assert outcome["decision_id"] == said.routed.decision_id
    assert outcome["detail"] == {
        "rule_id": "R-999",
        "basis": "heuristic",
        "reasons": ["EVIDENCE"],
        "cited": [
            {"id": c.evidence_id, "source": c.source, "digest": c.digest} for c in said.citations
        ],
    }


def test_decision_names_the_digest_of_everything(appliance: Appliance) -> None:
    route(appliance, ask(appliance, "hm"))
    versions = records(appliance)[0]["versions"]
    wanted = {
        "appliance.yaml", "catalog.yaml", "documents.yaml", "phrases.yaml", "queries.yaml",
        "registry.csv", "rules.yaml", "state.yaml", "code", "database", "encoder", "index",
        "model:fast", "model:proposer", "prompt:proposer",
    }  # fmt: skip
    assert wanted <= set(versions)
    assert all(len(digest) == 64 for digest in versions.values())


def full_disk(appliance: Appliance, *kinds: Kind) -> Appliance:
    ledger: Any = Unwritable(appliance.book.ledger, kinds)
    return replace(appliance, book=dataclasses.replace(appliance.book, ledger=ledger))


def test_nothing_is_sent_where_the_decision_cannot_be_written(freezing: Appliance) -> None:
    sent: list[Order] = []
    request = confirms(freezing)
    broken = watched(full_disk(freezing, Kind.DECISION), sent.append)
    said = answer(broken, request)
    assert ended(said) == "DEFER G-STORE LEDGER_NOT_WRITTEN"
    assert said.routed.decision_id is None
    assert "disk is full" in str(said.routed.problem)
    assert sent == []
    assert ended(answer(freezing, request)) == "DISPATCH R-999 RECORDED_ONLY", "the token lives"


def test_nothing_is_said_of_a_write_whose_outcome_cannot_be_written(freezing: Appliance) -> None:
    request = confirms(freezing)
    said = answer(full_disk(freezing, Kind.OUTCOME), request)
    assert ended(said) == "DEFER G-STORE OUTCOME_NOT_WRITTEN"
    assert "5316" not in said.message
    assert ended(answer(freezing, request)) == "DISPATCH R-999 IN_DOUBT"


def test_write_whose_question_cannot_be_written_is_not_asked_for(freezing: Appliance) -> None:
    said = answer(full_disk(freezing, Kind.DECISION), ask(freezing, FREEZE))
    assert ended(said) == "DEFER G-STORE LEDGER_NOT_WRITTEN"
    assert said.routed.token is None


def test_answer_is_withheld_where_the_outcome_cannot_be_written(appliance: Appliance) -> None:
    broken = full_disk(proposing(appliance, "FEE_INFO"), Kind.OUTCOME)
    said = answer(broken, ask(appliance, "how much is an outgoing domestic wire?"))
    assert (said.rule_id, said.status) == ("G-STORE", "BOUNDED")
    assert "$20.00" not in said.message
    assert said.citations == ()


def drafting(monkeypatch: pytest.MonkeyPatch, text: str, cites: tuple[str, ...]) -> None:
    evidence = (Evidence("E1", "An outgoing domestic wire costs $20.00."),)
    draft = Draft((Statement(text, cites),), evidence, score=0.9)
    monkeypatch.setattr(pathways, "from_documents", lambda *_: draft)


@pytest.mark.parametrize(
    ("text", "cites"),
    [
        ("An outgoing domestic wire costs $21.00.", ("E1",)),
        ("An outgoing domestic wire does not cost $20.00.", ("E1",)),
        ("An outgoing domestic wire costs $20.00.", ("E2",)),
        ("An outgoing domestic wire costs $20.00.", ()),
        ("Call your lawyer at once about this matter.", ("E1",)),
    ],
)
def test_statement_that_its_evidence_does_not_carry_is_not_said(
    appliance: Appliance, monkeypatch: pytest.MonkeyPatch, text: str, cites: tuple[str, ...]
) -> None:
    drafting(monkeypatch, text, cites)
    said = answer(proposing(appliance, "FEE_INFO"), ask(appliance, "wire fee?"))
    assert (said.terminal, said.rule_id, said.status) == (Terminal.HANDOFF, "G-EVIDENCE", "BOUNDED")
    assert said.reasons != ()
    assert text not in said.message


def test_supported_statement_is_said(appliance: Appliance, monkeypatch: pytest.MonkeyPatch) -> None:
    drafting(monkeypatch, "An outgoing domestic wire costs $20.00.", ("E1",))
    said = answer(proposing(appliance, "FEE_INFO"), ask(appliance, "wire fee?"))
    assert said.status == "ANSWERED"


def without(appliance: Appliance, part: str) -> Appliance:
    nothing: dict[str, Any] = {part: None}
    return replace(appliance, **nothing)


@pytest.mark.parametrize(
    ("part", "action_id", "text"),
    [
        ("documents", "FEE_INFO", "what does a wire cost?"),
        ("database", "ACCOUNT_BALANCE", "balance of my savings?"),
    ],
)
def test_pathway_without_its_part_never_becomes_another(
    appliance: Appliance, part: str, action_id: str, text: str
) -> None:
    said = answer(without(proposing(appliance, action_id), part), ask(appliance, text))
    assert (said.terminal, said.rule_id) == (Terminal.HANDOFF, "G-EVIDENCE")


@pytest.mark.parametrize("error", [RuntimeError("index gone"), MemoryError(), KeyError("row")])
def test_failing_pathway_still_ends_and_tells_only_the_operator(
    appliance: Appliance, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> Draft:
        raise error

    monkeypatch.setattr(pathways, "from_documents", fail)
    said = answer(proposing(appliance, "FEE_INFO"), ask(appliance, "wire fee?"))
    assert (said.terminal, said.rule_id) == (Terminal.HANDOFF, "G-EVIDENCE")
    assert said.reasons == ("PATHWAY_FAILED",)
    assert type(error).__name__ in str(said.routed.problem)
    assert type(error).__name__ not in said.message
    assert [record["kind"] for record in records(appliance)] == ["DECISION", "OUTCOME"]


def test_query_past_its_deadline_has_its_own_terminal(
    appliance: Appliance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pathways, "from_records", lambda *_: refused("DEADLINE"))
    said = answer(proposing(appliance, "ACCOUNT_BALANCE"), ask(appliance, "balance of my savings?"))
    assert (said.terminal, said.rule_id) == (Terminal.DEFER, "G-DEADLINE")


def test_same_confirmation_again_starts_nothing(freezing: Appliance) -> None:
    request = confirms(freezing)
    first, second = answer(freezing, request), answer(freezing, request)
    assert (second.status, second.message) == (first.status, first.message)
    assert second.routed.replayed
    assert second.routed.decision_id == first.routed.decision_id
    assert len(records(freezing)) == 4


def test_same_bounded_request_again_gives_its_message(freezing: Appliance) -> None:
    request = ask(freezing, "is it frozen?")
    first, second = answer(freezing, request), answer(freezing, request)
    assert (second.terminal, second.rule_id) == (first.terminal, first.rule_id)
    assert second.routed.replayed


def test_request_id_of_another_request_is_refused(freezing: Appliance) -> None:
    answer(freezing, ask(freezing, FREEZE))
    said = answer(freezing, ask(freezing, "please freeze my visa card"))
    assert (said.terminal, said.rule_id) == (Terminal.REJECT, "G-REQUEST")
    assert said.routed.decision_id is None
    assert len(records(freezing)) == 1


def test_every_decision_replays_to_the_same_bytes(appliance: Appliance) -> None:
    texts = ["please freeze my debit card", "freeze my card", "what is my balance", "我的", ""]
    for number, text in enumerate(texts):
        freezing = proposing(appliance, "FREEZE_CARD")
        answer(freezing, ask(freezing, text, request_id=str(number)))
    configuration, versions = appliance.configuration, appliance.versions
    reports = replay_all(
        appliance.book, redecide(configuration, versions), rejudge(configuration, versions)
    )
    assert [report.status for report in reports] == [Status.SAME] * len(texts)


def test_whole_cascade_runs_on_the_demos_models(appliance: Appliance) -> None:
    said = answer(appliance, ask(appliance, "Please tell me what balance my savings account has"))
    assert [tried.tier for tried in said.routed.tried][:2] == ["phrases", "fast"]
    assert said.routed.verdict.action_id == "ACCOUNT_BALANCE"
    assert all(tried.problem is None for tried in said.routed.tried)
