"""`routelock train`: recipes that make this appliance's own models, and their thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gate.load import load_institution
from scripts import terminal

if TYPE_CHECKING:
    from inference.artefacts import Artefact
    from training.thresholds import Rule

app = typer.Typer(help="Train on this machine, from local files.", no_args_is_help=True)

Data = Annotated[Path, typer.Option("--data", help="CSV with the columns text and label.")]
Out = Annotated[Path, typer.Option("--out", help="Folder of the artefact.")]
Base = Annotated[Path, typer.Option("--base", help="The sentence encoder to start from.")]
Costed = Annotated[
    Path | None,
    typer.Option("--config", help="An institution with costs.yaml: derive thresholds too."),
]
NextRight = Annotated[
    float | None,
    typer.Option("--next-right", min=0, max=1, help="Assume that the next tier is right so often."),
]
ENCODER = Path("var/models/all-minilm-l6-v2")
PROPOSER = Path("var/models/smollm2-135m-instruct")


@app.command(
    epilog="Example: routelock train router --data training/data/demo/utterances.csv "
    "--base var/models/all-minilm-l6-v2 --out var/models/demo-router"
)
def router(data: Data, out: Out, base: Base = ENCODER) -> None:
    """Train the fast tier: a SetFit encoder and a logistic head, with an out-of-scope class.

    Its thresholds are derived afterwards, by `routelock train thresholds`.
    """
    from training.router import train

    _told(train(data, base, out), "held_back")


@app.command(
    epilog="Example: routelock train lexical --data training/data/demo/utterances.csv "
    "--out var/models/demo-lexical --config configs/demo --next-right 0.5"
)
def lexical(data: Data, out: Out, config: Costed = None, next_right: NextRight = None) -> None:
    """Train character n-grams with a logistic head: any language, no weights to bring."""
    from training.lexical import RECIPE, train

    _told(train(data, out, RECIPE, _rule(config, next_right)), "out_of_fold")


@app.command(
    epilog="Example: routelock train linear --data training/data/demo/utterances.csv "
    "--out var/models/demo-linear --config configs/demo --next-right 0.5"
)
def linear(
    data: Data,
    out: Out,
    base: Base = ENCODER,
    config: Costed = None,
    next_right: NextRight = None,
) -> None:
    """Train a logistic head on a frozen sentence encoder."""
    from training.linear import RECIPE, train

    _told(train(data, base, out, RECIPE, _rule(config, next_right)), "out_of_fold")


@app.command(
    epilog="Example: routelock train thresholds --config configs/demo --tier fast "
    "--data training/data/demo/utterances.csv --unseen training/data/demo/unseen.jsonl"
)
def thresholds(
    config: Annotated[Path, typer.Option("--config", help="An institution with costs.yaml.")],
    tier: Annotated[str, typer.Option("--tier", help="The tier's name in appliance.yaml.")],
    data: Data,
    unseen: Annotated[
        Path, typer.Option("--unseen", help="File of unseen scores; made where it is out of date.")
    ],
    base: Base = ENCODER,
    next_right: NextRight = None,
) -> None:
    """Derive a tier's thresholds from costs and seal them into its artefact, with the derivation.

    Prints tau per action, the smallest slack on either side and what makes the tier pointless; exit
    1 if something does. Without --next-right the next tier of appliance.yaml is asked.
    """
    from inference import artefacts
    from training.sealing import derived_from, next_tier, scored
    from training.thresholds import Rule

    institution = load_institution(config)
    settings = next((t for t in institution.appliance.tiers if t.name == tier), None)
    if settings is None or settings.model is None:
        known = ", ".join(t.name for t in institution.appliance.tiers if t.model)
        raise typer.BadParameter(f"no tier with a model is called `{tier}`; use one of {known}")
    after = None if next_right is not None else next_tier(institution, tier)
    found = scored(settings.kind, unseen, data, base, after, terminal.steps)
    rule = Rule.of(config, next_right, found.next_versions)
    derived, made = derived_from(found, artefacts.read(Path(settings.model)), rule)
    if terminal.for_people():
        terminal.page("\n".join((derived.text, derived.summary, *derived.problems)))
    else:
        _told(made)
    if derived.problems:
        raise typer.Exit(1)


@app.command(
    epilog="Example: routelock train proposer --config configs/demo "
    "--data training/data/demo/utterances.csv --out configs/demo/models/proposer"
)
def proposer(
    config: Annotated[Path, typer.Option("--config", help="An institution: catalog and costs.")],
    data: Data,
    out: Out,
    base: Annotated[
        Path, typer.Option("--base", help="The causal model that is adapted.")
    ] = PROPOSER,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", min=0, help="Stop at a checkpoint after so long; run it again."),
    ] = None,
    derive: Annotated[
        bool, typer.Option("--derive", help="Keep the weights; derive policy and card anew.")
    ] = False,
) -> None:
    """Train the proposer's adapter: low-rank weights that teach a small model the catalog's codes.

    Confidence and thresholds are derived from the texts that were held back. Exit 1 where --minutes
    were over first.
    """
    from training import proposer as recipe

    if derive:
        made: Artefact | None = recipe.derive(config, data, out, terminal.steps)
    else:
        made = recipe.train(config, data, base, out, recipe.RECIPE, terminal.steps, minutes)
    if made is None:
        terminal.tell("not done yet; run the same command again to go on")
        raise typer.Exit(1)
    _told(made, "held_back", "texts", "seconds")


def _rule(config: Path | None, next_right: float | None) -> Rule | None:
    from training.thresholds import Rule

    return None if config is None else Rule.of(config, next_right)


def _told(made: Artefact, *figures: str) -> None:
    told: dict[str, Any] = {"out": str(made.folder), "digest": made.digest}
    terminal.json_line({**told, **{name: made.manifest.get(name) for name in (*figures, "policy")}})
