"""P-13: a proposer replaced by a random source, of bytes or of legal codes, never causes a write that
the text does not ask for and never leaves the closed lists.

Here a write is asked for where the findings hold a verb of it that a request governs; what the text
of a finding must be is the business of the sentences in tests/fixtures/gate.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import cache
from random import Random

import pytest

from gate.configuration import Configuration
from gate.confirmation import asks, canonical, pins, write
from gate.controller import decide
from gate.findings import Findings, find
from gate.records import (
    NONE,
    UNRESOLVED,
    Confirmed,
    Earlier,
    Mode,
    Proposal,
    Situation,
    Terminal,
    TierAnswer,
    Unparsed,
    Verdict,
    Write,
)
from tests.gate.demo import demo_state
from tests.gate.small import confirming
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
        confirmed = place.earlier.confirmed
        assert confirmed is not None and place.session is not None
        slots = tuple((name, canonical(v)) for name, v in sorted(verdict.slots.items()))
        assert confirmed.write == Write(action.action_id, verdict.object_id, slots)
    return True


def proposed(
    configuration: Configuration, found: Findings, place: Situation, answer: TierAnswer
) -> tuple[Verdict, Situation]:
    """What a proposal comes to, and where: of a write that is asked about, once it was confirmed."""
    verdict = decide(configuration, place, found, answer)
    if not asks(verdict):
        if verdict.action_id is not None:  # a confirmation opens nothing but its own lock
            agreed = confirming(configuration, place, verdict)
            assert decide(configuration, agreed, found, answer) == verdict
        return verdict, place
    assert verdict.action_id is not None
    assert configuration.catalog.actions[verdict.action_id].mode is Mode.WRITE
    for forged in forgeries(configuration, place, verdict):
        assert decide(configuration, forged, found, answer).terminal is not Terminal.DISPATCH
    agreed = confirming(configuration, place, verdict)
    return decide(configuration, agreed, found, answer), agreed


def forgeries(
    configuration: Configuration, place: Situation, verdict: Verdict
) -> Iterator[Situation]:
    """The same place with a confirmation of another write: other action, object, slots or customer."""
    asked = write(verdict)
    actions = (a for a in configuration.catalog.actions if a != asked.action_id)
    objects = (
        i for i in (NONE, UNRESOLVED, "", "FUND:HLGRX", "CARD-1002-1") if i != asked.object_id
    )
    writes = [
        replace(asked, action_id=next(actions)),
        *(replace(asked, object_id=i) for i in objects),
        replace(asked, slots=(*asked.slots, ("amount", "1 USD"))),
        *([replace(asked, slots=asked.slots[1:])] if asked.slots else []),
    ]
    pinned = pins(configuration, configuration.catalog.actions[asked.action_id], place)
    for other in writes:
        yield replace(place, earlier=Earlier(confirmed=Confirmed("d-0", other, pinned)))
    agreed = confirming(configuration, place, verdict)
    yield replace(agreed, session=None)
    if pinned:
        earlier = Earlier(confirmed=Confirmed("d-0", asked))
        yield replace(place, earlier=earlier)


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
        verdict, place = proposed(demo(), found, place, answer)
        ends[f"{name}:{check(demo(), found, place, verdict)}"] += 1
    assert ends["noise:True"] == 0
    assert ends["json:False"] > 100


def test_p13_what_is_asked_for_in_legal_json_is_dispatched() -> None:
    found, place = read("en", ASKED[0], "marcus"), where("FREEZE_CARD", "marcus")
    done = [
        proposed(demo(), found, place, Unparsed(text, "proposer", Decimal(1)))[0].terminal
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
                verdict, place = proposed(demo(), found, place, proposal(action))
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
            verdict, place = proposed(configuration, found, place, proposal(action))
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
        alone, _ = proposed(demo(), found, place, proposal(action))
        answer = Proposal(action, random.choice(ids), (action,), Decimal(1), "proposer")
        verdict, place = proposed(demo(), found, place, answer)
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
                        assert not asks(verdict), case["text"]
