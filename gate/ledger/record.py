"""What a decision record holds, and how it is made.

`core` writes a decision down in the clear, with private values marked. `seal` replaces them by
keyed digests and adds who asked. The ledger adds the link to the record before. The sealed record
is what is hashed, stored and replayed; its field names are those of the design's section "Records".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gate.configuration import Configuration
from gate.errors import LedgerError
from gate.ledger.encode import Json, canonical, canonical_plain, instant, plain, request_body
from gate.ledger.formats import Kind, kind_of, newest
from gate.ledger.pseudonym import digest, keyed
from gate.ledger.tiers import HIDDEN, PRIVATE, Public, shown, tier_core
from gate.records import NONE, UNRESOLVED, Option, Request, Switches, TierAnswer, Verdict

__all__ = [
    "CARRIED",
    "DIGEST",
    "GENESIS",
    "NO_SWITCHES",
    "Identity",
    "Kind",
    "Sealed",
    "body_commitment",
    "commitment",
    "core",
    "event",
    "halves",
    "identify",
    "kind_of",
    "mark",
    "public_ids",
    "seal",
    "use_of",
]

GENESIS = "0" * 64
"""`previous` of the first record."""

DIGEST = re.compile("[0-9a-f]{64}")

LINK = b',"previous":"' + GENESIS.encode() + b'"'
"""The first record's link as it lies in its bytes."""


CARRIED = ("fallback", "reported_model")
"""Fields that report what happened around the gate; replay copies what it cannot recompute."""

NO_SWITCHES = Switches()


@dataclass(frozen=True, slots=True)
class Identity:
    """Which decision this is and for whom: two digests."""

    decision_id: str
    subject: str | None


def identify(key: bytes, request: Request) -> Identity:
    """The pseudonym of the request's subject, and the decision id that follows from it."""
    session = request.session
    subject = None if session is None else keyed(key, "subject", plain(session.subject))
    parts = ["decision", plain(request.channel), subject, plain(request.request_id)]
    return Identity(digest(canonical(parts))[:32], subject)


def commitment(salt: bytes, request: Request) -> str:
    """The keyed digest of every field of a request: equal for the same body, mute without salt."""
    return body_commitment(salt, request_body(request), plain(dict(request.state)))


def body_commitment(salt: bytes, body: Json, state: Json) -> str:
    """`commitment` of the request whose `request_body` and plain state these are."""
    return keyed(salt, "text", [body, state])


def public_ids(configuration: Configuration) -> Public:
    """The test for ids of a configuration's closed lists."""
    actions, objects = configuration.catalog.actions, configuration.registry.entries
    return lambda value: value in actions or value in objects or value in (NONE, UNRESOLVED)


def core(
    *,
    request: Request,
    tier_answer: TierAnswer | None,
    verdict: Verdict,
    findings: Mapping[str, Any],
    now: datetime,
    versions: Mapping[str, str],
    public: Public,
    switches: Switches = NO_SWITCHES,
    slots: Mapping[str, Any] | None = None,
    dialogue: Mapping[str, Any] | None = None,
    confirm: Mapping[str, Any] | None = None,
    fallback: str | None = None,
    reported_model: str | None = None,
) -> dict[str, Json]:
    """A decision in the clear: every recorded field but identity, commitment and link.

    `findings`, `slots`, `dialogue` and `confirm` hold ids, offsets and typed values, never text;
    own object ids anywhere in them are marked private here, other personal values by
    `{"$private": value}`. `tier_answer` is None where no tier was asked.
    `now` is aware. The result is for `seal`, never for a disk.
    """
    session = request.session
    own = frozenset(e.object_id for e in session.objects) if session else frozenset[str]()

    def listed(value: str) -> bool:
        return public(value) and value not in own

    def marked(value: Mapping[str, Any] | None) -> Json:
        return None if value is None else mark(value, own)

    return {
        "format": newest(),
        "kind": Kind.DECISION.value,
        "decided_at": instant(now),
        "terminal": verdict.terminal.value,
        "action_id": shown(verdict.action_id, listed),
        "object_id": shown(verdict.object_id, listed),
        "slots": marked(slots or {}),
        "boundary": verdict.boundary.value,
        "rule_id": verdict.rule_id,
        "reason_codes": [str(code) for code in verdict.reason_codes],
        "state": plain(dict(request.state)),
        "findings": marked(findings),
        "candidates": _candidates(request, listed),
        "tier_result": None if tier_answer is None else tier_core(tier_answer, listed),
        "first_failed_contract": _contract(verdict, listed),
        "repair": verdict.repair,
        "fallback": fallback,
        "reported_model": reported_model,
        "entitlements": plain(session.entitlements) if session else [],
        "dialogue": _dialogue(request, verdict, marked(dialogue), listed),
        "confirm": _confirm(request, marked(confirm)),
        "switches": {"set": list(switches.names()), "inert": list(verdict.inert)},
        "versions": dict(versions),
    }


