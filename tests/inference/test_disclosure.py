"""Disclosure: a customer reads what the institution says, and cannot tell "not permitted" from "none"."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from gate.errors import RequestError
from gate.load.requests import request_of
from gate.records import Boundary, OutOfScope, Request, Reserved, TierAnswer
from inference import disclosure
from inference.appliance import Appliance
from inference.disclosure import Role, disclosed
from inference.way import answer
from scripts import cli
from scripts.commands.serve import answered_line
from tests.gate.demo import CALM, demo, demo_state
from tests.inference.asking import proposing, saying
from tests.models import ROOT
from tests.promises.test_p08 import DEMO_CASES

SESSIONS = yaml.safe_load((ROOT / "configs/demo/sessions.yaml").read_text(encoding="utf-8"))[
    "sessions"
]
WRITES = {
    "FREEZE_CARD": "Freeze my debit card.",
    "CHANGE_EMAIL": "Change my email to a@example.org.",
    "CHANGE_ADDRESS": "Change my address to 1 Main Street.",
    "FUND_ORDER": "Buy the Harbor Value Fund for 300 dollars.",
    "CLOSE_ACCOUNT": "Close my checking account.",
}
FOR_USER = {"terminal", "decision_id", "message", "citations", "options", "confirm", "dialogue_id"}
SECRET = [r.rule_id for r in demo().rules.rules] + [r.value for r in Reserved] + list(CALM)
NOT_THERE: TierAnswer = OutOfScope("saying")


def asked(appliance: Appliance, text: str, **fields: Any) -> Request:
    given = {
        "request_id": "1",
        "channel": "web",
        "utterance": text,
        "state": demo_state("FEE_INFO", {}),
        "session": SESSIONS["dana"],
        **fields,
    }
    return request_of(given, appliance.configuration, "test")


def line_of(appliance: Appliance, request: Request) -> dict[str, Any]:
    return {**answered_line(answer(appliance, request)), "offered": []}


def ended_by(appliance: Appliance, rule_id: str) -> dict[str, Any]:
    """The line of a request that this rule of the demo decides."""
    action, change, _ = DEMO_CASES[rule_id]
    text = WRITES.get(action, "What does it cost?")
    if "alert" in change:  # the gate's own finding, which no channel may send
        text = f"I am being blackmailed. {text}"
        change = {name: value for name, value in change.items() if name != "alert"}
    member = {**SESSIONS["dana"], "subject": rule_id}  # each counts its own clarifications
    state = demo_state(action, change)
    request = asked(appliance, text, request_id=rule_id, state=state, session=member)
    line = line_of(proposing(appliance, action), request)
    assert line["rule_id"] == rule_id
    return line


OPAQUE = {"decision_id", "dialogue_id", "confirm"}


def look(line: Mapping[str, Any]) -> dict[str, Any]:
    """What a customer could compare: all but the template's text; of opaque handles, whether they are."""
    shown = disclosed(line, "user")
    del shown["message"]
    return {k: v is not None if k in OPAQUE else v for k, v in shown.items()}


def test_no_rule_of_the_demo_can_be_told_from_what_does_not_exist(appliance: Appliance) -> None:
    nothing = line_of(saying(appliance, NOT_THERE), asked(appliance, "Sing me a song.", state=CALM))
    assert nothing["rule_id"] == "G-SCOPE"
    templates = set(appliance.configuration.pack.templates.values())
    rejected = 0
    for rule in demo().rules.rules:
        if rule.then is Boundary.ALLOW:
            continue
        line = ended_by(appliance, rule.rule_id)
        told = disclosed(line, "user")
        assert set(told) <= FOR_USER
        assert told["message"] in templates
        if rule.then is Boundary.REJECT:
            rejected += 1
            assert look(line) == look(nothing)
            assert len(told["decision_id"]) == len(nothing["decision_id"])
    assert rejected >= 5


def test_of_equal_terminals_nothing_tells_the_rule(appliance: Appliance) -> None:
    """A customer sees the same for every rule that ends in the same terminal."""
    looks: dict[str, set[str]] = {}
    for rule in demo().rules.rules:
        if rule.then is not Boundary.ALLOW:
            seen = look(ended_by(appliance, rule.rule_id))
            looks.setdefault(rule.then.value, set()).add(json.dumps(seen, sort_keys=True))
    assert {len(seen) for seen in looks.values()} == {1}


