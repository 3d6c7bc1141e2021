"""`routelock train`: recipes that make this appliance's own models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scripts import terminal

app = typer.Typer(help="Train on this machine, from local files.", no_args_is_help=True)


@app.callback()
def _recipes() -> None:
    """Keep `router` a subcommand while it is the only one."""


@app.command(
    epilog="Example: routelock train router --data training/data/demo/utterances.csv "
    "--base var/models/all-minilm-l6-v2 --out var/models/demo-router"
)
def router(
    data: Annotated[Path, typer.Option("--data", help="CSV with the columns text and label.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of the artefact.")],
    base: Annotated[
        Path, typer.Option("--base", help="The sentence encoder to start from.")
    ] = Path("var/models/all-minilm-l6-v2"),
) -> None:
    """Train the fast tier: a SetFit encoder and a logistic head, with an out-of-scope class."""
    from training.router import train

    made = train(data, base, out)
    terminal.json_line({"out": str(out), "digest": made.digest})
