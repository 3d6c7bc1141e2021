"""How fast the encoder's runtimes and a tier on each are, as ratios within one run: `make bench-encoder`.

The demo's router is copied and its 8-bit graph taken from `training.runtime`; both runtimes keep to
one thread, and times are of the processor, so that other programs do not count. The *bare forward*
is the library's own call on word pieces made beforehand; the tier reads the text, makes the pieces,
scores, and writes what it saw. Start and memory are those of a fresh process that encodes one text.
What the tier costs beside its encoder is compared with semantic-router's in `overhead.py`, which runs
in semantic-router's own environment.

The result is stored in `eval/results/bench_encoder.json`; exit code 1 means that a required ratio was
missed.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from eval.bench_gate import table
from eval.errors import EvalError
from eval.intents import bench, data, subjects
from eval.result import host_class
from eval.timing import Part, Ratio, timed
from inference import artefacts, ending, sinks
from inference.artefacts import Artefact
from inference.classifiers import encoded
from inference.encoder import GRAPH, ONNX_INT8, RUNTIMES, TORCH, TorchEncoder
from inference.question import Question
from inference.tiers.fast import FastTier

ROOT = Path(__file__).resolve().parents[1]
ROUTER = ROOT / "var" / "models" / "demo-router"
TEXTS = ROOT / "training" / "data" / "demo" / "utterances.csv"
STORED = ROOT / "eval" / "results" / "bench_encoder.json"
COMMAND = "python -m eval.bench_encoder"
PUBLIC = ROOT.parent / "shared" / "data"
RIVAL = ROOT / "var" / "semantic-router" / "bin" / "python"
ROUNDS = 41
ASKED = 20
"""Texts of one turn, spread over the demo's training texts."""

EXPORT = """
import sys
from pathlib import Path
from training import runtime
runtime.export(Path(sys.argv[1]))
"""

START = """
import json, resource, sys, time
started = time.process_time()
from pathlib import Path
from inference import artefacts
from inference.classifiers import encoded
scorer = encoded.load(artefacts.read(Path(sys.argv[1])), sys.argv[2])
scorer.scores(["what is my balance"])
print(json.dumps({
    "seconds": round(time.process_time() - started, 2),
    "megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    "torch": "torch" in sys.modules,
}))
"""


def exported(router: Path, folder: Path) -> Artefact:
    """A copy of the router that holds the 8-bit graph too."""
    shutil.copytree(router, folder)
    given = [sys.executable, "-c", EXPORT, str(folder / encoded.ENCODER)]
    subprocess.run(given, cwd=ROOT, check=True, capture_output=True)  # noqa: S603 - our own code
    return _named(artefacts.read(folder), TORCH)


def _named(artefact: Artefact, runtime: str) -> Artefact:
    kept = {k: v for k, v in artefact.manifest.items() if k not in ("files", "schema_version")}
    return artefacts.write_manifest(artefact.folder, {**kept, "runtime": runtime})


