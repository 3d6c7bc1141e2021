"""Train on all rows of a file and keep the artefact by what it was made from: for benches.

    python -m training.whole --rows kept.json --out var/intents/tuned
    python -m training.whole --rows kept.json --out var/intents/setfit --kind setfit

Rows are a JSON list of [text, label]. A bench holds back texts of its own, so nothing is held back
here. Prints the artefact's folder, named by base, rows, recipe and code; one that is there already is
not trained again. It holds the graphs of both runtimes; which of them to serve is left open.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from inference import artefacts, ending, sinks
from inference.artefacts import Artefact
from inference.classifiers import encoded
from inference.encoder import GRAPH
from training import router, runtime, tuned
from training.labels import Example
from training.tuned import BASE

Recipe = tuned.Recipe | router.Recipe
RECIPES: dict[str, Recipe] = {encoded.TUNED: tuned.RECIPE, encoded.SETFIT: router.Recipe()}


def kept(base: Path, examples: Sequence[Example], recipe: Recipe, out: Path) -> Artefact:
    """The artefact in its folder below `out`, trained where there is none yet."""
    name = key(base, examples, recipe)[:16]
    folder = out / name
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = out / f".{name}.checkpoint"
    if not folder.exists():
        with TemporaryDirectory(dir=out, prefix=".new-") as scratch:
            new = Path(scratch) / name
            if isinstance(recipe, router.Recipe):
                made = router.build(base, examples, recipe, new)
            else:
                made = tuned.build(base, examples, recipe, new, checkpoint)
            made.folder.rename(folder)
    checkpoint.unlink(missing_ok=True)
    made = artefacts.read(folder)
    if not (folder / encoded.ENCODER / GRAPH).exists():
        runtime.export(folder / encoded.ENCODER)
        fields = {k: v for k, v in made.manifest.items() if k not in ("files", "schema_version")}
        made = artefacts.write_manifest(folder, fields)
    return made


def key(base: Path, examples: Sequence[Example], recipe: Recipe) -> str:
    """What an artefact was made from: base, texts, labels, recipe and code."""
    if isinstance(recipe, tuned.Recipe):
        return tuned.key(artefacts.read(base), examples, recipe)
    rows = [[example.text, example.label] for example in examples]
    code = [artefacts.sha256(path) for path in router.CODE]
    whole = sinks.json_text([artefacts.read(base).digest, asdict(recipe), code, rows])
    return hashlib.sha256(whole.encode()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; prints the artefact's folder."""
    parser = argparse.ArgumentParser(description="Train on all rows of a file, for a bench.")
    parser.add_argument("--rows", type=Path, required=True, help="JSON list of [text, label]")
    parser.add_argument("--base", type=Path, default=BASE, help="the sentence encoder")
    parser.add_argument("--out", type=Path, required=True, help="folder of the artefacts")
    parser.add_argument("--kind", choices=tuple(RECIPES), default=encoded.TUNED)
    parser.add_argument("--epochs", type=int, help="passes over the rows; default: the kind's")
    parser.add_argument("--strength", type=float, help="the head's C; of `tuned`, of its start")
    parser.add_argument("--bfloat16", action="store_true", help="for processors that have it")
    given = parser.parse_args(arguments)
    rows = json.loads(given.rows.read_text(encoding="utf-8"))
    recipe = RECIPES[given.kind]
    recipe = replace(recipe, bfloat16=given.bfloat16)
    if given.epochs is not None:
        recipe = replace(recipe, epochs=given.epochs)
    if given.strength is not None:
        name = "strength" if isinstance(recipe, tuned.Recipe) else "head_strength"
        recipe = replace(recipe, **{name: given.strength})
    made = kept(given.base, [Example(text, label) for text, label in rows], recipe, given.out)
    print(sinks.terminal(made.folder))
    return 0


if __name__ == "__main__":
    ending.run(main)
