"""The hand-shake: a server proves who it is and that it can say nothing but what is legal.

Canaries choose among nonsense that no model would write on its own, so that a server which ignores
the constraint is found out although it answers 200.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from inference import prompts
from inference.backends import reading, wire
from inference.backends.server import ServerBackend
from inference.errors import BackendError
from inference.prompts import Prompt

STATIC: Final = "You choose one of the marks you are given. Answer with the mark alone."
NONSENSE: Final = ("zq-vlk", "xw-jrb", "kj-qqp")
STRANGE: Final = ("甲乙/丙", "a\\b", 'say "x"', "it's", "ßø-æ", "/var/\\n", "日本/\\\"x'")
"""Ids with non-ASCII, slashes, backslashes and quotes; each has to come back exactly."""
TOGETHER: Final = 16
SHAKING_S: Final = 60.0
"""Most seconds of one hand-shake; on a CPU it takes about ten."""
SAME: Final = 1e-6
"""Greatest difference of probabilities that an adapter which is not applied would show."""
STRUCTURED_SINCE: Final = (0, 12)
"""vLLM ignores the older fields from this version on, and still answers 200."""


class Health(StrEnum):
    """What a hand-shake says of a backend."""

    HEALTHY = "healthy"
    UNCONSTRAINED = "unconstrained"
    UNHEALTHY = "unhealthy"


@dataclass(frozen=True, slots=True)
class Status:
    """A hand-shake's result: health, why, and the identity and version that were reported."""

    health: Health
    reason: str = ""
    identity: str = ""
    version: str = ""

    def usable(self, require_constrained: bool) -> bool:
        """Whether a proposal may be asked of it."""
        if self.health is Health.UNCONSTRAINED:
            return not require_constrained
        return self.health is Health.HEALTHY


async def shake(server: ServerBackend, seconds: float = SHAKING_S) -> Status:
    """Make the whole hand-shake; never raises for what a server says or does not say in time."""
    identity = version = ""
    try:
        async with asyncio.timeout(seconds):
            version = await _version(server)
            identity = await _identity(server)
            for canary in _canaries(server):
                await canary(server)
    except TimeoutError:
        return Status(Health.UNHEALTHY, f"no hand-shake within {seconds:g} s", identity, version)
    except BackendError as error:
        doubtful = error.reason in (reading.UNCONSTRAINED, reading.INVALID)
        health = Health.UNCONSTRAINED if doubtful else Health.UNHEALTHY
        return Status(health, f"{error.reason}: {error}", identity, version)
    return Status(Health.HEALTHY, "", identity, version)


Canary = Callable[[ServerBackend], Awaitable[None]]


def _canaries(server: ServerBackend) -> tuple[Canary, ...]:
    entry = server.entry
    closed: tuple[Canary, ...] = () if entry.form == "json" else (_nonsense, _strange, _crowd)
    both = entry.form == "json" or entry.constraint == "structured_outputs"
    told: tuple[Canary, ...] = (_json,) if both else ()
    applied: tuple[Canary, ...] = (_adapter,) if entry.base else ()
    return (*closed, *told, *applied)


async def _version(server: ServerBackend) -> str:
    """The reported version; BackendError where it is not accepted or cannot take the constraint."""
    entry = server.entry
    if entry.kind != "vllm":
        return ""
    told = await server.get("../version")
    version = told.get("version") if isinstance(told, dict) else None
    if not isinstance(version, str) or (entry.versions and version not in entry.versions):
        raise BackendError("version_not_accepted", f"the server says version `{version}`")
    since = tuple(int(n) for n in re.findall(r"\d+", version)[:2])
    if entry.constraint == "guided" and since >= STRUCTURED_SINCE:
        problem = f"version {version} ignores `guided`; write `constraint: structured_outputs`"
        raise BackendError(reading.CONFIGURATION, problem)
    return version


async def _identity(server: ServerBackend) -> str:
    """The model's identity among those that the server lists."""
    entry = server.entry
    told = await server.get("models")
    listed = told.get("data") if isinstance(told, dict) else None
    names = [m.get("id") for m in listed if isinstance(m, dict)] if isinstance(listed, list) else []
    for name in (entry.model, *((entry.base,) if entry.base else ())):
        if name not in names:
            shown = ", ".join(str(n)[:80] for n in names[:5]) or "no model"
            raise BackendError(reading.IDENTITY, f"the server has {shown}, not `{name}`")
    return entry.model


def _speech(server: ServerBackend, model: str = "") -> wire.Speech:
    entry = server.entry
    return wire.Speech(model or entry.model, entry.form, entry.constraint, entry.specials)


async def _choose(server: ServerBackend, codes: tuple[str, ...], text: str) -> str:
    body = wire.closed(_speech(server), Prompt(STATIC, text), codes)
    answer, _, _ = await server.closed(body)
    reading.weigh(answer, codes)
    return answer.text


async def _nonsense(server: ServerBackend) -> None:
    await _choose(server, NONSENSE, "What is the capital of France?")


async def _strange(server: ServerBackend) -> None:
    for mark in STRANGE:
        await _choose(server, (mark,), "Which mark?")


async def _crowd(server: ServerBackend) -> None:
    """Sixteen calls at once, each with marks of its own: none may get another's."""
    marks = [(f"zq{n}-vlk", f"xw{n}-jrb") for n in range(TOGETHER)]
    await asyncio.gather(
        *(_choose(server, pair, "What is the capital of France?") for pair in marks)
    )


async def _json(server: ServerBackend) -> None:
    schema = wire.schema(STRANGE[:3], NONSENSE[:2])
    prompt = Prompt(
        f"{STATIC} Answer in JSON: {json.dumps(schema, ensure_ascii=False)}", "Which mark?"
    )
    answer, _ = await server.streamed(wire.json_form(_speech(server), prompt, schema))
    if not _fits(answer.text, schema):
        raise BackendError(reading.UNCONSTRAINED, f"`{answer.text[:120]}` does not fit the schema")


def _fits(text: str, schema: dict[str, Any]) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    legal = schema["properties"]
    return (
        isinstance(value, dict)
        and set(value) == set(schema["required"])
        and value["action_id"] in legal["action_id"]["enum"]
        and value["object_id"] in legal["object_id"]["enum"]
        and isinstance(value["topk"], list)
        and 1 <= len(value["topk"]) <= 3
        and all(one in legal["action_id"]["enum"] for one in value["topk"])
    )


async def _adapter(server: ServerBackend) -> None:
    """The adapter must change probabilities that the model under it gives."""
    codes = tuple(prompts.CODES[:4])
    asked = Prompt(STATIC, "Which mark: A, B, C or D?")
    found = []
    for model in (server.entry.model, server.entry.base):
        sent = wire.encoded(wire.closed(_speech(server, model), asked, codes))
        answer = reading.completion(await server.post(sent), (model,))
        found.append(reading.weigh(answer, codes))
    if max(abs(a - b) for a, b in zip(*found, strict=True)) < SAME:
        problem = f"`{server.entry.model}` answers as `{server.entry.base}` does"
        raise BackendError("adapter_not_applied", problem)
