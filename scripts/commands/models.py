"""`routelock models`: the model folders under var/models and their digests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inference import artefacts
from inference.errors import ArtefactError
from scripts import terminal

app = typer.Typer(help="List and verify models.", no_args_is_help=True)

Store = Annotated[Path, typer.Option("--store", help="Where model folders lie.")]
STORE = Path("var/models")


@app.command("list", epilog="Example: routelock models list")
def list_models(store: Store = STORE) -> None:
    """Name every model with its kind and digest."""
    for manifest in sorted(store.glob("*/manifest.json")):
        found = artefacts.read(manifest.parent)
        terminal.json_line({"name": manifest.parent.name, "digest": found.digest})


@app.command(epilog="Example: routelock models verify")
def verify(store: Store = STORE) -> None:
    """Recompute the digest of every file; exit 1 if a model is not what its manifest says."""
    failed = 0
    for manifest in sorted(store.glob("*/manifest.json")):
        try:
            artefacts.verify(artefacts.read(manifest.parent))
        except ArtefactError as error:
            terminal.tell(str(error))
            failed += 1
        else:
            terminal.tell(f"{manifest.parent.name}: verified")
    if failed:
        raise typer.Exit(1)
