"""`routelock route` and `answer`: JSON lines through the whole way, recorded in the ledger."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gate.configuration import Configuration
from gate.confirmation import shown
from gate.controller import malformed
from gate.errors import RequestError
from gate.load.requests import parse_request
from gate.load.strictjson import read_jsonl
from gate.records import Request
from inference import messages
from inference.disclosure import Role, disclosed
from scripts import terminal
from scripts.commands.gate import verdict_line

if TYPE_CHECKING:
    from inference.appliance import Appliance
    from inference.way import Answered, Routed

Config = Annotated[Path, typer.Option("--config", help="An institution's folder.")]
In = Annotated[Path | None, typer.Option("--in", help="JSON lines; standard input if absent.")]
Out = Annotated[Path | None, typer.Option("--out", help="JSON lines; standard output if absent.")]
LedgerDir = Annotated[
    Path | None, typer.Option("--ledger-dir", help="Keep ledger and receipts in this folder.")
]


Told = Annotated[
    Role, typer.Option("--role", help="Who reads the lines; a user is told no reasons.")
]


def route(
    config: Config,
    source: In = None,
    out: Out = None,
    ledger_dir: LedgerDir = None,
    role: Told = Role.CHANNEL,
) -> None:
    """Decide requests with the tiers and record each decision; nothing is answered or executed.

    Example: routelock route --config configs/demo --in requests.jsonl --out decisions.jsonl
    """
    from inference import speaking, way

    def line(appliance: Appliance, request: Request) -> dict[str, Any]:
        if request.confirm_token is not None:
            problem = "a confirmation would be used up, and nothing carried out"
            raise RequestError(problem, where="field confirm", fix="send it to `routelock answer`")
        routed = way.route(appliance, request)
        return {**routed_line(routed), "offered": list(speaking.offered(appliance, routed))}

    _each(config, source, out, ledger_dir, role, line)


def answer(
    config: Config,
    source: In = None,
    out: Out = None,
    ledger_dir: LedgerDir = None,
    role: Told = Role.CHANNEL,
) -> None:
    """Decide requests and answer those that are dispatched, with citations.

    A write is read back first; send `"confirm": {"token": ...}` with an empty text or a yes to have it
    carried out. An answer to a clarification goes with its `dialogue_id`.

    Example: routelock answer --config configs/demo --in requests.jsonl --out answers.jsonl
    """
    from inference import execution, speaking, way

    def settle(appliance: Appliance) -> None:
        for one in execution.settle(appliance):
            terminal.tell(f"write {one.decision_id} of an earlier run: {one.recorded}")

    def line(appliance: Appliance, request: Request) -> dict[str, Any]:
        answered = way.answer(appliance, request)
        offered = speaking.offered(appliance, answered.routed)
        return {**answered_line(answered), "offered": list(offered)}

    _each(config, source, out, ledger_dir, role, line, settle)


def _each(
    config: Path,
    source: Path | None,
    out: Path | None,
    ledger_dir: Path | None,
    role: Role,
    go: Callable[[Appliance, Request], dict[str, Any]],
    first: Callable[[Appliance], object] = lambda _: None,
) -> None:
    from inference.appliance import open_appliance

    broken = 0
    with (
        open_appliance(config, ledger_dir=ledger_dir) as appliance,
        terminal.reading(source) as stream,
        terminal.writing(out, source) as sink,
    ):
        first(appliance)
        configuration = appliance.configuration
        for number, item in terminal.progress(read_jsonl(stream, configuration.limits.body_bytes)):
            where = f"{source or 'standard input'} line {number}"
            try:
                if isinstance(item, RequestError):
                    raise item
                line = go(appliance, parse_request(item, configuration, where))
            except RequestError as error:
                terminal.tell(str(error))
                broken += 1
                line = {"line": number, **malformed_line(configuration), "error": str(error)}
            terminal.json_line(disclosed(line, role), sink)
    if broken:
        terminal.tell(f"{broken} line(s) could not be read; each has the terminal of G-REQUEST")
        raise typer.Exit(2)


def malformed_line(configuration: Configuration) -> dict[str, Any]:
    """The end of a line that cannot be read, with what the customer reads."""
    verdict = malformed(configuration, "MALFORMED")
    message = messages.bounded(configuration.pack, verdict.terminal, verdict.rule_id)
    return {**verdict_line(verdict), "message": message}


def routed_line(routed: Routed) -> dict[str, Any]:
    """A routed request as JSON."""
    answered_by = routed.tried[-1] if routed.tried else None
    return {
        "request_id": routed.request.request_id,
        "decision_id": routed.decision_id,
        "replayed": routed.replayed,
        **verdict_line(routed.verdict),
        "slots": {name: shown(value) for name, value in routed.verdict.slots.items()},
        "confirm": {"token": routed.token, "text": routed.question} if routed.token else None,
        "dialogue_id": routed.dialogue_id,
        "direction": routed.findings.direction.value,
        "tier": answered_by.tier if answered_by else None,
        "flags": list(dict.fromkeys(flag for tried in routed.tried for flag in tried.reply.flags)),
        "latency_ms": {
            name: round(getattr(routed.timing, name), 3)
            for name in ("findings", "tiers", "gate", "ledger")
        },
    }


def answered_line(answered: Answered) -> dict[str, Any]:
    """An answered request as JSON: the decision, its end, and what the customer reads."""
    return {
        **routed_line(answered.routed),
        "status": answered.status,
        "ended": {"terminal": answered.terminal.value, "rule_id": answered.rule_id},
        "reasons": list(answered.reasons),
        "message": answered.message,
        "citations": [
            {
                "id": c.evidence_id,
                "source": c.source,
                "title": c.title,
                "version": c.version,
                "headings": list(c.headings),
                "paragraph": c.paragraph,
                "page": c.page,
                "as_of": c.as_of.isoformat() if c.as_of else None,
                "sha256": c.digest,
            }
            for c in answered.citations
        ],
    }
