"""The contract: what a tier's answer must be before anybody looks at it.

Three stages in order: syntax, closed identifiers, cross-field relations. The first failed stage and
the supplied value are kept. The JSON form alone gets one repair, and only of its format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from gate.catalog import Catalog
from gate.records import (
    NONE,
    UNRESOLVED,
    Abstain,
    Entry,
    OutOfScope,
    Proposal,
    TierAnswer,
    TierResult,
    Unparsed,
)

SYNTAX, CLOSED, CROSS = "C-SYNTAX", "C-CLOSED", "C-CROSS"
FIELDS = ("action_id", "object_id", "topk")
MAX_TEXT = 4096
"""Characters of a tier's JSON answer that are read at all."""
SHOWN = 120
"""Characters of a failed value that are kept."""

_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A tier result that holds the contract; `repair` names the one format repair, if any."""

    result: TierResult
    repair: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The first contract that failed, `stage:what`, the supplied value, and the one known action if any."""

    contract: str
    supplied: str
    action_id: str | None = None
    repair: str | None = None


def check(
    answer: TierAnswer, catalog: Catalog, entries: Mapping[str, Entry], own: Mapping[str, Entry]
) -> Accepted | Failed:
    """Hold a tier's answer against the contract; total over every value whatever."""
    repair = None
    if isinstance(answer, Unparsed):
        parsed = parse(answer)
        if isinstance(parsed, Failed):
            return parsed
        answer, repair = parsed.result, parsed.repair
    if isinstance(answer, OutOfScope | Abstain):
        return Accepted(answer, repair)
    if not isinstance(answer, Proposal):
        return Failed(f"{SYNTAX}:type", _shown(answer), repair=repair)
    return _closed(answer, catalog, entries, own, repair)


def parse(answer: Unparsed) -> Accepted | Failed:
    """Read the JSON form: exactly one object with exactly the three fields."""
    text, repair = answer.text, None
    if len(text) > MAX_TEXT:
        return Failed(f"{SYNTAX}:length", _shown(text))
    fenced = _FENCE.fullmatch(text)
    if fenced or text.startswith("\ufeff"):
        text, repair = (fenced.group(1) if fenced else text[1:]), "fence" if fenced else "bom"
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return Failed(f"{SYNTAX}:json", _shown(answer.text), repair=repair)
    if not isinstance(value, dict) or set(value) != set(FIELDS):
        return Failed(f"{SYNTAX}:fields", _shown(answer.text), repair=repair)
    return _typed(answer, value, repair)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a field is given twice")
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"`{constant}` is no JSON value")


def _typed(answer: Unparsed, value: Mapping[str, Any], repair: str | None) -> Accepted | Failed:
    topk = value["topk"]
    for name in ("action_id", "object_id"):
        if not isinstance(value[name], str):
            return Failed(f"{SYNTAX}:{name}", _shown(value[name]), repair=repair)
    if not isinstance(topk, list) or not all(isinstance(item, str) for item in topk):
        return Failed(f"{SYNTAX}:topk", _shown(topk), repair=repair)
    proposal = Proposal(
        value["action_id"], value["object_id"], tuple(topk), answer.confidence, answer.tier, answer.backend,
        answer.receipt,
    )  # fmt: skip
    return Accepted(proposal, repair)


def _closed(
    proposal: Proposal,
    catalog: Catalog,
    entries: Mapping[str, Entry],
    own: Mapping[str, Entry],
    repair: str | None,
) -> Accepted | Failed:
    action = catalog.get(proposal.action_id)
    if action is None:
        return Failed(f"{CLOSED}:action_id", _shown(proposal.action_id), repair=repair)

    def failed(contract: str, supplied: object) -> Failed:
        return Failed(contract, _shown(supplied), action.action_id, repair)

    entry = None
    if proposal.object_id not in (None, UNRESOLVED, NONE):
        entry = _entry(proposal.object_id, entries, own)
        if entry is None:
            return failed(f"{CLOSED}:object_id", proposal.object_id)
    if not isinstance(proposal.topk, tuple) or any(catalog.get(i) is None for i in proposal.topk):
        return failed(f"{CLOSED}:topk", proposal.topk)
    if not 1 <= len(proposal.topk) <= 3 or len(set(proposal.topk)) != len(proposal.topk):
        return failed(f"{CROSS}:topk", proposal.topk)
    if proposal.topk[0] != action.action_id:
        return failed(f"{CROSS}:primary", proposal.topk)
    if entry is not None and entry.object_type not in action.types:
        return failed(f"{CROSS}:object_type", proposal.object_id)
    if proposal.object_id == NONE and action.object_required:
        return failed(f"{CROSS}:object_required", proposal.object_id)
    if not _is_confidence(proposal.confidence):
        return failed(f"{CROSS}:confidence", proposal.confidence)
    return Accepted(proposal, repair)


def _entry(
    object_id: object, entries: Mapping[str, Entry], own: Mapping[str, Entry]
) -> Entry | None:
    if not isinstance(object_id, str):
        return None
    return own.get(object_id) or entries.get(object_id)


def _is_confidence(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, Decimal) and value.is_finite() and 0 <= value <= 1


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
