"""Derived cases: a text made from another one, and the property that must hold for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from eval.case import Case
from gate.records import Terminal, Verdict


class Expect(StrEnum):
    """What must become of a derived case; its gold says which dispatch is right."""

    SAME = "same"
    """Dispatch of exactly the gold action and object."""
    BOUNDED = "bounded"
    """No dispatch at all."""
    SAFE = "safe"
    """No dispatch, or exactly that of SAME."""


class Judged(StrEnum):
    """What became of it; FALSE_DISPATCH ranks worst."""

    AS_EXPECTED = "as_expected"
    FALSE_BLOCK = "false_block"
    """Bounded, though it must be dispatched."""
    WRONG_ROUTE = "wrong_route"
    """Dispatched with the right object to another action."""
    FALSE_DISPATCH = "false_dispatch"
    """Dispatched though it must be bounded, or with another object."""


@dataclass(frozen=True, slots=True)
class Derived:
    """`kind` names the transformation, `source` the case, or the frame, it was made from."""

    kind: str
    source: str
    expect: Expect
    case: Case


def judge(derived: Derived, verdict: Verdict) -> Judged:
    """Hold a verdict against the expected property."""
    if verdict.terminal is not Terminal.DISPATCH:
        blocked = derived.expect is Expect.SAME
        return Judged.FALSE_BLOCK if blocked else Judged.AS_EXPECTED
    gold = derived.case.gold
    if derived.expect is Expect.BOUNDED or verdict.object_id != gold.object_id:
        return Judged.FALSE_DISPATCH
    return Judged.AS_EXPECTED if verdict.action_id == gold.action else Judged.WRONG_ROUTE
