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


@app.command(
    epilog="Example: routelock models approve vllm --config configs/demo --run var/bench/run"
)
def approve(
    backend: Annotated[str, typer.Argument(help="The backend in backends.yaml.")],
    config: Annotated[Path, typer.Option("--config", help="Folder of the institution.")],
    run: Annotated[Path, typer.Option("--run", help="Folder of its run on the regression suite.")],
) -> None:
    """Let a backend's new identity through, on a run without a false dispatch in the slice MAIN."""
    import hashlib
    import json

    from gate.load import load_institution
    from inference.backends.approvals import Approvals
    from inference.backends.opening import approvals_of
    from inference.errors import AssemblyError

    try:
        data = (run / "metrics.json").read_bytes()
        metrics = json.loads(data)
    except (OSError, ValueError) as error:
        raise AssemblyError(
            f"`{run}` holds no metrics.json: {error}; name a folder of `bench run`"
        ) from error
    approvals = Approvals(approvals_of(load_institution(config), Path()))
    identity = approvals.approve(backend, metrics, hashlib.sha256(data).hexdigest())
    terminal.json_line({"backend": backend, "identity": identity})
