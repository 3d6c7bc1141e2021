"""The metamorphic suite beside RouteBR: derived cases, and how many keep their property.

Every case is decided twice: with what the proposer under test says, and with the right action given
and no object proposed, so that a proposer that abstains cannot hide what the gate lets through.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from eval import output, report, table
from eval.case import ask, request
from eval.derived import Derived, Expect, Judged, judge
from eval.outcome import final_path
from eval.proposers.answer import Proposer
from eval.proposers.choose import choose
from eval.report import Section
from eval.result import Run, Share, host_class
from eval.routebr import NOW, SYSTEM
from eval.suites import routebr
from eval.suites.metamorphic import derive
from gate import controller
from gate.configuration import Configuration
from gate.findings import find
from gate.load import load
from gate.records import Proposal, Situation, Switches, Verdict
from inference import sinks

SUITE = "routebr-metamorphic"
MATERIAL = ("frames.csv", "lookalikes.csv", "clauses.csv", "negations.csv")
COLUMNS = (
    "case_id", "kind", "source", "expect", "utterance", "history", "gold_action", "gold_object_id",
    "judged", "final_path", "object_id", "rule_id", "reason_codes",
    "given_judged", "given_final_path", "given_object_id", "given_rule_id", "given_reason_codes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decided:
    """A derived case, the verdict on the proposer's answer, and that on the right action given."""

    derived: Derived
    proposed: Verdict
    given: Verdict

    @property
    def judged(self) -> Judged:
        return judge(self.derived, self.proposed)

    @property
    def given_judged(self) -> Judged:
        return judge(self.derived, self.given)


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of the derived cases of one kind; `expect` is `mixed` for all kinds together."""

    kind: str
    expect: str
    cases: int
    as_expected: int
    false_dispatch: int
    false_block: int
    wrong_route: int


@dataclass(frozen=True, slots=True)
class Counts:
    """All kinds together, then each; `false_block` is over the cases that must dispatch."""

    all: Tally
    false_block: Share
    by_kind: tuple[Tally, ...]


@dataclass(frozen=True, slots=True)
class MetamorphicResult:
    """Everything of one run: as the proposer proposed, and with the right action given."""

    cases: int
    proposed: Counts
    right_action_given: Counts
    run: Run


def run(
    data: Path, cases: Sequence[Path], proposer: str, out: Path, switches: Switches | None = None
) -> MetamorphicResult:
    """Derive cases from the given files, decide them, and write result, cases and report to `out`.

    The proposer must read texts: `lexical`. Raises EvalError or ConfigError on an input that
    cannot be used.
    """
    configuration = load(data, bench=True)
    chosen = choose(proposer, data / routebr.DEV_FILE)
    used = chosen.switches if switches is None else switches
    derived = derive_all(configuration, cases)
    decided = [decide(configuration, d, chosen, used, NOW) for d in derived]
    described = _describe(configuration, data, cases, chosen, used, decided)
    result = measure(decided, described)
    write(out, result, decided)
    return result


def derive_all(configuration: Configuration, files: Sequence[Path]) -> tuple[Derived, ...]:
    """Every case derived from the cases of the given files."""
    entries = configuration.registry.entries
    cases = [c for f in files for c in routebr.load(f, configuration.catalog.actions, entries)]
    return derive.derive(cases, entries, derive.words())


def decide(
    configuration: Configuration,
    derived: Derived,
    proposer: Proposer,
    switches: Switches,
    now: datetime,
) -> Decided:
    """Decide one derived case with the proposer's answer and with the right action given."""
    case = derived.case
    situation = Situation(case.state, now, case.session, case.candidates)
    findings = find(configuration, request(case))
    answer = proposer.propose(ask(case)).given
    right = Proposal(case.gold.action, None, (case.gold.action,), Decimal(1), "right-action")
    return Decided(
        derived,
        controller.decide(configuration, situation, findings, answer, switches),
        controller.decide(configuration, situation, findings, right, switches),
    )


def measure(decided: Sequence[Decided], described: Run) -> MetamorphicResult:
    """Count what became of the derived cases, together and by kind."""
    return MetamorphicResult(
        cases=len(decided),
        proposed=_counts(decided, lambda d: d.judged),
        right_action_given=_counts(decided, lambda d: d.given_judged),
        run=described,
    )


Judge = Callable[[Decided], Judged]


def _counts(decided: Sequence[Decided], judged: Judge) -> Counts:
    kinds = dict.fromkeys((d.derived.kind, d.derived.expect.value) for d in decided)
    of_kind = {
        key: [d for d in decided if (d.derived.kind, d.derived.expect.value) == key]
        for key in kinds
    }
    everything = _tally("all", "mixed", decided, judged)
    must = sum(d.derived.expect is Expect.SAME for d in decided)
    return Counts(
        everything,
        Share(everything.false_block, must),
        tuple(_tally(*key, members, judged) for key, members in of_kind.items()),
    )


