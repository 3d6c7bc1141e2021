"""What a server's answer is worth: strict reading, no repair, nothing fished out of prose.

A closed choice is one choice with finish reason `stop` whose content is exactly one legal code; the
reasoning channel is never read. BackendError otherwise, with `unconstrained` where the server
answered outside what it was held to.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from inference.backends import Usage
from inference.errors import BackendError

INVALID: Final = "invalid_choice"
UNCONSTRAINED: Final = "unconstrained"
IDENTITY: Final = "identity_not_accepted"
CONFIGURATION: Final = "backend_configuration"
SERVER: Final = "backend_error"
NO_PROBABILITIES: Final = "no_probabilities"

ANSWER_BYTES: Final = 4 * 2**20
"""Largest answer that is read; one with log-probabilities of 200 codes has about 40 kB."""
WHITE_RUN: Final = 40
"""White space in a row after which a JSON answer is given up."""
TEXT_CHARS: Final = 4096
"""Characters of a JSON answer, as the contract reads them."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One chat completion: what it says, who says it, its tokens with their alternatives."""

    text: str
    model: str
    tokens: tuple[Mapping[str, Any], ...]
    usage: Usage


def refused(status: int, body: bytes) -> BackendError:
    """The error of an answer that is no 200; a 4xx names what the server does not take."""
    said = body[:500].decode("utf-8", "replace")
    if 400 <= status < 500 and status not in (408, 429):
        return BackendError(CONFIGURATION, f"the server refused the call ({status}): {said}")
    return BackendError(SERVER, f"the server answered {status}: {said}")


def completion(body: bytes, identities: Sequence[str]) -> Answer:
    """A whole answer with finish reason `stop`; BackendError for any other."""
    value = _object(body)
    model = check_identity(value, identities)
    choice = _only(value.get("choices"))
    if choice.get("finish_reason") != "stop":
        raise BackendError(INVALID, f"finish reason is `{choice.get('finish_reason')}`")
    message = choice.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, str):
        raise BackendError(INVALID, "the answer has no content")
    if isinstance(message, dict) and message.get("tool_calls"):
        raise BackendError(INVALID, "the answer calls a tool")
    return Answer(content, model, _tokens(choice), usage(value.get("usage")))


def thoughts(body: bytes, identities: Sequence[str]) -> tuple[str, Usage]:
    """Free text of the reasoning call, which may end at its limit; it decides nothing."""
    value = _object(body)
    check_identity(value, identities)
    message = _only(value.get("choices")).get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return (content if isinstance(content, str) else ""), usage(value.get("usage"))


def check_identity(value: Mapping[str, Any], identities: Sequence[str]) -> str:
    """The reported model; BackendError where it is not accepted."""
    model = value.get("model")
    if not isinstance(model, str) or model not in identities:
        raise BackendError(IDENTITY, f"the server says that it is `{str(model)[:200]}`")
    return model


def chosen(answer: Answer, codes: Sequence[str]) -> int:
    """Place of the one legal code that the answer is; BackendError `unconstrained` for anything else."""
    if answer.text not in codes:
        raise BackendError(UNCONSTRAINED, f"`{answer.text[:120]}` is no legal code")
    return codes.index(answer.text)


def weigh(answer: Answer, codes: Sequence[str]) -> tuple[float, ...]:
    """Probability of each code, in order, summing to 1.

    Along the chosen code's tokens each alternative gives its probability to the codes that go on
    with it, in equal parts where several do; tokens that lead to no legal code count nothing. Of a
    token that is a part of a character only its own probability is told: what is left goes to the
    other codes that would go on from there.
    """
    place = chosen(answer, codes)
    raw = [code.encode() for code in codes]
    weights, said, reached = [0.0] * len(codes), b"", 1.0
    for token in answer.tokens:
        if said == raw[place]:
            break
        shares, own = _shares(token, said, raw), _bytes(token)
        others = {a: p for a, p in shares.items() if a != own or not own}
        for alternative, probability in others.items():
            going = [i for i, code in enumerate(raw) if code.startswith(said + alternative)]
            going = going if alternative else [i for i in going if i != place]
            for i in going:
                weights[i] += reached * probability / len(going)
        said, reached = said + own, reached * (1.0 - sum(others.values()))
    if said != raw[place]:
        raise BackendError(NO_PROBABILITIES, "the server gives no log-probabilities of the choice")
    weights[place] += reached
    total = sum(weights)
    return tuple(weight / total for weight in weights)


