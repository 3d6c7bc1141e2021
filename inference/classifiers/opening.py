"""From a folder to its classifier, whatever its kind."""

from __future__ import annotations

from typing import Final

from inference.artefacts import Artefact
from inference.classifiers import Scorer, encoded, lexical

KINDS: Final = (*encoded.KINDS, lexical.KIND)


def open_scorer(artefact: Artefact) -> Scorer:
    """The classifier; ArtefactError for an unknown kind or a folder that must not be used."""
    if artefact.manifest.get("kind") == lexical.KIND:
        return lexical.load(artefact)
    return encoded.load(artefact)
