"""`routelock bench routebr`: a proposer through the gate on RouteBR cases, and the result."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from eval import metrics, output, report, table
from eval.outcome import Clock, Outcome, decide_case
from eval.proposers.answer import Proposer
from eval.proposers.choose import choose
from eval.result import Result, Run, host_class, to_json
from eval.suites import routebr
from gate.configuration import Configuration
from gate.load import load
from gate.records import Switches
from inference import sinks

SYSTEM = "routelock"
NOW = datetime(2026, 8, 16, tzinfo=UTC)
"""The clock given to the gate. No predicate of RouteBR holds a time; it is fixed all the same."""

COLUMNS = (
    "case_id", "split", "pair_id", "tier", "action", "object_id", "terminal", "final_path",
    "rule_id", "reason_codes", "first_failed_contract", "true_rules", "valid_first_pass",
    "repairs", "fallback", "confidence", "published_path", "gold_action", "gold_object_id",
    "gold_final_path", "exact", "owner",
)  # fmt: skip


def run(
    data: Path,
    cases: Path,
    proposer: str,
    out: Path,
    switches: Switches | None = None,
    *,
    clock: Clock | None = None,
    now: datetime = NOW,
) -> Result:
    """Run the cases of a file and write `metrics.json`, `predictions.csv` and the report to `out`.

    `data` is a folder with RouteBR's CSV files, `proposer` is `lexical` or `recorded:DIR`, and
    `switches` None means those that the proposer needs. `clock` (seconds) times proposers that
    bring no latency of their own; without it their latency is None and equal runs write equal
    bytes. Raises EvalError or ConfigError on an input that cannot be used.
    """
    configuration = load(data, bench=True)
    known = (configuration.catalog.actions, configuration.registry.entries)
    chosen = choose(proposer, data / routebr.DEV_FILE)
    used = chosen.switches if switches is None else switches
    outcomes = [
        decide_case(configuration, case, chosen, used, now, clock)
        for case in routebr.load(cases, *known)
    ]
    command = f"routelock bench routebr --data {data} --cases {cases} --proposer {proposer}"
    described = _describe(configuration, data, cases, chosen, used, now, outcomes, command)
    result = metrics.measure(outcomes, tuple(configuration.catalog.actions), described)
    write(out, result, outcomes)
    return result


def _describe(
    configuration: Configuration,
    data: Path,
    cases: Path,
    proposer: Proposer,
    switches: Switches,
    now: datetime,
    outcomes: Sequence[Outcome],
    command: str,
) -> Run:
    inputs = {name: table.digest(data / name) for name in routebr.CONFIGURATION_FILES}
    languages = {k: v for k, v in configuration.digests.items() if k not in inputs}
    inert = {check for o in outcomes for check in o.verdict.inert}
    return Run(
        suite=routebr.NAME,
        system=SYSTEM,
        backend=proposer.name,
        switches=switches.names(),
        inert=tuple(sorted(inert)),
        digests={
            cases.name: table.digest(cases),
            **inputs,
            **languages,
            **proposer.backing.digests,
        },
        seeds=proposer.backing.seeds,
        host=host_class(),
        clock=now.isoformat(),
        command=command,
        incomplete_pairs=metrics.incomplete_pairs(outcomes),
    )


def write(out: Path, result: Result, outcomes: Sequence[Outcome]) -> None:
    """Write the four files of a run into `out`; OutputError if that cannot be done."""
    parts = report.sections(result, outcomes)
    title = f"RouteBR conformance: {result.run.backend}"
    files = {
        "metrics.json": to_json(result),
        "predictions.csv": predictions(outcomes),
        "report.md": report.markdown(title, parts),
        "report.html": report.html(title, parts),
    }
    output.write(out, files)


def predictions(outcomes: Sequence[Outcome]) -> str:
    """One CSV row per case, in the order of the cases."""
    return sinks.csv_text([COLUMNS, *(_prediction(o) for o in outcomes)])


def _prediction(outcome: Outcome) -> tuple[object, ...]:
    case, answer, verdict = outcome.case, outcome.answer, outcome.verdict
    confidence = getattr(answer.given, "confidence", None)
    return (
        case.case_id, case.split, case.pair_id, answer.given.tier, outcome.action or "",
        verdict.object_id, verdict.terminal.value, outcome.path, verdict.rule_id,
        "|".join(verdict.reason_codes), verdict.first_failed_contract or "",
        "|".join(outcome.true_rules), _yes(outcome.valid_first_pass), answer.repairs,
        _yes(answer.fallback), "" if confidence is None else str(confidence),
        answer.published_path or "", case.gold.action, case.gold.object_id, case.gold.final_path,
        _yes(outcome.exact), "" if outcome.exact else metrics.owner(outcome),
    )  # fmt: skip


def _yes(value: bool) -> str:
    return "true" if value else "false"
