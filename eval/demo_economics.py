"""What a run of the demo's held-out texts costs, and how long each tier takes, in costs.yaml's unit.

A message costs what each tier that was asked costs (`small`, `large`), and what became of it: the
damage of a wrong route, a question back, or of being turned away although there was a service for it.
`routelock bench demo --without phrases --without fast` is the always-LLM baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eval.ended import Ended
from eval.errors import SuiteError
from eval.intents.economics import megabytes
from gate.load import Institution
from gate.load.appliance import Tier
from gate.load.costs import OUT_OF_SCOPE, Costs
from gate.records import OutOfScope, Terminal
from inference.classifiers import opening


@dataclass(frozen=True, slots=True)
class OfTier:
    """One tier: how many messages it was asked, milliseconds of an answer, what it reads from the disk."""

    asked: int
    p50_ms: float
    p95_ms: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class Economics:
    """Cost per 1,000 messages in the unit, shares of all messages, and each tier.

    `escalation` is the share that reached a tier that is prompted, `clarify` the share that was asked
    back, the read-back of a write not counted.
    """

    unit: str
    cost_per_1000: float
    escalation: float
    clarify: float
    tiers: Mapping[str, OfTier]


def measure(ended: Sequence[Ended], institution: Institution, root: Path) -> Economics:
    """The economics of a run; SuiteError where the institution has no costs.yaml."""
    costs = institution.costs
    if costs is None:
        raise SuiteError("no costs", file=str(institution.folder), fix="add costs.yaml")
    asked = {t.tier for one in ended for t in one.tried}
    tiers = {t.name: t for t in institution.appliance.tiers if t.name in asked}
    price = {name: _price(tier, costs) for name, tier in tiers.items()}
    spent = [sum(price[t.tier] for t in one.tried) + became(one, costs) for one in ended]
    passed_on = [any(price[t.tier] == costs.large for t in one.tried) for one in ended]
    return Economics(
        costs.unit,
        round(1000 * float(np.mean(spent)), 1),
        round(float(np.mean(passed_on)), 4),
        round(float(np.mean([_asks(one) for one in ended])), 4),
        {name: _of_tier(tier, ended, root) for name, tier in tiers.items()},
    )


def became(one: Ended, costs: Costs) -> float:
    """What a message's end costs, in the unit of the costs."""
    if one.routed:
        return 0.0 if one.right else costs.damage[str(one.verdict.action_id)]
    if _asks(one):
        return costs.clarify
    turned_away = isinstance(one.answer, OutOfScope) and one.label.action != OUT_OF_SCOPE
    return costs.damage[OUT_OF_SCOPE] if turned_away else 0.0


def _price(tier: Tier, costs: Costs) -> float:
    if tier.kind == "phrases":
        return 0.0
    return costs.small if tier.kind in opening.KINDS else costs.large


def _asks(one: Ended) -> bool:
    return one.verdict.terminal is Terminal.CLARIFY and not one.routed


def _of_tier(tier: Tier, ended: Sequence[Ended], root: Path) -> OfTier:
    took = [t.milliseconds for one in ended for t in one.tried if t.tier == tier.name]
    p50, p95 = np.percentile(took, [50, 95]).tolist()
    read = 0.0 if tier.model is None else megabytes(root / tier.model)
    return OfTier(len(took), round(p50, 3), round(p95, 3), read)
