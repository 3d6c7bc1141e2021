"""`routelock demo`: about twenty requests through the demo institution, then verify and replay."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import yaml

from gate.errors import RequestError
from gate.ledger.decision import redecide
from gate.ledger.replay import Status, replay_all
from gate.ledger.verify import verify
from gate.load.requests import request_of
from gate.records import Abstain, OutOfScope, Proposal, Request, TierAnswer
from inference.masking import masked_in
from scripts import terminal
from scripts.commands.serve import answered_line

if TYPE_CHECKING:
    from inference.appliance import Appliance
    from inference.way import Answered

SHOWCASE = Path(__file__).resolve().parents[2] / "eval/suites/demo/showcase.yaml"
SESSION = "dana"
OWN = Path("var/demo/showcase")
"""The demo's own folder; nothing else is kept there."""
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


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
    from inference import way
    from inference.appliance import open_appliance

    with open_appliance(config, ledger_dir=_fresh(ledger_dir)) as appliance:
        ended = [
            (case, way.answer(appliance, request))
            for case, request in terminal.progress(read_showcase(appliance, config))
        ]
        if terminal.for_people():
            for number, (case, answered) in enumerate(ended, start=1):
                show(number, case, answered)
            overview(ended)
        else:
            for case, answered in ended:
                terminal.json_line(line(case, answered))
        unexpected = [case["shows"] for case, answered in ended if not as_expected(case, answered)]
        sound = _audit(appliance)
    for title in unexpected:
        terminal.tell(f"ended otherwise than expected: {title}")
    if unexpected or not sound:
        raise typer.Exit(1)


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


def read_showcase(appliance: Appliance, config: Path) -> Iterator[tuple[dict[str, Any], Request]]:
    """The cases of the showcase with their requests, each dated when its turn comes."""
    showcase = yaml.safe_load(SHOWCASE.read_text(encoding="utf-8"))
    sessions = yaml.safe_load((config / "sessions.yaml").read_text(encoding="utf-8"))["sessions"]
    for number, case in enumerate(showcase["requests"], start=1):
        value = {
            "request_id": f"demo-{number:02d}",
            "channel": "web",
            "utterance": case["utterance"],
            "history": case.get("history", []),
            "state": dated({**showcase["state"], **case.get("state", {})}, appliance.clock()),
            "session": case.get("session", sessions[SESSION]),
        }
        where = f"{SHOWCASE.name} request {number}"
        yield case, request_of(value, appliance.configuration, where)


def dated(value: Any, now: datetime) -> Any:
    """`value` with every `{ago: 5m}` replaced by the RFC 3339 time that long before `now`."""
    if not isinstance(value, dict):
        return value
    if set(value) == {"ago"}:
        count, unit = int(value["ago"][:-1]), value["ago"][-1]
        return (now - timedelta(**{UNITS[unit]: count})).isoformat()
    return {name: dated(part, now) for name, part in value.items()}


def as_expected(case: dict[str, Any], answered: Answered) -> bool:
    """True if the request ended in the terminal, and by the id, that the showcase names."""
    expect = case["expect"]
    by = expect.get("by", answered.rule_id)
    return (answered.terminal.value, answered.rule_id) == (expect["terminal"], by)


def line(case: dict[str, Any], answered: Answered) -> dict[str, Any]:
    """One request of the demo as JSON."""
    return {"shows": case["shows"], "utterance": case["utterance"], **answered_line(answered)}


def show(number: int, case: dict[str, Any], answered: Answered) -> None:
    """One request of the demo for a person: what came in, the way through, what came out."""
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


def overview(ended: list[tuple[dict[str, Any], Answered]]) -> None:
    """All requests of the demo as one table."""
    lines = []
    for number, (case, answered) in enumerate(ended, start=1):
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
    """The names found in the request, with what stands against them."""
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
