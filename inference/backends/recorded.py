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

from inference.backends import Choice, Form, Usage, form_of
from inference.errors import AssemblyError, BackendError
from inference.prompts import Prompt

MISSING: Final = "not_recorded"
KEYS: Final = frozenset(
    {"asked", "form", "probabilities", "text", "raw", "model", "usage", "latency_ms"}
)


def asked(prompt: Prompt, codes: Sequence[str]) -> str:
    """SHA-256 of what a backend is asked: prompt and codes."""
    told = json.dumps([prompt.static, prompt.dynamic, list(codes)], ensure_ascii=False)
    return hashlib.sha256(told.encode()).hexdigest()


def record(
    prompt: Prompt, codes: Sequence[str], form: Form, choice: Choice, latency_ms: float
) -> str:
    """One line of a cassette; what was sent is not kept, it can be made again."""
    line = {
        "asked": asked(prompt, codes),
        "form": form,
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

    def __init__(self, name: str, lines: Iterable[str], digest: str) -> None:
        self.name, self.digest = name, digest
        self.form: Form = "names"
        self.latencies: dict[str, float] = {}
        self._choices: dict[str, Choice] = {}
        forms = set()
        for number, line in enumerate(lines, 1):
            key, form, choice, latency = _read(line, number)
            self._choices[key], self.latencies[key] = choice, latency
            forms.add(form)
        if len(forms) > 1:
            raise AssemblyError(f"cassette `{name}` mixes the forms {', '.join(sorted(forms))}")
        self.form = form_of(forms.pop()) if forms else "names"

    def holds(self, prompt: Prompt, codes: Sequence[str]) -> bool:
        """Whether the answer to this was recorded."""
        return asked(prompt, codes) in self._choices

    async def choose(self, prompt: Prompt, codes: Sequence[str]) -> Choice:
        """The recorded choice; BackendError `not_recorded` for what was never asked."""
        found = self._choices.get(asked(prompt, codes))
        if found is None:
            raise BackendError(MISSING, f"cassette `{self.name}` has no answer to this prompt")
        return found


def load(name: str, path: Path) -> RecordedBackend:
    """The cassette at `path`; AssemblyError with the line that cannot be read."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise AssemblyError(f"cassette `{path}` cannot be read: {error.strerror}") from error
    lines = [line for line in content.decode("utf-8").split("\n") if line]
    return RecordedBackend(name, lines, hashlib.sha256(content).hexdigest())


def _read(line: str, number: int) -> tuple[str, str, Choice, float]:
    try:
        value: dict[str, Any] = json.loads(line)
        if set(value) != KEYS or value["form"] not in ("names", "codes", "json"):
            raise ValueError(f"it has not the keys {sorted(KEYS)} and a known form")
        choice = Choice(
            tuple(float(p) for p in value["probabilities"]),
            str(value["raw"]),
            value["text"],
            "",
            str(value["model"]),
            Usage(**value["usage"]),
        )
        return str(value["asked"]), value["form"], choice, float(value["latency_ms"])
    except (ValueError, TypeError, AttributeError) as error:
        problem = f"line {number} of the cassette cannot be read: {error}; record it again"
        raise AssemblyError(problem) from error
