"""`routelock bench record`: cases to a hosted backend, and its answers to a cassette."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated

import typer

from scripts import terminal


def record(
    suite: Annotated[str, typer.Argument(help="routebr:FILE, demo:dev or demo:select.")],
    backend: Annotated[str, typer.Argument(help="A hosted backend of backends.yaml.")],
    config: Annotated[Path, typer.Option("--config", help="Folder of the institution.")],
    out: Annotated[Path, typer.Option("--out", help="Cassette; what it holds is not asked again.")],
    cap: Annotated[str, typer.Option("--cap", help="Most money, in the prices' currency.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Send nothing; reckon cases, tokens and money.")
    ] = False,
    data: Annotated[Path, typer.Option("--data", help="Folder with RouteBR's CSV files.")] = Path(
        "../shared/data/routebr"
    ),
) -> None:
    """Ask a hosted backend for every case, after a scan for personal data, within a spending cap."""
    from eval import hosted
    from eval.opening import open_suite
    from gate.load import load_institution

    try:
        most = Decimal(cap)
    except InvalidOperation as error:
        raise typer.BadParameter("write a number such as 2.50", param_hint="--cap") from error
    if not most.is_finite() or most < 0:
        raise typer.BadParameter("write a number such as 2.50", param_hint="--cap")
    opened, institution = open_suite(suite, data), load_institution(config)
    told = hosted.record(opened, institution, backend, cap=most, out=out, dry_run=dry_run)
    terminal.json_line(told)
    if told["left_out"]:
        raise typer.Exit(1)
