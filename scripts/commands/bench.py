"""`routelock bench`: benchmarks with stored results."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from gate.load import load_institution
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
    epilog="Example: routelock bench run routebr:routebr_select_160.csv routelock lexical "
    "--data ../shared/data/routebr --out var/bench/select/lexical"
)
def run(
    suite: Annotated[
        str, typer.Argument(help="routebr:FILE, demo:dev, demo:select or demo:confirm.")
    ],
    system: Annotated[str, typer.Argument(help="routelock, b1, b2, no-state or no-objects.")],
    backend: Annotated[
        str,
        typer.Argument(help="lexical, embedded, vllm:URL, cascade, recorded:DIR or run:DIR."),
    ],
    out: Out,
    data: Data = Path("../shared/data/routebr"),
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=256, help="Cases at a time.")
    ] = 1,
    timed: Annotated[
        bool, typer.Option("--timed", help="Measure latencies; two runs then differ in them.")
    ] = False,
    unseal: Annotated[
        bool, typer.Option("--unseal", help="Open a sealed part, for its one stored result.")
    ] = False,
) -> None:
    """Run one system over one backend on one suite and keep figures, predictions and answers."""
    import time

    from eval import run as runs
    from eval.opening import open_suite
    from eval.systems import open_system

    cases = open_suite(suite, data, unseal=unseal)
    asked = open_system(system, cases, backend)
    more = [f"--concurrency {concurrency}"] * (concurrency > 1) + ["--timed"] * timed
    more += ["--unseal"] * unseal
    command = " ".join(
        [
            "routelock bench run",
            suite,
            system,
            backend,
            "--data",
            str(data),
            *more,
            "--out",
            str(out),
        ]
    )
    clock = time.perf_counter if timed else None
    runs.run(cases, asked, out, command, clock=clock, concurrency=concurrency)
    terminal.page((out / "metrics.json").read_text(encoding="utf-8"))


@app.command(
    epilog="Example: routelock bench matrix routebr:routebr_select_160.csv --backend lexical "
    "--backend embedded --reader embedded --out var/bench/select"
)
def matrix(
    suite: Annotated[str, typer.Argument(help="As for bench run.")],
    backend: Annotated[list[str], typer.Option("--backend", help="Behind the gate; repeat.")],
    out: Out,
    reader: Annotated[
        list[str] | None, typer.Option("--reader", help="A backend for b1 and b2; repeat.")
    ] = None,
    data: Data = Path("../shared/data/routebr"),
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=256, help="Run again, so many at a time.")
    ] = 1,
    prices: Annotated[Path, typer.Option("--prices", help="Prices with dates.")] = Path(
        "eval/prices.yaml"
    ),
    unseal: Annotated[bool, typer.Option("--unseal", help="Open a sealed part.")] = False,
) -> None:
    """Every backend behind every system on one suite, and one report in OUT/report.

    Runs that OUT holds already are kept: delete a run's folder to make it again.
    """
    import time

    from eval.matrix import matrix as fill
    from eval.opening import open_suite

    cases = open_suite(suite, data, unseal=unseal)
    fill(
        cases,
        f"{suite} --unseal" if unseal else suite,
        backend,
        reader or (),
        out,
        prices,
        concurrency=concurrency,
        clock=time.perf_counter,
        watch=lambda cells: terminal.steps(cells, "runs", len(cells)),
    )
    terminal.page((out / "report" / "compare.csv").read_text(encoding="utf-8"))


@app.command(epilog="Example: routelock bench compare var/bench/select/* --out var/bench/compare")
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs on one suite.")],
    out: Out,
    prices: Annotated[
        Path, typer.Option("--prices", help="Vendors' prices and the machine's cost, with dates.")
    ] = Path("eval/prices.yaml"),
) -> None:
    """Set runs side by side: safety, path, effort and cost, where they differ, as HTML, JSON, CSV."""
    from eval.compare import compare as side_by_side

    side_by_side(runs, prices, out)
    terminal.page((out / "compare.csv").read_text(encoding="utf-8"))


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


@app.command(
    epilog="Example: routelock bench intents clinc --kind linear --data ../shared/data "
    "--out var/intents/clinc-linear"
)
def intents(
    bench: Annotated[str, typer.Argument(help="clinc, banking or few.")],
    data: Annotated[Path, typer.Option("--data", help="Folder of the public data.")],
    out: Out,
    kind: Annotated[
        str,
        typer.Option("--kind", help="lexical, linear, tuned or setfit; the last two with -int8."),
    ] = "lexical",
    without: Annotated[
        bool, typer.Option("--no-out-of-scope", help="Train without the out-of-scope class.")
    ] = False,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds of the bootstrap.")] = 1000,
    epochs: Annotated[
        int | None,
        typer.Option("--epochs", min=1, help="Times over all texts, of a trained encoder."),
    ] = None,
    expected: Annotated[
        float | None, typer.Option("--expected", help="Share of messages that are out of scope.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", help="File for the figures with command and date.")
    ] = None,
) -> None:
    """Measure intent classifiers: accuracy, out-of-scope, coverage at a precision, calibration, costs.

    `policies` in the figures holds the cost per 1,000 with everything, without calibration, without
    the clarify band, and where everything is passed on to the next tier, and the shares of each;
    `serving` the milliseconds of a text and the megabytes that are read.
    """
    from eval.intents.__main__ import main

    given = {"--epochs": epochs, "--expected": expected, "--store": store}
    extra = [str(word) for pair in given.items() if pair[1] is not None for word in pair]
    extra += ["--no-out-of-scope"] if without else []
    arguments = [bench, "--kind", kind, "--data", str(data), "--out", str(out)]
    raise typer.Exit(main([*arguments, "--rounds", str(rounds), *extra]))


@app.command(
    epilog="Example: routelock bench demo --without phrases --out var/bench/demo-without-phrases"
)
def demo(
    out: Out = Path("var/bench/demo"),
    config: Annotated[Path, typer.Option("--config", help="The demo institution.")] = Path(
        "configs/demo"
    ),
    without: Annotated[
        list[str] | None, typer.Option("--without", help="Leave a tier out; may be repeated.")
    ] = None,
) -> None:
    """Send the demo's held-out texts through cascade and gate; exit 1 if a required figure is missed.

    Without `phrases` and `fast` everything is left to the proposer: the always-LLM baseline.
    """
    from eval import demo_economics, demo_suite
    from eval.suites.demo import labels

    def texts(items: Iterable[labels.Label]) -> Iterable[labels.Label]:
        found = list(items)
        return terminal.steps(found, "texts", len(found))

    ended = demo_suite.run(config, Path(), without or (), texts)
    economics = demo_economics.measure(ended, load_institution(config), Path())
    result = demo_suite.store(ended, out, economics)
    terminal.page((out / "metrics.json").read_text(encoding="utf-8"))
    for missed in result.missed:
        terminal.tell(missed)
    if result.missed:
        raise typer.Exit(1)


@app.command(epilog="Example: routelock bench gate")
def gate() -> None:
    """Measure the gate against cedarpy and the fast tier; ratios within one run, stored."""
    from eval.bench_gate import main

    raise typer.Exit(main())


@app.command(
    epilog="Example: routelock bench watch --config configs/demo --tier fast "
    "--ledger var/demo/ledger.sqlite --since 2026-12-01T00:00:00+00:00"
)
def watch(
    config: Annotated[Path, typer.Option("--config", help="The institution: its tiers in order.")],
    tier: Annotated[str, typer.Option("--tier", help="The tier's name in appliance.yaml.")],
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="One ledger, or JSON lines; with --since.")
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            "--since",
            help="Where today's period begins, with a zone.",
            formats=["%Y-%m-%dT%H:%M:%S%z"],
        ),
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option("--reference", help="Ledger or JSON lines of the reference period."),
    ] = None,
    today: Annotated[
        Path | None, typer.Option("--today", help="Ledger or JSON lines of today's period.")
    ] = None,
) -> None:
    """Compare one tier's answers of two periods: shares, confidences per action; exit 1 on an alarm.

    With no change an alarm of any kind comes in at most one of twenty comparisons.
    """
    from eval import watch as watching

    names = [t.name for t in load_institution(config).appliance.tiers]
    if tier not in names:
        raise typer.BadParameter(f"no tier is called `{tier}`; use one of {', '.join(names)}")
    if ledger is not None and since is not None:
        periods = watching.since(ledger, since)
    elif reference is not None and today is not None:
        periods = watching.records(reference), watching.records(today)
    else:
        raise typer.BadParameter(
            "name two periods: --ledger and --since, or --reference and --today"
        )
    found, figures = watching.watched(*periods, names, tier)
    terminal.json_line(figures)
    if found.alarms:
        raise typer.Exit(1)


@app.command(epilog="Example: routelock bench retrieval --data ../shared/data/reg_e")
def retrieval(
    data: Annotated[Path, typer.Option("--data", help="Folder of Regulation E as Markdown.")],
    store: Annotated[
        bool, typer.Option("--store", help="Keep the result in eval/results.")
    ] = False,
) -> None:
    """Find and refuse on Regulation E, by channel, query form and weights; exit 1 if a figure is missed."""
    from eval import bench_retrieval
    from inference import artefacts
    from inference.appliance import ENCODER
    from inference.encoder import TorchEncoder

    result = bench_retrieval.run(data, TorchEncoder(artefacts.read(ENCODER)), terminal.tell)
    terminal.page(bench_retrieval.table(result))
    if store:
        bench_retrieval.store(result)
    missed = bench_retrieval.missed(result)
    for line in missed:
        terminal.tell(line)
    if missed:
        raise typer.Exit(1)
