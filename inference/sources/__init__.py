"""Where state and session come from: a trusted channel sends them inline, or a service is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from gate.records import Request, Session


class Unread(StrEnum):
    """Why nothing could be read that may be relied on."""

    UNREACHABLE = "UNREACHABLE"
    DEADLINE = "DEADLINE"
    CONNECTION_LOST = "CONNECTION_LOST"
    SERVICE_ERROR = "SERVICE_ERROR"
    REDIRECTED = "REDIRECTED"
    REFUSED = "REFUSED"
    ANSWER_TOO_LARGE = "ANSWER_TOO_LARGE"
    ANSWER_UNSIGNED = "ANSWER_UNSIGNED"
    ANSWER_MALFORMED = "ANSWER_MALFORMED"
    SESSION_MALFORMED = "SESSION_MALFORMED"
    SUBJECT_DIFFERS = "SUBJECT_DIFFERS"


@dataclass(frozen=True, slots=True)
class Fault:
    """One told value that no rule can use, by the code that the gate has for it."""

    name: str
    code: str


@dataclass(frozen=True, slots=True)
class Told:
    """State, still raw as in a request, and session, as told at `read_at`.

    `faults` are for the operator: what is undeclared or not a single value was left out, everything
    else is the gate's to judge.
    """

    state: Mapping[str, Any]
    session: Session | None
    read_at: datetime
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Untold:
    """Nothing was told: every predicate is absent, so every rule that reads one errs."""

    reason: Unread


class StateSource(Protocol):
    """A trusted system that tells what is so, and changes nothing."""

    def read(
        self, subject: str, action_id: str | None = None, object_id: str | None = None
    ) -> Told | Untold:
        """State and session of `subject` now, for an action on an object where these are known."""
        ...


def inline(request: Request, clock: Callable[[], datetime]) -> Told:
    """What a trusted channel sent with its request."""
    return Told(request.state, request.session, clock())
