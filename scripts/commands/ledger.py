"""`routelock ledger`: verify, replay, show, export, checkpoint, erase, rotate and sweep."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from gate.errors import LedgerError
from gate.ledger.book import erase as erase_text
from gate.ledger.book import open_book
from gate.ledger.checkpoint import (
    Checkpoint,
    add_to_witness,
    as_json,
    faults,
    public_path,
    read_checkpoint,
    read_public_key,
    read_witness,
    sign,
    signing_key,
)
from gate.ledger.decision import redecide, rejudge
from gate.ledger.replay import Status, replay_all
from gate.ledger.store import Ledger
from gate.ledger.sweep import sweep as sweep_receipts
from gate.ledger.verify import Problem, VerifyReport
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


@app.command(epilog="Example: routelock ledger verify --ledger L.sqlite --witness /mnt/w/l.jsonl")
def verify(
    ledger: Path_,
    checkpoint: Annotated[
        Path | None, typer.Option("--checkpoint", help="An exported checkpoint to continue from.")
    ] = None,
    witness: Annotated[
        Path | None, typer.Option("--witness", help="A file of checkpoints that is kept elsewhere.")
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", help="The public key that checkpoints must be signed with."),
    ] = None,
) -> None:
    """Recompute every digest and link; exit 1 and name the first problem if something was changed."""
    checkpoints = _checkpoints(checkpoint, witness)
    unsound = next(_unsigned(ledger, checkpoints, key), None)
    report = verify_chain(ledger, witness=[one.head for one in checkpoints])
    if report.ok and unsound:
        report = replace(report, first_problem=Problem(0, unsound))
    terminal.json_line({**report_line(report), "checkpoints": len(checkpoints)})
    if not report.ok:
        terminal.tell(f"{ledger}: {report.first_problem}")
        raise typer.Exit(1)


def _checkpoints(exported: Path | None, witness: Path | None) -> list[Checkpoint]:
    found = [] if exported is None else [read_checkpoint(exported)]
    if witness is not None:
        seen = read_witness(witness)
        if not seen:
            raise LedgerError(f"witness `{witness}` holds no checkpoint; check the path")
        found += seen
    return found


def _unsigned(ledger: Path, checkpoints: Sequence[Checkpoint], key: Path | None) -> Iterator[str]:
    """What is wrong with signatures: of all with a given key, else of the signed ones with our own."""
    signed = [one for one in checkpoints if one.signature is not None]
    if key is not None:
        yield from faults(checkpoints, read_public_key(key))
    elif signed:
        yield from faults(signed, read_public_key(public_path(ledger)))


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

    if ledger is not None and not ledger.is_file():
        raise LedgerError(f"`{ledger}` is no file; name a ledger")
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
    if not sum(counts.values()):
        raise LedgerError("the ledger holds no decision; name another one with `--ledger`")
    if counts[Status.VERSIONS_DIFFER.value]:
        terminal.tell(
            "versions differ: replay with the configuration, models and code of the record"
        )
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
    with Ledger.read(ledger) as opened, terminal.writing(out, ledger) as sink:
        for stored in opened.iterate():
            line = {"sequence": stored.sequence, "digest": stored.digest, "record": stored.record}
            terminal.json_line(line, sink)


@app.command(
    epilog="Example: routelock ledger checkpoint --ledger L.sqlite --sign --witness /mnt/w/l.jsonl"
)
def checkpoint(
    ledger: Path_,
    out: Annotated[Path | None, typer.Option("--out", help="Standard output if absent.")] = None,
    signed: Annotated[
        bool, typer.Option("--sign", help="Sign with the key beside the ledger, made on first use.")
    ] = False,
    witness: Annotated[
        Path | None, typer.Option("--witness", help="Append it to this file, too; kept elsewhere.")
    ] = None,
) -> None:
    """Export where the chain ends; kept elsewhere, it shows a cut tail or a rewrite."""
    with Ledger.read(ledger) as opened:
        head = opened.head()
    one = Checkpoint(head.sequence, head.digest)
    if signed:
        one = sign(head, datetime.now(UTC), signing_key(ledger))
    if witness is not None:
        add_to_witness(witness, one)
    with terminal.writing(out, ledger) as sink:
        terminal.json_line(as_json(one), sink)


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
    if not reason.strip():
        raise LedgerError("the reason is empty; say why, it is recorded with the erasure")
    with open_book(ledger, beside(ledger, receipts)) as book:
        count = erase_text(book, decision, at=datetime.now(UTC), reason=reason)
    terminal.json_line({"decision_id": decision, "receipts_erased": count})


@app.command(epilog="Example: routelock ledger rotate --ledger var/demo/ledger.sqlite")
def rotate(ledger: Path_) -> None:
    """Seal the file that is written and go on in the next one; exit 1 if it holds no record yet."""
    if not ledger.exists():
        raise LedgerError(f"`{ledger}` does not exist; check the path")
    with Ledger.open(ledger) as opened:
        sealed, head = opened.rotate(), opened.head()
    terminal.json_line({"sealed": sealed, "sequence": head.sequence, "digest": head.digest})
    if not sealed:
        raise typer.Exit(1)


@app.command(epilog="Example: routelock ledger sweep --ledger L.sqlite --older-than 1d")
def sweep(
    ledger: Path_,
    receipts: Receipts = None,
    older_than: Annotated[
        str, typer.Option("--older-than", help="Least age: a number and s, m, h or d.")
    ] = "1d",
) -> None:
    """Delete texts that a crash left without a decision; each deletion is a record of its own."""
    with open_book(ledger, beside(ledger, receipts)) as book:
        done = sweep_receipts(book, _age(older_than), datetime.now(UTC))
    terminal.json_line(
        {"receipts": done.receipts, "swept": list(done.decisions), "too_young": done.young}
    )


def _age(text: str) -> timedelta:
    found = re.fullmatch(r"([0-9]{1,6})([smhd])", text)
    if found is None:
        raise LedgerError(f"age `{text}` is no number with s, m, h or d; write for example 6h")
    unit = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}[found[2]]
    return timedelta(**{unit: int(found[1])})
