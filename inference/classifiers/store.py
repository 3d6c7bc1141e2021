"""What a classifier's folder must say of itself before any of its parts is read.

    manifest.json   kind, format, labels in the head's order, libraries, digest of every file

Parts are JSON and safetensors; nothing is ever unpickled.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Final

from inference import artefacts
from inference.artefacts import Artefact
from inference.errors import ArtefactError

RETRAIN = "train it again with `routelock train router`"
FORMAT: Final = 1

READABLE: Final[Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "scikit-learn": ((1, 7), (2,)),
}
"""From which version of a library on, and below which, a head's arrays mean what we take them for.

Before 1.7 a multi-class logistic head could be one-vs-rest, whose probabilities are no softmax."""


def libraries() -> dict[str, str]:
    """The versions that a new artefact states."""
    return {name: version(name) for name in READABLE}


def open_labels(artefact: Artefact, kind: str) -> tuple[str, ...]:
    """The labels of a sound artefact of `kind`; ArtefactError before any part of it is read."""
    manifest = artefact.manifest
    if manifest.get("kind") != kind:
        raise ArtefactError(f"`{artefact.folder}` is no {kind} artefact; {RETRAIN}")
    if manifest.get("format") != FORMAT:
        problem = f"has the format `{manifest.get('format')}`, not {FORMAT}"
        raise ArtefactError(f"`{artefact.folder}` {problem}; {RETRAIN}")
    given = manifest.get("libraries")
    for name, (low, high) in READABLE.items():
        stated = str(given.get(name)) if isinstance(given, Mapping) else "None"
        if not low <= _numbers(stated) < high:
            problem = f"was made with {name} `{stated}`, which this release does not read"
            raise ArtefactError(f"`{artefact.folder}` {problem}; {RETRAIN}")
    labels = tuple(map(str, manifest.get("labels", ())))
    if len(labels) < 2 or len(set(labels)) != len(labels):
        raise ArtefactError(f"`{artefact.folder}` needs two labels, each once; {RETRAIN}")
    artefacts.verify(artefact)
    return labels


def _numbers(stated: str) -> tuple[int, ...]:
    """1.9.1 as (1, 9, 1); what is no version as (), which is below every one."""
    found = []
    for part in stated.split("."):
        if not part.isdecimal():
            break
        found.append(int(part))
    return tuple(found)
