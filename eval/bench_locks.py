"""What slots, confirmation, pinned facts, equal writes and dialogue add to a decision."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from eval import writes
from eval.timing import Gap, Part, timed
from gate import confirmation, controller
from gate.configuration import Configuration
from gate.controller import decide
from gate.findings import find
from gate.ledger import dialogue
from gate.ledger.book import Book, open_book
from gate.load import load
from gate.records import Proposal, Request, Reserved, Session, Situation, Write

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "configs/demo"
TEXTS = ROOT / "training/data/demo/utterances.csv"
ADDED = (Reserved.SLOT, Reserved.CONFIRM, Reserved.STATE, Reserved.DUPLICATE)
"""The checks that are left out of the decision without them."""
COUNT = 400
MOST_US = 100.0

Asked = Sequence[tuple[Request, Proposal]]


def locks_of_writes(_routebr: Path) -> Part:
    """The demo's training texts, each proposed with its own action, with the locks and without."""
    full, calm = load(DEMO), writes.clear()
    bare = _bare(full)
    session = writes.sessions(DEMO)["dana"]
    with TEXTS.open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["label"] in full.catalog.actions][:COUNT]
    asked = [
        (
            Request("1", "bench", r["text"], state=calm.of(r["label"]), session=session),
            _named(r["label"]),
        )
        for r in rows
    ]
    checks = tuple(c for c in controller.CHECKS if c[0] not in ADDED)
    with tempfile.TemporaryDirectory() as place:
        with open_book(Path(place) / "ledger.sqlite", Path(place) / "receipts.sqlite") as book:
            calls = {
                "with the locks": _deciding(full, asked, calm.now, controller.CHECKS),
                "without": _deciding(bare, asked, calm.now, checks),
                "equal writes looked up": _looking_up(book, session, calm.now),
            }
            timing = timed(calls, {"with the locks": len(asked), "without": len(asked)})
    us = timing.median_us()
    added = round(us["with the locks"] - us["without"], 2)
    return Part(
        "locks_of_writes",
        "demo texts; slots read and filled, confirmation, pinned facts and equal writes checked. A "
        "write that asks for its confirmation looks equal writes up besides",
        us,
        (),
        (Gap("with the locks", "without", added, MOST_US),),
    )


def _bare(configuration: Configuration) -> Configuration:
    """The same institution without slots."""
    actions = {i: replace(a, slots=()) for i, a in configuration.catalog.actions.items()}
    catalog = replace(configuration.catalog, actions=actions, slots={})
    return replace(configuration, catalog=catalog)


def _named(action_id: str) -> Proposal:
    return Proposal(action_id, None, (action_id,), Decimal(1), "given")


def _deciding(
    configuration: Configuration,
    asked: Asked,
    now: datetime,
    checks: tuple[tuple[Reserved, controller.Check], ...],
) -> Callable[[], object]:
    def run() -> None:
        kept, controller.CHECKS = controller.CHECKS, checks
        try:
            for one, proposal in asked:
                situation = Situation(one.state, now, one.session, one.candidates)
                verdict = decide(configuration, situation, find(configuration, one), proposal)
                if confirmation.asks(verdict):
                    confirmation.pins(
                        configuration, configuration.catalog.actions[proposal.action_id], situation
                    )
        finally:
            controller.CHECKS = kept

    return run


def _looking_up(book: Book, session: Session, now: datetime) -> Callable[[], object]:
    request = Request("1", "bench", "", session=session)
    write = Write("FREEZE_CARD", session.objects[-1].object_id)
    return lambda: dialogue.same(book, dialogue.intent(book, request, write), now)
