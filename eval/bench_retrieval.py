"""What retrieval finds and refuses on Regulation E: `routelock bench retrieval --data DIR`.

Every Markdown file of the folder is indexed by the product's own code; every question is searched
for under each variant: the product as it is, each channel alone, fusion without reranking, the query
as it was asked, other fusion weights. Shares have Wilson intervals. The threshold below which nothing
is answered is looked for on the `fit` half and compared with the one in `retrieval/rerank.py`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from math import log2
from pathlib import Path
from typing import Any

import numpy as np

from eval.result import host_class
from eval.statistics import mean, percentile, wilson
from eval.suites.reg_e.questions import COUNTED, WORDINGS, Question, read, section
from inference import sinks
from inference.library import (
    SUFFICIENT,
    WEIGHTS,
    Encoder,
    Hit,
    Index,
    Vectors,
    as_asked,
    as_fused,
    closed_list,
    extract,
    of_folder,
    search,
)

STORED = Path(__file__).resolve().parent / "results" / "bench_retrieval.json"
DEPTHS = (1, 5, 10, 50)
REQUIRED = {"file@5": 0.92, "file@1": 0.70, "own file@1": 0.55, "passage@5": 0.85}
MOST_WRONG, LEAST_REFUSED = 0.05, 0.90

Variant = Mapping[str, Any]
VARIANTS: Mapping[str, Variant] = {
    "as it is": {},
    "as asked": {"form": as_asked},
    "fused": {"reranker": as_fused},
    "fused, as asked": {"reranker": as_fused, "form": as_asked},
    **{f"{c} alone": {"weights": {c: 1.0}, "reranker": as_fused} for c in WEIGHTS},
    **{
        f"{c} alone, as asked": {"weights": {c: 1.0}, "reranker": as_fused, "form": as_asked}
        for c in WEIGHTS
    },
    "fused, equal weights": {"weights": dict.fromkeys(WEIGHTS, 1.0), "reranker": as_fused},
    "fused, no titles": {"weights": {"dense": 1.0, "bm25": 1.0}, "reranker": as_fused},
    "fused, dense twice": {"weights": {**WEIGHTS, "dense": 2.0}, "reranker": as_fused},
    "fused, bm25 twice": {"weights": {**WEIGHTS, "bm25": 2.0}, "reranker": as_fused},
}


class Kept:
    """An encoder that keeps what it has encoded."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[str, Vectors] = {}
        self.digest, self.dimensions = encoder.digest, encoder.dimensions

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `Encoder`."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._encoder.encode(new), strict=True))
        rows = [self._known[text] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimensions)


@dataclass(frozen=True, slots=True)
class Ranks:
    """The first rank of a hit, None where it is not among the deepest."""

    question: Question
    file: int | None
    passage: int | None


def ranks(hits: Sequence[Hit], question: Question) -> Ranks:
    """Where the first right file and the first right passage stand."""
    places = enumerate(hits, start=1)
    found = [(rank, section(hit.chunk.source.file), hit.chunk.text) for rank, hit in places]
    file = [rank for rank, name, _ in found if name in dict(question.answers)]
    passage = [
        r for r, name, text in found if any(name == s and a in text for s, a in question.answers)
    ]
    return Ranks(question, min(file, default=None), min(passage, default=None))


def figures(found: Sequence[Ranks]) -> dict[str, Any]:
    """Shares with intervals at every depth, MRR and nDCG@10 on passages; one right passage each."""
    of = len(found)
    result: dict[str, Any] = {"questions": of}
    for depth in DEPTHS:
        for name in ("file", "passage"):
            at = [getattr(r, name) for r in found]
            count = sum(rank is not None and rank <= depth for rank in at)
            result[f"{name}@{depth}"] = {
                "share": round(count / of, 3),
                "interval": [round(x, 3) for x in wilson(count, of) or ()],
            }
    at = [r.passage for r in found]
    result["mrr"] = _rounded(mean([1 / rank if rank else 0.0 for rank in at]))
    gains = [1 / log2(rank + 1) if rank and rank <= 10 else 0.0 for rank in at]
    result["ndcg@10"] = _rounded(mean(gains))
    return result


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def by_wording(found: Sequence[Ranks]) -> dict[str, Any]:
    """Figures of the counted questions together and of every wording."""
    result = {"counted": figures([r for r in found if r.question.wording in COUNTED])}
    for wording in WORDINGS:
        result[wording] = figures([r for r in found if r.question.wording == wording])
    return result


def refusal(scores: Mapping[str, float], asked: Sequence[Question], least: float) -> dict[str, Any]:
    """How often nothing is answered: rightly, where the corpus has no answer, and wrongly."""
    result: dict[str, Any] = {"threshold": round(least, 4)}
    for split in ("fit", "held", "both"):
        chosen = [q for q in asked if split in (q.split, "both")]
        for name, kinds in (("refused", ("none",)), ("wrongly_refused", COUNTED)):
            among = [scores[q.question_id] for q in chosen if q.wording in kinds]
            count = sum(score < least for score in among)
            result[f"{split}_{name}"] = {
                "count": count,
                "of": len(among),
                "interval": [round(x, 3) for x in wilson(count, len(among)) or ()],
            }
    return result


