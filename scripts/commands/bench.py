"""`routelock bench`: benchmarks with stored results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scripts import terminal

app = typer.Typer(help="Run benchmarks and write their results.", no_args_is_help=True)

Data = Annotated[Path, typer.Option("--data", help="Folder with RouteBR's CSV files.")]
Out = Annotated[Path, typer.Option("--out", help="Folder for the result.")]


@app.command(
    epilog="Example: routelock bench routebr --data ../shared/data/routebr "
    "--cases ../shared/data/routebr/routebr_select_160.csv --proposer lexical --out var/routebr"
)
def routebr(
    data: Data,
    cases: Annotated[Path, typer.Option("--cases", help="A CSV file of cases.")],
    out: Out,
    proposer: Annotated[
        str, typer.Option("--proposer", help="lexical or recorded:DIR.")
    ] = "lexical",
) -> None:
    """Decide RouteBR cases and write metrics.json, predictions.csv and a report."""
    from eval.routebr import run

    run(data, cases, proposer, out)
    terminal.page((out / "metrics.json").read_text(encoding="utf-8"))


@app.command(
    epilog="Example: routelock bench metamorphic --data ../shared/data/routebr "
    "--cases ../shared/data/routebr/routebr_select_160.csv --out var/metamorphic"
)
def metamorphic(
    data: Data,
    cases: Annotated[list[Path], typer.Option("--cases", help="CSV files of cases.")],
    out: Out,
    proposer: Annotated[
        str, typer.Option("--proposer", help="A proposer that reads texts.")
    ] = "lexical",
) -> None:
    """Derive cases (negations, look-alikes, swaps, ...) and count what became of them; exit 1 on a
    false dispatch."""
    from eval.metamorphic import run

    result = run(data, cases, proposer, out)
    for path in sorted(out.glob("*.md")):
        terminal.page(path.read_text(encoding="utf-8"))
    counts = (result.proposed.all.false_dispatch, result.right_action_given.all.false_dispatch)
    if any(counts):
        terminal.tell(
            f"false dispatches: {counts[0]} as proposed, {counts[1]} with the right action given"
        )
        raise typer.Exit(1)


@app.command(epilog="Example: routelock bench gate")
def gate() -> None:
    """Measure the gate against cedarpy and the fast tier; ratios within one run, stored."""
    from eval.bench_gate import main

    raise typer.Exit(main())
