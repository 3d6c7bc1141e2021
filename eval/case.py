"""One case of a suite: what is asked, what the trusted side says, and what is right.

The three parts are three types, so that what is right cannot reach what is under test: a proposer
gets an `Ask`, the gate gets a `Request`, and only the metrics read `Gold`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gate.records import Request, Session, Turn

OUT_OF_SCOPE = "OUT_OF_SCOPE"
"""The right action of a text that no action of the catalog covers; its right path is a terminal."""


@dataclass(frozen=True, slots=True)
class Gold:
    """The right answer of a case; `boundary` is ALLOW or a terminal, `object_id` may be
    UNRESOLVED or NONE, `final_path` is the action id or `T_` and the terminal."""

    action: str
    object_id: str
    boundary: str
    final_path: str
    rule_ids: tuple[str, ...] = ()
    difficulty: str = ""

    @property
    def allowed(self) -> bool:
        """True if the case may be dispatched."""
        return self.boundary == "ALLOW"


@dataclass(frozen=True, slots=True)
class Case:
    """One case; `history` holds earlier user turns, `pair_id` joins the two members of a pair."""

    case_id: str
    split: str
    utterance: str
    gold: Gold
    history: tuple[str, ...] = ()
    state: Mapping[str, object] = field(default_factory=dict)
    candidates: tuple[str, ...] | None = None
    session: Session | None = None
    pair_id: str = ""
    scenario: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """All that a proposer under test is given: no state, no session, no candidates, no gold."""

    case_id: str
    utterance: str
    history: tuple[str, ...]


def ask(case: Case) -> Ask:
    """What a proposer is given of a case."""
    return Ask(case.case_id, case.utterance, case.history)


def request(case: Case) -> Request:
    """What the gate is given of a case, as a trusted channel would send it."""
    return Request(
        request_id=case.case_id,
        channel="bench",
        utterance=case.utterance,
        history=tuple(Turn("user", text) for text in case.history),
        state=case.state,
        session=case.session,
        candidates=case.candidates,
    )
