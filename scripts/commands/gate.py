"""`routelock gate`: decide, explain, lint and diff, without any model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from gate import lint as linting
from gate.configuration import Configuration
from gate.controller import decide as decide_case
from gate.controller import malformed
from gate.diff import Change
from gate.diff import diff as diff_inputs
from gate.errors import ConfigError, RequestError
from gate.explain import explain as explain_case
from gate.findings import find, to_core
from gate.ledger.book import read_book
from gate.ledger.encode import moment
from gate.ledger.receipts import Erased, request_from_receipt, tier_answer_from_receipt
from gate.ledger.record import Kind, kind_of
from gate.load import load, load_institution
from gate.load.language import load as load_pack
from gate.load.requests import parse_decide
from gate.load.scaffold import scaffold
from gate.load.schema import write_schemas
from gate.load.strictjson import read_jsonl
from gate.records import Request, Situation, TierAnswer, Verdict
from inference.masking import masked_in
from scripts import terminal

app = typer.Typer(help="Decide, explain, lint and compare configurations.", no_args_is_help=True)

Config = Annotated[Path, typer.Option("--config", help="An institution's folder.")]
In = Annotated[Path | None, typer.Option("--in", help="JSON lines; standard input if absent.")]
Out = Annotated[Path | None, typer.Option("--out", help="JSON lines; standard output if absent.")]
Now = Annotated[str | None, typer.Option("--now", help="RFC 3339 time; the clock if absent.")]


LINE = (
    'A line: {"request_id": "r-1", "channel": "web", "utterance": "...", "state": {...}, '
    '"proposal": {"action_id": "FEE_INFO", "object_id": "NONE", "topk": ["FEE_INFO"], '
    '"confidence": "0.97", "tier": "fast"}}. Facts with a greatest age need a fresh as_of, or --now.'
)


@app.command(
    epilog=f"Example: routelock gate decide --config configs/demo --in requests.jsonl. {LINE}"
)
def decide(config: Config, source: In = None, out: Out = None, now: Now = None) -> None:
    """Decide JSON lines of request fields plus `proposal`; one decision a line, no model, no ledger."""
    configuration = load(config, bench=True)
    clock = _clock(now)
    failed = 0
    with terminal.reading(source) as stream, terminal.writing(out, source) as sink:
        for number, item in read_jsonl(stream, configuration.limits.body_bytes):
            line, broken = _decided(configuration, item, number, source, clock)
            failed += broken
            terminal.json_line(line, sink)
    if failed:
        terminal.tell(f"{failed} line(s) could not be read; each has the terminal of G-REQUEST")
        raise typer.Exit(2)


def _clock(now: str | None) -> datetime:
    if now is None:
        return datetime.now(UTC)
    try:
        given = datetime.fromisoformat(now)
    except ValueError:
        given = datetime.min
    if given.tzinfo is None:
        raise RequestError(
            f"`{now}` is no RFC 3339 time", where="--now", fix="add date, time and zone"
        )
    return given


def _decided(
    configuration: Configuration,
    item: bytes | RequestError,
    number: int,
    source: Path | None,
    now: datetime,
) -> tuple[dict[str, Any], bool]:
    where = f"{source or 'standard input'} line {number}"
    try:
        if isinstance(item, RequestError):
            raise item
        request, answer = parse_decide(item, configuration, where)
    except RequestError as error:
        terminal.tell(str(error))
        return {
            "line": number,
            **verdict_line(malformed(configuration, "MALFORMED")),
            "error": str(error),
        }, True
    findings = find(configuration, request)
    verdict = decide_case(configuration, _situation(request, now), findings, answer)
    return {
        "request_id": request.request_id,
        **verdict_line(verdict),
        "findings": to_core(findings),
    }, False


def _situation(request: Request, now: datetime) -> Situation:
    return Situation(request.state, now, request.session, request.candidates)


def verdict_line(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON, with the names of the decision record."""
    return {
        "terminal": verdict.terminal.value,
        "action_id": verdict.action_id,
        "object_id": verdict.object_id,
        "boundary": verdict.boundary.value,
        "rule_id": verdict.rule_id,
        "reason_codes": list(verdict.reason_codes),
        "options": [[o.action_id, o.object_id] for o in verdict.options],
        "first_failed_contract": verdict.first_failed_contract,
        "supplied": verdict.supplied,
        "repair": verdict.repair,
        "inert": list(verdict.inert),
    }


@app.command(epilog="Example: routelock gate explain --config configs/demo --in request.jsonl")
def explain(config: Config, source: In = None, now: Now = None) -> None:
    """Show the rules that were read, their values, the findings and the checks of each line, in order."""
    configuration = load(config, bench=True)
    clock = _clock(now)
    with terminal.reading(source) as stream:
        for number, item in read_jsonl(stream, configuration.limits.body_bytes):
            if isinstance(item, RequestError):
                raise item
            where = f"{source or 'standard input'} line {number}"
            request, answer = parse_decide(item, configuration, where)
            findings = find(configuration, request)
            way = explain_case(configuration, _situation(request, clock), findings, answer)
            own = request.session.objects if request.session else ()
            _show_way(masked_in(request.utterance, own), way)


