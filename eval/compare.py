"""`routelock bench compare`: runs on one suite side by side.

Everything comes from the folders that runs left, so that the same folders give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from eval import output, page, prices, table
from eval.errors import SuiteError
from eval.prices import Prices
from eval.result import Share
from eval.statistics import mcnemar, mean, wilson
from inference import sinks

SCHEMA_VERSION: Final = 1
NEEDED: Final = (
    "case_id", "split", "pair_id", "final_path", "object_id", "action", "exact", "gold_action",
    "gold_object_id", "gold_final_path", "latency_ms",
)  # fmt: skip
FIGURES: Final = (
    "name", "system", "backend", "concurrency", "cases", "final_path_exact", "final_path_macro_f1",
    "false_dispatch", "bounded", "false_block", "allowed", "coverage", "valid_first_pass",
    "flip_pairs_exact", "flip_pairs", "masked_action_errors", "interface_failures",
    "wrong_objects", "right_rule_cited", "calls_per_case", "tokens_in", "tokens_out", "p50_ms",
    "p95_ms", "cost_per_1k_usd", "cost_basis",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stored:
    """One run as it lies in its folder: its figures, and a row per case."""

    name: str
    figures: Mapping[str, Any]
    rows: Mapping[str, Mapping[str, str]]

    @property
    def run(self) -> Mapping[str, Any]:
        """What was run."""
        described: Mapping[str, Any] = self.figures["run"]
        return described

    def exact(self, case_id: str) -> bool:
        """True if the case has the right final path."""
        return self.rows[case_id]["exact"] == "true"


@dataclass(frozen=True, slots=True)
class Entry:
    """One run's figures in a comparison; shares as counts, latencies in milliseconds."""

    name: str
    system: str
    backend: str
    concurrency: int
    switches: tuple[str, ...]
    cases: int
    final_path_exact: Share
    exact_interval: tuple[float, float] | None
    final_path_macro_f1: float | None
    false_dispatch: Share
    false_block: Share
    coverage: float | None
    valid_first_pass: float | None
    flip_pairs: Share
    masked_action_errors: int
    interface_failures: int
    wrong_objects: Share
    right_rule_cited: Share | None
    calls_per_case: float | None
    tokens_in: float | None
    tokens_out: float | None
    p50_ms: float | None
    p95_ms: float | None
    cost_per_1k: float | None
    cost_basis: str
    host: str
    command: str


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two runs against each other.

    `flips` are cases with another final path, or another object under the same one. `first_only`
    and `second_only` count units of which one run alone is right, a unit being a case or a whole
    FLIP pair; `p` is McNemar's, exact. `concurrency_only` says that nothing else tells them apart.
    """

    first: str
    second: str
    flips: Share
    units: int
    first_only: int
    second_only: int
    p: float
    concurrency_only: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """One case on which runs differ: the right path, and each run's."""

    case_id: str
    right: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that `compare.json` holds. `differing` is empty where single cases are held out."""

    suite: str
    cases: int
    digests: Mapping[str, str]
    clock: str
    entries: tuple[Entry, ...]
    pairings: tuple[Pairing, ...]
    differing: tuple[Difference, ...]
    totals_only: bool
    prices: Mapping[str, Any]
    command: str
    schema_version: int = SCHEMA_VERSION


def compare(folders: Sequence[Path], price_file: Path, out: Path) -> Comparison:
    """Compare the runs in `folders`; writes `compare.json`, `compare.csv` and `report.html` to `out`.

    Raises SuiteError where a folder holds no run, or runs are on different cases.
    """
    runs = [read(folder) for folder in folders]
    _check(runs)
    table_ = prices.read(price_file)
    first = runs[0]
    listed = " ".join(str(folder) for folder in folders)
    result = Comparison(
        suite=first.run["suite"],
        cases=first.figures["cases"],
        digests=_shared([r.run["digests"] for r in runs]),
        clock=first.run["clock"],
        entries=tuple(entry(r, table_) for r in runs),
        pairings=tuple(pairing(a, b) for a, b in combinations(runs, 2)),
        differing=() if _held_out(runs) else tuple(differing(runs)),
        totals_only=_held_out(runs),
        prices=_told(table_, {r.run["backend"] for r in runs}),
        command=f"routelock bench compare {listed} --prices {price_file} --out {out}",
    )
    files = {
        "compare.json": sinks.json_text(_rounded(asdict(result)), indent=1) + "\n",
        "compare.csv": csv(result),
        "report.html": page.html(result),
    }
    output.write(out, files)
    return result


def read(folder: Path) -> Stored:
    """The run that lies in a folder; SuiteError if none does."""
    figures = json.loads(table.read_text(folder / "metrics.json"))
    if not isinstance(figures, dict) or figures.get("run", {}).get("schema_version") != 2:
        raise SuiteError(
            "file is no result of this version",
            file=str(folder / "metrics.json"),
            line=1,
            fix="run the benchmark again",
        )
    rows = table.read(folder / "predictions.csv", NEEDED)
    table.unique(rows, "case_id")
    return Stored(folder.name, figures, {row["case_id"]: row.cells for row in rows})


def _check(runs: Sequence[Stored]) -> None:
    """SuiteError unless all runs have the same cases with the same gold, and names of their own."""
    if len({r.name for r in runs}) != len(runs):
        raise SuiteError("two runs have one name", file=runs[0].name, fix="rename a folder")
    for other in runs[1:]:
        if _gold(other) != _gold(runs[0]):
            raise SuiteError(
                f"run has other cases than `{runs[0].name}`",
                file=other.name,
                fix="compare runs on one suite",
            )


def _gold(run: Stored) -> dict[str, tuple[str, ...]]:
    columns = ("gold_action", "gold_object_id", "gold_final_path", "pair_id", "split")
    return {case: tuple(row[c] for c in columns) for case, row in run.rows.items()}


def _held_out(runs: Sequence[Stored]) -> bool:
    return any(r.run.get("totals_only") for r in runs)


def _shared(digests: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The digests that all runs have: cases and configuration."""
    first = digests[0]
    return {k: v for k, v in first.items() if all(d.get(k) == v for d in digests)}


