"""Frozen records that travel through the gate: request, tier result, verdict.

Nothing here decides. The words are DESIGN.md's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

UNRESOLVED = "UNRESOLVED"
NONE = "NONE"


@dataclass(frozen=True, slots=True)
class Money:
    """An amount with its currency (ISO 4217)."""

    value: Decimal
    currency: str


SlotValue = Money | date | str


class Boundary(StrEnum):
    """What a rule says."""

    ALLOW = "ALLOW"
    CLARIFY = "CLARIFY"
    DEFER = "DEFER"
    HANDOFF = "HANDOFF"
    REJECT = "REJECT"


class Terminal(StrEnum):
    """What the caller gets: one dispatch, or one bounded terminal."""

    DISPATCH = "DISPATCH"
    CLARIFY = "CLARIFY"
    DEFER = "DEFER"
    HANDOFF = "HANDOFF"
    REJECT = "REJECT"


class Mode(StrEnum):
    READ = "read"
    WRITE = "write"


class Direction(StrEnum):
    READ = "READ"
    WRITE = "WRITE"
    MIXED = "MIXED"
    UNDECLARED = "UNDECLARED"


class Reserved(StrEnum):
    """Ids of the gate's own verdicts, in order of precedence."""

    REQUEST = "G-REQUEST"
    LANGUAGE = "G-LANGUAGE"
    CONTRACT = "G-CONTRACT"
    SCOPE = "G-SCOPE"
    ABSTAIN = "G-ABSTAIN"
    MULTI = "G-MULTI"
    DIRECTION = "G-DIRECTION"
    ACTION = "G-ACTION"
    OBJECT = "G-OBJECT"
    SLOT = "G-SLOT"
    CONFIDENCE = "G-CONFIDENCE"
    CONFIRM = "G-CONFIRM"
    EVIDENCE = "G-EVIDENCE"
    STATE = "G-STATE"
    DUPLICATE = "G-DUPLICATE"
    DIALOGUE = "G-DIALOGUE"
    DEADLINE = "G-DEADLINE"
    STORE = "G-STORE"


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier turn; `role` is `user`, `assistant` or `system`; only user turns are evidence."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One dispatchable thing: a registry object, or (with `own`) one of the session's objects."""

    object_id: str
    object_type: str
    display_name: str
    aliases: tuple[str, ...] = ()
    own: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """Who is asking, what they may see, and their own objects; from the trusted source only."""

    subject: str
    entitlements: tuple[str, ...] = ()
    objects: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One well-formed request; `state` values are still raw (typed when a rule reads them).

    `intent` is the action that a trusted channel says is meant: a proposal, never evidence.
    """

    request_id: str
    channel: str
    utterance: str
    history: tuple[Turn, ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)
    session: Session | None = None
    candidates: tuple[str, ...] | None = None
    dialogue_id: str | None = None
    confirm_token: str | None = None
    language: str | None = None
    intent: str | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A tier's answer: one action, its object if the tier proposes objects, at most three candidates.

    `object_id` is None where the tier declares that it proposes no objects; `confidence` is None
    where the backend gives none (that counts as below the threshold).
    """

    action_id: str
    object_id: str | None
    topk: tuple[str, ...]
    confidence: Decimal | None
    tier: str
    backend: str = ""
    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class OutOfScope:
    """A tier holds that no action fits."""

    tier: str
    confidence: Decimal | None = None
    backend: str = ""
    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class Abstain:
    """A tier does not know; `reason` is a code such as `low_confidence` or `backend_down`."""

    reason: str
    tier: str
    top2: tuple[str, ...] = ()
    backend: str = ""
    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class Unparsed:
    """Raw text of a tier that must still pass the contract (JSON form)."""

    text: str
    tier: str
    confidence: Decimal | None = None
    backend: str = ""
    receipt: str | None = None


TierResult = Proposal | OutOfScope | Abstain
TierAnswer = TierResult | Unparsed


@dataclass(frozen=True, slots=True)
class Switches:
    """Ablations; only `eval` may set one, and the decision records which were set."""

    no_state: bool = False
    no_objects: bool = False
    no_object_evidence: bool = False
    no_direction: bool = False
    ignore_confidence: bool = False

    def names(self) -> tuple[str, ...]:
        """The switches that are set, in declaration order."""
        return tuple(n.replace("_", "-") for n in self.__slots__ if getattr(self, n))


@dataclass(frozen=True, slots=True)
class Write:
    """What a write would do for one subject; `slots` are canonical texts by name. Equal writes are
    equal records."""

    action_id: str
    object_id: str
    slots: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A confirmation that was given: the decision that asked for it, and what stood then.

    `pins` are the values of the pinned predicates at that time, as text.
    """

    decision_id: str
    write: Write
    pins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Equal:
    """An equal write of the same subject, dispatched by `decision_id`: it has no end yet (`open`),
    or it was done at `done_at` (RFC 3339), after the confirmation of this one was asked for."""

    decision_id: str
    open: bool
    done_at: str = ""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What the appliance's own records say of the turns and writes before a request.

    `asked` counts the speaker's clarifications in the configured window. `refused` says why the
    token that came with the request confirms nothing, `unfit` why its order could not be sent.
    """

    asked: int = 0
    refused: str = ""
    unfit: str = ""
    confirmed: Confirmed | None = None
    equal: Equal | None = None


NOTHING_EARLIER = Earlier()


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything a decision may read besides findings, tier result and configuration; holds no text."""

    state: Mapping[str, Any]
    now: datetime
    session: Session | None = None
    candidates: tuple[str, ...] | None = None
    earlier: Earlier = NOTHING_EARLIER


@dataclass(frozen=True, slots=True)
class Option:
    """One pair that a clarification offers."""

    action_id: str
    object_id: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The gate's answer: exactly one terminal with exactly one deciding id.

    `slots` holds what the text gives of the committed action's slots.
    """

    terminal: Terminal
    boundary: Boundary
    rule_id: str
    reason_codes: tuple[str, ...]
    action_id: str | None
    object_id: str
    first_failed_contract: str | None = None
    supplied: str | None = None
    repair: str | None = None
    options: tuple[Option, ...] = ()
    inert: tuple[str, ...] = ()
    slots: Mapping[str, SlotValue] = field(default_factory=dict)