def _tally(kind: str, expect: str, decided: Sequence[Decided], judged: Judge) -> Tally:
    found = Counter(map(judged, decided))
    return Tally(
        kind,
        expect,
        cases=len(decided),
        as_expected=found[Judged.AS_EXPECTED],
        false_dispatch=found[Judged.FALSE_DISPATCH],
        false_block=found[Judged.FALSE_BLOCK],
        wrong_route=found[Judged.WRONG_ROUTE],
    )


def _describe(
    configuration: Configuration,
    data: Path,
    cases: Sequence[Path],
    proposer: Proposer,
    switches: Switches,
    decided: Sequence[Decided],
) -> Run:
    files = " ".join(f"--cases {c}" for c in cases)
    return Run(
        suite=SUITE,
        system=SYSTEM,
        backend=proposer.name,
        switches=switches.names(),
        inert=tuple(sorted({check for d in decided for check in d.given.inert})),
        digests={
            **{c.name: table.digest(c) for c in cases},
            **{m: table.digest(derive.FOLDER / m) for m in MATERIAL},
            **configuration.digests,
            **proposer.backing.digests,
        },
        seeds=proposer.backing.seeds,
        host=host_class(),
        clock=NOW.isoformat(),
        command=f"routelock bench metamorphic --data {data} {files}",
    )


def write(out: Path, result: MetamorphicResult, decided: Sequence[Decided]) -> None:
    """Write the four files of a run into `out`; OutputError if that cannot be done."""
    parts = sections(result, decided)
    title = f"RouteBR, metamorphic: {result.run.backend}"
    files = {
        "metamorphic.json": sinks.json_text(asdict(result), indent=2) + "\n",
        "derived.csv": _cases(decided),
        "metamorphic.md": report.markdown(title, parts),
        "metamorphic.html": report.html(title, parts),
    }
    output.write(out, files)


def _cases(decided: Sequence[Decided]) -> str:
    rows: list[tuple[str, ...]] = [COLUMNS]
    for d in decided:
        case, gold = d.derived.case, d.derived.case.gold
        what = (case.case_id, d.derived.kind, d.derived.source, d.derived.expect.value)
        asked = (case.utterance, "|".join(case.history), gold.action, gold.object_id)
        proposed = (d.judged.value, *_verdict(d.proposed))
        rows.append((*what, *asked, *proposed, d.given_judged.value, *_verdict(d.given)))
    return sinks.csv_text(rows)


def _verdict(verdict: Verdict) -> tuple[str, str, str, str]:
    reasons = "|".join(verdict.reason_codes)
    return final_path(verdict), verdict.object_id, verdict.rule_id, reasons


def sections(result: MetamorphicResult, decided: Sequence[Decided]) -> tuple[Section, ...]:
    """The report of one run."""
    return (
        _head(result),
        _table("As proposed", result.proposed),
        _table("With the right action given", result.right_action_given),
        _failures(decided),
    )


def _head(result: MetamorphicResult) -> Section:
    run_ = result.run
    texts = (
        f"{result.cases} derived cases, backend {run_.backend}. Every case has a state in which"
        " nothing stands against a dispatch, so that only the text can stop it.",
        f"Switches set: {', '.join(run_.switches) or 'none'}."
        f" Checks that the configuration cannot make: {', '.join(run_.inert) or 'none'}.",
        f"Command: {run_.command}",
    )
    return Section("What was run", texts)


def _table(title: str, counts: Counts) -> Section:
    head = ("kind", "must be", "cases", "as expected", "false dispatch", "false block", "route")
    rows = [
        (
            t.kind, t.expect, str(t.cases), str(t.as_expected), str(t.false_dispatch),
            str(t.false_block), str(t.wrong_route),
        )
        for t in (counts.all, *counts.by_kind)
    ]  # fmt: skip
    return Section(title, (), (head, *rows))


def _failures(decided: Sequence[Decided]) -> Section:
    """False dispatches first, then wrong routes, then false blocks."""
    worst = list(Judged)
    found = [(j, d, v) for d in decided for j, v in _judgements(d) if j is not Judged.AS_EXPECTED]
    found.sort(key=lambda f: worst.index(f[0]), reverse=True)
    if not found:
        return Section("Not as expected", ("None.",))
    more = len(found) - report.MAX_WRONG
    texts = (f"{more} more are in derived.csv.",) if more > 0 else ()
    rows = [
        (j.value, d.derived.kind, d.derived.case.utterance, final_path(v), v.object_id, v.rule_id)
        for j, d, v in found[: report.MAX_WRONG]
    ]
    head = ("what became of it", "kind", "text", "path", "object", "decided by")
    return Section("Not as expected", texts, (head, *rows))


def _judgements(decided: Decided) -> tuple[tuple[Judged, Verdict], ...]:
    return (decided.judged, decided.proposed), (decided.given_judged, decided.given)
