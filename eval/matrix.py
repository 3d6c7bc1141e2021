"""`routelock bench matrix`: every backend behind every system on one suite, and one report.

Each backend runs once behind the gate; the ablations reuse what it said there. `b1` and `b2` run over
the backends that read a prompt. Runs that lie in the folder already are kept, so that a report can
be made again, to the same bytes, without asking a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval import baselines, run
from eval.compare import Comparison, compare
from eval.suite import Suite
from eval.systems import ABLATIONS, ROUTELOCK, Clock, open_system


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of a matrix: its folder's name, system, backend, and cases at a time."""

    name: str
    system: str
    backend: str
    concurrency: int = 1


def plan(
    backends: Sequence[str], readers: Sequence[str], concurrency: int, out: Path
) -> tuple[Cell, ...]:
    """The runs in their order: all behind the gate, then baselines, then ablations.

    Backends that can be asked are asked once more, `concurrency` cases at a time, if that is above 1.
    """
    gated = [Cell(_name(ROUTELOCK, b), ROUTELOCK, b) for b in backends]
    if concurrency > 1:
        asked = [c for c in gated if not c.backend.startswith(("recorded:", "run:"))]
        again = [Cell(f"{c.name}-c{concurrency}", ROUTELOCK, c.backend, concurrency) for c in asked]
        gated = [*gated, *again]
    bare = [Cell(_name(s, r), s, r) for r in readers for s in baselines.NAMES]
    off = [
        Cell(_name(ablation, b), ablation, f"run:{out / _name(ROUTELOCK, b)}")
        for ablation in ABLATIONS
        for b in backends
    ]
    return (*gated, *bare, *off)


def _name(system: str, backend: str) -> str:
    """A folder's name: the system, and the last part of the backend's name."""
    kind, _, rest = backend.partition(":")
    last = rest.rstrip("/").rsplit("/", 1)[-1] if kind in ("recorded", "run", "embedded") else ""
    return f"{system}-{re.sub(r'[^A-Za-z0-9_.-]+', '_', last or kind)}"


def matrix(
    suite: Suite,
    suite_name: str,
    backends: Sequence[str],
    readers: Sequence[str],
    out: Path,
    prices: Path,
    *,
    concurrency: int = 1,
    clock: Clock | None = None,
    watch: Callable[[Sequence[Cell]], Iterable[Cell]] = list,
) -> Comparison:
    """Make the runs that are missing in `out`, then the report in `out`/report.

    Raises EvalError for a backend that cannot be opened; runs made before it stay.
    """
    cells = plan(backends, readers, concurrency, out)
    for cell in watch(cells):
        if not (out / cell.name / "metrics.json").exists():
            _run(suite, suite_name, cell, out, clock)
    return compare([out / cell.name for cell in cells], prices, out / "report")


def _run(suite: Suite, name: str, cell: Cell, out: Path, clock: Clock | None) -> None:
    many = f" --concurrency {cell.concurrency}" if cell.concurrency > 1 else ""
    timed = " --timed" if clock else ""
    folder = out / cell.name
    command = f"routelock bench run {name} {cell.system} {cell.backend}{many}{timed} --out {folder}"
    system = open_system(cell.system, suite, cell.backend)
    run.run(suite, system, folder, command, clock=clock, concurrency=cell.concurrency)