def mark(value: Any, own: frozenset[str]) -> Json:
    """`plain(value)` with every string that is one of `own` marked private, keys included."""
    if isinstance(value, str) and value in own:
        return {PRIVATE: value}
    if isinstance(value, Mapping) and set(value) != {PRIVATE}:
        if own.isdisjoint(value):
            return {key: mark(item, own) for key, item in value.items()}
        return [{"key": mark(key, own), "value": mark(item, own)} for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [mark(item, own) for item in value]
    return {PRIVATE: plain(value[PRIVATE])} if isinstance(value, Mapping) else plain(value)


def _candidates(request: Request, listed: Public) -> Json:
    if request.candidates is None:
        return None
    return [shown(candidate, listed) for candidate in request.candidates]


def _contract(verdict: Verdict, listed: Public) -> Json:
    if verdict.first_failed_contract is None:
        return None
    return {"name": verdict.first_failed_contract, "supplied": shown(verdict.supplied, listed)}


def _dialogue(request: Request, verdict: Verdict, given: Json, listed: Public) -> Json:
    if given is None and request.dialogue_id is None and not verdict.options:
        return None
    options = [_option(option, listed) for option in verdict.options]
    return {"given": plain(request.dialogue_id), "options": options, **(given or {})}


def _option(option: Option, listed: Public) -> Json:
    return {
        "action_id": shown(option.action_id, listed),
        "object_id": shown(option.object_id, listed),
    }


def _confirm(request: Request, given: Json) -> Json:
    if given is None and request.confirm_token is None:
        return None
    token = request.confirm_token
    return {"given": None if token is None else {PRIVATE: plain(token)}, **(given or {})}


class Sealed(dict[str, Json]):
    """A record that `seal` made: every value of it is text or went through `plain`."""


def seal(
    clear: Mapping[str, Json], *, identity: Identity, salt: bytes, text_commitment: str
) -> Sealed:
    """The record to append: private values as digests under `salt`, with identity and commitment.

    `text_commitment` is that of the request under the same salt. `previous` is still to come, from
    the ledger.
    """
    return Sealed(
        {name: _sealed(value, salt) for name, value in clear.items()},
        decision_id=identity.decision_id,
        subject=identity.subject,
        text_commitment=text_commitment,
    )


def _sealed(value: Json, salt: bytes) -> Json:
    if isinstance(value, dict):
        if len(value) == 1 and PRIVATE in value:
            return HIDDEN + keyed(salt, "value", value[PRIVATE])
        return {key: _sealed(item, salt) for key, item in value.items()}
    return [_sealed(item, salt) for item in value] if isinstance(value, list) else value


def event(kind: Kind, at: datetime, **values: Any) -> dict[str, Json]:
    """A record of any kind but DECISION; the fields are those of `FIELDS[kind]`."""
    return {
        "format": newest(),
        "kind": kind.value,
        "at": instant(at),
        **{name: plain(value) for name, value in values.items()},
    }


def halves(record: Mapping[str, Json]) -> tuple[bytes, bytes]:
    """The canonical bytes of a record before and after the digest of its `previous`.

    Field names sort the same whatever stands in `previous`, so the bytes of everything else can be
    made before the link is known.
    """
    encode = canonical_plain if isinstance(record, Sealed) else canonical
    before, _, after = encode({**record, "previous": GENESIS}).partition(LINK)
    if LINK in after:  # one stands inside a value, too
        before = encode({name: value for name, value in record.items() if name < "previous"})
        after = encode({name: value for name, value in record.items() if name > "previous"})
        before, after = before[:-1], b"," + after[1:]
    return before + LINK[:-65], LINK[-1:] + after


def use_of(kind: Kind, record: Mapping[str, Json], token: str) -> dict[str, Json]:
    """The record that a decision CONSUMED or VOIDED a confirmation token, given by its digest.

    LedgerError for a record that is no decision, or a token that is no SHA-256 in hex.
    """
    if record.get("kind") != Kind.DECISION:
        raise LedgerError(f"a `{record.get('kind')}` uses no token up; pass a decision")
    if not DIGEST.fullmatch(token):
        raise LedgerError("a token is given by its digest; pass SHA-256 in hex, not the token")
    return {
        "format": newest(),
        "kind": kind.value,
        "at": record["decided_at"],
        "decision_id": record["decision_id"],
        "token": token,
    }
