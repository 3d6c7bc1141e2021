"""The demo's appliance before the running stand-in of the bank: what the tests of writes stand on."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final, Protocol

import yaml

from gate.ledger.book import open_book
from gate.ledger.decision import redecide, rejudge
from gate.ledger.formats import Kind
from gate.ledger.outcome import Outcome, standing
from gate.ledger.replay import Status, replay_all
from gate.ledger.verify import verify
from gate.load.connectors import Connectors, moved, moved_state
from gate.load.requests import request_of
from gate.records import Request, Session
from inference.appliance import Appliance, open_appliance
from inference.connectors.backoffice import bank, facts
from inference.connectors.roster import open_roster
from inference.sources import Told, Unread, Untold
from inference.sources.http import open_source
from inference.way import Answered, answer
from tests.inference.asking import proposing
from tests.inference.connectors.offices import BackOffice
from tests.models import ROOT

DEMO: Final = ROOT / "configs/demo"
SESSIONS: Final = yaml.safe_load((DEMO / "sessions.yaml").read_text())["sessions"]
CARD, VISA = "CARD-1001-1", "CARD-1001-2"
FROZEN, FROZEN_VISA = ("FREEZE_CARD", CARD), ("FREEZE_CARD", VISA)
UNASKED = "CLARIFY G-DIRECTION DIRECTION_UNDECLARED"
NEGATED = "CLARIFY G-DIRECTION DIRECTION_READ"
USED, UNKNOWN = "CLARIFY G-CONFIRM TOKEN_USED", "CLARIFY G-CONFIRM TOKEN_UNKNOWN"
TOO_OFTEN = "HANDOFF G-DIALOGUE CLARIFICATIONS_USED_UP G-CONFIRM"
OPEN = "HANDOFF G-DUPLICATE EQUAL_WRITE_OPEN"
BUY, BOUGHT = "Buy Harbor Value Fund for 500 USD.", ("FUND_ORDER", "FUND:HLVLX")
BUSY = "DEFER G-STORE LEDGER_NOT_WRITTEN"
WRITES = ("FREEZE_CARD", "CHANGE_EMAIL", "CHANGE_ADDRESS", "FUND_ORDER", "CLOSE_ACCOUNT")
CONFIRM = "CLARIFY G-CONFIRM CONFIRMATION_NEEDED"
COMPLETED = "DISPATCH R-999 COMPLETED"
TABLES: Final = ("effects", "orders", "order_book", "objects", "members")


class Office(Protocol):
    """The bank, as far as a branch needs it."""

    @property
    def url(self) -> str: ...
    @property
    def database(self) -> Path: ...
    @property
    def secret_file(self) -> Path: ...
    def fail_next(self, fault: str) -> None: ...


@dataclass(frozen=True)
class Away:
    """A bank that another process started in `folder`."""

    url: str
    folder: Path
    database = BackOffice.database
    secret_file = BackOffice.secret_file
    fault_file = BackOffice.fault_file
    fail_next = BackOffice.fail_next


@dataclass
class Clock:
    """The machine's clock, which a test may move."""

    ahead: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def move(self, seconds: float) -> None:
        self.ahead += timedelta(seconds=seconds)


def opened_day(office: BackOffice) -> BackOffice:
    """The running bank as on its first day: nothing has happened, and no fault is due."""
    office.fault_file.unlink(missing_ok=True)
    if office.running.process.poll() is not None:
        office.start_again()
    with closing(sqlite3.connect(office.database, isolation_level=None, timeout=10)) as connection:
        for table in TABLES:
            connection.execute(f"DELETE FROM {table}")  # noqa: S608
    bank.create(office.database, list(SESSIONS.values()), datetime.now(UTC))
    return office


def placed(url: str, secret_file: str) -> Callable[[Connectors], Connectors]:
    """The demo's connectors and state source with the bank at its port and with its secret."""

    def at(connectors: Connectors) -> Connectors:
        found = moved_state(moved(connectors, "back-office", url), url)
        office, state = found.entries["back-office"], found.state
        assert office.service is not None
        assert state is not None
        office = replace(office, service=replace(office.service, secret_file=secret_file))
        state = replace(state, service=replace(state.service, secret_file=secret_file))
        return replace(found, entries={**found.entries, "back-office": office}, state=state)

    return at


