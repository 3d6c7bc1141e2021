"""What a constrained choice costs on a real vLLM, and what our way to it adds: `python -m eval.bench_backend`.

Starts `scripts/serve-vllm` with SmolLM2 on the CPU, or asks the server at `--url`. One run, one
server, the demo's catalog and messages: closed choice against the JSON form, one call at a time and
in turns; closed choices 1, 8 and 32 at a time; what is spent around the backend call; and the
throughput at 32 against the bare server, which gets the very same bytes over a plain HTTP client, in
turns, after both were asked them once.

The result is stored in `eval/results/bench_backend.json`; exit code 1 means that a figure was missed.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import socket
import statistics
import subprocess
import time
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import httpx

from eval.result import host_class
from gate.catalog import Catalog
from gate.load import load
from gate.load.backends import BackendEntry, Bounds
from inference import ending, prompts, sinks
from inference.backends import Choice, loop, wire
from inference.backends.guarded import GuardedBackend
from inference.backends.server import ServerBackend
from inference.errors import BackendError
from inference.question import Question
from inference.tiers.proposer import ProposerTier

ROOT: Final = Path(__file__).resolve().parents[1]
STORED: Final = ROOT / "eval/results/bench_backend.json"
COMMAND: Final = "python -m eval.bench_backend"
TEXTS: Final = ROOT / "training/data/demo/utterances.csv"
MODEL: Final = "var/models/smollm2-135m-instruct"
ANSWER_S: Final = 180.0
"""Longest wait of the plain client for one answer, in seconds, as that of BOUNDS."""
BOUNDS: Final = Bounds(deadline_s=180, queue_s=180, concurrency=64, attempts=1)
"""For a busy machine; what is measured is who is faster, not who is in time."""

ALONE, TOGETHER, ROUNDS = 11, 48, 3
TIMES_JSON, TOKENS, OVERHEAD_MS, SHARE = 5.0, 4, 5.0, 0.90
"""What is required: JSON over closed choice, tokens of a choice, our milliseconds, our throughput."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """So many choices at a time: how many were legal, calls and tokens of each, pace, latencies."""

    concurrency: int
    cases: int
    valid: int
    calls_per_case: float
    most_tokens_out: int
    per_s: float
    p50_ms: float
    p95_ms: float

    @property
    def holds(self) -> bool:
        """Whether every choice was legal, in one call of few tokens."""
        few = self.most_tokens_out <= TOKENS
        return self.valid == self.cases and self.calls_per_case == 1.0 and few


class Timed(ServerBackend):
    """Adds up the milliseconds between a call's bytes out and its answer's bytes in."""

    waited_ms = 0.0

    async def post(self, sent: bytes) -> bytes:
        """As the server's, timed."""
        started = time.perf_counter()
        try:
            return await super().post(sent)
        finally:
            self.waited_ms += _ms(started)


