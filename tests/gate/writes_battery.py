"""Quick batteries for what a write needs besides a plain decision: choices, masking, confirmation, slots,
dialogue.

Each takes the modules under test (`tests.gate.mutants_text.Reader`), must pass on the real ones and
fail on every mutant.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

from gate.direction import Asked
from gate.objects import Mention, Status
from gate.records import (
    NONE,
    Boundary,
    Confirmed,
    Direction,
    Earlier,
    Entry,
    Money,
    Option,
    Request,
    Session,
    Terminal,
    Verdict,
    Write,
)
from gate.slots import SlotFound
from tests.gate import small, texts
from tests.gate.engine import blocking, default

PAYING = small.findings(
    "F1",
    direction=Direction.WRITE,
    asked=["PAY"],
    slots=(SlotFound("amount", 0, 3, "500 EUR", ""),),
)
FEE = blocking(20, {"predicate": "fee", "gt": 9})
LARGE = blocking(30, {"predicate": "slot.amount", "gt": 5000}, applies_to=["PAY"])


def writes(reader: Any) -> None:
    """The controller on a write with slots, under a pinned predicate that every action reads."""
    configured = small.institution([FEE, LARGE, default()], actions=[*small.ACTIONS, small.PAY])

    def end(earlier: Earlier, read: Any = PAYING, action: str = "PAY", **state: Any) -> Any:
        where = small.situation(small.BARE, None, earlier, **{"fee": 1, **state})
        return reader.controller.decide(configured, where, read, small.proposal(action))

    def said(value: str) -> Any:
        return PAYING._replace(slots=(SlotFound("amount", 0, 3, value, ""),))

    write = Write("PAY", "F1", (("amount", "500 EUR"),))
    confirmed = Earlier(confirmed=Confirmed("d-0", write, {"fee": "1"}))
    assert end(Earlier()).reason_codes == ("CONFIRMATION_NEEDED",)
    assert end(confirmed).rule_id == "R-999"
    assert end(confirmed).slots == {"amount": Money(Decimal(500), "EUR")}
    assert end(confirmed, said("500.00 EUR")).rule_id == "R-999"
    assert end(confirmed, said("501 EUR")).reason_codes == ("WRITE_CHANGED",)
    assert end(confirmed, said("5001 EUR")).rule_id == "R-030"
    missing = ("SLOT_MISSING:amount", "R-030:slot.amount:ABSENT")
    assert end(confirmed, PAYING._replace(slots=())).reason_codes == missing
    assert end(confirmed, fee=2).reason_codes == ("PIN_CHANGED:fee",)
    price = small.findings("F1")
    assert end(confirmed, price, "PRICE", fee=2).rule_id == "R-999"
    optional = PAYING._replace(slots=(*PAYING.slots, SlotFound("due", 4, 8, "2026-12-24", "")))
    assert end(confirmed, optional).reason_codes == ("WRITE_CHANGED",)


CHOICES = (
    ("FREEZE", "C1", small.TWO, None, "C1"),
    ("FREEZE", "C2", small.ONE, None, "UNRESOLVED"),
    ("FREEZE", "C1", None, None, "UNRESOLVED"),
    ("FREEZE", "C1", small.TWO, ("C2",), "UNRESOLVED"),
    ("FREEZE", "F1", small.TWO, None, "UNRESOLVED"),
    ("PRICE", "F9", None, None, "UNRESOLVED"),
    ("FREEZE", NONE, small.TWO, None, "UNRESOLVED"),
    ("LOANS", NONE, None, None, NONE),
    ("PRICE", "F2", None, None, "F2"),
)


def choices(reader: Any) -> None:
    """Objects that were chosen from stored options."""
    configured = small.institution()
    for action, object_id, session, candidates, expected in CHOICES:
        read = small.findings("F1", chosen=object_id)
        found = reader.resolution.resolve(
            configured.catalog.actions[action],
            read,
            small.situation(session, candidates),
            configured.registry.entries,
        )
        assert found.object_id == expected, (action, object_id)
        assert not found.options


def masking(reader: Any) -> None:
    """Numbers in every spelling."""
    for text, expected in (
        ("1234", "1234"),
        ("12345", "••••2345"),
        ("a 12 34-5.6", "a ••••3456"),
        ("12   345 and 1    2345", "••••2345 and 1    2345"),
        ("1/2\u200b3\u00a04_5", "••••2345"),
        ("\uff11\uff12\uff13\uff14\uff15", "••••2345"),
        ("12345 x 678901", "••••2345 x ••••8901"),
        ("1234a5", "1234a5"),
    ):
        assert reader.masking.masked(text) == expected, text
    assert reader.masking.masked_where("12345 67890", lambda d: False) == "12345 67890"
    found = reader.masking.numbers("a1 2")
    assert [(n.start, n.end, n.digits) for n in found] == [(1, 4, "12")]


REMARKS = {"CONFIRM-UNANSWERED": "Ask again.", "CONFIRM-AGAIN": "Done before."}
FILLED = {"amount": Money(Decimal("1250.50"), "EUR"), "due": date(2026, 12, 24)}
OWN = Entry("A1", "ACCOUNT", "Savings 12345678", own=True)
READ_BACK: tuple[tuple[str, Any, tuple[str, ...], str | None], ...] = (
    ("{amount} to {object} on {due}", small.ENTRIES[0], ("amount", "due"),
     "1,250.50 EUR to Alpha Fund on 2026-12-24"),
    ("{amount} to {object}[ on {due}]", small.ENTRIES[0], ("amount",), "1,250.50 EUR to Alpha Fund"),
    ("{amount} to {object}[ on {due}]", small.ENTRIES[0], ("amount", "due"),
     "1,250.50 EUR to Alpha Fund on 2026-12-24"),
    ("{amount} to {object}", OWN, ("amount",), "1,250.50 EUR to Savings ••••5678"),
    ("{amount} to {object}", replace(OWN, own=False), ("amount",), "1,250.50 EUR to Savings 12345678"),
    ("{amount}", None, ("amount",), "1,250.50 EUR"),
    ("{amount}", small.ENTRIES[0], ("amount",), None),
    ("{amount} to {object}", None, ("amount",), None),
    ("{amount} to {object}", small.ENTRIES[0], ("amount", "due"), None),
    ("{amount} to {object} on {due}", small.ENTRIES[0], ("amount",), None),
)  # fmt: skip


def confirmation(reader: Any) -> None:
    """Texts that read all back or nothing, equal writes, pins."""
    made = small.institution([FEE, blocking(40, {"predicate": "terms", "is": "x"}, applies_to=["BUY"]),
                              blocking(50, {"predicate": "mood", "is": "x"}), default()],
                             actions=[*small.ACTIONS, small.PAY])  # fmt: skip
    pack = replace(made.packs["en"], templates=REMARKS)

    def asked(
        template: str, slots: Any, reasons: tuple[str, ...] = ("CONFIRMATION_NEEDED",)
    ) -> Any:
        action = replace(small.PAY, confirm={"en": template})
        catalog = replace(made.catalog, actions={**made.catalog.actions, "PAY": action})
        what = Verdict(
            Terminal.CLARIFY, Boundary.ALLOW, "G-CONFIRM", reasons, "PAY", "F1", slots=slots
        )
        return replace(made, catalog=catalog, packs={**made.packs, "en": pack}), what

    for template, entry, names, expected in READ_BACK:
        configured, what = asked(template, {n: FILLED[n] for n in names})
        got = reader.confirmation.text(configured, what, entry, "en", Direction.WRITE)
        assert got == expected, template
    configured, what = asked("{amount}", {"amount": "1"}, ("EQUAL_WRITE_DONE",))
    assert reader.confirmation.text(configured, what, None, "xx", Direction.WRITE) is None
    told = reader.confirmation.text(configured, what, None, "en", Direction.MIXED)
    assert told == "1 Ask again. Done before."
    for reserved, reason, asks in (
        ("G-CONFIRM", "CONFIRMATION_NEEDED", True),
        ("G-CONFIRM", "WRITE_CHANGED", True),
        ("G-CONFIRM", "EQUAL_WRITE_DONE", True),
        ("G-CONFIRM", "NO_SUBJECT", False),
        ("G-SLOT", "CONFIRMATION_NEEDED", False),
    ):
        verdict = replace(what, rule_id=reserved, reason_codes=(reason,))
        assert reader.confirmation.asks(verdict) is asks, reason
        handed = replace(verdict, terminal=Terminal.HANDOFF)
        assert not reader.confirmation.asks(handed)
    same = {"b": Money(Decimal("500.00"), "EUR"), "a": date(2026, 12, 24), "c": "100"}
    assert reader.confirmation.write_of("PAY", "F1", same) == Write(
        "PAY", "F1", (("a", "2026-12-24"), ("b", "500 EUR"), ("c", "100"))
    )
    assert reader.confirmation.write_of("PAY", "F1", {"b": Money(Decimal(100), "EUR")}).slots == (
        ("b", "100 EUR"),
    )
    assert reader.confirmation.shown(Money(Decimal("0.125"), "EUR")) == "0.125 EUR"
    assert reader.confirmation.shown(Money(Decimal(10) ** 40, "EUR")).endswith(",000.00 EUR")
    assert reader.confirmation.wanted(small.PAY) == {"object", "amount", "due"}
    assert reader.confirmation.wanted(replace(small.PAY, objects=(NONE,))) == {"amount", "due"}
    where = small.situation(fee="1.50", terms="v1", mood="good")
    actions = made.catalog.actions
    assert reader.confirmation.pins(made, actions["PAY"], where) == {"fee": "1.5"}
    assert reader.confirmation.pins(made, actions["BUY"], where) == {"fee": "1.5", "terms": "v1"}
    assert reader.confirmation.pins(made, actions["PAY"], small.situation()) == {"fee": "ABSENT"}


CARDS = (
    Entry("K1", "CARD", "Debit card", ("debit card", "5316"), own=True),
    Entry("K2", "CARD", "Visa card", ("visa card", "9024"), own=True),
    Entry("K3", "CARD", "Gift card", ("gift card",), own=True),
)
OPTIONS = (Option("FREEZE_CARD", "K1"), Option("FREEZE_CARD", "K2"))
PICKS: tuple[tuple[str, int, str | None], ...] = (
    *((text, 2, "K1") for text in ("1", "The first one.", "debit card", "debit", "the 5316 one",
                                   "my debit card please", "第一个", "freeze my debit card")),
    *((text, 2, "K2") for text in ("2", "visa", "visa card", "尾号9024")),
    *((text, 2, None) for text in ("3", "yes", "", ".", "1?", "debit card?", "card", "the debit cards",
                                   "which debit card", "debit card and visa card", "gift card",
                                   "not the debit card", "no, the debit card", "debit card tomorrow",
                                   "my wife's card", "9999", "close my account", "1 gift card",
                                   "buy a fund", "freeze my debit card and close my account", "bit")),
    *((text, 1, "K1") for text in ("yes", "Yes, please!", "debit card", "1")),
    *((text, 1, None) for text in ("", "no", "yes?", "yes, but not now", "2", "visa card")),
)  # fmt: skip


def dialogue(reader: Any) -> None:
    """What picks, what says yes, what gives a slot, and what becomes of the opening turn."""
    configured = texts.demo()
    entries = {**configured.registry.entries, **{c.object_id: c for c in CARDS}}
    for text, offered, expected in PICKS:
        turn = reader.findings.find(
            configured, Request("r", "web", text, session=Session("s", (), CARDS))
        )
        got = reader.dialogue.pick(configured, OPTIONS[:offered], text, turn, entries)
        assert (got.object_id if got else None) == expected, text
    for text, yes in (("", True), ("yes", True), ("Go ahead.", True), ("是的。", True), ("yes?", False),
                      ("no", False), ("yes but no", False), (".", False)):  # fmt: skip
        assert reader.dialogue.is_yes(configured, text) is yes, text
    silent = small.findings(direction=Direction.UNDECLARED)
    changed: dict[str, Any]
    two = [Mention(0, 5, ("K1", "K2"), Status.OK)]
    for mentions in (two, [Mention(0, 5, ("K1",), Status.AFFIX)]):
        unclear = silent._replace(mentions=tuple(mentions))
        assert reader.dialogue.pick(configured, OPTIONS, "debit", unclear, {}) is None
    for changed in ({"several_requests": True}, {"unmatched": ((0, 1),)}, {"third_person": ((0, 1),)},
                    {"direction": Direction.READ}, {"direction": Direction.MIXED}):  # fmt: skip
        assert (
            reader.dialogue.pick(configured, OPTIONS, "1", silent._replace(**changed), {}) is None
        )
        turn = silent._replace(**changed)
        assert not reader.dialogue.given("amount", "PAY", turn, PAYING.slots)
    for changed in (
        {"asked": (Asked(0, 4, ("BUY",)),)},
        {"mentions": (Mention(9, 12, ("K3",), Status.OK),)},
    ):
        assert (
            reader.dialogue.pick(configured, OPTIONS, "1", silent._replace(**changed), {}) is None
        )
    three = (*OPTIONS, Option("FREEZE_CARD", "K3"))
    assert reader.dialogue.pick(configured, three, "2", silent, entries) == OPTIONS[1]
    odd = entries | {"K1": replace(CARDS[0], aliases=("really?",))}
    assert reader.dialogue.pick(configured, OPTIONS, "really?", silent, odd) is None
    named = entries | {"K1": replace(CARDS[0], aliases=("2",))}
    assert reader.dialogue.pick(configured, OPTIONS, "2", silent, named) is None
    amount = PAYING.slots
    turn = silent._replace(slots=(*amount, SlotFound("due", 0, 3, "2026-12-24", "")))
    assert reader.dialogue.given("amount", "PAY", turn, ()) == amount
    assert reader.dialogue.given("amount", "PAY", silent, amount) == amount
    for at, given in ((0, amount), (5, ()), (2, ())):
        beside = turn._replace(mentions=(Mention(at, at + 2, ("K1",), Status.OK),))
        assert reader.dialogue.given("amount", "PAY", beside, ()) == given, at
    asking = turn._replace(asked=(Asked(0, 4, ("BUY",)),))
    assert not reader.dialogue.given("amount", "PAY", asking, ())
    opening = PAYING._replace(chosen="K3", request_clauses=3)
    picked = reader.dialogue.chosen(opening, silent, Option("PAY", "K2"))
    assert picked == opening._replace(chosen="K2")
    both = reader.dialogue.chosen(
        opening._replace(several_requests=True), silent, Option("PAY", "K2")
    )
    assert both == picked
    other = reader.dialogue.chosen(opening, silent, OPTIONS[1])
    assert other == picked._replace(asked=(), direction=Direction.UNDECLARED, slots=())
    spoken = silent._replace(
        direction=Direction.WRITE, asked=(Asked(0, 4, ("BUY",)),), slots=amount
    )
    again = reader.dialogue.chosen(opening, spoken, Option("BUY", "K2"))
    assert (again.asked, again.request_clauses) == (spoken.asked, 0)
    assert again.mentions == opening.mentions and len(again.slots) == 1
    two = opening._replace(
        asked=(Asked(4, 8, ("BUY",)), Asked(20, 26, ("PAY",))),
        slots=tuple(SlotFound("amount", at, at + 3, "500 EUR", "") for at in (0, 4, 19, 20, 30)),
    )
    later = two._replace(slots=(two.slots[0]._replace(turn=1),))
    assert reader.dialogue.chosen(later, silent, Option("PAY", "K2")).slots == later.slots
    for action, kept in (("BUY", [4, 19]), ("PAY", [20, 30]), ("FREEZE_CARD", [])):
        found = reader.dialogue.chosen(two, silent, Option(action, "K2"))
        assert [slot.start for slot in found.slots] == kept, action
    filled = reader.dialogue.filled(opening, amount, Option("PAY", NONE))
    assert filled.chosen == "K3" and len(filled.slots) == 2
    assert reader.dialogue.filled(opening, (), OPTIONS[0]).chosen == "K1"