@dataclass(frozen=True)
class Telling:
    """A state source that tells what a test says, after what the test does."""

    state: Mapping[str, Any]
    session: Session | None
    reason: Unread | None = None
    first: Callable[[], object] = tuple

    def read(
        self, subject: str, action_id: str | None = None, object_id: str | None = None
    ) -> Told | Untold:
        self.first()
        if self.reason is not None:
            return Untold(self.reason)
        return Told(self.state, self.session, datetime.now(UTC))


@dataclass
class Branch:
    """An appliance with a ledger of its own, the bank behind it, and whoever asks.

    `base` is the demo's appliance, whose loaded parts are shared. `appliances` are all that wrote to
    the ledger; every decision has to replay under one of them.
    """

    office: Office
    folder: Path
    base: Appliance
    clock: Clock = field(default_factory=Clock)
    appliances: list[Appliance] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.appliances.append(self.open())

    @property
    def appliance(self) -> Appliance:
        """The appliance that serves now."""
        return self.appliances[-1]

    def open(self, config: Path = DEMO) -> Appliance:
        """Open an appliance on the branch's ledger."""
        at = placed(self.office.url, str(self.office.secret_file))
        if config != DEMO:
            return open_appliance(config, ROOT, self.clock, self.folder, at)
        institution, clock = self.base.institution, self.clock
        connectors, catalog = at(institution.connectors), institution.configuration.catalog
        assert connectors.state is not None
        files = self.folder / "ledger.sqlite", self.folder / "receipts.sqlite"
        return replace(
            self.base,
            roster=open_roster(connectors, catalog, DEMO, ROOT, clock, self.folder),
            source=open_source(connectors.state, institution.configuration, ROOT, clock),
            book=open_book(*files),
            clock=clock,
        )

    def restarted(self, config: Path = DEMO) -> Appliance:
        """Close what serves and open it anew, as after a reload or a crash."""
        _shut(self.appliance)
        self.appliances.append(self.open(config))
        return self.appliance

    def close(self) -> None:
        """Close what is open."""
        for appliance in self.appliances:
            _shut(appliance)

    # ---- asking ----------------------------------------------------------------------------------

    def state(self, who: str = "dana", *about: str, **changes: Any) -> dict[str, Any]:
        """The facts of now as the bank tells them, of the first card and of `about`; some changed."""
        session, now = SESSIONS[who], self.clock()
        cards = [o["object_id"] for o in session["objects"] if o["object_type"] == "CARD"]
        found: dict[str, Any] = {}
        for object_id in (None, *cards[:1], *about):
            told = facts.situation(self.office.database, session["subject"], object_id, now)
            found |= told["state"]
        return {**found, **changes}

    def fields(self, text: str, who: str = "dana", **fields: Any) -> dict[str, Any]:
        """A request of one member on a trusted channel; `token` is the confirmation's."""
        token = fields.pop("token", None)
        return {
            "request_id": f"r{next(self._numbers)}",
            "channel": "web",
            "utterance": text,
            "state": self.state(who),
            "session": SESSIONS.get(who),
            "confirm": None if token is None else {"token": token},
            **fields,
        }

    def request(self, text: str, who: str = "dana", **fields: Any) -> Request:
        """The same, read."""
        return request_of(self.fields(text, who, **fields), self.appliance.configuration, "test")

    def says(
        self, action: str, text: str, *, by: Appliance | None = None, **fields: Any
    ) -> Answered:
        """What becomes of a text for which the model proposes that action."""
        return answer(proposing(by or self.appliance, action), self.request(text, **fields))

    def freeze(self, text: str = "Freeze my debit card.", **fields: Any) -> Answered:
        """What becomes of a text that the model takes for FREEZE_CARD."""
        return self.says("FREEZE_CARD", text, **fields)

    def buy(self, text: str = "Buy Harbor Value Fund for 500 USD.", **fields: Any) -> Answered:
        """What becomes of a text that the model takes for FUND_ORDER."""
        return self.says("FUND_ORDER", text, **fields)

    def yes(self, asked: Answered, text: str = "yes", **fields: Any) -> Answered:
        """The second call, with the token of the first; a model would propose something else."""
        assert asked.routed.token is not None, f"asked for nothing: {ended(asked)}"
        return self.says("CLOSE_ACCOUNT", text, token=asked.routed.token, **fields)

    def telling(
        self,
        *,
        session: Mapping[str, Any] | None = SESSIONS["dana"],
        reason: Unread | None = None,
        first: Callable[[], object] = tuple,
        **changes: Any,
    ) -> Appliance:
        """The appliance with a source of its own: the bank's facts, some changed."""
        given = self.request("", session=session).session
        source = Telling(self.state(**changes), given, reason, first)
        return replace(self.appliance, source=source)

    # ---- looking ---------------------------------------------------------------------------------

    @property
    def now(self) -> str:
        """The time as state tells it."""
        return self.clock().isoformat()

    @property
    def effects(self) -> list[tuple[str, str | None]]:
        """What has happened in the bank: action and object, in order."""
        journal = bank.tables(self.office.database)["effects"]
        return [(row["action_id"], row["object_id"]) for row in journal]

    @property
    def last(self) -> Mapping[str, Any]:
        """The latest decision in the ledger."""
        rows = [row for row in self.appliance.book.ledger.iterate() if row.kind == Kind.DECISION]
        return rows[-1].record

    def check(self) -> None:
        """The ledger is sound, every decision replays, and the bank's effects are the ledger's."""
        ledger, receipts = self.appliance.book.ledger.path, self.folder / "receipts.sqlite"
        report = verify(ledger)
        assert report.ok, report.first_problem
        with open_book(ledger, receipts) as book:
            replays: dict[str, set[str]] = {}
            for appliance in self.appliances:
                same = appliance.configuration, appliance.versions
                for one in replay_all(book, redecide(*same), rejudge(*same)):
                    ended = one.status if one.differing_field is None else one.differing_field
                    replays.setdefault(one.decision_id, set()).add(ended)
            odd = {i: s for i, s in replays.items() if not s & {Status.SAME, Status.ERASED}}
            assert odd == {}
            dispatched: dict[str, Outcome | None] = {}
            for row in book.ledger.iterate():
                if row.kind == Kind.CONSUMED:
                    decision_id = row.record["decision_id"]
                    decision = book.ledger.get(decision_id)
                    assert decision is not None
                    if decision.record["terminal"] == "DISPATCH":
                        key = decision.record["confirm"]["of"]
                        assert key not in dispatched, "one confirmation, two dispatches"
                        dispatched[key] = standing(book.ledger, decision_id)
        done = [row["key"] for row in bank.tables(self.office.database)["effects"]]
        assert len(set(done)) == len(done), "one key, two effects"
        assert set(done) <= dispatched.keys(), "an effect without a dispatch"
        ends = {Outcome.COMPLETED: True, Outcome.FAILED: False}
        for key, end in dispatched.items():
            assert ends.get(end, key in done) == (key in done), f"{end} against the bank"  # type: ignore[arg-type]


def _shut(appliance: Appliance) -> None:
    """Close what is the branch's own."""
    appliance.book.close()
    appliance.roster.close()


def ended(said: Answered) -> str:
    """How a request ended in one line: terminal, id, status unless it is bounded, reasons."""
    status = () if said.status == "BOUNDED" else (said.status,)
    return " ".join((said.terminal.value, said.rule_id, *status, *said.reasons))


def through(appliance: Appliance, action: str, connector: Any) -> Appliance:
    """The appliance with another connector for one action."""
    duty = appliance.roster.duties[action]
    duties = {**appliance.roster.duties, action: replace(duty, connector=connector)}
    return replace(appliance, roster=replace(appliance.roster, duties=duties))


def at_once(calls: list[Callable[[], Answered]]) -> list[str]:
    """How calls end that are made at the same time."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return sorted(ended(done.result()) for done in [pool.submit(call) for call in calls])


def confirming(branch: Branch, token: str | None, **fields: Any) -> Callable[[], Answered]:
    """One call with a token, ready to be made."""
    request = branch.request("yes", token=token, **fields)
    return lambda: answer(proposing(branch.appliance, "FREEZE_CARD"), request)
