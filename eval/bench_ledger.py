"""How fast the ledger is, as ratios within one run: `make bench-ledger`.

An append makes a sealed decision of the demo institution durable, its receipt before it. "One at a
time" is one synchronous commit per receipt and one per record; "bare" is one synchronous commit per
row, with no receipt and none of our code; "32 at once" are as many threads that append receipts and
records to the same files. It is compared with both. The rounds take turns, in wall time, because
waiting for the disk is what they differ in, and the best round of each counts: whatever else runs
on the machine can only slow a round down. `write_per_s` appends with the describing and sealing of
the decision, 32 at once. `verify` is in processor time.

The result is stored in `eval/results/bench_ledger.json`; exit code 1 means that a figure was missed.
"""

from __future__ import annotations

import gc
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from eval.result import host_class
from eval.timing import Ratio
from gate.ledger.book import Book, keep, open_book
from gate.ledger.decision import decide_and_describe
from gate.ledger.encode import Json
from gate.ledger.pseudonym import new_salt
from gate.ledger.receipts import Receipt, receipt
from gate.ledger.record import identify, seal
from gate.ledger.verify import verify
from gate.load import load
from gate.records import Entry, Proposal, Request, Session
from inference import ending, sinks

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "eval" / "results" / "bench_ledger.json"
COMMAND = "python -m eval.bench_ledger"

THREADS = 32
ROUNDS = 31
ALONE, TOGETHER = 60, 640
"""Records that one round writes one at a time, and with all threads at once."""

VERIFIED = 20_000
TIMES, VERIFY_PER_S = 5.0, 20_000
"""What is required: of concurrent appends over single ones, and of verification."""

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
OWN = Entry("CARD-1001-1", "CARD", "Debit card ending 5316", ("debit card", "5316"), own=True)
ASKED = Request(
    request_id="bench",
    channel="web",
    utterance="freeze my debit card ending 5316, please",
    state={"identity_verified": True, "risk_tier": "low", "service_available": True},
    session=Session("C-1001", ("member",), (OWN,)),
)
ANSWER = Proposal("FREEZE_CARD", None, ("FREEZE_CARD", "CARD_STATUS"), Decimal("0.97"), "fast")


Prepared = tuple[Receipt, Mapping[str, Json]]


@dataclass(frozen=True, slots=True)
class Appends:
    """Per second, in the best round of each, and how many times faster company makes an append.

    `ratios` compare with single appends, and with bare commits.
    """

    alone_per_s: int
    together_per_s: int
    write_per_s: int
    bare_per_s: int
    ratios: tuple[Ratio, ...]


def prepared(key: bytes, clear: Mapping[str, Json], number: int) -> Prepared:
    """One decision, sealed, and its receipt."""
    request, salt = replace(ASKED, request_id=f"bench-{number}"), new_salt()
    identity = identify(key, request)
    kept = receipt(
        request=request,
        tier_answer=ANSWER,
        decision_id=identity.decision_id,
        salt=salt,
        outputs=[{"tier": "fast", "answer": "FREEZE_CARD"}],
    )
    sealed = seal(clear, identity=identity, salt=salt, text_commitment=kept.receipt_id)
    return kept, sealed


def append(book: Book, items: Sequence[Prepared]) -> None:
    """Receipts and records, one after the other; each pair is durable before the next begins."""
    for kept, sealed in items:
        keep(book, kept, sealed)


def described() -> Mapping[str, Json]:
    """The sample decision of the demo institution in the clear."""
    configuration = load(ROOT / "configs" / "demo")
    return decide_and_describe(
        configuration, configuration.digests, request=ASKED, tier_answer=ANSWER, now=NOW
    ).clear


def seconds(work: Callable[[], object]) -> float:
    """Wall time of `work`, without garbage collection: the prepared records are many objects."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    finally:
        gc.enable()


def appends(book: Book, clear: Mapping[str, Json], bare: Path, rounds: int = ROUNDS) -> Appends:
    """Rounds of single and of concurrent appends, in turns, on one book."""
    numbers, key = count(), book.key or b""
    taken: dict[str, list[float]] = {"alone": [], "together": [], "write": [], "bare": []}

    def some(amount: int) -> list[Prepared]:
        return [prepared(key, clear, next(numbers)) for _ in range(amount)]

    with ThreadPoolExecutor(THREADS) as pool, closing(bare_file(bare)) as connection:

        def all_at_once(work: Callable[[Any], object], shares: Sequence[Any]) -> float:
            return seconds(lambda: list(pool.map(work, shares))) / TOGETHER

        for _ in range(rounds + 1):
            single, shares = some(ALONE), [some(TOGETHER // THREADS) for _ in range(THREADS)]
            share = [TOGETHER // THREADS] * THREADS
            taken["alone"].append(seconds(partial(append, book, single)) / ALONE)
            taken["together"].append(all_at_once(lambda items: append(book, items), shares))
            taken["write"].append(all_at_once(lambda n: append(book, some(n)), share))
            taken["bare"].append(seconds(lambda: bare_rows(connection)) / ALONE)
    best = {name: min(values[1:]) for name, values in taken.items()}  # the first one warms up
    slow = {"one at a time": best["alone"], "bare": best["bare"]}
    return Appends(
        **{f"{name}_per_s": round(1 / value) for name, value in best.items()},
        ratios=tuple(
            Ratio(name, f"{THREADS} at once", round(value / best["together"], 2), at_least=TIMES)
            for name, value in slow.items()
        ),
    )


def bare_file(path: Path) -> sqlite3.Connection:
    """An SQLite file with the ledger's durability and none of its code."""
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode = WAL", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE bare (data BLOB)")
    return connection


