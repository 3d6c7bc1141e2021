"""The decision over the evidence: answer with it, or hand off.

A fixed heuristic, and recorded as one: the best evidence answers from a fixed score on. A tuned
closed choice over the same list takes its place later.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from inference.drafts import Draft

RELEVANT = 0.35
"""Least cosine between the request and the quoted sentence; fixed, not calibrated."""

BASIS = "heuristic"


class Reply(StrEnum):
    """What may be done with the evidence."""

    ANSWER = "ANSWER"
    HAND_OFF = "HAND_OFF"


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen, why, and by what kind of decision."""

    reply: Reply
    reason: str
    basis: str = BASIS


def choose(draft: Draft) -> Choice:
    """Answer with the draft's statements, or hand off with a reason code."""
    if draft.refusal is not None:
        return Choice(Reply.HAND_OFF, draft.refusal)
    if not draft.statements:
        return Choice(Reply.HAND_OFF, "NO_EVIDENCE")
    if draft.score is not None and draft.score < RELEVANT:
        return Choice(Reply.HAND_OFF, "NOT_RELEVANT")
    return Choice(Reply.ANSWER, "EVIDENCE")
