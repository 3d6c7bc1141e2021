"""The recorded backend: answers from a cassette, by what was asked; no key and no network needed.

A cassette is JSON lines, one per call: `asked` is the SHA-256 of prompt and codes, then what the
backend said. `record` makes a line of a live choice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from inference.backends import Choice, Form, Usage
from inference.errors import AssemblyError, BackendError
from inference.prompts import Prompt

MISSING: Final = "not_recorded"
KEYS: Final = frozenset({"asked", "probabilities", "text", "raw", "model", "usage", "latency_ms"})


def asked(prompt: Prompt, codes: Sequence[str]) -> str:
    """SHA-256 of what a backend is asked: prompt and codes."""
    told = json.dumps([prompt.static, prompt.dynamic, list(codes)], ensure_ascii=False)
    return hashlib.sha256(told.encode()).hexdigest()


def record(prompt: Prompt, codes: Sequence[str], choice: Choice, latency_ms: float) -> str:
    """One line of a cassette; what was sent is not kept, it can be made again."""
    line = {
        "asked": asked(prompt, codes),
        "probabilities": list(choice.probabilities),
        "text": choice.text,
        "raw": choice.raw,
        "model": choice.model,
        "usage": asdict(choice.usage),
        "latency_ms": round(latency_ms, 1),
    }
    return json.dumps(line, ensure_ascii=False, sort_keys=True)


class RecordedBackend:
    """Replays one cassette; `latencies` are the recorded milliseconds by what was asked."""

    def __init__(self, name: str, form: Form, lines: Iterable[str], digest: str) -> None:
        self.name, self.form, self.digest = name, form, digest
        self._choices: dict[str, Choice] = {}
        self.latencies: dict[str, float] = {}
        for number, line in enumerate(lines, 1):
            key, choice, latency = _read(line, number)
            self._choices[key], self.latencies[key] = choice, latency

    async def choose(self, prompt: Prompt, codes: Sequence[str]) -> Choice:
        """The recorded choice; BackendError `not_recorded` for what was never asked."""
        found = self._choices.get(asked(prompt, codes))
        if found is None:
            raise BackendError(MISSING, f"cassette `{self.name}` has no answer to this prompt")
        return found


def load(name: str, form: Form, path: Path) -> RecordedBackend:
    """The cassette at `path`; AssemblyError with the line that cannot be read."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise AssemblyError(f"cassette `{path}` cannot be read: {error.strerror}") from error
    lines = [line for line in content.decode("utf-8").splitlines() if line]
    return RecordedBackend(name, form, lines, hashlib.sha256(content).hexdigest())


def _read(line: str, number: int) -> tuple[str, Choice, float]:
    try:
        value: dict[str, Any] = json.loads(line)
        if set(value) != KEYS:
            raise ValueError(f"its keys are {sorted(value)}, not {sorted(KEYS)}")
        choice = Choice(
            tuple(float(p) for p in value["probabilities"]),
            str(value["raw"]),
            value["text"],
            "",
            str(value["model"]),
            Usage(**value["usage"]),
        )
        return str(value["asked"]), choice, float(value["latency_ms"])
    except (ValueError, TypeError, AttributeError) as error:
        problem = f"line {number} of the cassette cannot be read: {error}; record it again"
        raise AssemblyError(problem) from error
