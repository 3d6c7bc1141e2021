"""P-13: a proposer replaced by a random source, of bytes or of legal codes, never causes a write that
the text does not ask for and never leaves the closed lists.

Here a write is asked for where the findings hold a verb of it that a request governs; what the text
of a finding must be is the business of the sentences in tests/fixtures/gate.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from decimal import Decimal
from functools import cache
from random import Random

import pytest

from gate.configuration import Configuration
from gate.controller import decide
from gate.findings import Findings, find
from gate.records import (
    NONE,
    UNRESOLVED,
    Mode,
    Proposal,
    Situation,
    Terminal,
    TierAnswer,
    Unparsed,
    Verdict,
)
from tests.gate.demo import demo_state
from tests.gate.texts import INSTITUTIONS, NOW, ROOT, SESSIONS, cases, demo, proposal, request

UTTERANCES = ROOT / "training" / "data" / "demo" / "utterances.csv"


@cache
def utterances() -> tuple[str, ...]:
    """The demo's training texts."""
    with UTTERANCES.open(encoding="utf-8", newline="") as rows:
        return tuple(row["text"] for row in csv.DictReader(rows))


@cache
def read(tag: str, text: str, session: str | None) -> Findings:
    return find(INSTITUTIONS[tag](), request(text, session=session))


def where(action: str, session: str | None, candidates: tuple[str, ...] | None = None) -> Situation:
    """A state in which no rule stands against the action."""
    return Situation(
        demo_state(action, {}), NOW, SESSIONS[session] if session else None, candidates
    )


def check(
    configuration: Configuration, found: Findings, place: Situation, verdict: Verdict
) -> bool:
    """True for a dispatch, which lies in the closed lists and is, if a write, asked for."""
    if verdict.terminal is not Terminal.DISPATCH:
        return False
    action = configuration.catalog.get(verdict.action_id)
    assert action is not None
    own = {e.object_id: e for e in place.session.objects} if place.session else {}
    entry = own.get(verdict.object_id) or configuration.registry.entries.get(verdict.object_id)
    assert (entry is None) is (verdict.object_id == NONE)
    if entry is None:
        assert NONE in action.objects
    else:
        assert entry.object_type in action.types
        assert place.candidates is None or entry.object_id in place.candidates
        named = {i for m in found.mentions for i in m.owners}
        assert entry.object_id in named or "session" in action.object_from or found.anaphors
    if action.mode is Mode.WRITE:
        assert any(action.action_id in asked.actions for asked in found.asked)
    return True


ASKED = "please freeze my debit card", "buy Harbor Growth Fund", "change my email", "hello"
LEGAL = [
    json.dumps({"action_id": a, "object_id": o, "topk": [a]})
    for a in demo().catalog.actions
    for o in (NONE, UNRESOLVED, "CARD-1002-1", "FUND:HLGRX", "LOAN:HELOC", "ACC-1002-1")
]


def mutated(random: Random) -> str:
    """A legal answer with characters replaced, dropped, doubled, or fenced."""
    text = list(random.choice(LEGAL))
    for _ in range(random.choice((0, 0, 1, 1, 2, 8))):
        at = random.randrange(len(text))
        text[at : at + 1] = random.choice(
            ([], [text[at]] * 2, [chr(random.randrange(32, 1000))], [random.choice('{}[]",:_')])
        )
    return f"```json\n{''.join(text)}\n```" if random.random() < 0.1 else "".join(text)


def noise(random: Random) -> str:
    data = random.randbytes(random.randrange(400))
    return data.decode(random.choice(("latin-1", "utf-8", "utf-16-le")), "replace")