def entry(run: Stored, table_: Prices) -> Entry:
    """The figures of one run, with its cost."""
    m, about = run.figures, run.run
    exact = Share(sum(run.exact(case) for case in run.rows), m["cases"])
    latencies = [float(r["latency_ms"]) for r in run.rows.values() if r["latency_ms"]]
    tokens = m["tokens_per_case"]
    cost = prices.by_tokens(table_, about["backend"], tokens["in"], tokens["out"])
    if cost is None:
        hosted = about["backend"].startswith("recorded:")
        cost = (
            prices.Cost(None, "no price in the table")
            if hosted
            else prices.by_time(table_, mean(latencies), about["concurrency"])
        )
    if not m["calls_per_case"] and about["system"].startswith("no-"):
        cost = prices.Cost(None, "no call was made")
    return Entry(
        name=run.name,
        system=about["system"],
        backend=about["backend"],
        concurrency=about["concurrency"],
        switches=tuple(about["switches"]),
        cases=m["cases"],
        final_path_exact=exact,
        exact_interval=wilson(exact.count, exact.of),
        final_path_macro_f1=m["final_path_macro_f1"],
        false_dispatch=Share(**m["false_dispatch"]),
        false_block=Share(**m["false_block"]),
        coverage=m["coverage"],
        valid_first_pass=m["valid_first_pass"],
        flip_pairs=Share(m["flip_pairs"]["exact"], m["flip_pairs"]["of"]),
        masked_action_errors=m["masked_action_errors"],
        interface_failures=m["interface_failures"],
        wrong_objects=Share(**m["wrong_objects"]),
        right_rule_cited=Share(**m["citations"]) if m["citations"] else None,
        calls_per_case=m["calls_per_case"],
        tokens_in=tokens["in"],
        tokens_out=tokens["out"],
        p50_ms=m["latency_ms"]["p50"],
        p95_ms=m["latency_ms"]["p95"],
        cost_per_1k=cost.per_1k,
        cost_basis=cost.basis,
        host=about["host"],
        command=about["command"],
    )


def pairing(first: Stored, second: Stored) -> Pairing:
    """Two runs against each other."""
    flips = sum(_flipped(first.rows[case], second.rows[case]) for case in first.rows)
    units = list(_units(first))
    right = [(all(map(first.exact, unit)), all(map(second.exact, unit))) for unit in units]
    only = (right.count((True, False)), right.count((False, True)))
    a, b = first.run, second.run
    same = (a["system"], a["backend"]) == (b["system"], b["backend"])
    return Pairing(
        first.name,
        second.name,
        Share(flips, len(first.rows)),
        len(units),
        *only,
        mcnemar(*only),
        same and a["concurrency"] != b["concurrency"],
    )


def _flipped(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """True if two decisions on a case differ: the path, or the object of what goes on."""
    if one["final_path"] != other["final_path"]:
        return True
    goes_on = not one["final_path"].startswith("T_")
    return goes_on and one["object_id"] != other["object_id"]


def _units(run: Stored) -> list[tuple[str, ...]]:
    """Cases alone, and whole FLIP pairs together; half a pair is no unit."""
    alone = [(case,) for case, row in run.rows.items() if not row["pair_id"]]
    pairs: dict[str, list[str]] = {}
    for case, row in run.rows.items():
        if row["pair_id"]:
            pairs.setdefault(row["pair_id"], []).append(case)
    return [*alone, *(tuple(members) for members in pairs.values() if len(members) == 2)]


def differing(runs: Sequence[Stored]) -> list[Difference]:
    """The cases on which not all runs have the same final path."""
    found = []
    for case, row in runs[0].rows.items():
        paths = tuple(r.rows[case]["final_path"] for r in runs)
        if len(set(paths)) > 1:
            found.append(Difference(case, row["gold_final_path"], paths))
    return found


def _told(table_: Prices, backends: set[str]) -> dict[str, Any]:
    """The prices that this comparison rests on."""
    used = {k: asdict(v) for k, v in sorted(table_.vendors.items()) if k in backends}
    for value in used.values():
        value["into"], value["out"] = str(value["into"]), str(value["out"])
    machine = {"usd_per_hour": str(table_.per_hour), "as_of": table_.as_of, "note": table_.note}
    return {"machine": machine, "vendors": used}


def csv(result: Comparison) -> str:
    """A row per run."""
    return sinks.csv_text([FIGURES, *(_row(e) for e in result.entries)])


def _row(e: Entry) -> tuple[object, ...]:
    cited = None if e.right_rule_cited is None else e.right_rule_cited.count
    values: tuple[object, ...] = (
        e.name, e.system, e.backend, e.concurrency, e.cases, e.final_path_exact.rate,
        e.final_path_macro_f1, e.false_dispatch.count, e.false_dispatch.of, e.false_block.count,
        e.false_block.of, e.coverage, e.valid_first_pass, e.flip_pairs.count, e.flip_pairs.of,
        e.masked_action_errors, e.interface_failures, e.wrong_objects.count, cited,
        e.calls_per_case, e.tokens_in, e.tokens_out, e.p50_ms, e.p95_ms, e.cost_per_1k,
        e.cost_basis,
    )  # fmt: skip
    return tuple(round(v, 6) if isinstance(v, float) else v for v in values)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(v) for v in value]
    return value
