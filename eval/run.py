"""`routelock bench run`: one suite, one system, one backend, and the result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from eval import metrics, output, report
from eval.case import Case
from eval.outcome import Outcome
from eval.proposers import replayed
from eval.result import Result, Run, host_class, to_json
from eval.suite import Suite
from eval.systems import Clock, System
from inference import sinks

COLUMNS = (
    "case_id", "split", "pair_id", "tier", "action", "object_id", "terminal", "final_path",
    "rule_id", "reason_codes", "first_failed_contract", "true_rules", "valid_first_pass",
    "repairs", "fallback", "confidence", "published_path", "gold_action", "gold_object_id",
    "gold_final_path", "exact", "owner", "committed", "failed", "calls", "tokens_in", "tokens_out",
    "latency_ms",
)  # fmt: skip


def run(
    suite: Suite,
    system: System,
    out: Path,
    command: str,
    *,
    clock: Clock | None = None,
    concurrency: int = 1,
) -> Result:
    """Decide every case and write `metrics.json`, `predictions.csv`, `answers.jsonl` and the report.

    `clock` (seconds) times answers that bring no latency of their own; without it their latency is
    None and equal runs write equal bytes. `concurrency` cases are decided at a time.
    """
    outcomes = decided(suite.cases, system, clock, concurrency)
    described = _describe(suite, system, outcomes, command, concurrency)
    result = metrics.measure(outcomes, suite.labels, described)
    write(out, result, outcomes, suite.totals_only)
    return result


def decided(
    cases: Iterable[Case], system: System, clock: Clock | None, concurrency: int
) -> tuple[Outcome, ...]:
    """The outcomes, in the order of the cases."""
    if concurrency == 1:
        return tuple(system.timed(case, clock) for case in cases)
    with ThreadPoolExecutor(concurrency) as threads:
        return tuple(threads.map(lambda case: system.timed(case, clock), cases))


def _describe(
    suite: Suite, system: System, outcomes: Sequence[Outcome], command: str, concurrency: int
) -> Run:
    inert = {check for o in outcomes for check in o.verdict.inert}
    return Run(
        suite=suite.name,
        system=system.name,
        backend=system.backend,
        switches=system.switches.names(),
        inert=tuple(sorted(inert)),
        digests={**suite.digests, **system.backing.digests},
        seeds=system.backing.seeds,
        host=host_class(),
        clock=suite.now.isoformat(),
        command=command,
        incomplete_pairs=metrics.incomplete_pairs(outcomes),
        audit=asdict(suite.audit),
        concurrency=concurrency,
        totals_only=suite.totals_only,
    )


def write(out: Path, result: Result, outcomes: Sequence[Outcome], totals_only: bool) -> None:
    """Write the files of a run into `out`; OutputError if that cannot be done."""
    parts = report.sections(result, () if totals_only else outcomes)
    title = f"{result.run.suite}: {result.run.system} over {result.run.backend}"
    files = {
        "metrics.json": to_json(result),
        "predictions.csv": predictions(outcomes),
        replayed.FILE: replayed.lines({o.case.case_id: o.answer for o in outcomes}),
        "report.md": report.markdown(title, parts),
        "report.html": report.html(title, parts),
    }
    output.write(out, files)


def predictions(outcomes: Sequence[Outcome]) -> str:
    """One CSV row per case, in the order of the cases; it holds no text."""
    return sinks.csv_text([COLUMNS, *(_prediction(o) for o in outcomes)])


def _prediction(outcome: Outcome) -> tuple[object, ...]:
    case, answer, verdict = outcome.case, outcome.answer, outcome.verdict
    confidence = getattr(answer.given, "confidence", None)
    latency = None if answer.latency_ms is None else round(answer.latency_ms, 3)
    return (
        case.case_id, case.split, case.pair_id, answer.given.tier, outcome.action or "",
        verdict.object_id, verdict.terminal.value, outcome.path, verdict.rule_id,
        "|".join(verdict.reason_codes), verdict.first_failed_contract or "",
        "|".join(outcome.true_rules), _yes(outcome.valid_first_pass), answer.repairs,
        _yes(answer.fallback), "" if confidence is None else str(confidence),
        answer.published_path or "", case.gold.action, case.gold.object_id, case.gold.final_path,
        _yes(outcome.exact), "" if outcome.exact else metrics.owner(outcome),
        _yes(outcome.committed), _yes(outcome.failed), answer.calls, answer.tokens_in,
        answer.tokens_out, latency,
    )  # fmt: skip


def _yes(value: bool) -> str:
    return "true" if value else "false"