def _ms(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def entry(url: str, model: str, form: str) -> BackendEntry:
    """The server's entry in one form."""
    return BackendEntry(
        "bench", "vllm", url, model=model, identities=(model,), form=form,
        constraint="structured_outputs", bounds=BOUNDS,
    )  # fmt: skip


def texts() -> list[str]:
    """The demo's training messages, in file order."""
    with TEXTS.open(encoding="utf-8", newline="") as stream:
        return [next(iter(row.values())) for row in csv.DictReader(stream)]


async def _timed(call: Awaitable[Choice]) -> tuple[Choice | None, float]:
    started = time.perf_counter()
    try:
        return await call, _ms(started)
    except BackendError:
        return None, _ms(started)


async def against_json(
    url: str, model: str, catalog: Catalog, asked: Sequence[str]
) -> dict[str, Any]:
    """Closed choice and JSON form in turns, one call at a time."""
    closed = GuardedBackend(ServerBackend(entry(url, model, "codes")))
    told = GuardedBackend(ServerBackend(entry(url, model, "json")))
    ids = (*catalog.actions, "OUT_OF_SCOPE")
    codes, static = _codes(catalog)
    took: dict[str, list[float]] = {"closed": [], "json": []}
    valid = 0
    try:
        await closed.handshake()
        await told.handshake()
        for text in asked:
            for name, backend, part, legal in (
                ("closed", closed, static, codes),
                ("json", told, prompts.json_part(catalog), ids),
            ):
                prompt = prompts.prompt(part, Question(text))
                choice, ms = await _timed(backend.choose(prompt, legal))
                took[name].append(ms)
                valid += choice is not None and name == "json"
    finally:
        await closed.close()
        await told.close()
    medians = {name: round(statistics.median(values), 1) for name, values in took.items()}
    times = statistics.median(took["json"]) / statistics.median(took["closed"])
    return {
        "cases": len(asked),
        "p50_ms": medians,
        "json_valid": valid,
        "times": round(times, 2),
        "at_least": TIMES_JSON,
        "holds": times >= TIMES_JSON,
    }


async def crowd(backend: GuardedBackend, catalog: Catalog, asked: Sequence[str], n: int) -> Crowd:
    """Closed choices, `n` at a time."""
    codes, static = _codes(catalog)
    turns = asyncio.Semaphore(n)

    async def one(text: str) -> tuple[Choice | None, float]:
        async with turns:
            return await _timed(backend.choose(prompts.prompt(static, Question(text)), codes))

    started = time.perf_counter()
    found = await asyncio.gather(*(one(text) for text in asked))
    seconds = time.perf_counter() - started
    good = [choice for choice, _ in found if choice is not None]
    waits = sorted(ms for _, ms in found)
    return Crowd(
        concurrency=n,
        cases=len(asked),
        valid=len(good),
        calls_per_case=sum(c.usage.calls for c in good) / max(1, len(good)),
        most_tokens_out=max((c.usage.tokens_out or 10**6 for c in good), default=10**6),
        per_s=round(len(asked) / seconds, 2),
        p50_ms=round(statistics.median(waits), 1),
        p95_ms=round(waits[int(0.95 * (len(waits) - 1))], 1),
    )


async def bare(url: str, bodies: Sequence[bytes], n: int) -> float:
    """Answers per second of the server alone: the same bytes over a plain client, `n` at a time."""
    turns = asyncio.Semaphore(n)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=n)
    async with httpx.AsyncClient(timeout=ANSWER_S, trust_env=False, limits=limits) as client:

        async def one(body: bytes) -> None:
            async with turns:
                answer = await client.post(
                    f"{url}/v1/chat/completions",
                    content=body,
                    headers={"content-type": "application/json"},
                )
                answer.raise_for_status()

        started = time.perf_counter()
        await asyncio.gather(*(one(body) for body in bodies))
        return len(bodies) / (time.perf_counter() - started)


async def throughput(
    backend: GuardedBackend, url: str, model: str, catalog: Catalog, asked: Sequence[str]
) -> dict[str, Any]:
    """Ours and the bare server's, in turns, 32 at a time, after both were asked everything once."""
    codes, static = _codes(catalog)
    speech = wire.Speech(model, "codes", "structured_outputs")
    bodies = [
        wire.encoded(wire.closed(speech, prompts.prompt(static, Question(text)), codes))
        for text in asked
    ]
    await bare(url, bodies, 32)
    ours, alone = [], []
    for number in range(ROUNDS * 2):
        if number % 2:
            ours.append((await crowd(backend, catalog, asked, 32)).per_s)
        else:
            alone.append(await bare(url, bodies, 32))
    share = statistics.median(ours) / statistics.median(alone)
    return {
        "cases": len(asked),
        "rounds": ROUNDS,
        "ours_per_s": round(statistics.median(ours), 2),
        "bare_per_s": round(statistics.median(alone), 2),
        "share": round(share, 3),
        "at_least": SHARE,
        "holds": share >= SHARE,
    }


def overhead(url: str, model: str, catalog: Catalog, asked: Sequence[str]) -> dict[str, Any]:
    """What the tier spends around the call: from question to reply, less the wait for the server."""
    server = Timed(entry(url, model, "codes"))
    backend = GuardedBackend(server)
    tier = ProposerTier("bench", backend, catalog, Decimal("0.5"))
    loop.call(backend.handshake())
    spent = []
    for text in asked:
        server.waited_ms, started = 0.0, time.perf_counter()
        tier.propose(Question(text))
        spent.append(_ms(started) - server.waited_ms)
    loop.call(backend.close())
    median = statistics.median(spent)
    return {
        "cases": len(asked),
        "p50_ms": round(median, 2),
        "at_most": OVERHEAD_MS,
        "holds": median <= OVERHEAD_MS,
    }


