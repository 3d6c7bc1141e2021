"""How fast the records pathway is: `python -m eval.bench_sql`.

`bare` runs a verified query of the demo on DuckDB in this process, with its settings and one thread,
to Python rows. `pathway` is the same query from the gate's object and session to sentences with
evidence, through the confined process. `admission` takes a statement's text through the engine's
parser, admission and scope. The two alternate, so that a busy machine slows both; medians count.
`askers` are as many threads that ask all queries at once. The result is stored in
`eval/results/bench_sql.json`; exit code 1 means that a figure was missed.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from eval.result import host_class
from gate.load import load_institution
from gate.load.queries import Query
from gate.records import Session
from inference import ending, records, sinks, stores
from inference.pathways import from_records

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "eval" / "results" / "bench_sql.json"
COMMAND = "python -m eval.bench_sql"

ROUNDS, ASKERS, QUESTIONS = 300, 32, 40
"""Rounds per query, threads that ask at once, questions of each."""
TIMES, MORE_MS, ADMISSION_MS = 1.5, 3.0, 3.0
"""What is required: pathway at most `TIMES` bare and `MORE_MS`, admission's median."""

SUBJECT = Session("C-1001", ("member",), ())
OBJECTS = {
    "fund_price": "FUND:HLGRX",
    "account_balance": "ACC-1001-1",
    "transactions": "ACC-1001-1",
    "card_status": "CARD-1001-1",
    "contact_details": "NONE",
}
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Figure:
    """Medians of one query in milliseconds; `holds` says whether the pathway is fast enough."""

    query: str
    bare_ms: float
    pathway_ms: float
    admission_ms: float
    holds: bool


def _milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def bare(path: Path) -> Any:
    """DuckDB in this process with one thread."""
    return duckdb.connect(str(path), read_only=True, config={"threads": "1"})


def figure(
    query: Query, database: Any, described: Any, connection: Any, rounds: int = ROUNDS
) -> Figure:
    """The three medians of one query, taken in turns."""
    values = {
        name: SUBJECT.subject if supplied == "subject" else OBJECTS[query.query_id]
        for name, supplied in query.parameters.items()
    }

    def plain() -> None:
        connection.cursor().execute(query.sql, values).fetchall()

    def whole() -> None:
        draft = from_records(database, query, OBJECTS[query.query_id], SUBJECT, "en")
        if not draft.statements:
            raise SystemExit(f"`{query.query_id}` gave no answer; run scripts/setup")

    def admission() -> None:
        names = frozenset(query.parameters)
        records.judged(database, described, query.sql, names, 51, NOW)

    taken: dict[str, list[float]] = {"plain": [], "whole": [], "admission": []}
    for _ in range(rounds):
        for name, work in (("plain", plain), ("whole", whole), ("admission", admission)):
            taken[name].append(_milliseconds(work))
    fast, slow, judged = (statistics.median(taken[n]) for n in ("plain", "whole", "admission"))
    holds = slow <= TIMES * fast + MORE_MS and judged <= ADMISSION_MS
    return Figure(query.query_id, round(fast, 3), round(slow, 3), round(judged, 3), holds)


def together(
    listed: Mapping[str, Query], database: Any, askers: int = ASKERS, questions: int = QUESTIONS
) -> dict[str, Any]:
    """As many threads at once; how long a question took and how many failed."""
    queries = list(listed.values())

    def asker(number: int) -> list[float]:
        taken = []
        for turn in range(questions):
            query = queries[(number + turn) % len(queries)]
            began = time.perf_counter()
            draft = from_records(database, query, OBJECTS[query.query_id], SUBJECT, "en")
            taken.append((time.perf_counter() - began) * 1000 if draft.statements else -1.0)
        return taken

    with ThreadPoolExecutor(askers) as pool:
        times = [t for asked in pool.map(asker, range(askers)) for t in asked]
    good = sorted(t for t in times if t >= 0)
    return {
        "askers": askers,
        "questions": len(times),
        "failures": sum(t < 0 for t in times),
        "p50_ms": round(statistics.median(good), 2),
        "p95_ms": round(good[int(len(good) * 0.95)], 2),
    }


def main(out: Path = STORED) -> int:
    """Measure, print and store; 1 if a figure was missed."""
    institution = load_institution(ROOT / "configs" / "demo")
    path = ROOT / institution.appliance.paths.database
    described = records.described(ROOT / "configs" / "demo")
    with stores.open_database(path) as database, bare(path) as connection:
        figures = [
            figure(query, database, described, connection)
            for query in institution.queries.values()
            if query.query_id in OBJECTS
        ]
        crowd = together({k: q for k, q in institution.queries.items() if k in OBJECTS}, database)
    holds = all(f.holds for f in figures) and crowd["failures"] == 0
    result = {
        "command": COMMAND,
        "host": host_class(),
        "required": {"times": TIMES, "more_ms": MORE_MS, "admission_ms": ADMISSION_MS},
        "queries": [asdict(f) for f in figures],
        "together": crowd,
        "holds": holds,
    }
    out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(sinks.json_text(result))
    return 0 if holds else 1


if __name__ == "__main__":
    ending.run(main)
