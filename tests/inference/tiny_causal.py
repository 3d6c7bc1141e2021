"""A causal model of a few small random layers with the packaged tokenizer: seconds, no training."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from inference import artefacts
from inference.artefacts import Artefact
from tests.models import PROPOSER, model

TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")


def write(folder: Path, layers: int = 2) -> Artefact:
    """Write the model to `folder`; the same weights every time."""
    source = model(PROPOSER).folder
    folder.mkdir(parents=True, exist_ok=True)
    for name in TOKENIZER:
        shutil.copyfile(source / name, folder / name)
    words = json.loads((source / "config.json").read_text(encoding="utf-8"))["vocab_size"]
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=words,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        tie_word_embeddings=True,
        initializer_range=0.3,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return artefacts.write_manifest(folder, {})
