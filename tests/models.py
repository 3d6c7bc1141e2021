"""The models that set-up puts in place; a test that needs one fails with the command that does."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference import artefacts
from inference.artefacts import Artefact
from inference.errors import ArtefactError

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "var" / "models"
ENCODER = "all-minilm-l6-v2"
PROPOSER = "smollm2-135m-instruct"
ROUTER = "demo-router"


def model(name: str) -> Artefact:
    """An installed model's artefact."""
    try:
        return artefacts.read(MODELS / name)
    except ArtefactError as error:
        pytest.fail(f"run scripts/setup: {error}")
