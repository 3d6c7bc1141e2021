"""Adapters: a small folder of low-rank weights that tunes a base model for one prompt.

    <folder>/manifest.json               kind `adapter`, base, labels with their codes, prompt, figures
    <folder>/adapter_config.json         as peft and vLLM read them
    <folder>/adapter_model.safetensors

The manifest names the base by the digests of the files that it was made from, so a base that was
converted elsewhere from the same weights is the same base.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from inference import artefacts
from inference.artefacts import Artefact
from inference.errors import ArtefactError, AssemblyError

KIND: Final = "adapter"
RETRAIN: Final = "train it again with `routelock train proposer`"


def is_adapter(artefact: Artefact) -> bool:
    """Whether a model folder is an adapter on another one."""
    return artefact.manifest.get("kind") == KIND


def base_of(artefact: Artefact, root: Path) -> Artefact:
    """The base model of an adapter, found under `root`; any other model is its own base.

    Raises ArtefactError where the base is missing or was made from other weights.
    """
    if not is_adapter(artefact):
        return artefact
    wanted = artefact.manifest["base"]
    found = artefacts.read(root / wanted["folder"])
    if identity(found) != wanted["files"]:
        raise ArtefactError(
            f"`{artefact.folder}` is an adapter for other weights than those of `{found.folder}`; "
            f"run `scripts/setup`, or {RETRAIN}"
        )
    return found


def identity(base: Artefact) -> Mapping[str, str]:
    """Digests of the files that a base model was made from, or of its own where it was not converted."""
    converted = base.manifest.get("converted_from")
    return dict(converted or base.manifest["files"])


def check(artefact: Artefact, codes: Mapping[str, str], prompt: str) -> None:
    """AssemblyError where an adapter was trained for other labels, codes or another prompt.

    `codes` maps label to code and `prompt` is the digest of the prompt, as the tier has them now.
    """
    if not is_adapter(artefact):
        return
    if dict(artefact.manifest["codes_of"]) != dict(codes) or artefact.manifest["prompt"] != prompt:
        raise AssemblyError(
            f"`{artefact.folder}` was trained for another catalog or prompt than this one; {RETRAIN}"
        )


def text_digest(text: str) -> str:
    """What a manifest calls one of the texts that were held back from training."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def has_learnt(artefact: Artefact | None, text: str) -> bool:
    """Whether a text may be one that an adapter was trained on; False for any other model."""
    if artefact is None or not is_adapter(artefact):
        return False
    return text_digest(text) not in artefact.manifest["held_back_texts"]


def merged(model: Any, artefact: Artefact) -> Any:
    """The base model with the adapter's weights added in."""
    from peft import PeftModel

    tuned: Any = PeftModel.from_pretrained(model, artefact.folder)
    return tuned.merge_and_unload().eval()