def test_permitted_and_not_permitted_objects_of_others_look_alike(appliance: Appliance) -> None:
    """A number of somebody else and one that nobody has get the same words."""
    tier = proposing(appliance, "ACCOUNT_BALANCE")
    state = demo_state("ACCOUNT_BALANCE", {})
    texts = ("What is the balance of account 2208?", "What is the balance of account 9999?")
    lines = [
        line_of(tier, asked(appliance, text, request_id=str(n), state=state))
        for n, text in enumerate(texts)
    ]
    first, second = (disclosed(line, "user") for line in lines)
    assert first["message"] == second["message"]
    assert look(lines[0]) == look(lines[1])
    assert first["terminal"] == "CLARIFY"


def test_answer_keeps_its_citation_and_no_file(appliance: Appliance) -> None:
    said = line_of(
        proposing(appliance, "FEE_INFO"), asked(appliance, "how much is an outgoing domestic wire?")
    )
    told = disclosed(said, "user")
    (cited,) = told["citations"][:1]
    assert f"[{cited['id']}]" in told["message"]
    assert cited["headings"] == ["Fee schedule", "Payments"]
    assert cited["title"]
    assert not {"source", "sha256"} & set(cited)
    assert said["citations"][0]["source"] not in json.dumps(told)


def test_record_is_cited_without_the_name_of_its_query() -> None:
    cited = {"id": "E1", "source": "fund_price", "title": "fund_price", "as_of": "2026-12-01"}
    told = disclosed({"terminal": "DISPATCH", "citations": [cited]}, "user")
    assert told["citations"] == [{"id": "E1", "as_of": "2026-12-01"}]


def test_end_counts_not_the_decision() -> None:
    line = {"terminal": "DISPATCH", "ended": {"terminal": "HANDOFF", "rule_id": "G-EVIDENCE"}}
    assert disclosed(line, "user") == {"terminal": "HANDOFF"}


@given(
    st.dictionaries(
        st.one_of(
            st.sampled_from(["rule_id", "options", "tier", "latency_ms", "action_id", "object_id"]),
            st.text(max_size=12),
        ),
        st.text(max_size=5),
    )
)
def test_unknown_keys_are_dropped_for_a_user(more: dict[str, str]) -> None:
    kept = {key: value for key, value in more.items() if key in disclosure.AS_IT_IS}
    line = {**more, "ended": {"terminal": "DEFER"}, "citations": [], "offered": ["A"]}
    expected = {"terminal": "DEFER", "options": ["A"], "citations": []}
    assert disclosed(line, "user") == {**kept, **expected}


@pytest.mark.parametrize("role", [r for r in Role if r is not Role.USER])
def test_others_get_the_whole_line(role: str) -> None:
    line = {"terminal": "REJECT", "rule_id": "R-210", "something": {"new": 1}}
    assert disclosed(line, role) == line


@pytest.mark.parametrize("role", ["", "USER", "admin", "users", "\x1b[31m"])
def test_unknown_role_is_refused(role: str) -> None:
    with pytest.raises(RequestError, match="is no role"):
        disclosed({"terminal": "REJECT", "rule_id": "R-210"}, role)


@pytest.mark.parametrize("command", ["route", "answer"])
def test_command_tells_a_user_no_reasons(command: str, tmp_path: Path) -> None:
    request = {
        "channel": "web",
        "utterance": "What is the balance of my account?",
        "state": demo_state("ACCOUNT_BALANCE", {}),
        "session": SESSIONS["dana"],
    }
    source = tmp_path / "in.jsonl"
    lines = [json.dumps({**request, "request_id": str(n)}) for n in range(2)]
    source.write_text("\n".join([*lines, "{", ""]), encoding="utf-8")
    told: dict[str, list[dict[str, Any]]] = {}
    for role in ("user", "channel"):
        out = tmp_path / f"{role}.jsonl"
        folder = tmp_path / role
        folder.mkdir()
        given = [command, "--config", "configs/demo", "--in", str(source), "--out", str(out)]
        done = CliRunner().invoke(cli.app, [*given, "--ledger-dir", str(folder), "--role", role])
        assert done.exit_code == 2, done.output
        told[role] = [json.loads(text) for text in out.read_text(encoding="utf-8").splitlines()]
    for line in told["user"]:
        assert set(line) <= FOR_USER
        assert not [word for word in SECRET if word in json.dumps(line)]
    assert [line["terminal"] for line in told["user"]] == [
        line.get("ended", line)["terminal"] for line in told["channel"]
    ]
    assert told["user"][-1]["message"] == demo().pack.templates["G-REQUEST"]
    assert all("rule_id" in line for line in told["channel"])
