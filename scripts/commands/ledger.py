"""`routelock ledger`: verify, replay, show, export, checkpoint and erase."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from gate.errors import LedgerError
from gate.ledger.book import erase as erase_text
from gate.ledger.book import open_book
from gate.ledger.decision import redecide, rejudge
from gate.ledger.replay import Status, replay_all
from gate.ledger.store import Head, Ledger
from gate.ledger.verify import VerifyReport
from gate.ledger.verify import verify as verify_chain
from scripts import terminal

app = typer.Typer(help="Check, replay and export decision records.", no_args_is_help=True)

Path_ = Annotated[Path, typer.Option("--ledger", help="The ledger file.")]
Receipts = Annotated[
    Path | None, typer.Option("--receipts", help="The receipts; beside the ledger if absent.")
]


def beside(ledger: Path, receipts: Path | None) -> Path:
    """The receipts file: the one given, or `receipts.sqlite` beside the ledger."""
    return receipts or ledger.with_name("receipts.sqlite")


def report_line(report: VerifyReport) -> dict[str, Any]:
    """A verification as JSON."""
    return {
        "ok": report.ok,
        "records": report.records,
        "head": {"sequence": report.head.sequence, "digest": report.head.digest},
        "problem": None if report.first_problem is None else str(report.first_problem),
    }


@app.command(epilog="Example: routelock ledger verify --ledger var/demo/ledger.sqlite")
def verify(
    ledger: Path_,
    checkpoint: Annotated[
        Path | None, typer.Option("--checkpoint", help="An exported checkpoint to continue from.")
    ] = None,
) -> None:
    """Recompute every digest and link; exit 1 and name the first problem if something was changed."""
    report = verify_chain(ledger, _head(checkpoint) if checkpoint else None)
    terminal.json_line(report_line(report))
    if not report.ok:
        terminal.tell(f"{ledger}: {report.first_problem}")
        raise typer.Exit(1)


def _head(checkpoint: Path) -> Head:
    try:
        value = json.loads(checkpoint.read_text(encoding="utf-8"))
        return Head(int(value["sequence"]), str(value["digest"]))
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
        raise LedgerError(
            f"`{checkpoint}` is no checkpoint; export one with `routelock ledger checkpoint`"
        ) from error


@app.command(epilog="Example: routelock ledger replay --config configs/demo")
def replay(
    config: Annotated[Path, typer.Option("--config", help="An institution's folder.")],
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", help="A ledger in another folder than the appliance's."),
    ] = None,
) -> None:
    """Make every stored decision again and compare it byte for byte; exit 1 if one differs."""
    from inference.appliance import open_appliance

    counts = dict.fromkeys((s.value for s in Status), 0)
    with open_appliance(config, ledger_dir=ledger.parent if ledger else None) as appliance:
        stands = appliance.configuration, appliance.versions
        reports = replay_all(appliance.book, redecide(*stands), rejudge(*stands))
        for report in terminal.progress(reports, "decisions"):
            counts[report.status.value] += 1
            if report.status in (Status.DIFFERS, Status.VERSIONS_DIFFER):
                terminal.json_line(
                    {
                        "decision_id": report.decision_id,
                        "status": report.status.value,
                        "field": report.differing_field,
                        "recorded": report.recorded,
                        "today": report.today,
                        "besides": report.besides,
                    }
                )
    terminal.json_line(counts)
    if counts[Status.DIFFERS.value] or counts[Status.VERSIONS_DIFFER.value]:
        raise typer.Exit(1)


@app.command(epilog="Example: routelock ledger show --ledger var/demo/ledger.sqlite --last 3")
def show(
    ledger: Path_,
    decision: Annotated[str | None, typer.Option("--decision", help="One decision id.")] = None,
    last: Annotated[int, typer.Option("--last", min=1, help="The last so many records.")] = 10,
) -> None:
    """Print records as JSON lines."""
    with Ledger.read(ledger) as opened:
        if decision is not None:
            stored = opened.find(decision)
            if stored is None:
                raise LedgerError(f"decision `{decision}` is not in `{ledger}`; check the id")
            terminal.json_line(stored.record)
            return
        for stored in opened.iterate(max(1, opened.head().sequence - last + 1)):
            terminal.json_line(
                {"sequence": stored.sequence, "digest": stored.digest, **stored.record}
            )


@app.command(
    epilog="Example: routelock ledger export --ledger var/demo/ledger.sqlite --out all.jsonl"
)
def export(
    ledger: Path_,
    out: Annotated[Path | None, typer.Option("--out", help="Standard output if absent.")] = None,
) -> None:
    """Write every record with its digest as JSON lines; no text is in them."""
    with Ledger.read(ledger) as opened, terminal.writing(out) as sink:
        for stored in opened.iterate():
            line = {"sequence": stored.sequence, "digest": stored.digest, "record": stored.record}
            terminal.json_line(line, sink)


@app.command(
    epilog="Example: routelock ledger checkpoint --ledger var/demo/ledger.sqlite --out cp.json"
)
def checkpoint(
    ledger: Path_,
    out: Annotated[Path | None, typer.Option("--out", help="Standard output if absent.")] = None,
) -> None:
    """Export where the chain ends; kept elsewhere, it shows a cut tail or a rewrite."""
    with Ledger.read(ledger) as opened, terminal.writing(out) as sink:
        head = opened.head()
        terminal.json_line({"sequence": head.sequence, "digest": head.digest}, sink)


@app.command(
    epilog="Example: routelock ledger erase 3f0c --ledger L.sqlite --reason 'request of the member'"
)
def erase(
    decision: Annotated[str, typer.Argument(help="The decision id.")],
    ledger: Path_,
    reason: Annotated[str, typer.Option("--reason", help="Recorded with the erasure.")],
    receipts: Receipts = None,
) -> None:
    """Delete a decision's text and salt; the erasure is a record of its own and breaks nothing."""
    with open_book(ledger, beside(ledger, receipts)) as book:
        count = erase_text(book, decision, at=datetime.now(UTC), reason=reason)
    terminal.json_line({"decision_id": decision, "receipts_erased": count})
