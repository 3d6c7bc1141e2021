"""Probabilities of codes from a server's log-probabilities; cassettes that replay."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.backends import Choice, Usage, reading, recorded
from inference.backends.reading import Answer
from inference.errors import AssemblyError, BackendError
from tests.inference.backends.asking import ASKED, CODES


def token(text: str, *alternatives: tuple[str, float]) -> dict[str, Any]:
    """A token with its alternatives; its own probability is the first one's."""
    top = [{"token": t, "bytes": list(t.encode()), "logprob": math.log(p)} for t, p in alternatives]
    own = next((one for one in top if one["token"] == text), {"token": text, "bytes": []})
    return {**own, "top_logprobs": top}


def said(text: str, *tokens: dict[str, Any]) -> Answer:
    return Answer(text, "m", tokens, Usage())


def test_single_tokens_are_weighed_over_the_legal_ones() -> None:
    answer = said("B", token("B", ("B", 0.4), ("A", 0.3), ("x", 0.2), ("C", 0.1)))
    assert reading.weigh(answer, CODES) == pytest.approx((0.375, 0.5, 0.125))


def test_confidence_is_the_product_along_the_chosen_tokens() -> None:
    codes = ("Card help", "Card freeze", "Fund")
    answer = said(
        "Card help",
        token("Card", ("Card", 0.8), ("Fund", 0.2)),
        token(" help", (" help", 0.9), (" freeze", 0.1)),
    )
    assert reading.weigh(answer, codes) == pytest.approx((0.72, 0.08, 0.2))


def test_token_that_several_codes_go_on_with_is_shared() -> None:
    codes = ("Ax", "Ay", "B")
    answer = said("B", token("B", ("B", 0.6), ("A", 0.4)))
    assert reading.weigh(answer, codes) == pytest.approx((0.2, 0.2, 0.6))


def test_parts_of_a_character_are_weighed_by_what_is_told_of_them() -> None:
    codes = ("基金", "挂失")
    part = {"token": "", "bytes": [], "logprob": math.log(0.7), "top_logprobs": []}
    whole = [token(char, (char, 1.0)) for char in "基金"]
    assert reading.weigh(said("基金", part, *whole), codes) == pytest.approx((0.7, 0.3))
    assert reading.weigh(said("基金", part, *whole), codes[:1]) == (1.0,)


@pytest.mark.parametrize("logprob", [None, "x", True, float("nan"), float("inf"), 0.5])
def test_log_probability_that_is_none_is_refused(logprob: object) -> None:
    one = {"token": "A", "bytes": [65], "logprob": logprob, "top_logprobs": []}
    with pytest.raises(BackendError) as caught:
        reading.weigh(said("A", one), CODES)
    assert caught.value.reason == "no_probabilities"


@given(
    st.lists(st.floats(0.001, 1.0), min_size=3, max_size=3),
    st.integers(0, 2),
    st.floats(0.0, 5.0),
)
def test_probabilities_always_are_those_of_the_legal_codes_alone(
    weights: list[float], chosen: int, illegal: float
) -> None:
    total = sum(weights) + illegal
    shares = [(code, weight / total) for code, weight in zip(CODES, weights, strict=True)]
    found = reading.weigh(said(CODES[chosen], token(CODES[chosen], *shares, ("z", 1e-9))), CODES)
    assert found == pytest.approx([weight / sum(weights) for weight in weights], abs=1e-6)


@given(st.binary(max_size=200))
def test_any_bytes_are_an_answer_or_an_error(body: bytes) -> None:
    with pytest.raises(BackendError):
        reading.completion(body, ("m",))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3)
                    | st.dictionaries(st.sampled_from(
                        ["choices", "model", "message", "content", "index", "finish_reason", "logprobs"]
                    ), inner, max_size=4), max_leaves=12))  # fmt: skip
def test_any_json_is_an_answer_or_an_error(value: object) -> None:
    try:
        answer = reading.completion(json.dumps(value).encode(), ("m",))
    except BackendError:
        return
    assert answer.model == "m"


def test_cassette_replays_what_was_recorded_without_a_server(tmp_path: Path) -> None:
    choice = Choice((0.1, 0.7, 0.2), "raw", None, "sent", "m@1", Usage(1, 50, 2))
    path = tmp_path / "cassette.jsonl"
    path.write_text(recorded.record(ASKED, CODES, "codes", choice, 412.34) + "\n", encoding="utf-8")
    backend = recorded.load("vendor", path)
    assert backend.form == "codes"
    found = asyncio.run(backend.choose(ASKED, CODES))
    assert (found.probabilities, found.model, found.usage) == ((0.1, 0.7, 0.2), "m@1", choice.usage)
    assert list(backend.latencies.values()) == [412.3]
    for prompt, codes in ((type(ASKED)("other", ""), CODES), (ASKED, CODES[::-1])):
        with pytest.raises(BackendError) as caught:
            asyncio.run(backend.choose(prompt, codes))
        assert caught.value.reason == "not_recorded"


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"asked": 1}'])
def test_broken_cassette_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "cassette.jsonl"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(AssemblyError, match="line 1"):
        recorded.load("vendor", path)
    with pytest.raises(AssemblyError, match="cannot be read"):
        recorded.load("vendor", tmp_path / "absent")
