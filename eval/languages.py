"""Which texts are taken for another language than the institution's: wrongly, and rightly.

`python -m eval.languages --data ../shared/data` reads the demo's training texts, Banking77, CLINC150
and RouteBR's DEV, all of them English or Chinese, and the sentences of `suites/languages`; it prints
counts, never a message of those files. Exit code 1 if more than MOST of one file's texts are refused.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from eval import statistics, table, writes
from gate.configuration import Configuration
from gate.findings import find
from gate.load import load
from gate.records import Request
from inference import ending, sinks
from inference.recognition import Recogniser

MOST: Final = 0.001
"""The largest share of a file's English and Chinese texts that may be taken for another language."""

SENTENCES: Final = Path(__file__).parent / "suites" / "languages" / "sentences.yaml"
OWN: Final = Path(__file__).parents[1] / "training" / "data" / "demo" / "utterances.csv"


class Reader:
    """The language that findings give a text, with what the recogniser took for each."""

    def __init__(self, configuration: Configuration) -> None:
        """Open a recogniser; it loads with the first text."""
        self.configuration, self.recogniser = configuration, Recogniser(configuration)
        self.milliseconds: list[float] = []

    def read(self, text: str) -> str | None:
        """The configured tag, or None for a text that is refused."""
        request = Request("l", "bench", text)
        started = time.perf_counter()
        recognised = self.recogniser.recognise(request)
        self.milliseconds.append((time.perf_counter() - started) * 1000)
        return find(self.configuration, request, recognised).language


def sentences() -> tuple[Sequence[str], Mapping[str, Sequence[str]]]:
    """The texts that are in a configured language, and those that are not by their tag."""
    read = yaml.safe_load(SENTENCES.read_text(encoding="utf-8"))
    return read["configured"], read["sentences"]


def files(data: Path) -> Mapping[str, Iterable[str]]:
    """English and Chinese texts by the name of their source."""
    clinc = json.loads((data / "clinc150" / "clinc150_train_val.json").read_text(encoding="utf-8"))
    dev = data / "routebr" / "routebr_dev_120.csv"
    banking = data / "banking77" / "train.csv"
    return {
        "demo, training": _column(OWN, "text"),
        "Banking77, train": _column(banking, "text"),
        "CLINC150, train and val": [text for part in clinc.values() for text, _ in part],
        "RouteBR, DEV": _column(dev, "utterance"),
    }


def _column(path: Path, name: str) -> list[str]:
    return [row[name] for row in table.read(path, (name,))]


def refused(reader: Reader, texts: Iterable[str]) -> tuple[int, int]:
    """How many of the texts no configured language reads, and of how many."""
    read = [reader.read(text) for text in texts]
    return sum(language is None for language in read), len(read)


def measure(reader: Reader, data: Path) -> dict[str, Any]:
    """Refused texts of every file and of every language; milliseconds per text, megabytes."""
    before = _megabytes()
    reader.read("load everything that is needed once, please and thanks")
    reader.read("laden Sie bitte alles was sie dazu brauchen")
    reader.milliseconds.clear()
    own, others = sentences()
    false = {name: refused(reader, texts) for name, texts in files(data).items()}
    asked = reader.milliseconds.copy()
    false["suite, configured"] = refused(reader, own)
    found = {tag: refused(reader, texts) for tag, texts in others.items()}
    return {
        "false_refusals": false,
        "recall": found,
        "milliseconds": {p: statistics.percentile(asked, p) for p in (50, 95, 99)},
        "megabytes": round(_megabytes() - before, 1),
    }


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; 1 if more than MOST of a file's texts are refused."""
    parser = argparse.ArgumentParser(prog="python -m eval.languages", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of public data")
    given = parser.parse_args(arguments)
    result = measure(Reader(load(writes.DEMO)), given.data)
    for name, (count, of) in result["false_refusals"].items():
        print(sinks.terminal(f"{name}: {count} of {of} refused"))
    for tag, (count, of) in result["recall"].items():
        print(sinks.terminal(f"{tag}: {count} of {of} recognised"))
    p50, p95, p99 = result["milliseconds"].values()
    spent = f"p50 {p50:.3f} ms, p95 {p95:.3f} ms, p99 {p99:.3f} ms; {result['megabytes']} MB"
    print(sinks.terminal(spent))
    return int(any(count > MOST * of for count, of in result["false_refusals"].values()))


if __name__ == "__main__":
    ending.run(main)