@pytest.mark.parametrize("seed", range(12))
def test_p13_random_bytes_and_mutated_json(seed: int) -> None:
    """500 answers a seed: noise never holds the contract, a legal one never does what is not asked."""
    random = Random(seed)  # noqa: S311
    ends: Counter[str] = Counter()
    for _ in range(500):
        text = random.choice(random.choice((ASKED, utterances())))
        session = random.choice(("marcus", "dana", None))
        sure = random.choice((None, Decimal("0.999"), Decimal(random.randrange(1000)) / 1000))
        raw, name = random.choice(((noise(random), "noise"), (mutated(random), "json")))
        answer: TierAnswer = Unparsed(raw, "proposer", sure)
        candidates = random.choice((None, None, None, (), ("FUND:HLGRX", "CARD-1002-1")))
        place = where(random.choice(list(demo().catalog.actions)), session, candidates)
        found = read("en", text, session)
        verdict = decide(demo(), place, found, answer)
        ends[f"{name}:{check(demo(), found, place, verdict)}"] += 1
    assert ends["noise:True"] == 0
    assert ends["json:False"] > 100


def test_p13_what_is_asked_for_in_legal_json_is_dispatched() -> None:
    found, place = read("en", ASKED[0], "marcus"), where("FREEZE_CARD", "marcus")
    done = [
        decide(demo(), place, found, Unparsed(text, "proposer", Decimal(1))).terminal
        for text in LEGAL
    ]
    assert done.count(Terminal.DISPATCH) == 1


def test_p13_every_legal_action_over_every_text() -> None:
    """All actions in turn, sure of themselves, over all training texts and the sentences."""
    texts = {
        *utterances(),
        *(c["text"] for name in ("direction", "objects") for c in cases(name, "en")),
    }
    dispatched: Counter[str] = Counter()
    for text in sorted(texts):
        for session in ("marcus", "dana"):
            found = read("en", text, session)
            for action in demo().catalog.actions:
                place = where(action, session)
                verdict = decide(demo(), place, found, proposal(action))
                dispatched[action] += check(demo(), found, place, verdict)
    writes = [a for a in demo().catalog.actions.values() if a.mode is Mode.WRITE]
    assert all(dispatched[a.action_id] > 5 for a in writes), dispatched


def test_p13_every_legal_action_over_every_chinese_sentence() -> None:
    configuration = INSTITUTIONS["zh"]()
    dispatched: Counter[str] = Counter()
    for case in (*cases("direction", "zh"), *cases("objects", "zh")):
        found = read("zh", case["text"], "haideng")
        for action in configuration.catalog.actions:
            place = Situation({}, NOW, SESSIONS["haideng"])
            verdict = decide(configuration, place, found, proposal(action))
            dispatched[action] += check(configuration, found, place, verdict)
    assert all(dispatched[a] > 0 for a in configuration.catalog.actions), dispatched


@pytest.mark.parametrize("seed", range(4))
def test_p13_random_legal_codes(seed: int) -> None:
    """Any legal pair of action and object: at most the object that the gate finds itself."""
    random = Random(seed)  # noqa: S311
    ids = [
        NONE,
        UNRESOLVED,
        *demo().registry.entries,
        *(e.object_id for e in SESSIONS["dana"].objects),
    ]
    agreed = 0
    for _ in range(3000):
        text, action = random.choice(utterances()), random.choice(list(demo().catalog.actions))
        found, place = read("en", text, "dana"), where(action, "dana")
        alone = decide(demo(), place, found, proposal(action))
        answer = Proposal(action, random.choice(ids), (action,), Decimal(1), "proposer")
        verdict = decide(demo(), place, found, answer)
        if check(demo(), found, place, verdict):
            agreed += 1
            assert alone.terminal is Terminal.DISPATCH
            assert verdict.object_id == alone.object_id
    assert agreed > 0


def test_p13_a_text_without_a_request_gets_no_write_whatever_is_proposed() -> None:
    """The sentences that only look like requests, with every write proposed."""
    for tag in INSTITUTIONS:
        configuration = INSTITUTIONS[tag]()
        silent = [c for c in cases("direction", tag) if not c.get("asked")]
        assert len(silent) > 40
        for case in silent:
            for session in ("marcus", "dana", "haideng"):
                found = read(tag, case["text"], session)
                for action in configuration.catalog.actions.values():
                    if action.mode is Mode.WRITE:
                        place = where(action.action_id, session)
                        verdict = decide(configuration, place, found, proposal(action.action_id))
                        assert verdict.terminal is not Terminal.DISPATCH, case["text"]
