"""A tier's answer from JSON, as `gate decide` and recorded runs give it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field, StringConstraints

from gate.errors import RequestError
from gate.load.model import Model, Number, Short, validate_value
from gate.records import Abstain, OutOfScope, Proposal, TierAnswer, Unparsed

GIVEN: Final = "given"
"""The tier of a proposal that names none."""

PROPOSED: Final = ("action_id", "object_id", "topk")
"""The fields that the contract checks."""


class AbstainModel(Model):
    """Why a tier does not know."""

    reason: Short
    """A code such as `low_confidence`."""
    top2: Annotated[list[Short], Field(max_length=2, default_factory=list)]
    """The two actions it wavers between."""


class ProposalModel(Model):
    """A tier's proposal, or that nothing fits, or that it does not know."""

    action_id: Any = None
    """The proposed action."""
    object_id: Any = None
    """The proposed object, NONE, UNRESOLVED, or null where the tier proposes no objects."""
    topk: Any = None
    """One to three actions, the proposed one first."""
    out_of_scope: bool = False
    """True if no action fits."""
    abstain: AbstainModel | None = None
    """The tier does not know."""
    confidence: Annotated[Number, Field(ge=0, le=1)] | None = None
    """Decimal between 0 and 1, as text."""
    tier: Short = GIVEN
    """Name of the tier."""
    backend: Annotated[str, StringConstraints(max_length=200)] = ""
    """Name of the backend."""
    receipt: Short | None = None
    """Id of the stored raw output."""


def parse_proposal(value: Any, where: str = "proposal") -> TierAnswer:
    """A tier's answer: a text is Unparsed, an object one of the three tier results.

    Proposed fields of a wrong type are no RequestError but a matter of the contract: they become
    Unparsed, so that the contract names them. What describes the answer (tier, backend, confidence)
    must be well formed.
    """
    if isinstance(value, str):
        return Unparsed(value, GIVEN)
    model = validate_value(ProposalModel, value, where)
    proposed = {name: value[name] for name in PROPOSED if name in value}
    if bool(proposed) + model.out_of_scope + (model.abstain is not None) != 1:
        raise RequestError(
            "proposal is not exactly one of action, out_of_scope and abstain",
            where=where,
            fix="give `action_id`, `object_id` and `topk`, or `out_of_scope`, or `abstain`",
        )
    tier, confidence, backend, receipt = model.tier, model.confidence, model.backend, model.receipt
    if model.out_of_scope:
        return OutOfScope(tier, confidence, backend, receipt)
    if model.abstain:
        return Abstain(model.abstain.reason, tier, tuple(model.abstain.top2), backend, receipt)
    if not _is_typed(proposed):
        text = json.dumps(proposed, ensure_ascii=False)
        return Unparsed(text, tier, confidence, backend, receipt)
    action_id, object_id, topk = (proposed[name] for name in PROPOSED)
    return Proposal(action_id, object_id, tuple(topk), confidence, tier, backend, receipt)


def _is_typed(proposed: Mapping[str, Any]) -> bool:
    """True if all three fields are there and of the types that a proposal has."""
    topk = proposed.get("topk")
    return (
        isinstance(proposed.get("action_id"), str)
        and "object_id" in proposed
        and isinstance(proposed["object_id"], str | None)
        and isinstance(topk, list)
        and all(isinstance(i, str) for i in topk)
    )
