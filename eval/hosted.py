"""Recording a hosted backend: `routelock bench record`, the one place from which cases leave the house.

Every prompt is looked through for personal data before it is sent, money is counted before and after
each call, and what comes back is a cassette that anyone replays without a key (`cassette:FILE`).
`--dry-run` sends nothing. Each use is an event in the institution's ledger.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from eval import personal
from eval.case import ask
from eval.errors import ProposerError
from eval.proposers.tiers import Tiers
from eval.suite import Suite
from gate.ledger.book import open_book
from gate.ledger.record import Kind, event
from gate.load.backends import BackendEntry, Prices
from gate.load.institution import Institution
from inference.backends import Backend, Choice, Form, Usage, loop, recorded, wire
from inference.backends.bounded import Bounded
from inference.backends.recorded import RecordedBackend
from inference.backends.server import ServerBackend
from inference.errors import BackendError
from inference.prompts import Prompt
from inference.tiers.proposer import ProposerTier

DRY, HELD_BACK, CAP = "dry_run", "personal_data", "spending_cap"
MILLION: Final = Decimal(1_000_000)
BYTES_PER_TOKEN: Final = 2
"""Bytes of a prompt for which one token is reckoned: more tokens than any of today's models makes."""
OVERHEAD_TOKENS: Final = 200
"""Reckoned for what a server adds to a prompt, the schema included."""


@dataclass(slots=True)
class Spent:
    """What a recording took so far, and what became of its cases by reason."""

    sent: int = 0
    kept: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: Decimal = Decimal(0)
    left_out: Counter[str] = field(default_factory=Counter)


class Recording:
    """A backend whose choices are written to a cassette, within a spending cap."""

    def __init__(
        self, backend: Backend, prices: Prices, cap: Decimal, out: Path, dry_run: bool
    ) -> None:
        self.name, self.digest = backend.name, backend.digest
        self.form: Form = backend.form
        self.spent = Spent()
        self._backend, self._prices, self._cap = backend, prices, cap
        self._out, self._dry_run = out, dry_run
        self._known: RecordedBackend | None = (
            recorded.load(self.name, out) if out.exists() else None
        )

    async def choose(self, prompt: Prompt, codes: Sequence[str]) -> Choice:
        """The kept choice, or a new one within the cap; BackendError with the reason of a case left out."""
        spent = self.spent
        if self._known is not None and self._known.holds(prompt, codes):
            spent.kept += 1
            return await self._known.choose(prompt, codes)
        kinds = personal.kinds(prompt.dynamic)
        if kinds:
            raise self._left_out(HELD_BACK, f"the prompt seems to hold: {', '.join(kinds)}")
        most = reckoned(prompt)
        if spent.money + cost(self._prices, most) > self._cap:
            raise self._left_out(CAP, f"{spent.money} of {self._cap} are spent")
        if self._dry_run:
            self._count(most)
            raise BackendError(DRY, "nothing was sent")
        started = time.perf_counter()
        try:
            choice = await self._backend.choose(prompt, codes)
        except BackendError as error:
            self._count(most)  # it may have been charged
            raise self._left_out(error.reason, str(error)) from error
        took = (time.perf_counter() - started) * 1000
        told = choice.usage
        known = told.tokens_in is not None and told.tokens_out is not None
        self._count(told if known else most)
        line = recorded.record(prompt, codes, self.form, choice, took)
        with self._out.open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")
        return choice

    def _left_out(self, reason: str, problem: str) -> BackendError:
        self.spent.left_out[reason] += 1
        return BackendError(reason, problem)

    def _count(self, usage: Usage) -> None:
        spent = self.spent
        spent.sent += 1
        spent.tokens_in += usage.tokens_in or 0
        spent.tokens_out += usage.tokens_out or 0
        spent.money += cost(self._prices, usage)


def reckoned(prompt: Prompt) -> Usage:
    """The most tokens that a call is reckoned to take."""
    size = len(prompt.static.encode()) + len(prompt.dynamic.encode())
    return Usage(1, size // BYTES_PER_TOKEN + OVERHEAD_TOKENS, wire.JSON_TOKENS)


def cost(prices: Prices, usage: Usage) -> Decimal:
    """Money for so many tokens."""
    read = prices.input_per_million * (usage.tokens_in or 0)
    written = prices.output_per_million * (usage.tokens_out or 0)
    return (read + written) / MILLION


def check(entry: BackendEntry) -> Prices:
    """The prices of a backend that may be recorded; ProposerError for one that is not hosted or has none."""
    if not entry.hosted:
        raise ProposerError(
            f"`{entry.name}` is not hosted; use it in `bench run` without a recording"
        )
    if entry.prices is None:
        raise ProposerError(f"`{entry.name}` has no `prices`; add them to backends.yaml")
    return entry.prices


def record(
    suite: Suite,
    institution: Institution,
    backend: str,
    *,
    cap: Decimal,
    out: Path,
    dry_run: bool,
    root: Path = Path(),
) -> dict[str, Any]:
    """Ask the hosted backend for every case of a suite that is not in the cassette `out` yet.

    Returns counts, tokens and money; in a dry run reckoned ones, and nothing is sent or recorded
    but the event in the ledger. ProposerError for a backend that is not declared or not hosted.
    """
    entry = institution.backends.get(backend)
    if entry is None:
        raise ProposerError(f"backends.yaml declares no `{backend}`")
    if suite.totals_only:
        raise ProposerError(f"`{suite.name}` is sealed; its cases may not leave the house")
    prices = check(entry)
    server = ServerBackend(entry, root)
    recording = Recording(Bounded(server, entry.bounds), prices, cap, out, dry_run)
    catalog = suite.configuration.catalog
    tier = ProposerTier("proposer", recording, catalog, Decimal(0))
    _ledgered(institution, root, _told(entry, suite, recording, cap, dry_run, "begun"))
    asked = Tiers(backend, suite.configuration, (tier,))
    try:
        for case in suite.cases:
            asked.propose(ask(case))
    finally:
        loop.call(server.close())
    told = _told(entry, suite, recording, cap, dry_run, "ended")
    _ledgered(institution, root, told)
    return told


def _told(
    entry: BackendEntry,
    suite: Suite,
    recording: Recording,
    cap: Decimal,
    dry_run: bool,
    stage: str,
) -> dict[str, Any]:
    spent, prices = recording.spent, check(entry)
    return {
        "event": "BENCH_RECORD",
        "stage": stage,
        "dry_run": dry_run,
        "backend": entry.name,
        "model": entry.model,
        "url": entry.url,
        "suite": suite.name,
        "cases": len(suite.cases),
        "sent": 0 if dry_run else spent.sent,
        "would_send": spent.sent if dry_run else 0,
        "kept": spent.kept,
        "left_out": dict(sorted(spent.left_out.items())),
        "tokens_in": spent.tokens_in,
        "tokens_out": spent.tokens_out,
        "money": f"{spent.money:.6f}",
        "cap": str(cap),
        "currency": prices.currency,
        "prices_as_of": prices.as_of,
    }


def _ledgered(institution: Institution, root: Path, detail: dict[str, Any]) -> None:
    paths = institution.appliance.paths
    versions = {"backends.yaml": institution.configuration.digests["backends.yaml"]}
    with open_book(root / paths.ledger, root / paths.receipts) as book:
        at = datetime.now(UTC)
        book.ledger.append(event(Kind.CONFIG, at, versions=versions, detail=detail))