def measure(url: str, model: str) -> dict[str, Any]:
    """Every figure, as JSON."""
    catalog, asked = load(ROOT / "configs/demo").catalog, texts()
    version = httpx.get(f"{url}/version", timeout=30).json()["version"]
    json_form = asyncio.run(against_json(url, model, catalog, asked[:ALONE]))

    async def crowds() -> tuple[list[Crowd], dict[str, Any]]:
        backend = GuardedBackend(ServerBackend(entry(url, model, "codes")))
        try:
            await backend.handshake()
            found = [
                await crowd(backend, catalog, asked[100 : 100 + max(16, n * 2)], n)
                for n in (1, 8, 32)
            ]
            return found, await throughput(
                backend, url, model, catalog, asked[200 : 200 + TOGETHER]
            )
        finally:
            await backend.close()

    found, pace = asyncio.run(crowds())
    return {
        "schema_version": 1,
        "command": COMMAND,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": host_class(),
        "server": f"vLLM {version} on CPU, float32",
        "model": model,
        "labels": len(catalog.actions) + 1,
        "closed_against_json": json_form,
        "crowds": [{**asdict(one), "holds": one.holds} for one in found],
        "overhead": overhead(url, model, catalog, asked[:ALONE]),
        "throughput_at_32": pace,
    }


def _codes(catalog: Catalog) -> tuple[tuple[str, ...], str]:
    codes = tuple(prompts.CODES[: len(catalog.actions) + 1])
    return codes, prompts.static_part(catalog, coded=True)


@contextmanager
def serving() -> Iterator[tuple[str, str]]:
    """Address and model of a server that runs until the end of the block."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    line = [str(ROOT / "scripts/serve-vllm"), "--model", str(ROOT / MODEL), "--port", str(port)]
    process = subprocess.Popen(line, stdout=subprocess.PIPE)  # noqa: S603
    try:
        assert process.stdout is not None  # noqa: S101
        told = process.stdout.readline()
        if not told:
            raise SystemExit("error: vLLM did not start; its log says why")
        ready = json.loads(told)
        yield str(ready["url"]), str(ready["model"])
    finally:
        process.terminate()
        process.wait(60)


def table(result: dict[str, Any]) -> str:
    """The figures as a table in Markdown."""
    against, pace, own = (
        result["closed_against_json"],
        result["throughput_at_32"],
        result["overhead"],
    )
    rows = [
        ("JSON form / closed choice, p50", f"{against['times']} times", "at least 5", against),
        *(
            (
                f"{c['concurrency']} at a time: legal, calls, tokens, per s, p50",
                f"{c['valid']}/{c['cases']}, {c['calls_per_case']:.2f}, {c['most_tokens_out']}, "
                f"{c['per_s']}, {c['p50_ms']} ms",
                "all, 1.00, at most 4",
                c,
            )
            for c in result["crowds"]
        ),
        ("overhead around the call, p50", f"{own['p50_ms']} ms", "at most 5 ms", own),
        ("throughput at 32 over the bare server's", f"{pace['share']}", "at least 0.90", pace),
    ]
    lines = [f"{result['server']}, {result['model']}, {result['host']}", ""]
    lines += ["| figure | measured | required | |", "|---|---|---|---|"]
    lines += [f"| {n} | {m} | {r} | {'' if h['holds'] else 'missed'} |" for n, m, r, h in rows]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None, out: Path = STORED) -> int:
    """Measure, print and store; 0, or 1 if a figure was missed."""
    reader = argparse.ArgumentParser(prog=COMMAND, description=str(__doc__).split("\n", 1)[0])
    reader.add_argument("--url", help="a running vLLM on this machine; one is started if left out")
    reader.add_argument("--model", default=Path(MODEL).name, help="its model's name")
    told = reader.parse_args(arguments)
    if told.url:
        result = measure(told.url, told.model)
    else:
        with serving() as (url, model):
            result = measure(url, model)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(*map(sinks.terminal, table(result).splitlines()), sep="\n")
    parts = [result["closed_against_json"], result["overhead"], result["throughput_at_32"]]
    return 0 if all(part["holds"] for part in (*parts, *result["crowds"])) else 1


if __name__ == "__main__":
    ending.run(main)
