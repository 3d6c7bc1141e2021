"""`routelock index` and `routelock sql`: what the pathways read."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scripts import terminal

if TYPE_CHECKING:
    from inference.library import Hit

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
    built = stores.build_index(institution, encoder, Path(institution.appliance.paths.index))
    for file, same in built.duplicates.items():
        terminal.tell(f"`{file}` is the same as `{same}` and is indexed once")
    terminal.json_line({"documents": built.documents, "digest": built.digest})


@index.command(
    epilog="Example: routelock index search 'what does a wire cost' --config configs/demo --admin"
)
def search(
    query: Annotated[str, typer.Argument(help="What is searched for.")],
    config: Config,
    admin: Annotated[
        bool, typer.Option("--admin", help="Show raw passages and scores, past the gate.")
    ] = False,
    label: Annotated[
        list[str] | None, typer.Option("--label", help="A label that is held; may be repeated.")
    ] = None,
    collection: Annotated[
        str | None, typer.Option("--collection", help="Keep to one collection.")
    ] = None,
    on: Annotated[
        datetime | None, typer.Option("--on", formats=["%Y-%m-%d"], help="Day; today if left out.")
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=50, help="How many passages.")] = 5,
) -> None:
    """Show which passages are found and why: each channel's rank and score, fused, reranked."""
    from gate.load import load_institution
    from inference import artefacts, stores
    from inference.appliance import ENCODER
    from inference.encoder import TorchEncoder
    from inference.library import added, sufficient
    from inference.library import search as find

    if not admin:
        terminal.tell("`index search` shows raw passages: give --admin, or ask `routelock answer`")
        raise typer.Exit(2)
    institution = load_institution(config)
    encoder = TorchEncoder(artefacts.read(ENCODER))
    opened = stores.open_index(Path(institution.appliance.paths.index), encoder)
    day = on.date() if on else date.today()
    given = {"entitlements": label or (), "collection": collection, "on": day, "k": k}
    hits = find(opened, encoder, query, **given)  # type: ignore[arg-type]
    terminal.json_line(
        {
            "query": query,
            "added": added(query),
            "sufficient": sufficient(hits),
            "index": opened.digest,
        }
    )
    for hit in hits:
        terminal.json_line(_found(hit))


def _found(hit: Hit) -> dict[str, object]:
    block = hit.chunk.blocks[0]
    best = max(zip(hit.sentences, hit.chunk.sentences, strict=True), key=lambda pair: pair[0])
    return {
        "id": hit.chunk.chunk_id,
        "document": hit.chunk.source.title,
        "version": hit.chunk.source.version,
        "headings": block.headings,
        "page": block.page,
        "paragraph": block.paragraph,
        "channels": {n: {"rank": p.rank, "score": p.score} for n, p in hit.channels.items()},
        "fused": hit.fused,
        "reranked": hit.reranked,
        "covered": hit.covered,
        "best_sentence": {"cosine": best[0], "text": best[1][1]},
        "text": hit.chunk.text,
    }


@index.command(epilog="Example: routelock index delete documents/old.md --config configs/demo")
def delete(
    file: Annotated[str, typer.Argument(help="The document's path in documents.yaml.")],
    config: Config,
) -> None:
    """Take a document out of the index at once; `index build` then forgets it if it is undeclared."""
    from gate.load import load_institution
    from inference.library import delete as take_out

    institution = load_institution(config)
    digest = take_out(Path(institution.appliance.paths.index), [file])
    terminal.json_line({"deleted": file, "digest": digest})


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
    """Say what admission makes of a statement; without one, run every verified query once with null
    values and say which of them admission would not let through."""
    from gate.load import load_institution
    from inference import records, stores

    if statement is not None:
        verdict = records.judge(config, statement, verified_subject=subject)
        terminal.json_line(verdict)
        raise typer.Exit(0 if verdict["verdict"] == "admit" else 1)
    institution = load_institution(config)
    database = Path(institution.appliance.paths.database)
    digest = stores.check_queries(institution.queries.values(), database)
    faults = records.not_admitted(config)
    said = {"queries": len(institution.queries), "digest": digest, "not_admitted": dict(faults)}
    terminal.json_line(said)
    raise typer.Exit(1 if faults else 0)


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
