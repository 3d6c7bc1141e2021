"""A causal model of a few small random layers with the packaged tokenizer: seconds, no training."""

from __future__ import annotations

from pathlib import Path

from inference.artefacts import Artefact
from scripts import gpu_check
from tests.models import PROPOSER, model


def write(folder: Path, layers: int = 2) -> Artefact:
    """Write the model to `folder`; the same weights every time."""
    return gpu_check.tiny_model(folder, model(PROPOSER).folder, layers)
