"""`routelock demo`: about twenty requests through the demo institution, then verify and replay."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gate.errors import RequestError
from gate.ledger.decision import redecide
from gate.ledger.replay import Status, replay_all
from gate.ledger.verify import verify
from gate.load import load_institution
from gate.records import Abstain, OutOfScope, Proposal, TierAnswer
from inference.masking import masked_in
from scripts import showcase, terminal
from scripts.commands.serve import answered_line

if TYPE_CHECKING:
    from inference.appliance import Appliance
    from inference.way import Answered

OWN = Path("var/demo/showcase")
"""The demo's own folder; nothing else is kept there."""


def demo(
    config: Annotated[Path, typer.Option("--config", help="The demo institution.")] = Path(
        "configs/demo"
    ),
    ledger_dir: Annotated[
        Path | None,
        typer.Option(
            "--ledger-dir", help="A new folder to keep the ledger in; var/demo if absent."
        ),
    ] = None,
) -> None:
    """Show the whole way through on real parts: documents, database, terminals, ledger.

    Example: routelock demo
    """
    from inference.appliance import open_appliance

    folder = _fresh(ledger_dir)
    with (
        showcase.office(folder, Path(), load_institution(config).connectors) as office,
        open_appliance(config, ledger_dir=folder, placed=office.placed) as appliance,
    ):
        ended = list(terminal.progress(_play(appliance, office, config, folder)))
        if terminal.for_people():
            for number, one in enumerate(ended, start=1):
                show(number, one)
            overview(ended)
        else:
            for one in ended:
                terminal.json_line(line(one))
        unexpected = [str(one.case["shows"]) for one in ended if not as_expected(one)]
        sound = _audit(appliance)
    for title in unexpected:
        terminal.tell(f"ended otherwise than expected: {title}")
    if unexpected or not sound:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class Ended:
    """One case of the showcase with its end, what changed at the bank, and what was settled."""

    case: showcase.Case
    answered: Answered
    bank: tuple[str, ...]
    settled: str = ""


def _play(
    appliance: Appliance, office: showcase.Office, config: Path, folder: Path
) -> Iterator[Ended]:
    """Every case in turn, each dated when it comes; one of them dies between decision and hand-over."""
    from inference import execution, way

    sessions, last = showcase.sessions(config), None
    for number, case in enumerate(showcase.cases(), start=1):
        value = showcase.body(number, case, last, sessions, appliance.clock())
        request = showcase.request(appliance, number, value)
        before, settled = office.tables(), ""
        if case.get("crashes") and value["confirm"]:
            showcase.crash(config, folder, office.url, value)
            ends = [f"{s.decision_id[:8]} {s.recorded.value}" for s in execution.settle(appliance)]
            settled = f"died before the hand-over; at the next start: {', '.join(ends)}"
        last = way.answer(appliance, request)
        changed = showcase.changes(before, office.tables())
        yield Ended(case, last, tuple(changed), settled)


def _fresh(ledger_dir: Path | None) -> Path:
    """A folder without a ledger: the given new one, or one for this run under var/demo."""
    if ledger_dir is None:
        OWN.mkdir(parents=True, exist_ok=True)
        for old in OWN.iterdir():
            shutil.rmtree(old)
        return Path(tempfile.mkdtemp(dir=OWN))
    if ledger_dir.exists() and (not ledger_dir.is_dir() or any(ledger_dir.iterdir())):
        raise RequestError(
            f"`{ledger_dir}` is not empty", where="--ledger-dir", fix="name a new folder"
        )
    ledger_dir.mkdir(parents=True, exist_ok=True)
    return ledger_dir


def as_expected(one: Ended) -> bool:
    """True if the request ended in the terminal, by the id and with the effects that the showcase
    names."""
    expect, answered = one.case["expect"], one.answered
    by, status = expect.get("by", answered.rule_id), expect.get("status", answered.status)
    ended = (answered.terminal.value, answered.rule_id, answered.status)
    effects = sum(change.startswith("1 effect") for change in one.bank)
    return ended == (expect["terminal"], by, status) and effects == expect.get("effects", 0)


