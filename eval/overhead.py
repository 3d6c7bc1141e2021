"""What a router costs beside its encoder: the fast tier and semantic-router on Banking77, in one process.

    var/semantic-router/bin/python -m eval.overhead VECTORS PACKAGES

Both are asked the same texts and given the same vectors for them, looked up in a dictionary, so that
all the rest is overhead: the tier's reading, head, answer and receipt; semantic-router's search in
its index of the same training texts and its choice. semantic-router lives in an environment of its
own (`make bench-encoder` creates it) and is never installed beside the appliance; what the tier needs
and that environment lacks comes from PACKAGES, the site-packages of the appliance's. VECTORS is
written by bench_encoder.py. Prints the part as JSON.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference import ending, sinks

AT_LEAST = 5
ROUNDS = 41
RIVAL = "semantic-router"


@dataclass(frozen=True, slots=True)
class Given:
    """An encoder of known texts; see `inference.encoder.Encoder`."""

    vectors: Mapping[str, NDArray[np.float32]]
    digest: str = ""
    dimensions: int = 0

    def tokens(self, text: str) -> int:
        """About as many as words."""
        return len(text.split())

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors, shape (len(texts), dimensions)."""
        return np.stack([self.vectors[text] for text in texts])


@dataclass(frozen=True, slots=True)
class Sample:
    """Training texts with labels, texts to ask, and the vectors of all of them."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    asked: tuple[str, ...]
    encoder: Given

    @staticmethod
    def read(file: Path) -> Sample:
        """From what bench_encoder.py wrote."""
        with np.load(file, allow_pickle=False) as found:
            texts, labels, asked = (tuple(map(str, found[n])) for n in ("texts", "labels", "asked"))
            vectors = dict(zip((*texts, *asked), found["vectors"], strict=True))
        return Sample(texts, labels, asked, Given(vectors))


def tier_call(sample: Sample, folder: Path) -> Callable[[], list[Any]]:
    """Every asked text through a fast tier whose head was fitted on the sample."""
    from decimal import Decimal

    from inference import artefacts
    from inference.classifiers import encoded, head
    from inference.question import Question
    from inference.tiers.fast import FastTier

    (folder / "base").mkdir(parents=True)
    (folder / "base" / "config.json").write_text("{}")
    base = artefacts.write_manifest(folder / "base", {})
    fitted, names = head.fit(sample.encoder.encode(sample.texts), sample.labels, 20.0, 0)
    tier = FastTier("fast", encoded.save(names, fitted, base, folder / "tier", {}), Decimal("0.6"))
    opened = tier._loaded()
    tier._opened = opened._replace(scorer=replace(opened.scorer, encoder=sample.encoder))  # type: ignore[type-var]
    questions = [Question(text) for text in sample.asked]
    return lambda: [tier.propose(question) for question in questions]


def rival_calls(sample: Sample) -> dict[str, Callable[[], object]]:
    """Every asked text through semantic-router, by its call and by its coroutine in one loop."""
    from semantic_router import IndexedRouter, Route  # type: ignore[import-not-found]
    from semantic_router.encoders import DenseEncoder  # type: ignore[import-not-found]

    given = sample.encoder

    class Same(DenseEncoder):  # type: ignore[misc]
        """The given vectors."""

        def __call__(self, docs: list[Any]) -> list[Any]:
            return list(given.encode(docs))

        async def acall(self, docs: list[Any]) -> list[Any]:
            return list(given.encode(docs))

    by_label: dict[str, list[str]] = {}
    for text, label in zip(sample.texts, sample.labels, strict=True):
        by_label.setdefault(label, []).append(text)
    routes = [Route(name=name, utterances=own) for name, own in by_label.items()]
    router = IndexedRouter(encoder=Same(name="given"), routes=routes)

    async def all_of_them() -> list[object]:
        return [await router.acall(text) for text in sample.asked]

    return {
        f"{RIVAL}, called": lambda: [router(text) for text in sample.asked],
        f"{RIVAL}, awaited": lambda: asyncio.run(all_of_them()),
    }


def main(arguments: Sequence[str]) -> int:
    """Measure and print."""
    file, packages = arguments
    sys.path.append(packages)
    from eval.timing import Part, Ratio, timed

    sample = Sample.read(Path(file))
    with TemporaryDirectory() as scratch:
        calls = {"fast tier": tier_call(sample, Path(scratch)), **rival_calls(sample)}
        timing = timed(calls, dict.fromkeys(calls, len(sample.asked)), rounds=ROUNDS)
    fastest = timing.fastest(RIVAL)
    part = Part(
        "overhead_beside_the_encoder",
        f"{len(sample.asked)} texts of Banking77, {len(sample.texts)} learnt from, vectors given; per text",
        timing.median_us(),
        (Ratio(fastest, "fast tier", timing.times(fastest, "fast tier"), at_least=AT_LEAST),),
    )
    print(sinks.json_text({"part": asdict(part), "version": version(RIVAL)}))
    return 0


if __name__ == "__main__":
    ending.run(lambda: main(sys.argv[1:]))
