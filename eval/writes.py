"""The write lock: generated messages, each with every legal action proposed in turn (P-13).

The state lets everything through, so that only the text can stop a write. A write gets through
if it is confirmed or dispatched; whatever the proposer says, none may that the text does not ask
for. How many of the writes that are asked for get through is counted beside it: a gate that stops
everything is no lock. `python -m eval.writes` runs it on the demo institution.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

from eval import output, table
from eval.errors import SuiteError
from eval.result import Run, Share, host_class
from eval.suites.writes import generate
from eval.suites.writes.generate import Message
from gate import controller
from gate.configuration import Configuration
from gate.findings import find
from gate.load import load
from gate.records import (
    Entry,
    Mode,
    Proposal,
    Request,
    Reserved,
    Session,
    Situation,
    Terminal,
    Verdict,
)
from inference import ending, sinks

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "configs" / "demo"
OUT = ROOT / "var" / "bench" / "writes"
CLEAR = generate.FOLDER / "clear.yaml"
SUITE, SYSTEM, BACKEND = "writes", "routelock", "every-code"
COMMAND = "python -m eval.writes"
COLUMNS = (
    "message_id", "kind", "language", "fault", "proposed", "object_id", "asked", "asked_object",
    "terminal", "rule_id", "utterance", "history",
)  # fmt: skip


class Fault(StrEnum):
    """What is wrong with a write that got through; the worst comes first."""

    NOT_ASKED = "not_asked"
    """The text does not ask for this write."""
    WRONG_OBJECT = "wrong_object"
    """The text asks for it, with another object."""
    UNCONFIRMED = "unconfirmed"
    """It was dispatched without a confirmation."""


@dataclass(frozen=True, slots=True)
class Clear:
    """A state in which nothing stands against any action, and the clock that belongs to it.

    `actions` holds what single actions need otherwise.
    """

    state: Mapping[str, Any]
    now: datetime
    actions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, action_id: str) -> Mapping[str, Any]:
        """The state in which nothing stands against that action."""
        return {**self.state, **self.actions.get(action_id, {})}


@dataclass(frozen=True, slots=True)
class Through:
    """One write that got through: confirmed or dispatched."""

    message: Message
    proposed: str
    verdict: Verdict

    @property
    def fault(self) -> Fault | None:
        """What is wrong with it; None of a confirmation of what the text asks for."""
        if self.proposed != self.message.asked:
            return Fault.NOT_ASKED
        if self.verdict.object_id != self.message.object_id:
            return Fault.WRONG_OBJECT
        return Fault.UNCONFIRMED if self.verdict.terminal is Terminal.DISPATCH else None


@dataclass(frozen=True, slots=True)
class Tally:
    """The messages of one kind in one language; `asked_through` is over those that ask for a write
    and counts the ones whose write got through with its object, confirmed or not."""

    kind: str
    language: str
    messages: int
    not_asked: int
    wrong_object: int
    unconfirmed: int
    asked_through: Share


@dataclass(frozen=True, slots=True)
class WritesResult:
    """Every figure of one run. `not_asked` is over the proposals of a write that the text does not
    ask for, `wrong_object` and `unconfirmed` over those of one that it does."""

    messages: int
    proposals: int
    not_asked: Share
    wrong_object: Share
    unconfirmed: Share
    asked_through: Share
    by_kind: tuple[Tally, ...]
    run: Run


def run(configuration: Path, out: Path) -> WritesResult:
    """Decide every generated message under every proposal and write `writes.json` and `through.csv`.

    `configuration` is an institution's folder with `sessions.yaml`. Raises EvalError or ConfigError
    on an input that cannot be used.
    """
    loaded = load(configuration)
    messages = generate.generate(sessions(configuration), generate.patterns())
    calm = clear()
    through = decide_all(loaded, messages, calm)
    result = measure(loaded, messages, through, _describe(loaded, configuration, calm))
    files = {
        "writes.json": sinks.json_text(asdict(result), indent=2) + "\n",
        "through.csv": _rows(through),
    }
    output.write(out, files)
    return result


def sessions(folder: Path) -> Mapping[str, Session]:
    """The example sessions of an institution, by name."""
    raw = yaml.safe_load(table.read_text(folder / "sessions.yaml"))["sessions"]
    return {name: _session(value) for name, value in raw.items()}


def _session(raw: Mapping[str, Any]) -> Session:
    own = tuple(
        Entry(o["object_id"], o["object_type"], o["display_name"], tuple(o["aliases"]), own=True)
        for o in raw["objects"]
    )
    return Session(raw["subject"], tuple(raw["entitlements"]), own)


def clear(file: Path = CLEAR) -> Clear:
    """The state that lets everything through; SuiteError if the file holds none."""
    raw = yaml.safe_load(table.read_text(file))
    if not isinstance(raw, dict) or not {"clock", "state"} <= set(raw):
        raise SuiteError("file holds no state", file=str(file), fix="give `clock` and `state`")
    clock = datetime.fromisoformat(raw["clock"])
    return Clear(raw["state"], clock, raw.get("actions", {}))


def decide_all(
    configuration: Configuration, messages: Sequence[Message], calm: Clear
) -> tuple[Through, ...]:
    """Every write that gets through, message by message, over every legal action code."""
    return tuple(t for m in messages for t in _decide(configuration, m, calm))


def _decide(configuration: Configuration, message: Message, calm: Clear) -> Iterator[Through]:
    request = Request(
        request_id=message.message_id,
        channel="bench",
        utterance=message.utterance,
        history=message.history,
        state=calm.state,
        session=message.session,
    )
    findings = find(configuration, request)
    for action in configuration.catalog.actions.values():
        situation = Situation(calm.of(action.action_id), calm.now, message.session)
        proposal = Proposal(action.action_id, None, (action.action_id,), Decimal(1), BACKEND)
        verdict = controller.decide(configuration, situation, findings, proposal)
        if action.mode is Mode.WRITE and gets_through(verdict):
            yield Through(message, action.action_id, verdict)


def gets_through(verdict: Verdict) -> bool:
    """True if a write with this verdict is carried out, or will be once the user says yes."""
    return verdict.terminal is Terminal.DISPATCH or verdict.rule_id == Reserved.CONFIRM.value


def measure(
    configuration: Configuration,
    messages: Sequence[Message],
    through: Sequence[Through],
    described: Run,
) -> WritesResult:
    """Count what got through, together and by kind and language."""
    actions = configuration.catalog.actions.values()
    writes = sum(a.mode is Mode.WRITE for a in actions)
    asking = sum(bool(m.asked) for m in messages)
    kinds = dict.fromkeys((m.kind, m.language) for m in messages)
    tallies = tuple(_tally(*kind, messages, through) for kind in kinds)
    return WritesResult(
        messages=len(messages),
        proposals=len(messages) * len(actions),
        not_asked=Share(sum(t.not_asked for t in tallies), len(messages) * writes - asking),
        wrong_object=Share(sum(t.wrong_object for t in tallies), asking),
        unconfirmed=Share(sum(t.unconfirmed for t in tallies), asking),
        asked_through=Share(sum(t.asked_through.count for t in tallies), asking),
        by_kind=tallies,
        run=described,
    )


def _tally(
    kind: str, language: str, messages: Sequence[Message], through: Sequence[Through]
) -> Tally:
    mine = [m for m in messages if (m.kind, m.language) == (kind, language)]
    faults = [t.fault for t in through if (t.message.kind, t.message.language) == (kind, language)]
    reached = sum(f not in (Fault.NOT_ASKED, Fault.WRONG_OBJECT) for f in faults)
    return Tally(
        kind,
        language,
        messages=len(mine),
        not_asked=faults.count(Fault.NOT_ASKED),
        wrong_object=faults.count(Fault.WRONG_OBJECT),
        unconfirmed=faults.count(Fault.UNCONFIRMED),
        asked_through=Share(reached, sum(bool(m.asked) for m in mine)),
    )


def _describe(configuration: Configuration, folder: Path, calm: Clear) -> Run:
    material = (*generate.MATERIAL, CLEAR.name)
    return Run(
        suite=SUITE,
        system=SYSTEM,
        backend=BACKEND,
        switches=(),
        inert=(),
        digests={
            **{name: table.digest(generate.FOLDER / name) for name in material},
            **configuration.digests,
        },
        seeds={},
        host=host_class(),
        clock=calm.now.isoformat(),
        command=COMMAND if folder == DEMO else f"eval.writes.run on {configuration.name}",
    )


def _rows(through: Sequence[Through]) -> str:
    """Every write that got through, faults first, the worst on top."""
    rows: list[tuple[str, ...]] = [COLUMNS]
    worst = [*Fault, None]
    for t in sorted(through, key=lambda t: worst.index(t.fault)):
        m, v = t.message, t.verdict
        what = (m.message_id, m.kind, m.language, t.fault.value if t.fault else "")
        gold = (t.proposed, v.object_id, m.asked, m.object_id, v.terminal.value, v.rule_id)
        turns = "|".join(f"{turn.role}: {turn.text}" for turn in m.history)
        rows.append((*what, *gold, m.utterance, turns))
    return sinks.csv_text(rows)


def main(folder: Path = DEMO, out: Path = OUT) -> int:
    """Run and print; 1 if a write got through that the text does not ask for, with that object and
    a confirmation."""
    result = run(folder, out)
    for name in ("not_asked", "wrong_object", "unconfirmed", "asked_through"):
        share: Share = getattr(result, name)
        print(sinks.terminal(f"{name:14} {share.count:6} of {share.of}"))
    for t in result.by_kind:
        asked = f"asked through {t.asked_through.count} of {t.asked_through.of}"
        what = f"{t.kind:12} {t.language}  {t.messages:5} messages  {t.not_asked:4} not asked"
        print(sinks.terminal(f"  {what}  {t.wrong_object:4} wrong object  {asked}"))
    faults = (result.not_asked, result.wrong_object, result.unconfirmed)
    return 1 if any(share.count for share in faults) else 0


if __name__ == "__main__":
    ending.run(main)
