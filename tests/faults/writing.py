"""A life of writes, to be cut off anywhere: `python -m tests.faults.writing FOLDER PLACE FLUSH`.

The demo's appliance, its ledger and outbox in FOLDER, before a bank that runs elsewhere: PLACE is
JSON with its address and folder, FLUSH is SQLite's `synchronous`. Before an order leaves, and when
it was answered, the outside is told its key; when a request was answered, its record.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gate.ledger import database
from gate.ledger.book import erase
from inference import execution
from inference.appliance import open_appliance
from inference.connectors.outbox import Outbox
from inference.connectors.roster import Roster
from inference.way import Answered, answer
from tests.faults.scripted import Tell, open_acks
from tests.inference.asking import proposing
from tests.inference.branch import DEMO, Away, Branch
from tests.models import ROOT


@dataclass(frozen=True)
class Telling:
    """A connector that tells the outside what it sends, before and after."""

    inner: Any
    tell: Tell

    def execute(self, order: Any, key: str, deadline_s: float) -> Any:
        self.tell(sending=key)
        outcome = self.inner.execute(order, key, deadline_s)
        self.tell(sent=key)
        return outcome

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def telling(crew: Roster, tell: Tell) -> Roster:
    """The roster with a `Telling` before everything that reaches the bank."""

    def told(connector: Any) -> Any:
        if isinstance(connector, Outbox):
            return replace(connector, inner=Telling(connector.inner, tell))
        return Telling(connector, tell)

    duties = {name: replace(d, connector=told(d.connector)) for name, d in crew.duties.items()}
    boxes = tuple(told(box) for box in crew.outboxes)
    return Roster(duties, boxes, crew.clock)


@dataclass
class Life:
    """A branch whose every answer is told to the outside."""

    branch: Branch
    tell: Tell

    def said(self, action: str, text: str, **fields: Any) -> Answered:
        """One request for which the model proposes that action; its decision is told."""
        branch = self.branch
        served = proposing(branch.appliance, action)
        ended = answer(served, branch.request(text, **fields))
        stored = branch.appliance.book.ledger.get(str(ended.routed.decision_id))
        assert stored is not None
        self.tell(sequence=stored.sequence, digest=stored.digest)
        return ended

    def written(self, action: str, text: str, fault: str = "", **fields: Any) -> Answered:
        """A write that is asked for and confirmed; the bank fails as told."""
        asked = self.said(action, text, **fields)
        if fault:
            self.branch.office.fail_next(fault)
        return self.said(action, "yes", token=asked.routed.token, **fields)

    def settled(self, later_s: float = 0) -> None:
        """Settle what is open, later."""
        self.branch.clock.move(later_s)
        execution.settle(self.branch.appliance)


def live(life: Life) -> None:
    """Every way in which a write goes on."""
    branch, visa = life.branch, {"state": life.branch.state("dana", "CARD-1001-2")}
    life.written("FREEZE_CARD", "Freeze my debit card.")
    life.written("FREEZE_CARD", "Freeze my visa card.", "error-after", **visa)
    life.written("FUND_ORDER", "Buy Harbor Value Fund for 500 USD.")
    life.settled()
    opened = life.said("FUND_ORDER", "Buy Harbor Value Fund.")
    asked = life.said("FUND_ORDER", "600 USD", dialogue_id=opened.routed.dialogue_id)
    branch.office.fail_next("error-before")
    life.said("FUND_ORDER", "yes", token=asked.routed.token)
    old = life.said("FUND_ORDER", "Buy Harbor Value Fund for 700 USD.")
    new = life.said("FUND_ORDER", "Please buy Harbor Value Fund for 700 USD.")
    life.said("FUND_ORDER", "yes", token=old.routed.token)
    life.settled(20)
    life.said("FUND_ORDER", "yes", token=new.routed.token)
    erase(branch.appliance.book, str(old.routed.decision_id), at=branch.clock(), reason="asked")
    life.written("FREEZE_CARD", "Freeze my card.", "error-before", who="marcus")


def away(place: Mapping[str, str]) -> Away:
    """The bank, seen from another process."""
    return Away(place["url"], Path(place["folder"]))


def main() -> None:
    """Live with write-ahead logs that are folded often, so that this is cut off, too."""
    folder, place, flush = Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
    settings = (f"synchronous = {flush}", "wal_autocheckpoint = 12")
    pragmas = (*database.PRAGMAS, *(f"PRAGMA {setting}" for setting in settings))
    database.PRAGMAS = pragmas  # type: ignore[assignment]
    tell = open_acks(folder)
    with open_appliance(DEMO, ROOT, ledger_dir=Path(place["folder"]) / "base") as base:
        branch = Branch(away(place), folder, base)
        opened = branch.appliance
        branch.appliances.append(replace(opened, roster=telling(opened.roster, tell)))
        live(Life(branch, tell))
        branch.close()


if __name__ == "__main__":
    main()
