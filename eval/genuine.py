"""Genuine writes: do messages of members who want a write reach the right confirmation.

Each message goes turn by turn through the way with the ledger, dialogues and tokens, proposed with
the action that its label names, in a state in which nothing stands against it. A lock that stops
everything would fail here. `python -m eval.genuine` prints counts, never texts.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

from eval import output, writes
from eval.result import Share
from eval.suites.writes import labels
from eval.suites.writes.labels import Genuine
from gate.normalise import fold
from gate.records import Money, Proposal, Request, Session, SlotValue, Terminal
from inference import ending, sinks
from inference.appliance import Appliance, open_appliance
from inference.question import Question
from inference.routed import Routed
from inference.routing import route
from inference.tiers import Reply

ROOT: Final = Path(__file__).resolve().parents[1]
OUT: Final = ROOT / "var" / "bench" / "genuine"
LEAST: Final = 270
"""Messages of 300 that must reach the right confirmation."""


@dataclass(frozen=True, slots=True)
class Naming:
    """A tier that proposes one action, whatever is asked."""

    action_id: str
    name: str = "named"
    versions: Mapping[str, str] = field(default_factory=dict)

    def propose(self, question: Question) -> Reply:
        """The action with full confidence."""
        proposal = Proposal(self.action_id, None, (self.action_id,), Decimal(1), self.name)
        return Reply(proposal)


@dataclass(frozen=True, slots=True)
class Reached:
    """How far one message came: the right confirmation, and what ended its last turn."""

    message: Genuine
    confirmed: bool
    dispatched: bool
    ended: str
    wrong: bool


@dataclass(frozen=True, slots=True)
class GenuineResult:
    """Every count of one run; `wrong` were asked to confirm something else than they want."""

    reached: Share
    wrong: int
    by_language: Mapping[str, Share]
    by_shape: Mapping[str, Share]
    by_action: Mapping[str, Share]
    ended: Mapping[str, int]


def run(folder: Path, appliance: Appliance) -> tuple[Reached, ...]:
    """Send every message, turn by turn, as a subject of its own; `folder` is the institution's."""
    configuration = appliance.configuration
    sessions = writes.sessions(folder)
    own = [e.object_id for s in sessions.values() for e in s.objects]
    objects = [*configuration.registry.entries, *own]
    messages = labels.genuine(configuration.catalog.actions, objects, sessions)
    return tuple(_send(appliance, m, sessions[m.session]) for m in messages)


def _send(appliance: Appliance, message: Genuine, session: Session) -> Reached:
    named = replace(appliance, tiers=(Naming(message.action_id),))
    calm = writes.clear()
    subject = replace(session, subject=f"{session.subject}-{message.message_id}")
    last: Routed | None = None
    confirmed = wrong = False
    for number, text in enumerate(message.turns, start=1):
        request = Request(
            request_id=f"{message.message_id}-{number}",
            channel="web",
            utterance=text,
            state=calm.of(message.action_id),
            session=subject,
            dialogue_id=last.dialogue_id if last else None,
            confirm_token=last.token if last else None,
        )
        last = route(named, request)
        if last.question is not None:
            right = _is_right(message, last)
            confirmed, wrong = confirmed or right, wrong or not right
    dispatched = last is not None and last.verdict.terminal is Terminal.DISPATCH
    return Reached(message, confirmed, dispatched, _ended(last), wrong)


def _ended(last: Routed | None) -> str:
    if last is None:
        return "nothing"
    return ":".join(
        (last.verdict.rule_id, *(c.split(":")[0] for c in last.verdict.reason_codes[:1]))
    )


def _is_right(message: Genuine, routed: Routed) -> bool:
    verdict = routed.verdict
    same = (verdict.action_id, verdict.object_id) == (message.action_id, message.object_id)
    return same and all(
        _same(message.slots.get(name), verdict.slots.get(name))
        for name in {*message.slots, *verdict.slots}
    )


def _same(wanted: object, found: SlotValue | None) -> bool:
    """True if a slot holds what its label says; amounts as numbers, texts without regard to case."""
    if isinstance(found, Money) and isinstance(wanted, dict):
        try:
            value = Decimal(str(wanted["value"]))
        except InvalidOperation:
            return False
        return (found.value, found.currency) == (value, wanted["currency"])
    if isinstance(found, str) and isinstance(wanted, str):
        return _bare(found) == _bare(wanted)
    return False


def _bare(text: str) -> str:
    return " ".join(fold(text).replace(",", " ").split())


def measure(reached: Sequence[Reached]) -> GenuineResult:
    """Count, together and by language, shape and action."""

    def by(name: str) -> dict[str, Share]:
        keys = dict.fromkeys(str(getattr(r.message, name)) for r in reached)
        return {k: _share([r for r in reached if getattr(r.message, name) == k]) for k in keys}

    return GenuineResult(
        reached=_share(reached),
        wrong=sum(r.wrong for r in reached),
        by_language=by("language"),
        by_shape=by("shape"),
        by_action=by("action_id"),
        ended=dict(Counter(r.ended for r in reached if not r.confirmed).most_common()),
    )


def _share(reached: Sequence[Reached]) -> Share:
    return Share(sum(r.confirmed and not r.wrong for r in reached), len(reached))


def missed(reached: Sequence[Reached]) -> Iterator[dict[str, Any]]:
    """What did not reach its confirmation, by class; ids and notes, no text."""
    for r in reached:
        if not r.confirmed or r.wrong:
            m = r.message
            kind = {"language": m.language, "shape": m.shape, "action": m.action_id}
            yield {"id": m.message_id, **kind, "ended": r.ended, "wrong": r.wrong, "note": m.note}


def main(out: Path = OUT) -> int:
    """Run and print; 1 if too few reach their confirmation, or one is asked to confirm another."""
    with tempfile.TemporaryDirectory() as place:
        with open_appliance(
            writes.DEMO, ROOT, lambda: writes.clear().now, Path(place)
        ) as appliance:
            reached = run(writes.DEMO, appliance)
    result = measure(reached)
    rows = "".join(sinks.json_text(row) + "\n" for row in missed(reached))
    figures = sinks.json_text(asdict(result), indent=2) + "\n"
    output.write(out, {"genuine.json": figures, "missed.jsonl": rows})
    told = [f"reached the right confirmation  {result.reached.count} of {result.reached.of}"]
    told.append(f"asked to confirm another write  {result.wrong}")
    for shares in (result.by_language, result.by_shape, result.by_action):
        for name, share in shares.items():
            told.append(f"  {name:22} {share.count:4} of {share.of}")
    for ended, count in result.ended.items():
        told.append(f"  missed, ended in {ended:32} {count:4}")
    print(*map(sinks.terminal, told), sep="\n")
    return 1 if result.wrong or result.reached.count < LEAST else 0


if __name__ == "__main__":
    ending.run(main)
