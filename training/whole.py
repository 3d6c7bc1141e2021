"""Tune on all rows of a file and keep the artefact by what it was made from: for benches.

    python -m training.whole --rows kept.json --out var/intents/tuned

Rows are a JSON list of [text, label]. A bench holds back texts of its own, so nothing is held back
here. Prints the artefact's folder, named by base, rows, recipe and code; one that is there already is
not trained again. It holds the graphs of both runtimes; which of them to serve is left open.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from inference import artefacts, sinks
from inference.artefacts import Artefact
from inference.classifiers import encoded
from inference.encoder import GRAPH
from training import runtime, tuned
from training.labels import Example
from training.tuned import BASE, RECIPE, Recipe


def kept(base: Path, examples: Sequence[Example], recipe: Recipe, out: Path) -> Artefact:
    """The artefact in its folder below `out`, trained where there is none yet."""
    name = tuned.key(artefacts.read(base), examples, recipe)[:16]
    folder = out / name
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = out / f".{name}.checkpoint"
    if not folder.exists():
        with TemporaryDirectory(dir=out, prefix=".new-") as scratch:
            new = Path(scratch) / name
            tuned.build(base, examples, recipe, new, checkpoint).folder.rename(folder)
    checkpoint.unlink(missing_ok=True)
    made = artefacts.read(folder)
    if not (folder / encoded.ENCODER / GRAPH).exists():
        runtime.export(folder / encoded.ENCODER)
        fields = {k: v for k, v in made.manifest.items() if k not in ("files", "schema_version")}
        made = artefacts.write_manifest(folder, fields)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; prints the artefact's folder."""
    parser = argparse.ArgumentParser(description="Tune on all rows of a file, for a bench.")
    parser.add_argument("--rows", type=Path, required=True, help="JSON list of [text, label]")
    parser.add_argument("--base", type=Path, default=BASE, help="the sentence encoder")
    parser.add_argument("--out", type=Path, required=True, help="folder of the artefacts")
    parser.add_argument("--epochs", type=int, default=RECIPE.epochs, help="passes over the rows")
    parser.add_argument(
        "--strength", type=float, default=RECIPE.strength, help="of the head's start"
    )
    parser.add_argument("--bfloat16", action="store_true", help="for processors that have it")
    given = parser.parse_args(arguments)
    rows = json.loads(given.rows.read_text(encoding="utf-8"))
    own = {"epochs": given.epochs, "strength": given.strength, "bfloat16": given.bfloat16}
    recipe = replace(RECIPE, **own)
    made = kept(given.base, [Example(text, label) for text, label in rows], recipe, given.out)
    print(sinks.terminal(made.folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
