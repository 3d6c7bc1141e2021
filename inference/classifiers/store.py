"""What a classifier's folder must say of itself before any of its parts is read.

    manifest.json   kind, format, labels in the head's order, libraries, digest of every file

Parts are JSON and safetensors; nothing is ever unpickled.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
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


def labels(artefact: Artefact, kinds: Collection[str]) -> tuple[str, ...]:
    """The labels of an artefact of one of `kinds`, by its manifest alone.

    Raises ArtefactError for another kind or format, or libraries that this release does not read.
    A manifest that states no format is of the first.
    """
    manifest = artefact.manifest
    if manifest.get("kind") not in kinds:
        raise ArtefactError(f"`{artefact.folder}` is no {' or '.join(kinds)} artefact; {RETRAIN}")
    if manifest.get("format", FORMAT) != FORMAT:
        problem = f"has the format `{manifest['format']}`, not {FORMAT}"
        raise ArtefactError(f"`{artefact.folder}` {problem}; {RETRAIN}")
    given = manifest.get("libraries")
    for name, (low, high) in READABLE.items():
        stated = str(given.get(name)) if isinstance(given, Mapping) else "None"
        if not low <= _numbers(stated) < high:
            problem = f"was made with {name} `{stated}`, which this release does not read"
            raise ArtefactError(f"`{artefact.folder}` {problem}; {RETRAIN}")
    found = tuple(map(str, manifest.get("labels", ())))
    if len(found) < 2 or len(set(found)) != len(found):
        problem = "must name at least two labels, none of them twice"
        raise ArtefactError(f"`{artefact.folder}` {problem}; {RETRAIN}")
    return found


def open_labels(artefact: Artefact, kinds: Collection[str]) -> tuple[str, ...]:
    """As `labels`, and every file is as the manifest says; nothing of any part is read before."""
    found = labels(artefact, kinds)
    artefacts.verify(artefact)
    return found


def _numbers(stated: str) -> tuple[int, ...]:
    """1.9.1 as (1, 9, 1); what is no version as (), which is below every one."""
    found = []
    for part in stated.split("."):
        if not part.isdecimal():
            break
        found.append(int(part))
    return tuple(found)
