"""What the way through hands on: a decided request, and its end."""

from __future__ import annotations

from dataclasses import dataclass

from gate.evidence import Evidence
from gate.findings import Findings
from gate.records import Request, Terminal, Verdict
from inference.drafts import Citation
from inference.execution import Due
from inference.tiers.cascade import Tried

ANSWERED, BOUNDED, REPLAYED = "ANSWERED", "BOUNDED", "REPLAYED"
"""Statuses of an end besides those of a write."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of each stage, outside the record's hash."""

    findings: float = 0.0
    tiers: float = 0.0
    gate: float = 0.0
    ledger: float = 0.0


@dataclass(frozen=True, slots=True)
class Routed:
    """A decided request. `decision_id` is None where nothing could be recorded.

    `replayed` marks the stored decision of an equal, earlier request: its verdict is the recorded
    one and nothing is started again. `question` with its `token` asks for a confirmation;
    `dialogue_id` names a clarification to the next turn; `due` is a write that was dispatched;
    `heard` is the request with the turns of its dialogue. `problem` is for the operator.
    """

    request: Request
    findings: Findings
    tried: tuple[Tried, ...]
    verdict: Verdict
    decision_id: str | None
    timing: Timing = Timing()
    replayed: bool = False
    question: str | None = None
    token: str | None = None
    dialogue_id: str | None = None
    due: Due | None = None
    heard: Request | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """A request's end: its last terminal with the id that decided it, and what the customer reads.

    `status` is ANSWERED, BOUNDED or REPLAYED, or how the ledger states the end of a write; `basis`
    tells what kind of decision chose the answer; `reasons` are codes, never for the customer;
    `pathway_ms` is the time after the decision was durable.
    """

    routed: Routed
    terminal: Terminal
    rule_id: str
    status: str
    message: str
    citations: tuple[Citation, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    reasons: tuple[str, ...] = ()
    basis: str = ""
    pathway_ms: float = 0.0