def speed(both: Mapping[str, Artefact], texts: list[str]) -> Part:
    """The bare forward of each runtime, and the tier on it."""
    calls: dict[str, Callable[[], object]] = {
        f"forward, {TORCH}": _torch(both[TORCH].folder / encoded.ENCODER, texts),
        f"forward, {ONNX_INT8}": _graph(both[ONNX_INT8].folder / encoded.ENCODER, texts),
    }
    for runtime, artefact in both.items():
        calls[f"tier, {runtime}"] = _tier(artefact, texts)
    with _one_thread():
        timing = timed(calls, dict.fromkeys(calls, len(texts)), rounds=ROUNDS)
    pairs = [(f"tier, {name}", f"forward, {name}", 1.15) for name in RUNTIMES]
    pairs.append((f"forward, {ONNX_INT8}", f"forward, {TORCH}", 0.4))
    return Part(
        "encoder_and_tier",
        f"{len(texts)} demo texts, one at a time, one thread; per text",
        timing.median_us(),
        tuple(Ratio(slow, fast, timing.times(slow, fast), at_most=m) for slow, fast, m in pairs),
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _torch(folder: Path, texts: list[str]) -> Callable[[], object]:
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model: Any = AutoModel.from_pretrained(folder, local_files_only=True)
    model.pooler = None
    model.eval()
    batches = [tokenizer([text], return_tensors="pt") for text in texts]

    def run() -> None:
        with torch.inference_mode():
            for batch in batches:
                model(**batch)

    return run


def _graph(folder: Path, texts: list[str]) -> Callable[[], object]:
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    graph = str(folder / GRAPH)
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    given = [{"pieces": np.array([tokenizer.encode(text).ids])} for text in texts]

    def run() -> None:
        for pieces in given:
            session.run(None, pieces)

    return run


def _tier(artefact: Artefact, texts: list[str]) -> Callable[[], object]:
    tier = FastTier("fast", artefact, Decimal("0.6"))
    questions = [Question(text) for text in texts]
    return lambda: [tier.propose(question) for question in questions]


def starts(both: Mapping[str, Artefact]) -> dict[str, Any]:
    """Seconds of processor time and peak megabytes of a process that encodes one text, by runtime."""
    found = {}
    for runtime, artefact in both.items():
        given = [sys.executable, "-c", START, str(artefact.folder), runtime]
        done = subprocess.run(given, cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603
        found[runtime] = json.loads(done.stdout)
    return found


def overhead(python: Path = RIVAL, public: Path = PUBLIC) -> tuple[Part, str]:
    """What the tier and semantic-router cost beside the same vectors, and semantic-router's version.

    Both know the texts of `bench.banking`; EvalError where their environment or the data is missing.
    """
    if not python.exists():
        raise EvalError(f"no semantic-router at `{python}`; create it with `make bench-encoder`")
    train, test = bench.banking_split(data.banking(public))
    texts = test.texts[:: max(1, len(test.texts) // ASKED)][:ASKED]
    encoder = TorchEncoder(artefacts.read(ROOT / subjects.ENCODER))
    vectors = subjects.Vectors(encoder, ROOT / subjects.CACHE).of([*train.texts, *texts])
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "vectors.npz"
        np.savez(file, texts=train.texts, labels=train.labels, asked=texts, vectors=vectors)
        given = [str(python), "-m", "eval.overhead", str(file), sysconfig.get_path("purelib")]
        done = subprocess.run(given, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
    found = json.loads(done.stdout.splitlines()[-1])
    ratios = tuple(Ratio(**ratio) for ratio in found["part"].pop("ratios"))
    return Part(**{**found["part"], "ratios": ratios, "gaps": ()}), found["version"]


def asked(path: Path = TEXTS) -> list[str]:
    """Texts spread evenly over a labelled file."""
    with path.open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    return texts[:: max(1, len(texts) // ASKED)][:ASKED]


def record(
    parts: Sequence[Part], first: Mapping[str, Any], router: str, rival: str, date: datetime
) -> dict[str, Any]:
    """The stored form of a run."""
    return {
        "schema_version": 1,
        "command": COMMAND,
        "date": date.isoformat(timespec="seconds"),
        "host": host_class(),
        "versions": {
            **{name: version(name) for name in ("torch", "transformers", "onnxruntime")},
            "semantic-router": rival,
        },
        "rounds": ROUNDS,
        "router": router,
        "start": first,
        "parts": [
            {**asdict(part), "ratios": [{**asdict(r), "holds": r.holds} for r in part.ratios]}
            for part in parts
        ],
    }


def main(router: Path = ROUTER, out: Path = STORED) -> int:
    """Measure, print and store; 0, 1 if a required ratio is missed, 2 where something is not there."""
    try:
        beside, rival = overhead()
    except EvalError as error:
        print(sinks.terminal(error), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        plain = exported(router, Path(scratch) / TORCH)
        shutil.copytree(plain.folder, Path(scratch) / ONNX_INT8)
        graph = _named(artefacts.read(Path(scratch) / ONNX_INT8), ONNX_INT8)
        both = {TORCH: plain, ONNX_INT8: graph}
        first = starts(both)
        parts = (speed(both, asked()), beside)
    stored = record(parts, first, artefacts.read(router).digest, rival, datetime.now(UTC))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(sinks.json_text(stored, indent=2) + "\n", encoding="utf-8")
    lines = [*table(parts).splitlines(), sinks.json_text(first)]
    print(*map(sinks.terminal, lines), sep="\n")
    return 0 if all(ratio.holds for part in parts for ratio in part.ratios) else 1


if __name__ == "__main__":
    ending.run(main)
