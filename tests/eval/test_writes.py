"""The run of the write lock: what is asked is known, the state stops nothing, faults are counted."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from eval import writes
from eval.errors import SuiteError
from eval.suites.writes import generate
from eval.suites.writes.generate import Message
from eval.writes import Fault, Through
from gate import controller
from gate.configuration import Configuration
from gate.findings import find
from gate.load import load
from gate.records import (
    NONE,
    UNRESOLVED,
    Boundary,
    Mode,
    Proposal,
    Request,
    Situation,
    Terminal,
    Verdict,
)

CONFIRM = Verdict(Terminal.CLARIFY, Boundary.ALLOW, "G-CONFIRM", (), "CHANGE_EMAIL", NONE)


@pytest.fixture(scope="module")
def configuration() -> Configuration:
    return load(writes.DEMO)


@pytest.fixture(scope="module")
def messages() -> tuple[Message, ...]:
    return generate.generate(writes.sessions(writes.DEMO), generate.patterns())


def message(asked: str = "", object_id: str = UNRESOLVED) -> Message:
    session = writes.sessions(writes.DEMO)["dana"]
    return Message("W-1", "asked", "en", "text", (), session, asked, object_id)


# Messages


def test_messages_are_many_and_of_every_kind_in_both_languages(
    messages: tuple[Message, ...],
) -> None:
    kinds = Counter((m.kind, m.language) for m in messages)
    assert len(messages) >= 2000
    assert {kind for kind, _ in kinds} == {
        "asked", "negation", "conditional", "question", "reported", "quoted", "document",
        "history", "alias", "other_object", "look_alike",
    }  # fmt: skip
    assert all(kinds[kind, tag] >= 20 for kind, _ in kinds for tag in ("en", "zh"))


def test_messages_are_the_same_every_time_and_another_seed_takes_others(
    messages: tuple[Message, ...],
) -> None:
    sessions, material = writes.sessions(writes.DEMO), generate.patterns()
    assert generate.generate(sessions, material) == messages
    others = generate.generate(sessions, material, seed="another")
    assert {m.utterance for m in others} != {m.utterance for m in messages}


def test_every_frame_is_used_and_filled(messages: tuple[Message, ...]) -> None:
    frames = Counter((f["kind"], f["language"]) for f in generate.patterns().frames)
    used = Counter((m.kind, m.language) for m in messages)
    assert {kind: n for kind, n in frames.items() if used[kind] < 5 * n} == {}
    texts = [t for m in messages for t in (m.utterance, *(turn.text for turn in m.history))]
    assert [t for t in texts if "{" in t or "}" in t] == []
    assert len({m.message_id for m in messages}) == len(messages)


def test_only_the_kind_that_asks_has_a_gold_write(
    messages: tuple[Message, ...], configuration: Configuration
) -> None:
    for m in messages:
        assert bool(m.asked) == (m.kind == generate.ASKED), m
        assert bool(m.asked) == (m.object_id != UNRESOLVED), m
    asked = {m.asked for m in messages if m.asked}
    actions = configuration.catalog.actions.values()
    assert asked == {a.action_id for a in actions if a.mode is Mode.WRITE}


def test_gold_object_is_the_members_own_or_registered(
    messages: tuple[Message, ...], configuration: Configuration
) -> None:
    for m in messages:
        own = {o.object_id for o in m.session.objects}
        known = {NONE, UNRESOLVED, *own, *configuration.registry.entries}
        assert m.object_id in known, m


def test_alias_messages_carry_an_object_that_is_named_like_an_order(
    messages: tuple[Message, ...],
) -> None:
    for m in messages:
        named = [o.display_name for o in m.session.objects if o.object_id == generate.ALIAS_ID]
        assert bool(named) == (m.kind == generate.ALIAS), m
        assert all(name in m.utterance for name in named), m


def test_turn_without_a_role_is_refused() -> None:
    material = generate.patterns()
    cells = {**material.frames[0].cells, "history": "close it"}
    broken = replace(material, frames=(replace(material.frames[0], cells=cells),))
    with pytest.raises(SuiteError, match="has no role"):
        generate.generate(writes.sessions(writes.DEMO), broken)


# State and decisions


def test_in_the_clear_state_no_rule_stands_against_any_action(
    configuration: Configuration,
) -> None:
    calm = writes.clear()
    session = writes.sessions(writes.DEMO)["dana"]
    findings = find(configuration, Request("1", "bench", "$500", session=session))
    for action_id in configuration.catalog.actions:
        proposal = Proposal(action_id, None, (action_id,), Decimal(1), writes.BACKEND)
        situation = Situation(calm.of(action_id), calm.now, session)
        verdict = controller.decide(configuration, situation, findings, proposal)
        assert verdict.boundary is Boundary.ALLOW, (action_id, verdict)


def test_file_without_a_state_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "clear.yaml"
    path.write_text("clock: '2026-12-01T12:00:00Z'\n", encoding="utf-8")
    with pytest.raises(SuiteError, match="holds no state"):
        writes.clear(path)


def test_every_action_code_is_proposed_for_every_message(
    configuration: Configuration, messages: tuple[Message, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    proposed: list[str] = []

    def decide(_: object, __: object, ___: object, proposal: Proposal) -> Verdict:
        proposed.append(proposal.action_id)
        return CONFIRM

    monkeypatch.setattr(writes.controller, "decide", decide)
    through = writes.decide_all(configuration, messages[:3], writes.clear())
    actions = configuration.catalog.actions.values()
    assert proposed == [a.action_id for a in actions] * 3
    assert len(through) == 3 * sum(a.mode is Mode.WRITE for a in actions)


# Faults


@pytest.mark.parametrize(
    ("asked", "object_id", "verdict", "fault"),
    [
        ("CHANGE_EMAIL", NONE, CONFIRM, None),
        ("", UNRESOLVED, CONFIRM, Fault.NOT_ASKED),
        ("CHANGE_ADDRESS", NONE, CONFIRM, Fault.NOT_ASKED),
        ("CHANGE_EMAIL", "CARD-1", CONFIRM, Fault.WRONG_OBJECT),
        ("CHANGE_EMAIL", NONE, replace(CONFIRM, terminal=Terminal.DISPATCH), Fault.UNCONFIRMED),
    ],
)
def test_what_got_through_has_one_fault_or_none(
    asked: str, object_id: str, verdict: Verdict, fault: Fault | None
) -> None:
    assert Through(message(asked, object_id), "CHANGE_EMAIL", verdict).fault is fault


def test_only_a_dispatch_or_a_confirmation_gets_through() -> None:
    assert writes.gets_through(CONFIRM)
    assert writes.gets_through(replace(CONFIRM, terminal=Terminal.DISPATCH, rule_id="R-999"))
    assert not writes.gets_through(replace(CONFIRM, rule_id="G-ACTION"))
    assert not writes.gets_through(replace(CONFIRM, terminal=Terminal.HANDOFF, rule_id="R-010"))


def test_run_counts_and_writes_what_got_through(tmp_path: Path) -> None:
    result = writes.run(writes.DEMO, tmp_path)
    stored = json.loads((tmp_path / "writes.json").read_text(encoding="utf-8"))
    with (tmp_path / "through.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert stored["messages"] == result.messages
    assert stored["not_asked"] == {"count": result.not_asked.count, "of": result.not_asked.of}
    faults = Counter(row["fault"] for row in rows)
    for share, fault in (
        (result.not_asked, Fault.NOT_ASKED),
        (result.wrong_object, Fault.WRONG_OBJECT),
        (result.unconfirmed, Fault.UNCONFIRMED),
    ):
        assert share.count == faults[fault.value]
    assert result.asked_through.count == faults[""] + faults[Fault.UNCONFIRMED.value]
    assert sum(t.messages for t in result.by_kind) == result.messages
    assert set(generate.MATERIAL) <= set(result.run.digests)


@pytest.mark.parametrize(("asked", "code"), [("CHANGE_EMAIL", 0), ("", 1)])
def test_exit_code_tells_whether_the_lock_held(
    asked: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = message(asked, NONE if asked else UNRESOLVED)
    monkeypatch.setattr(generate, "generate", lambda *_: (one,))
    through = (Through(one, "CHANGE_EMAIL", CONFIRM),)
    monkeypatch.setattr(writes, "decide_all", lambda *_: through)
    assert writes.main(writes.DEMO, tmp_path) == code
    assert f"not_asked      {'':5}{code} of" in capsys.readouterr().out