def _show_way(utterance: str, way: Any) -> None:
    if not terminal.for_people():
        terminal.json_line(way)
        return
    verdict = way["verdict"]
    terminal.rows(
        utterance,
        ("step", "id", "outcome", "what was read"),
        [
            *(("rule", r["rule"], r["outcome"], json.dumps(r["read"])) for r in way["rules"]),
            *(("check", c["check"], "open" if c["open"] else "closed", ", ".join(c["reasons"]))
              for c in way["checks"]),
            ("verdict", verdict["decided_by"], verdict["terminal"], ", ".join(verdict["reasons"])),
        ],
    )  # fmt: skip


@app.command(epilog="Example: routelock gate lint --config configs/demo")
def lint(config: Config) -> None:
    """Name rules that can never decide, writes that nothing protects, and other slips; exit 1 if any."""
    found = linting.lint(load(config, bench=True))
    if terminal.for_people() and found:
        terminal.rows(
            "",
            ("code", "about", "what", "do"),
            [(w.code, w.subject, w.message, w.fix) for w in found],
        )
    else:
        for w in found:
            terminal.json_line(
                {"code": w.code, "subject": w.subject, "message": w.message, "fix": w.fix}
            )
    terminal.tell(f"{len(found)} warning(s)")
    if found:
        raise typer.Exit(1)


@app.command(
    epilog="Example: routelock gate diff configs/demo configs/demo-next --in requests.jsonl"
)
def diff(
    old: Annotated[Path, typer.Argument(help="Folder of the configuration in force.")],
    new: Annotated[Path, typer.Argument(help="Folder of the one to compare.")],
    source: In = None,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", help="Decide the stored requests of this ledger instead."),
    ] = None,
    receipts: Annotated[
        Path | None, typer.Option("--receipts", help="The ledger's receipts.")
    ] = None,
    now: Now = None,
) -> None:
    """Decide the same inputs under two configurations and list every path that changes; exit 1 if any."""
    before, after = load(old, bench=True), load(new, bench=True)
    count = 0
    with terminal.reading(source) as stream:
        inputs = (
            _stored_inputs(ledger, receipts)
            if ledger is not None
            else _given_inputs(before, stream, source, _clock(now))
        )
        for change in diff_inputs(before, after, inputs):
            count += 1
            terminal.json_line(_change(change))
    terminal.tell(f"{count} path(s) changed")
    if count:
        raise typer.Exit(1)


def _given_inputs(
    configuration: Configuration, stream: BinaryIO, source: Path | None, now: datetime
) -> Iterator[tuple[Request, TierAnswer, datetime]]:
    for number, item in read_jsonl(stream, configuration.limits.body_bytes):
        if isinstance(item, RequestError):
            raise item
        where = f"{source or 'standard input'} line {number}"
        yield (*parse_decide(item, configuration, where), now)


def _stored_inputs(
    ledger: Path, receipts: Path | None
) -> Iterator[tuple[Request, TierAnswer, datetime]]:
    with read_book(ledger, receipts or ledger.with_name("receipts.sqlite")) as book:
        for stored in book.ledger.iterate():
            record = stored.record
            if kind_of(record) is not Kind.DECISION:
                continue
            receipt = book.receipts.get(record["text_commitment"])
            answer = None if isinstance(receipt, Erased) else tier_answer_from_receipt(receipt)
            if isinstance(receipt, Erased) or answer is None:
                terminal.tell(
                    f"decision {record['decision_id']} was erased or asked no tier; left out"
                )
                continue
            yield request_from_receipt(record, receipt), answer, moment(record["decided_at"])


def _change(change: Change) -> dict[str, Any]:
    return {
        "request_id": change.request_id,
        "opens": change.opens,
        "old": verdict_line(change.old),
        "new": verdict_line(change.new),
    }


@app.command(epilog="Example: routelock gate check --config configs/demo")
def check(config: Config) -> None:
    """Load a folder and say what is in it; exit 2 with file, line and fix if it cannot be used."""
    institution = load_institution(config, bench=True)
    configuration = institution.configuration
    terminal.json_line(
        {
            "name": configuration.name,
            "actions": len(configuration.catalog.actions),
            "objects": len(configuration.registry.entries),
            "predicates": len(configuration.predicates),
            "rules": len(configuration.rules.rules),
            "languages": list(configuration.languages),
            "digests": dict(configuration.digests),
        }
    )


@app.command(
    epilog="Example: routelock gate language pt --script latin > configs/languages/pt.yaml"
)
def language(
    tag: Annotated[str, typer.Argument(help="Language tag, for example `pt`.")],
    script: Annotated[str, typer.Option(help="latin or han.")] = "latin",
    complete: Annotated[bool, typer.Option("--check", help="Check the pack instead.")] = False,
    config: Annotated[
        Path | None, typer.Option("--config", help="Folder that overrides it.")
    ] = None,
) -> None:
    """Print the scaffold of a language pack, or check one for completeness."""
    if not re.fullmatch(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", tag):
        raise ConfigError(f"`{tag}` is no language tag", fix="write one such as en or pt-BR")
    if complete:
        load_pack(config, tag)
        terminal.tell(f"language pack `{tag}` is complete")
        return
    if script not in ("latin", "han"):
        raise ConfigError(f"script `{script}` is unknown", fix="use latin or han")
    terminal.page(scaffold(tag, script))


@app.command(epilog="Example: routelock gate schemas configs/schemas")
def schemas(folder: Annotated[Path, typer.Argument(help="Where to write them.")]) -> None:
    """Write the JSON Schemas of all configuration files, for editors."""
    for path in write_schemas(folder):
        terminal.tell(str(path))
