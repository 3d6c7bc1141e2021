"""Bodies for OpenAI-compatible servers: everything that leaves for a model is made here.

A body is made of a prompt, legal codes and settings alone; state, session and gold never reach
this module.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from inference import sinks
from inference.errors import AssemblyError
from inference.prompts import Prompt

JSON_TOKENS: Final = 160
"""Most tokens of a JSON answer; three ids of a catalog take about forty."""
MAX_CODES: Final = 1000
"""Legal codes of one call; engines compile each set."""
NAME_LOGPROBS: Final = 20
"""Alternatives asked for at each token of a name; single-token codes ask for one per code."""
SERVER_LOGPROBS: Final = 200
"""What `scripts/serve-vllm` allows."""

THINK: Final = "Before the choice, say in one or two sentences what is asked for now."
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Speech:
    """How one server is spoken to: its model, the form, how it is told what is legal."""

    model: str
    form: str
    constraint: str
    specials: tuple[str, ...] = ()


def check_codes(codes: Sequence[str], what: str) -> None:
    """AssemblyError for labels that no engine can be held to: empty, twice, with control characters."""
    if not codes or len(codes) > MAX_CODES:
        raise AssemblyError(f"{what}: {len(codes)} labels; an engine takes 1 to {MAX_CODES}")
    if len(set(codes)) != len(codes):
        raise AssemblyError(f"{what}: a label stands twice; rename one in catalog.yaml")
    for code in codes:
        if not code or code != code.strip() or not code.isprintable() or len(code) > 200:
            shown = sinks.json_text(code[:80])
            raise AssemblyError(
                f"{what}: label {shown} is empty, too long, or holds characters that no engine can "
                "be held to; rename it in catalog.yaml"
            )


def closed(speech: Speech, prompt: Prompt, codes: Sequence[str], thoughts: str = "") -> Body:
    """The closed choice among `codes`, with log-probabilities."""
    body = _chat(speech, prompt, thoughts)
    single = all(len(code) == 1 for code in codes)
    body["max_tokens"] = 2 if single else max(len(code.encode()) for code in codes) + 1
    body["logprobs"] = True
    body["top_logprobs"] = min(len(codes) if single else NAME_LOGPROBS, SERVER_LOGPROBS)
    if speech.constraint == "guided":
        return {**body, "guided_choice": list(codes)}
    return {**body, "structured_outputs": {"choice": list(codes)}}


def schema(action_ids: Sequence[str], object_ids: Sequence[str]) -> dict[str, Any]:
    """JSON Schema of the JSON form, in keywords that every engine takes."""
    actions = {"type": "string", "enum": list(action_ids)}
    return {
        "type": "object",
        "properties": {
            "action_id": actions,
            "object_id": {"type": "string", "enum": list(object_ids)},
            "topk": {"type": "array", "items": actions, "minItems": 1, "maxItems": 3},
        },
        "required": ["action_id", "object_id", "topk"],
        "additionalProperties": False,
    }


def json_form(
    speech: Speech, prompt: Prompt, wanted: Mapping[str, Any], thoughts: str = ""
) -> Body:
    """The JSON proposal under the schema `wanted`; streamed, so that endless white space can be cut."""
    body = _chat(speech, prompt, thoughts)
    body.update(max_tokens=JSON_TOKENS, stream=True, stream_options={"include_usage": True})
    match speech.constraint:
        case "structured_outputs":
            return {**body, "structured_outputs": {"json": wanted}}
        case "json_schema":
            inner = {"name": "proposal", "strict": True, "schema": wanted}
            return {**body, "response_format": {"type": "json_schema", "json_schema": inner}}
        case _:
            return {**body, "response_format": {"type": "json_object"}}


def reasoning(speech: Speech, prompt: Prompt, tokens: int) -> Body:
    """Free text before the label; at most `tokens`."""
    body = _chat(speech, Prompt(prompt.static, f"{prompt.dynamic}\n{THINK}"), "")
    return {**body, "max_tokens": tokens}


def encoded(body: Body) -> bytes:
    """The bytes as they are sent and kept."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _chat(speech: Speech, prompt: Prompt, thoughts: str) -> Body:
    dynamic = sinks.broken(prompt.dynamic, speech.specials)
    if thoughts:
        said = sinks.broken(sinks.prompt(thoughts), speech.specials)
        dynamic = f"{dynamic}\nThought before: {said}\nService:"
    return {
        "model": speech.model,
        "messages": [
            {"role": "system", "content": prompt.static},
            {"role": "user", "content": dynamic},
        ],
        "temperature": 0,
    }
