"""Tier answers as JSON: whole in the receipt, with everything unlisted hidden in the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from gate.errors import ReplayError
from gate.ledger.encode import Json, plain, unplain
from gate.records import Abstain, OutOfScope, Proposal, TierAnswer, Unparsed

Public = Callable[[str], bool]
"""True for an id of the closed lists, which may stand in a record as it is."""

PRIVATE = "$private"
"""Key of an object whose value is replaced by its keyed digest when the record is sealed."""

TYPES: Mapping[str, type[Proposal | OutOfScope | Abstain | Unparsed]] = {
    "proposal": Proposal,
    "out_of_scope": OutOfScope,
    "abstain": Abstain,
    "unparsed": Unparsed,
}

IDS, LISTS = frozenset({"action_id", "object_id"}), frozenset({"topk", "top2"})
"""Fields of an answer that hold one id, and a list of ids, of the closed lists."""


def shown(value: object, public: Public) -> Json:
    """A value of a closed list as it is, None as null, anything else marked private."""
    if value is None or (isinstance(value, str) and public(value)):
        return value
    return {PRIVATE: plain(value)}


def tier_body(answer: TierAnswer) -> dict[str, Json]:
    """Every field of a tier's answer; a decimal as its string, with the digits it had."""
    name = next(name for name, kind in TYPES.items() if kind is type(answer))
    values = {field: getattr(answer, field) for field in answer.__dataclass_fields__}
    return {"type": name, **{f: _field(f, value) for f, value in values.items()}}


def _field(name: str, value: object) -> Json:
    return _confidence(value) if name == "confidence" else plain(value)


def _confidence(value: object) -> Json:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, str):
        return {"$text": value.encode("utf-8", "surrogatepass").hex()}
    return plain(value)


def tier_core(answer: TierAnswer, public: Public) -> dict[str, Json]:
    """A tier's answer for the record: ids outside the closed lists and raw text marked private."""
    body = tier_body(answer)
    for name in IDS & body.keys():
        body[name] = shown(getattr(answer, name), public)
    for name in LISTS & body.keys():
        body[name] = _each(getattr(answer, name), public)
    if isinstance(answer, Unparsed):
        body["text"] = {PRIVATE: body["text"]}
    return body


def _each(values: object, public: Public) -> Json:
    if isinstance(values, (tuple, list)):
        return [shown(value, public) for value in values]
    return {PRIVATE: plain(values)}


def tier_answer_of(body: Mapping[str, Json]) -> TierAnswer:
    """The answer whose `tier_body` is `body`."""
    values: dict[str, Any] = unplain(dict(body))
    if isinstance(body.get("confidence"), str):
        values["confidence"] = Decimal(body["confidence"])
    for name in LISTS & values.keys():
        if isinstance(values[name], list):
            values[name] = tuple(values[name])
    return TYPES[values.pop("type")](**values)


def tier_answer_from_core(record: Mapping[str, Json]) -> TierAnswer | None:
    """The answer that a decision record itself holds; ReplayError if a part of it is hidden.

    An answer over the closed lists needs no receipt. Hidden ids and raw text do.
    """
    body = record["tier_result"]
    if body is None:
        return None
    if any(
        hidden(value) for value in (*body.values(), *body.get("topk", ()), *body.get("top2", ()))
    ):
        raise ReplayError("the tier result names a private value; its receipt is needed")
    return tier_answer_of(body)


def hidden(value: object) -> bool:
    """True for the digest that stands in a record where a private value was."""
    return isinstance(value, str) and value.startswith(HIDDEN)


HIDDEN = "hmac:"