def fitted(scores: Mapping[str, float], asked: Sequence[Question]) -> float:
    """The threshold that on the `fit` half refuses most, a wrong refusal counting twice."""
    fit = [q for q in asked if q.split == "fit" and q.wording != "far"]
    none = [scores[q.question_id] for q in fit if q.wording == "none"]
    some = [scores[q.question_id] for q in fit if q.wording != "none"]

    def worth(least: float) -> float:
        wrong = sum(s < least for s in some) / len(some)
        return sum(s < least for s in none) / len(none) - 2 * wrong

    steps = sorted({*none, *some})
    middles = [(a + b) / 2 for a, b in pairwise(steps)]
    return max(middles, key=lambda least: (worth(least), -least))


def quoted(hits: Mapping[str, Sequence[Hit]], asked: Sequence[Question]) -> dict[str, Any]:
    """Of the answered counted questions: how often the quoted passage is a right one."""
    answered = [
        q for q in asked if q.wording in COUNTED and hits[q.question_id][0].reranked >= SUFFICIENT
    ]
    right = 0
    for question in answered:
        quotes = extract(closed_list(hits[question.question_id][:5]))
        texts = [(section(q.passage.source.file), q.passage.text) for q in quotes[:1]]
        right += any(s == name and a in text for name, text in texts for s, a in question.answers)
    interval = [round(x, 3) for x in wilson(right, len(answered)) or ()]
    return {"right": right, "of": len(answered), "interval": interval}


def run(data: Path, encoder: Encoder, tell: Callable[[str], None]) -> dict[str, Any]:
    """Index, search every question under every variant; the stored form of the result."""
    kept = Kept(encoder)
    asked = read()
    with tempfile.TemporaryDirectory() as scratch:
        started = time.perf_counter()
        index = of_folder(data, kept, Path(scratch))
        seconds = time.perf_counter() - started
        size = sum(path.stat().st_size for path in Path(scratch).rglob("*") if path.is_file())
        tell(f"built in {seconds:.0f} s")
        answerable = [q for q in asked if q.answers]
        variants = {}
        for name, variant in VARIANTS.items():
            found = [ranks(_hits(index, kept, q, variant), q) for q in answerable]
            variants[name] = by_wording(found)
        times, hits = [], {}
        for question in asked:
            started = time.perf_counter()
            hits[question.question_id] = _hits(index, kept, question, {})
            times.append((time.perf_counter() - started) * 1000)
    scores = {name: found[0].reranked if found else 0.0 for name, found in hits.items()}
    return {
        "schema_version": 1,
        "command": "routelock bench retrieval --data ../shared/data/reg_e --store",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": host_class(),
        "encoder": encoder.digest,
        "passages": sum(len(part.chunks) for part in index.partitions),
        "build_seconds": round(seconds, 1),
        "index_bytes": size,
        "search_ms_without_encoding": {p: round(percentile(times, p) or 0.0, 2) for p in (50, 95)},
        "variants": variants,
        "held": by_wording([r for r in _own(index, kept, asked) if r.question.split == "held"]),
        "refusal": refusal(scores, asked, SUFFICIENT),
        "refusal_fitted": refusal(scores, asked, fitted(scores, asked)),
        "quoted": quoted(hits, asked),
    }


def _own(index: Index, encoder: Encoder, asked: Sequence[Question]) -> list[Ranks]:
    return [ranks(_hits(index, encoder, q, {}), q) for q in asked if q.answers]


def _hits(index: Index, encoder: Encoder, question: Question, variant: Variant) -> tuple[Hit, ...]:
    return search(index, encoder, question.text, entitlements=(), k=DEPTHS[-1], **variant)


def missed(result: Mapping[str, Any]) -> list[str]:
    """Required figures that were not reached."""
    own = result["variants"]["as it is"]
    got = {name: own["counted"][name]["share"] for name in REQUIRED if " " not in name}
    got["own file@1"] = own["own"]["file@1"]["share"]
    lines = [
        f"{n} is {got[n]}, required {least}" for n, least in REQUIRED.items() if got[n] < least
    ]
    right, wrong = (result["refusal"][f"both_{n}"] for n in ("refused", "wrongly_refused"))
    if right["count"] < LEAST_REFUSED * right["of"]:
        lines.append(f"refused {right['count']} of {right['of']}, required {LEAST_REFUSED}")
    if wrong["count"] > MOST_WRONG * wrong["of"]:
        lines.append(f"wrongly refused {wrong['count']} of {wrong['of']}, at most {MOST_WRONG}")
    return lines


def table(result: Mapping[str, Any]) -> str:
    """File and passage shares of the counted questions by variant."""
    lines = []
    for name, found in result["variants"].items():
        c, o = found["counted"], found["own"]["file@1"]["share"]
        shares = [c[f"{n}@{k}"]["share"] for n in ("file", "passage") for k in DEPTHS]
        lines.append(f"{name:28} {' '.join(f'{x:.2f}' for x in shares)}  own file@1 {o:.2f}")
    return "\n".join(lines)


def store(result: Mapping[str, Any], out: Path = STORED) -> None:
    """Write the result."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(sinks.json_text(result, indent=2) + "\n", encoding="utf-8")
