"""`routelock index` and `routelock sql`: what the pathways read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scripts import terminal

index = typer.Typer(help="Build and search the document index.", no_args_is_help=True)
sql = typer.Typer(help="Look at the records pathway.", no_args_is_help=True)

Config = Annotated[Path, typer.Option("--config", help="An institution's folder.")]


@index.command(epilog="Example: routelock index build --config configs/demo")
def build(config: Config) -> None:
    """Ingest the declared documents and make the new index current in one step."""
    from gate.load import load_institution
    from inference import artefacts, stores
    from inference.appliance import ENCODER
    from inference.encoder import TorchEncoder

    institution = load_institution(config)
    encoder = TorchEncoder(artefacts.read(ENCODER))
    digest = stores.build_index(institution, encoder, Path(institution.appliance.paths.index))
    terminal.json_line({"documents": len(stores.sources(institution)), "digest": digest})


@sql.command(
    epilog="Example: routelock sql check --config configs/demo 'SELECT count(*) FROM fees'"
)
def check(
    config: Config,
    statement: Annotated[
        str | None, typer.Argument(help="A statement to judge; left out: the verified queries.")
    ] = None,
    subject: Annotated[
        bool,
        typer.Option("--subject/--no-subject", help="As if somebody's identity were verified."),
    ] = True,
) -> None:
    """Say what admission makes of a statement, or run every verified query once with null values."""
    from gate.load import load_institution
    from inference import records, stores

    if statement is not None:
        verdict = records.judge(config, statement, verified_subject=subject)
        terminal.json_line(verdict)
        raise typer.Exit(0 if verdict["verdict"] == "admit" else 1)
    institution = load_institution(config)
    database = Path(institution.appliance.paths.database)
    digest = stores.check_queries(institution.queries.values(), database)
    terminal.json_line({"queries": len(institution.queries), "digest": digest})


@sql.command(
    epilog="Example: routelock sql load --plan tables/load.yaml --to var/bank.duckdb --key pseudonyms.key"
)
def load(
    plan: Annotated[Path, typer.Option("--plan", help="What to load, column by column (YAML).")],
    to: Annotated[Path, typer.Option("--to", help="The database file to replace.")],
    key: Annotated[
        Path | None, typer.Option("--key", help="A file with the secret of the pseudonyms.")
    ] = None,
) -> None:
    """Load tables from CSV, Parquet or another database, and swap the new file in; reports as JSON."""
    from inference import records

    terminal.json_line(records.load(plan, to, key.read_bytes() if key else None))