def bare_rows(connection: sqlite3.Connection) -> None:
    """As many rows as are appended one at a time, one durable commit each."""
    for _ in range(ALONE):
        connection.execute("INSERT INTO bare VALUES (zeroblob(2000))")


def fill(book: Book, clear: Mapping[str, Json], records: int) -> None:
    """Bring a ledger up to so many records."""
    missing, key = records - book.ledger.head().sequence, book.key or b""
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda n: append(book, [prepared(key, clear, -n - 1)]), range(missing)))


def verify_per_s(path: Path, rounds: int = 5) -> int:
    """Records that `verify` checks in a second of processor time, the median of the rounds."""
    rates = []
    for _ in range(rounds):
        start = time.process_time()
        report = verify(path)
        rates.append(report.records / (time.process_time() - start))
        if not report.ok:
            raise SystemExit(f"the ledger does not verify: {report.first_problem}")
    return round(statistics.median(rates))


def record(measured: Appends, records: int, rate: int, size: int, date: datetime) -> dict[str, Any]:
    """The stored form of a run."""
    return {
        "schema_version": 1,
        "command": COMMAND,
        "date": date.isoformat(timespec="seconds"),
        "host": host_class(),
        "versions": {"python": sys.version.split()[0]},
        "appends": {
            "threads": THREADS,
            "rounds": ROUNDS,
            **asdict(measured),
            "ratios": [{**asdict(one), "holds": one.holds} for one in measured.ratios],
        },
        "verify": {
            "records": records,
            "bytes_per_record": size,
            "per_s": rate,
            "at_least": VERIFY_PER_S,
            "holds": rate >= VERIFY_PER_S,
        },
    }


def table(result: Mapping[str, Any]) -> str:
    """The run for people to read."""
    one, two = result["appends"], result["verify"]
    ratios = [
        f"{r['times']:10.2f} times {r['slow']}: at least {r['at_least']}, {_state(r)}"
        for r in one["ratios"]
    ]
    return "\n".join(
        [
            f"{one['alone_per_s']:10} records/s  one at a time, each with its receipt",
            f"{one['together_per_s']:10} records/s  {one['threads']} at once",
            f"{one['write_per_s']:10} records/s  {one['threads']} at once, described and sealed too",
            f"{one['bare_per_s']:10} rows/s     bare, one durable commit each",
            *ratios,
            f"{two['per_s']:10} records/s verified: at least {two['at_least']}, {_state(two)}",
        ]
    )


def _state(figure: Mapping[str, Any]) -> str:
    return "holds" if figure["holds"] else "MISSED"


def measure(folder: Path, rounds: int = ROUNDS, records: int = VERIFIED) -> dict[str, Any]:
    """Fill a book in `folder`, measuring, and verify it."""
    clear = described()
    path = folder / "ledger.sqlite"
    with open_book(path, folder / "receipts.sqlite") as book:
        measured = appends(book, clear, folder / "bare.sqlite", rounds)
        fill(book, clear, records)
        written = book.ledger.head().sequence
    size = round(path.stat().st_size / written)
    return record(measured, written, verify_per_s(path), size, datetime.now(UTC))


def main(arguments: Sequence[str] = (), out: Path = STORED) -> int:
    """Measure in a folder below the working directory's `var`, print and store; 0, or 1 if missed."""
    parent = Path(arguments[0]) if arguments else ROOT / "var"
    parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        result = measure(Path(folder))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(*map(sinks.terminal, table(result).splitlines()), sep="\n")
    figures = [*result["appends"]["ratios"], result["verify"]]
    return 0 if all(figure["holds"] for figure in figures) else 1


if __name__ == "__main__":
    ending.run(lambda: main(sys.argv[1:]))