def _shares(token: Mapping[str, Any], said: bytes, raw: Sequence[bytes]) -> dict[bytes, float]:
    """Probabilities that lead on to a legal code, summing to 1; `b""` holds those that are not told."""
    own = _bytes(token)
    if not own:
        elsewhere = sum(code.startswith(said) for code in raw) > 1
        return {b"": 1.0 - _probability(token) if elsewhere else 0.0}
    legal = _legal(token, said, raw)
    total = sum(legal.values())
    if own not in legal or total <= 0:
        raise BackendError(NO_PROBABILITIES, "a token of the choice has no probability")
    return {alternative: probability / total for alternative, probability in legal.items()}


def _probability(token: Mapping[str, Any]) -> float:
    logarithm = token.get("logprob")
    if not isinstance(logarithm, int | float) or isinstance(logarithm, bool):
        raise BackendError(NO_PROBABILITIES, "a log-probability is no number")
    if not math.isfinite(logarithm) or logarithm > 1e-3:
        raise BackendError(NO_PROBABILITIES, f"log-probability `{logarithm}`")
    return math.exp(min(0.0, logarithm))


def _legal(token: Mapping[str, Any], said: bytes, raw: Sequence[bytes]) -> dict[bytes, float]:
    """Probabilities of this token and its alternatives that lead on to a legal code."""
    listed = token.get("top_logprobs")
    alternatives = listed if isinstance(listed, list) else []
    found: dict[bytes, float] = {}
    for one in (*alternatives, token):
        own = _bytes(one) if isinstance(one, dict) else b""
        if own and any(code.startswith(said + own) for code in raw):
            found[own] = _probability(one)
    return found


def _bytes(token: Mapping[str, Any]) -> bytes:
    listed = token.get("bytes")
    if isinstance(listed, list) and all(type(b) is int and 0 <= b < 256 for b in listed):
        return bytes(listed)
    text = token.get("token")
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b""


def _tokens(choice: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    told = choice.get("logprobs")
    content = told.get("content") if isinstance(told, dict) else None
    return tuple(t for t in content if isinstance(t, dict)) if isinstance(content, list) else ()


def usage(value: Any) -> Usage:
    """Tokens that the server counted; none where it counts none."""
    told = value if isinstance(value, dict) else {}
    return Usage(1, _count(told.get("prompt_tokens")), _count(told.get("completion_tokens")))


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _only(choices: Any) -> Mapping[str, Any]:
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise BackendError(INVALID, "the answer has not exactly one choice")
    if type(choices[0].get("index")) is not int or choices[0]["index"] != 0:
        raise BackendError(INVALID, f"the choice has the index `{choices[0].get('index')!r}`")
    return choices[0]


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BackendError(INVALID, "the answer is no JSON") from error
    if not isinstance(value, dict):
        raise BackendError(INVALID, "the answer is no JSON object")
    return value


class Stream:
    """A streamed JSON answer, put together piece by piece; `add` raises as soon as it is worth nothing."""

    def __init__(self, identities: Sequence[str]) -> None:
        self._identities = identities
        self._text = ""
        self._model = ""
        self._finish: object = None
        self._usage = Usage()
        self._done = False

    def add(self, line: str) -> None:
        """One line of the event stream; BackendError for what no good answer holds."""
        if not line.startswith("data:") or self._done:
            return
        payload = line[5:].strip()
        if payload == "[DONE]":
            self._done = True
            return
        value = _object(payload.encode())
        if "error" in value:
            raise BackendError(SERVER, f"the stream broke: {str(value['error'])[:200]}")
        self._model = check_identity(value, self._identities)
        if value.get("usage"):
            self._usage = usage(value["usage"])
        if value.get("choices"):
            self._take(_only(value["choices"]))

    def _take(self, choice: Mapping[str, Any]) -> None:
        delta = choice.get("delta")
        content = delta.get("content") if isinstance(delta, dict) else None
        if isinstance(content, str):
            self._text += content
        if len(self._text) > TEXT_CHARS:
            raise BackendError(INVALID, f"the answer is longer than {TEXT_CHARS} characters")
        if len(self._text) - len(self._text.rstrip()) > WHITE_RUN:
            raise BackendError(INVALID, "the answer goes on with white space only")
        self._finish = choice.get("finish_reason") or self._finish

    def ended(self) -> Answer:
        """The whole answer; BackendError unless it ended with finish reason `stop`."""
        if self._finish != "stop":
            raise BackendError(INVALID, f"finish reason is `{self._finish}`")
        return Answer(self._text, self._model, (), self._usage)