def line(one: Ended) -> dict[str, Any]:
    """One request of the demo as JSON."""
    case = one.case
    more = {"settled": one.settled, "bank": list(one.bank)}
    told = {"shows": case["shows"], "utterance": case["utterance"]}
    return {**told, **answered_line(one.answered), **more}


def show(number: int, one: Ended) -> None:
    """One request of the demo for a person: what came in, the way through, what came out."""
    case, answered = one.case, one.answered
    routed = answered.routed
    tiers = " > ".join(f"{t.tier} {_said(t.reply.answer)}" for t in routed.tried)
    verdict = routed.verdict
    terminal.styled("")
    terminal.styled((f"{number:2d}  {case['shows']}", "bold"))
    for turn in routed.request.history:
        terminal.styled((f"    {turn.role}: {_masked(answered, turn.text)}", "dim"))
    terminal.styled((f"    \u201c{_masked(answered, case['utterance'])}\u201d", "cyan"))
    terminal.styled(f"    tiers    {tiers}")
    terminal.styled(f"    reads    {routed.findings.direction.value}{_spans(answered)}")
    terminal.styled(f"    action   {verdict.action_id or '-'}  object {verdict.object_id}")
    reasons = ", ".join(answered.reasons or verdict.reason_codes)
    decided = f"{answered.rule_id}{f'  ({reasons})' if reasons else ''}"
    colour = "green" if answered.terminal.value == "DISPATCH" else "yellow"
    terminal.styled("    decided  ", (answered.terminal.value, colour), f" by {decided}")
    for text in answered.message.splitlines():
        terminal.styled((f"    {text}", "bold"))
    for c in answered.citations:
        where = " > ".join(c.headings) or (f"as of {c.as_of}" if c.as_of else "")
        paragraph = f", paragraph {c.paragraph}" if c.paragraph else ""
        terminal.styled((f"    [{c.evidence_id}] {c.source}: {where}{paragraph}", "dim"))
    for text in (one.settled, *one.bank):
        if text:
            terminal.styled((f"    bank     {text}", "magenta"))


def overview(ended: list[Ended]) -> None:
    """All requests of the demo as one table."""
    lines = []
    for number, one in enumerate(ended, start=1):
        case, answered = one.case, one.answered
        verdict, tried = answered.routed.verdict, answered.routed.tried
        lines.append(
            (
                number,
                _masked(answered, case["utterance"]),
                tried[-1].tier if tried else "-",
                answered.routed.findings.direction.value,
                verdict.action_id or "-",
                verdict.object_id,
                answered.rule_id,
                answered.terminal.value,
            )
        )
    columns = ("", "request", "tier", "reads", "action", "object", "decided by", "terminal")
    terminal.rows("The whole way through", columns, lines)


def _said(answer: TierAnswer) -> str:
    if isinstance(answer, Proposal):
        return f"{answer.action_id} {answer.confidence}"
    if isinstance(answer, OutOfScope):
        return f"out of scope {answer.confidence}"
    return f"abstains ({answer.reason})" if isinstance(answer, Abstain) else "unparsed"


def _masked(answered: Answered, text: str) -> str:
    """A text of the request with the numbers of the member's own objects masked."""
    session = answered.routed.request.session
    return masked_in(text, session.objects if session else ())


def _spans(answered: Answered) -> str:
    """The names found in the request, with what stands against them; those of this turn alone."""
    if answered.routed.request.confirm_token or answered.routed.request.dialogue_id:
        return ""
    found = answered.routed.findings.mentions
    text = answered.routed.request.utterance
    named = [f"{_masked(answered, text[m.start : m.end])} [{m.status.value}]" for m in found]
    return f"; names {', '.join(named)}" if named else ""


def _audit(appliance: Appliance) -> bool:
    """Verify and replay the ledger that the demo has just written, and say how it went."""
    report = verify(appliance.book.ledger.path)
    terminal.tell(
        f"ledger verify: {report.records} records, "
        f"{'chain sound' if report.ok else report.first_problem}, head {report.head.digest[:16]}"
    )
    replayed = [
        r.status
        for r in replay_all(appliance.book, redecide(appliance.configuration, appliance.versions))
    ]
    same = sum(s is Status.SAME for s in replayed)
    terminal.tell(f"ledger replay: {same} of {len(replayed)} decisions are the same bytes again")
    return report.ok and same == len(replayed)
