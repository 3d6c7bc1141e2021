"""A small institution made in Python, and findings made by hand: for tests that need no text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from gate import registry
from gate.catalog import Action, Catalog, ObjectType, SlotSpec
from gate.configuration import Configuration
from gate.confirmation import pins, write_of
from gate.direction import Asked
from gate.findings import Findings
from gate.language import LanguagePack
from gate.load.appliance import DEFAULT_TERMINALS
from gate.objects import Mention, Status
from gate.records import (
    NONE,
    NOTHING_EARLIER,
    Confirmed,
    Direction,
    Earlier,
    Entry,
    Mode,
    Proposal,
    Reserved,
    Session,
    Situation,
    Terminal,
    Verdict,
    Write,
)
from tests.gate.engine import REAL, blocking, default
from tests.gate.texts import NOW

ACTIONS = (
    Action("PRICE", "Price", "", Mode.READ, "none", ("FUND",)),
    Action("LOANS", "Loans", "", Mode.READ, "none", ("LOAN", NONE)),
    Action("HELP", "Help", "", Mode.READ, "none", (NONE,)),
    Action("BUY", "Buy", "", Mode.WRITE, "none", ("FUND",), ("text",), verbs={"en": ("buy",)}),
    Action("SELL", "Sell", "", Mode.WRITE, "none", ("FUND",), ("text",), verbs={"en": ("sell",)}),
    Action("FREEZE", "Freeze", "", Mode.WRITE, "none", ("CARD",), ("text", "session")),
)
PAY = Action(
    "PAY", "Pay in", "", Mode.WRITE, "none", ("FUND",), ("text",), ("amount", "due"),
    verbs={"en": ("pay",)}, confirm={"en": "Pay {amount} into {object}[ on {due}]?"},
)  # fmt: skip
"""A write with an amount and, if the customer likes, a day; not among ACTIONS."""
SLOTS = {
    "amount": SlotSpec("amount", "amount", currencies=("EUR", "USD"), maximum=Decimal(10_000)),
    "due": SlotSpec("due", "date", optional=True),
}
TYPES = {
    "FUND": ObjectType("FUND", {"en": ("fund",)}, ("AA-99",)),
    "LOAN": ObjectType("LOAN", {"en": ("loan",)}),
    "CARD": ObjectType("CARD", {"en": ("card",)}, own=True),
}
ENTRIES = (
    Entry("F1", "FUND", "Alpha Fund", ("AA-01",)),
    Entry("F2", "FUND", "Beta Fund", ("AA-02",)),
    Entry("L1", "LOAN", "Gamma Loan"),
)
PACK = LanguagePack(
    "en",
    "latin",
    clause_marks=(".", ",", "?"),
    sentence_ends=(".", "?"),
    request_forms=("please",),
    fillers=("please",),
    negations=("not",),
    questions=("what",),
    anaphors=("it", "that {noun}"),
)
PREDICATES: tuple[dict[str, Any], ...] = (
    {"name": "alarm", "type": "boolean", "source": "core"},
    {"name": "buying_permitted", "type": "boolean", "source": "core"},
    {"name": "entity_resolved", "type": "boolean", "source": "gate"},
    {"name": "direction", "type": "text", "source": "gate"},
    {"name": "slot.amount", "type": "number", "source": "gate"},
    {"name": "slot.due", "type": "timestamp", "source": "gate"},
    {"name": "fee", "type": "number", "source": "core", "pin": True},
    {"name": "terms", "type": "text", "source": "core", "pin": True},
    {"name": "priced_at", "type": "timestamp", "source": "core", "pin": True},
    {"name": "mood", "type": "text", "source": "core"},
)
ALARM = blocking(10, {"predicate": "alarm", "is": True}, then="HANDOFF")
PERMISSION = blocking(20, {"predicate": "buying_permitted", "is": False}, applies_to=["BUY"])
RULES = (ALARM, PERMISSION, default())
CALM = {"alarm": False, "buying_permitted": True}

CARD, SECOND = (Entry(i, "CARD", n, own=True) for i, n in (("C1", "Debit"), ("C2", "Credit")))
ONE, TWO = Session("s", (), (CARD,)), Session("s", (), (CARD, SECOND))
BARE = Session("s")
"""A customer without objects of their own."""

BUY_F1 = Earlier(confirmed=Confirmed("d-0", Write("BUY", "F1")))
"""The confirmation of buying F1, asked for by the decision `d-0`."""


def institution(
    rules: Iterable[Mapping[str, Any]] = RULES,
    *,
    actions: Iterable[Action] = ACTIONS,
    languages: tuple[str, ...] = ("en",),
    terminals: Mapping[Reserved, Terminal] | None = None,
    **rest: Any,
) -> Configuration:
    """The small institution; `rules` as in rules.yaml, the tier `fast` at a threshold of 0.5."""
    return Configuration(
        name="small",
        catalog=Catalog("1", {a.action_id: a for a in actions}, TYPES, SLOTS),
        registry=registry.build(ENTRIES),
        predicates=REAL.predicates(PREDICATES),
        rules=REAL.build(rules),
        packs={"en": PACK, "xx": LanguagePack("xx", "latin")},
        languages=languages,
        terminals={**DEFAULT_TERMINALS, **(terminals or {})},
        thresholds={"fast": Decimal("0.5")},
        channels=("counter",),
        **rest,
    )


def without_modes() -> Configuration:
    """The small institution as a folder without modes would give it."""
    return institution(actions=[replace(a, mode=None) for a in ACTIONS])


def findings(
    *mentions: Mention | str,
    direction: Direction = Direction.READ,
    asked: Iterable[str | Asked] = (),
    **rest: Any,
) -> Findings:
    """Findings made by hand: an id stands for a clean mention, an action for a verb of its own."""
    named = [m if isinstance(m, Mention) else Mention(9, 11, (m,), Status.OK) for m in mentions]
    verbs = [
        a if isinstance(a, Asked) else Asked(10 * i, 10 * i + 3, (a,)) for i, a in enumerate(asked)
    ]
    empty = Findings("en", direction, (), tuple(verbs), 0, False, tuple(named), (), (), (), (), ())
    return empty._replace(**rest)


def proposal(
    action_id: str, object_id: str | None = None, confidence: str | None = "0.9", **rest: Any
) -> Proposal:
    """A proposal of the fast tier for one action alone."""
    sure = None if confidence is None else Decimal(confidence)
    return Proposal(action_id, object_id, rest.pop("topk", (action_id,)), sure, "fast", **rest)


def situation(
    session: Session | None = None,
    candidates: tuple[str, ...] | None = None,
    earlier: Earlier = NOTHING_EARLIER,
    **state: object,
) -> Situation:
    """The calm state with changes."""
    return Situation({**CALM, **state}, NOW, session, candidates, earlier)


def confirming(configuration: Configuration, where: Situation, verdict: Verdict) -> Situation:
    """The situation once the customer has confirmed the write that a verdict is about."""
    action = configuration.catalog.actions[str(verdict.action_id)]
    write = write_of(action.action_id, verdict.object_id, verdict.slots)
    given = Confirmed("d-0", write, pins(configuration, action, where))
    return replace(where, earlier=replace(where.earlier, confirmed=given))
