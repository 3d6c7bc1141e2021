"""`costs.yaml`: what a wrong route, a passed-on message and a question cost, in one unit."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Final

from pydantic import Field

from gate.load.fixes import did_you_mean, shown
from gate.load.model import FileModel, Model, Number, Text, validate
from gate.load.yamlfile import Document

FILE: Final = "costs.yaml"
OUT_OF_SCOPE: Final = "OUT_OF_SCOPE"
"""The damage of turning away a request that an action covers."""

Amount = Annotated[Number, Field(ge=0, le=10**9)]
Share = Annotated[Number, Field(ge=0, le=1)]


class LimitsModel(Model):
    """Limits under which the thresholds are chosen."""

    escalation: Share = Decimal(1)
    """Greatest share of messages that may be passed on to the next tier."""
    clarify: Share = Decimal(1)
    """Greatest share of messages that may be answered with a question."""
    wrong_routes: Share = Decimal(1)
    """Greatest share of wrong routes among the routed messages."""


class CostsFile(FileModel):
    """Costs of one message by what becomes of it, all in one unit."""

    unit: Text
    """What the numbers count, for example `US cents`."""
    small: Amount
    """Cost of answering a message from the fast tier."""
    large: Amount
    """Cost of passing a message on to the next tier."""
    clarify: Amount
    """Cost of asking the customer back."""
    damage: Annotated[dict[str, Amount], Field(min_length=1)]
    """Damage of a wrong route by action: every action of the catalog, and `OUT_OF_SCOPE`."""
    limits: LimitsModel = LimitsModel()
    """Limits that no threshold may break; left out, there is none."""


@dataclass(frozen=True, slots=True)
class CostLimits:
    """Greatest shares: of all messages passed on, of all asked back, of the routed ones wrong."""

    escalation: float = 1.0
    clarify: float = 1.0
    wrong_routes: float = 1.0


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs per message in `unit`; `damage` by action and `OUT_OF_SCOPE`; `digest` of the file."""

    unit: str
    small: float
    large: float
    clarify: float
    damage: Mapping[str, float]
    limits: CostLimits = CostLimits()
    digest: str = ""


def read(document: Document, actions: Collection[str], digest: str = "") -> Costs:
    """The costs; ConfigError with file, line and fix, also for an action that is not named.

    A left-out action gets no default: a threshold of its own would then come from nobody.
    """
    file = validate(CostsFile, document)
    known = {*actions, OUT_OF_SCOPE}
    for name, amount in file.damage.items():
        if name not in known:
            problem = f"`damage` names the action `{shown(name)}`, which the catalog lacks"
            raise document.error(problem, ("damage", name), did_you_mean(name, known))
        if amount == 0:
            problem = f"damage of `{name}` is `0`, as if a wrong route did not matter"
            raise document.error(problem, ("damage", name), "write a number above 0")
    for name in sorted(known - set(file.damage)):
        raise document.error(f"`damage` lacks `{name}`", ("damage",), f"add `{name}:`")
    return Costs(
        unit=file.unit,
        small=float(file.small),
        large=float(file.large),
        clarify=float(file.clarify),
        damage=MappingProxyType({name: float(file.damage[name]) for name in sorted(known)}),
        limits=CostLimits(**{k: float(v) for k, v in file.limits.model_dump().items()}),
        digest=digest,
    )
