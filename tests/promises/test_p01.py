"""P-01: the gate is total: every input yields exactly one terminal with one named rule or reserved
id."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.configuration import Configuration
from gate.controller import decide, malformed
from gate.errors import RequestError
from gate.findings import find
from gate.load.requests import parse_decide
from gate.records import (
    NONE,
    UNRESOLVED,
    Abstain,
    Boundary,
    Confirmed,
    Direction,
    Earlier,
    Equal,
    Mode,
    Proposal,
    Reserved,
    Session,
    Situation,
    Terminal,
    Unparsed,
    Verdict,
    Write,
)
from tests.gate.demo import demo_state
from tests.gate.small import CARD, confirming, findings, institution, proposal, situation
from tests.gate.texts import INSTITUTIONS, NOW, cases, demo, haideng, request

SMALL = institution()
TEXTS = [
    c["text"] for name in ("direction", "objects") for tag in INSTITUTIONS for c in cases(name, tag)
]

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


def judge(configuration: Configuration, line: bytes) -> Verdict:
    """What `gate decide` makes of one line, whatever it holds; of a write, once it was confirmed."""
    try:
        asked, answer = parse_decide(line, configuration, "line 1")
    except RequestError:
        return malformed(configuration, "MALFORMED")
    where = Situation(asked.state, NOW, asked.session, asked.candidates)
    read = find(configuration, asked)
    verdict = check(configuration, decide(configuration, where, read, answer))
    if verdict.rule_id != Reserved.CONFIRM:
        return verdict
    return decide(configuration, confirming(configuration, where, verdict), read, answer)


def check(configuration: Configuration, verdict: Verdict) -> Verdict:
    """One terminal, one id that exists, and nothing dispatched that the closed lists do not hold."""
    assert verdict.reason_codes or verdict.rule_id not in {r.value for r in Reserved}
    rules = {rule.rule_id: rule for rule in configuration.rules.rules}
    reserved = {r.value for r in Reserved}
    assert isinstance(verdict.terminal, Terminal)
    assert isinstance(verdict.boundary, Boundary)
    assert (verdict.rule_id in rules) is not (verdict.rule_id in reserved)
    if verdict.terminal is Terminal.DISPATCH:
        assert verdict.rule_id == configuration.rules.default.rule_id
        assert verdict.boundary is Boundary.ALLOW
        assert verdict.action_id in configuration.catalog.actions
        assert verdict.object_id != UNRESOLVED
    elif verdict.rule_id in reserved:
        assert verdict.terminal is configuration.terminals[Reserved(verdict.rule_id)]
    else:
        rule = rules[verdict.rule_id]
        assert verdict.boundary in (rule.then, rule.on_error)
        assert verdict.terminal.value == verdict.boundary.value
    return verdict


# Lines: bytes, texts, and requests with something replaced.


def base() -> dict[str, Any]:
    return {
        "request_id": "r-1",
        "channel": "counter",
        "utterance": "please freeze my debit card",
        "history": [{"role": "user", "text": "price of HLGRX"}],
        "state": deepcopy(demo_state("FREEZE_CARD", {})),
        "session": {
            "subject": "C-1",
            "entitlements": ["member"],
            "objects": [
                {
                    "object_id": "CARD-1",
                    "object_type": "CARD",
                    "display_name": "Debit card",
                    "aliases": ["5316"],
                }
            ],
        },
        "candidates": None,
        "proposal": {
            "action_id": "FREEZE_CARD",
            "object_id": None,
            "topk": ["FREEZE_CARD"],
            "confidence": "0.99",
            "tier": "fast",
        },
    }


def test_the_base_line_is_dispatched() -> None:
    verdict = check(demo(), judge(demo(), json.dumps(base()).encode()))
    assert (verdict.terminal, verdict.action_id, verdict.object_id) == (
        Terminal.DISPATCH, "FREEZE_CARD", "CARD-1",
    )  # fmt: skip


def test_the_base_line_alone_is_asked_about() -> None:
    asked, answer = parse_decide(json.dumps(base()).encode(), demo(), "line 1")
    where = Situation(asked.state, NOW, asked.session, asked.candidates)
    verdict = check(demo(), decide(demo(), where, find(demo(), asked), answer))
    assert (verdict.terminal, verdict.rule_id) == (Terminal.CLARIFY, "G-CONFIRM")


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with every key of it, from the outside in."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


STRANGE: tuple[Callable[[Random], Any], ...] = (
    lambda r: None,
    lambda r: r.choice([True, False]),
    lambda r: r.choice([0, 1, -1, 10**39, 1.5, 1e308]),
    lambda r: r.choice(["", "x", NONE, UNRESOLVED, "FREEZE_CARD", "FUND:HLGRX", "HLGRX", "*"]),
    lambda r: r.choice(TEXTS),
    lambda r: "".join(map(chr, r.choices(range(0x20, 0xD7FF), k=r.randrange(12)))),
    lambda r: [],
    lambda r: {},
    lambda r: [r.choice(["FREEZE_CARD", "FUND_PRICE", 1, None])] * r.randrange(4),
    lambda r: {"value": r.choice([True, "0.5", 1]), "as_of": r.choice(["2026-12-01T09:00:00Z", "x", None])},
    lambda r: "2026-12-01T08:59:00Z",
)  # fmt: skip


def mutated(random: Random) -> bytes:
    """The base with one to three places changed, then now and then its bytes."""
    value = base()
    for _ in range(random.randrange(1, 4)):
        container, key = random.choice(list(places(value)))
        if isinstance(container, dict) and random.random() < 0.15:
            del container[key]
        else:
            container[key] = random.choice(STRANGE)(random)
    line = bytearray(json.dumps(value, ensure_ascii=random.random() < 0.5).encode())
    while random.random() < 0.3:
        line[random.randrange(len(line))] = random.randrange(256)
    return bytes(line)


@pytest.mark.parametrize("seed", range(20))
def test_p01_mutated_lines_end_in_one_terminal(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    ends = {check(demo(), judge(demo(), mutated(random))).rule_id for _ in range(150)}
    assert {"G-REQUEST", "G-CONTRACT"} <= ends


@pytest.mark.parametrize("seed", range(4))
def test_p01_random_bytes_end_in_one_terminal(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    for _ in range(500):
        line = random.randbytes(random.randrange(200))
        assert check(demo(), judge(demo(), line)).rule_id == "G-REQUEST"


@given(st.binary() | st.text().map(lambda t: t.encode("utf-8", "surrogatepass")))
def test_p01_any_line_ends_in_one_terminal(line: bytes) -> None:
    check(demo(), judge(demo(), line))


@given(ANYTHING.map(lambda v: json.dumps(v, default=str).encode()))
def test_p01_any_json_ends_in_one_terminal(line: bytes) -> None:
    check(demo(), judge(demo(), line))


@settings(max_examples=300)
@given(
    st.sampled_from([demo, haideng]),
    st.text(max_size=60) | st.lists(st.sampled_from(TEXTS), max_size=3).map(" ".join),
    st.lists(st.sampled_from(TEXTS), max_size=3),
    st.sampled_from(["dana", "twins", "haideng", None]),
    st.data(),
)
def test_p01_any_text_ends_in_one_terminal(
    load: Callable[[], Configuration],
    text: str,
    history: list[str],
    session: str | None,
    data: st.DataObject,
) -> None:
    configuration = load()
    asked = request(text, history=history, session=session, state=demo_state("", {}))
    where = Situation(asked.state, NOW, asked.session, asked.candidates)
    action = data.draw(st.sampled_from(sorted(configuration.catalog.actions)))
    line = json.dumps({"action_id": action, "object_id": NONE, "topk": [action]})

    for answer in (Proposal(action, None, (action,), None, "t"), Unparsed(line, "t")):
        check(configuration, decide(configuration, where, find(configuration, asked), answer))


# The core itself, without a loader before it.


@given(ANYTHING, ANYTHING, st.booleans(), st.none() | st.just("en"))
def test_p01_any_answer_and_any_state_end_in_one_terminal(
    answer: Any, value: Any, several: bool, language: str | None
) -> None:
    read = findings("F1", several_requests=several, language=language)
    where = situation(alarm=value, buying_permitted=value)
    check(SMALL, decide(SMALL, where, read, answer))


CODES = st.sampled_from(["", "", "EXPIRED", "NO_CONNECTOR"])
IDS = st.sampled_from(["BUY", "SELL", "FREEZE", "F1", "F2", "C1", NONE, "", "?"])
SLOTS = st.lists(st.tuples(IDS, st.text(max_size=4)), max_size=2).map(tuple)
EARLIER = st.builds(
    Earlier,
    st.integers(0, 5),
    CODES,
    CODES,
    st.none() | st.builds(Confirmed, IDS, st.builds(Write, IDS, IDS, SLOTS | st.just(()))),
    st.none() | st.builds(Equal, IDS, st.booleans(), st.text(max_size=4)),
)


@settings(max_examples=500)
@given(
    EARLIER,
    st.sampled_from(sorted(SMALL.catalog.actions)),
    st.sampled_from(["F1", "C1"]),
    st.sampled_from(["", "", "F1", "F2", "C1", "L1", NONE, "?"]),
    st.sampled_from([None, Session("s", (), (CARD,))]),
    st.booleans(),
)
def test_p01_whatever_was_earlier_there_is_one_terminal(
    earlier: Earlier, action: str, named: str, chosen: str, session: Session | None, known: bool
) -> None:
    writes = SMALL.catalog.actions[action].mode is Mode.WRITE
    direction = Direction.WRITE if writes else Direction.READ
    read = findings(named, direction=direction, asked=[action], chosen=chosen)
    where = situation(session, None, earlier)
    answer = proposal(action) if known else Abstain("low", "fast")
    check(SMALL, decide(SMALL, where, read, answer))


def test_p01_a_request_that_cannot_be_read_has_an_id_too() -> None:
    assert check(SMALL, malformed(SMALL, "x")).rule_id == "G-REQUEST"
