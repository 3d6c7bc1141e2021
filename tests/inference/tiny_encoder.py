"""A sentence encoder of two small random layers with the packaged tokenizer: seconds, no training."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
from transformers import BertConfig, BertModel

from inference import artefacts
from inference.artefacts import Artefact
from tests.models import ENCODER, model

DIMENSIONS = 32
TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json")


def write(folder: Path) -> Artefact:
    """Write the encoder to a new folder; the same weights every time."""
    folder.mkdir(parents=True)
    for name in TOKENIZER:
        shutil.copyfile(model(ENCODER).folder / name, folder / name)
    torch.manual_seed(7)
    config = BertConfig(
        hidden_size=DIMENSIONS, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    BertModel(config).save_pretrained(folder)
    return artefacts.write_manifest(folder, {})
