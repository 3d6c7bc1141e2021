"""The command line of the intent benches.

python -m eval.intents clinc   --kind linear  --data ../shared/data --out var/intents/clinc-linear
python -m eval.intents banking --kind lexical --data ../shared/data --out var/intents/banking-lexical
python -m eval.intents few     --kind linear  --data ../shared/data --out var/intents/few-linear
python -m eval.intents clinc   --kind tuned   --data ../shared/data --out var/intents/clinc-tuned \\
    --store eval/results/intents_clinc_tuned.json
python -m eval.intents cache   --data ../shared/data --out tests/fixtures/scores
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval import output
from eval.errors import EvalError
from eval.intents import bench, cached
from eval.intents.bench import Report
from eval.intents.subjects import KINDS, choose, expecting
from eval.result import host_class
from inference import ending, sinks
from inference.errors import InferenceError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one bench, write `metrics.json` and diagrams to --out, print the figures; 2 on wrong use."""
    parser = argparse.ArgumentParser(description="Measure intent classifiers on public data.")
    parser.add_argument("bench", choices=("clinc", "banking", "few", "cache"))
    parser.add_argument("--kind", choices=KINDS, default="lexical")
    parser.add_argument("--no-out-of-scope", action="store_true", help="train without that class")
    parser.add_argument("--strength", type=float, help="the head's C; default: the kind's")
    parser.add_argument("--epochs", type=int, help="times over all texts, of `tuned`; default: 4")
    parser.add_argument("--expected", type=float, help="share of messages that are out of scope")
    parser.add_argument("--rounds", type=int, default=1000, help="rounds of the bootstrap")
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data")
    parser.add_argument("--out", type=Path, required=True, help="folder of the result")
    parser.add_argument("--store", type=Path, help="file for the figures with command and date")
    given = parser.parse_args(arguments)
    try:
        if given.bench == "cache":
            print(sinks.lines(str(cached.write(given.data, given.out))))
            return 0
        report = _run(given)
    except (EvalError, InferenceError) as error:
        print(sinks.terminal(error), file=sys.stderr)
        return 2
    text = json.dumps(report.figures, indent=1, sort_keys=True)
    output.write(given.out, {"metrics.json": text + "\n", **report.diagrams})
    if given.store is not None:
        stored = sinks.json_text(record(given, report, datetime.now(UTC)), indent=1)
        given.store.write_text(stored + "\n", encoding="utf-8")
    print(sinks.lines(text))
    return 0


def record(given: argparse.Namespace, report: Report, date: datetime) -> dict[str, Any]:
    """The stored form of a run."""
    options = "" if given.strength is None else f" --strength {given.strength:g}"
    options += " --no-out-of-scope" if given.no_out_of_scope else ""
    options += "" if given.epochs is None else f" --epochs {given.epochs}"
    options += "" if given.expected is None else f" --expected {given.expected:g}"
    return {
        "schema_version": 1,
        "command": f"python -m eval.intents {given.bench} --kind {given.kind}{options}",
        "date": date.isoformat(timespec="seconds"),
        "host": host_class(),
        **report.figures,
    }


def _run(given: argparse.Namespace) -> Report:
    subject = choose(given.kind, epochs=given.epochs)
    if given.strength is not None:
        subject = subject._replace(strength=given.strength)
    if given.expected is not None:
        subject = expecting(subject, given.expected)
    match given.bench:
        case "clinc":
            return bench.clinc(subject, given.data, given.rounds, not given.no_out_of_scope)
        case "banking":
            return bench.banking(subject, given.data, given.rounds)
        case _:
            return bench.few(subject, given.data)


if __name__ == "__main__":
    ending.run(main)
