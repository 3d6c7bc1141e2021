"""A quick battery against one controller, over the demo institution: one case for every way through.

It must pass on the real controller and fail on every mutant of it. What each finding should be is
the business of the findings' own tests; the sentences here are plain.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from gate.findings import find
from gate.records import (
    NONE,
    NOTHING_EARLIER,
    Abstain,
    Confirmed,
    Earlier,
    Entry,
    Equal,
    OutOfScope,
    Proposal,
    Request,
    Session,
    Situation,
    Switches,
    TierAnswer,
    Write,
)
from tests.gate.demo import demo, demo_state
from tests.gate.engine import NOW, Engine

OWN = (
    Entry("ACC-1", "ACCOUNT", "Everyday Checking", ("everyday checking",), own=True),
    Entry("CARD-1", "CARD", "Debit card", ("debit card",), own=True),
    Entry("CARD-2", "CARD", "Credit card", ("credit card",), own=True),
)
ONE_CARD = Session("C-1", ("member",), OWN[:2])
TWO_CARDS = Session("C-2", ("member",), OWN)

FREEZE = "please freeze my debit card"
EMAIL = "please change my email address to anna@example.com"
STATUS = "what is the status of my card?"
UNVERIFIED = {"identity_verified": {"value": False, "as_of": NOW.isoformat()}}
ESCALATED = {"safety_escalation_required": True}
AS_IT_WAS = {"card_already_frozen": "False"}
"""The pinned predicates that the rules for freezing a card read, in the calm state."""
OPEN, DONE = Equal("d-1", True), Equal("d-1", False, "2026-12-01T08:59:00Z")


def confirmed(
    action: str = "FREEZE_CARD",
    object_id: str = "CARD-1",
    slots: tuple[tuple[str, str], ...] = (),
    pins: Mapping[str, str] = AS_IT_WAS,
    **more: Any,
) -> Earlier:
    """The confirmation of one write, and whatever else was earlier."""
    return Earlier(confirmed=Confirmed("d-0", Write(action, object_id, slots), pins), **more)


YES = {"earlier": confirmed()}
EMAIL_YES = confirmed("CHANGE_EMAIL", NONE, (("email", "anna@example.com"),), {})
ASKED = ("CLARIFY", "G-CONFIRM", "CONFIRMATION_NEEDED")
CHANGED = ("CLARIFY", "G-CONFIRM", "WRITE_CHANGED")


def proposal(
    action: str,
    object_id: str | None = None,
    confidence: str | None = "0.70",
    topk: tuple[str, ...] = (),
) -> Proposal:
    """A proposal of the fast tier, at its threshold unless told otherwise."""
    sure = None if confidence is None else Decimal(confidence)
    return Proposal(action, object_id, topk or (action,), sure, "fast")


Expected = tuple[str, str, str]
"""Terminal, deciding id and first reason (or nothing)."""

CASES: tuple[tuple[str, TierAnswer, dict[str, Any], Expected], ...] = (
    # Through every check.
    ("what is the fee for a wire transfer?", proposal("FEE_INFO"), {}, ("DISPATCH", "R-999", "")),
    (FREEZE, proposal("FREEZE_CARD"), YES, ("DISPATCH", "R-999", "")),
    (FREEZE, proposal("FREEZE_CARD", "CARD-1"), YES, ("DISPATCH", "R-999", "")),
    (STATUS, proposal("CARD_STATUS"), {}, ("DISPATCH", "R-999", "")),
    (STATUS, proposal("CARD_STATUS"), YES, ("DISPATCH", "R-999", "")),
    # A write is confirmed first, as exactly what it would do now.
    (FREEZE, proposal("FREEZE_CARD"), {}, ASKED),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed("UNFREEZE_CARD")}, CHANGED),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed(object_id="CARD-2")}, CHANGED),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed(slots=(("amount", "5 USD"),))}, CHANGED),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": Earlier(unfit="NO_CONNECTOR")},
     ("CLARIFY", "G-CONFIRM", "NO_CONNECTOR")),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed(unfit="NO_CONNECTOR")},
     ("CLARIFY", "G-CONFIRM", "NO_CONNECTOR")),
    (EMAIL, proposal("CHANGE_EMAIL"), {"session": None}, ("CLARIFY", "G-CONFIRM", "NO_SUBJECT")),
    (EMAIL, proposal("CHANGE_EMAIL"), {"session": None, "earlier": EMAIL_YES},
     ("CLARIFY", "G-CONFIRM", "NO_SUBJECT")),
    (EMAIL, proposal("CHANGE_EMAIL"), {}, ASKED),
    (EMAIL, proposal("CHANGE_EMAIL"), {"earlier": confirmed("CHANGE_EMAIL", NONE, pins={})}, CHANGED),
    ("please change my email address", proposal("CHANGE_EMAIL"), {"earlier": EMAIL_YES},
     ("CLARIFY", "G-SLOT", "SLOT_MISSING:email")),
    # A pinned predicate that the action's rules read is as it was.
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed(pins={"card_already_frozen": "True"})},
     ("DEFER", "G-STATE", "PIN_CHANGED:card_already_frozen")),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed(pins={})},
     ("DEFER", "G-STATE", "PIN_CHANGED:card_already_frozen")),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed(pins={**AS_IT_WAS, "fund_minimum": "1"})},
     ("DISPATCH", "R-999", "")),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed(object_id="CARD-2", pins={})}, CHANGED),
    # An equal write that is open closes, one that was done in the meantime is named.
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": Earlier(equal=OPEN)},
     ("HANDOFF", "G-DUPLICATE", "EQUAL_WRITE_OPEN")),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed(equal=OPEN)},
     ("HANDOFF", "G-DUPLICATE", "EQUAL_WRITE_OPEN")),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed(equal=DONE)},
     ("CLARIFY", "G-CONFIRM", "EQUAL_WRITE_DONE")),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": Earlier(equal=DONE)}, ASKED),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed(pins={}, equal=OPEN)},
     ("DEFER", "G-STATE", "PIN_CHANGED:card_already_frozen")),
    (STATUS, proposal("CARD_STATUS"), {"earlier": Earlier(equal=DONE)}, ("DISPATCH", "R-999", "")),
    # A token that confirms nothing, behind the rules.
    ("yes", Abstain("low", "fast"), {"earlier": Earlier(refused="EXPIRED")},
     ("CLARIFY", "G-CONFIRM", "EXPIRED")),
    ("yes", Abstain("low", "fast"), {"earlier": Earlier(refused="EXPIRED"), "change": ESCALATED},
     ("HANDOFF", "R-010", "")),
    ("はい", Abstain("low", "fast"), {"earlier": Earlier(refused="EXPIRED")},
     ("CLARIFY", "G-CONFIRM", "EXPIRED")),
    # A clarification too many; asking for a confirmation is none.
    (STATUS, proposal("CARD_STATUS"), {"session": TWO_CARDS, "earlier": Earlier(asked=2)},
     ("CLARIFY", "G-OBJECT", "SEVERAL_OWN_OBJECTS")),
    (STATUS, proposal("CARD_STATUS"), {"session": TWO_CARDS, "earlier": Earlier(asked=3)},
     ("HANDOFF", "G-DIALOGUE", "CLARIFICATIONS_USED_UP")),
    (STATUS, proposal("CARD_STATUS"), {"session": TWO_CARDS, "earlier": Earlier(asked=99)},
     ("HANDOFF", "G-DIALOGUE", "CLARIFICATIONS_USED_UP")),
    ("hello there", Abstain("low", "fast"), {"earlier": Earlier(asked=3)},
     ("HANDOFF", "G-DIALOGUE", "CLARIFICATIONS_USED_UP")),
    ("hello there", OutOfScope("fast"), {"earlier": Earlier(asked=3)},
     ("REJECT", "G-SCOPE", "OUT_OF_SCOPE")),
    (STATUS, proposal("CARD_STATUS"), {"change": UNVERIFIED, "earlier": Earlier(asked=3)},
     ("HANDOFF", "G-DIALOGUE", "CLARIFICATIONS_USED_UP")),
    (STATUS, proposal("CARD_STATUS"), {"earlier": Earlier(asked=3)}, ("DISPATCH", "R-999", "")),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": Earlier(asked=3)}, ASKED),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed(object_id="CARD-2", asked=3)}, CHANGED),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed(equal=DONE, asked=3)},
     ("CLARIFY", "G-CONFIRM", "EQUAL_WRITE_DONE")),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed(unfit="NO_CONNECTOR", asked=3)},
     ("HANDOFF", "G-DIALOGUE", "CLARIFICATIONS_USED_UP")),
    (FREEZE, proposal("FREEZE_CARD"), {"earlier": confirmed(asked=3)}, ("DISPATCH", "R-999", "")),
    # Without a commitment the rules speak first.
    ("カードをなくしました", proposal("CARD_HELP"), {},
     ("HANDOFF", "G-LANGUAGE", "LANGUAGE_NOT_CONFIGURED")),
    ("hello there", OutOfScope("fast"), {}, ("REJECT", "G-SCOPE", "OUT_OF_SCOPE")),
    ("hello there", OutOfScope("fast"), {"change": ESCALATED}, ("HANDOFF", "R-010", "")),
    ("hello there", Abstain("low", "fast"), {}, ("CLARIFY", "G-ABSTAIN", "low")),
    ("hello there", Abstain("low", "fast"), {"change": ESCALATED}, ("HANDOFF", "R-010", "")),
    ("hello there", proposal("NO_SUCH"), {}, ("CLARIFY", "G-CONTRACT", "C-CLOSED:action_id")),
    ("hello there", proposal("NO_SUCH"), {"change": UNVERIFIED},
     ("CLARIFY", "G-CONTRACT", "C-CLOSED:action_id")),
    (STATUS, proposal("CARD_STATUS", topk=("FEE_INFO",)), {}, ("CLARIFY", "G-CONTRACT", "C-CROSS:primary")),
    (STATUS, proposal("CARD_STATUS", topk=("FEE_INFO",)), {"change": UNVERIFIED}, ("CLARIFY", "R-110", "")),
    # Rules before checks, of the committed action.
    ("please freeze my card", proposal("CARD_STATUS", None, None), {"change": UNVERIFIED},
     ("CLARIFY", "R-110", "")),
    (STATUS, proposal("FEE_INFO"), {"change": UNVERIFIED}, ("DISPATCH", "R-999", "")),
    (STATUS, proposal("CARD_STATUS"), {"change": {"identity_verified": True}},
     ("CLARIFY", "R-110", "R-110:identity_verified:STALE")),
    # Each check.
    ("please freeze my debit card and also change my email", proposal("FREEZE_CARD"), {},
     ("CLARIFY", "G-MULTI", "SEVERAL_REQUESTS")),
    ("is my debit card frozen?", proposal("FREEZE_CARD"), {}, ("CLARIFY", "G-DIRECTION", "DIRECTION_READ")),
    (FREEZE, proposal("CARD_STATUS"), {}, ("CLARIFY", "G-DIRECTION", "DIRECTION_WRITE")),
    (FREEZE, proposal("CHANGE_EMAIL"), {}, ("CLARIFY", "G-ACTION", "NO_ACTION_EVIDENCE")),
    (EMAIL, proposal("CHANGE_EMAIL"), {"earlier": EMAIL_YES}, ("DISPATCH", "R-999", "")),
    ("please change my email address", proposal("CHANGE_ADDRESS"), {},
     ("CLARIFY", "G-ACTION", "NO_ACTION_EVIDENCE")),
    ("please change my address and email", proposal("CHANGE_EMAIL"), {},
     ("CLARIFY", "G-ACTION", "ANOTHER_WRITE_ASKED")),
    ("please freeze my debit card and close my account", proposal("FREEZE_CARD"), {},
     ("CLARIFY", "G-ACTION", "ANOTHER_WRITE_ASKED")),
    (STATUS, proposal("CARD_STATUS"), {"session": TWO_CARDS}, ("CLARIFY", "G-OBJECT", "SEVERAL_OWN_OBJECTS")),
    (STATUS, proposal("CARD_STATUS"), {"session": None}, ("CLARIFY", "G-OBJECT", "*")),
    ("please freeze my credit card", proposal("FREEZE_CARD", "CARD-1"), {"session": TWO_CARDS},
     ("CLARIFY", "G-OBJECT", "PROPOSAL_DISAGREES")),
    ("what is the price?", proposal("FUND_PRICE"), {}, ("CLARIFY", "G-OBJECT", "*")),
    (FREEZE, proposal("FREEZE_CARD", None, None), {}, ("CLARIFY", "G-CONFIDENCE", "NO_CONFIDENCE")),
    (FREEZE, proposal("FREEZE_CARD", None, "0.6999"), {}, ("CLARIFY", "G-CONFIDENCE", "BELOW_THRESHOLD")),
    # The first failing check names the verdict.
    ("is my card frozen?", proposal("FREEZE_CARD", None, None), {"session": TWO_CARDS},
     ("CLARIFY", "G-DIRECTION", "DIRECTION_READ")),
    (STATUS, proposal("CARD_STATUS", None, None), {"session": TWO_CARDS},
     ("CLARIFY", "G-OBJECT", "SEVERAL_OWN_OBJECTS")),
    # Ablations.
    (STATUS, proposal("CARD_STATUS"), {"change": UNVERIFIED, "switches": Switches(no_state=True)},
     ("DISPATCH", "R-999", "NO_STATE")),
    (STATUS, proposal("CARD_STATUS"), {"switches": Switches(no_objects=True)},
     ("CLARIFY", "G-OBJECT", "NO_OBJECTS")),
    (FREEZE, proposal("CARD_STATUS"), {"switches": Switches(no_direction=True)}, ("DISPATCH", "R-999", "")),
    (FREEZE, proposal("FREEZE_CARD", None, None), {"switches": Switches(ignore_confidence=True), **YES},
     ("DISPATCH", "R-999", "")),
)  # fmt: skip


def decide(
    engine: Engine,
    text: str,
    answer: TierAnswer,
    *,
    session: Session | None = ONE_CARD,
    change: Mapping[str, object] | None = None,
    earlier: Earlier = NOTHING_EARLIER,
    switches: Switches | None = None,
) -> Any:
    """One decision over the demo institution."""
    request = Request("R-1", "web", text, session=session)
    state = demo_state(getattr(answer, "action_id", ""), change or {})
    situation = Situation(state, NOW, session, earlier=earlier)
    findings = find(demo(), request)
    return engine.controller.decide(demo(), situation, findings, answer, switches or Switches())


def run(engine: Engine) -> None:
    """Raise (anything) unless every case ends as it must."""
    for text, answer, inputs, (terminal, rule_id, reason) in CASES:
        verdict = decide(engine, text, answer, **inputs)
        found = (verdict.terminal.value, verdict.rule_id)
        assert found == (terminal, rule_id), (text, answer, verdict)
        reasons = verdict.reason_codes or ("",)
        assert reason in (reasons[0], "*"), (text, answer, verdict)
        assert verdict.boundary == "ALLOW" or terminal != "DISPATCH"
    offered = decide(engine, STATUS, proposal("CARD_STATUS"), session=TWO_CARDS).options
    assert [option.object_id for option in offered] == ["CARD-1", "CARD-2"]
    taken_over = decide(
        engine, STATUS, proposal("CARD_STATUS"), session=TWO_CARDS, earlier=Earlier(asked=3)
    )
    assert taken_over.reason_codes == ("CLARIFICATIONS_USED_UP", "G-OBJECT")
    assert (taken_over.boundary, taken_over.options) == ("ALLOW", ())
    for answer, options in (
        (proposal("CARD_STATUS", confidence=None), ["CARD-1"]),
        (proposal("CARD_STATUS", "CARD-2"), []),
    ):
        asked = decide(engine, STATUS, answer)
        assert [option.object_id for option in asked.options] == options
    hidden = decide(engine, FREEZE, proposal("FREEZE_CARD"))
    assert (hidden.action_id, hidden.object_id, hidden.options) == ("FREEZE_CARD", "CARD-1", ())
    assert engine.controller.malformed(demo(), "NO_TEXT").rule_id == "G-REQUEST"
