"""The sentence encoder: a BERT-like model with mean pooling and unit length, through transformers.

Pooling as in the model's own modules.json (Transformer, mean Pooling, Normalize); a test compares
it with sentence-transformers. torch is imported at the first text, not before.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from inference import artefacts
from inference.artefacts import Artefact

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Vectors = NDArray[np.float32]
MAX_TOKENS = 256
"""Word pieces that all-MiniLM-L6-v2 was trained to read; longer texts are cut there."""
BATCH = 32


class TorchEncoder:
    """Texts to unit vectors; loaded once, at the first call, then safe for several threads.

    `weights` is the folder with config, tokenizer and weights where that is not the artefact's own.
    """

    def __init__(self, artefact: Artefact, weights: Path | None = None) -> None:
        self._artefact = artefact
        self._weights = weights or artefact.folder
        self._lock = threading.Lock()
        self._loaded: tuple[PreTrainedTokenizerBase, PreTrainedModel] | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of the artefact's manifest."""
        return self._artefact.digest

    @property
    def dimensions(self) -> int:
        """Length of one vector, from the model's config.json."""
        config = json.loads((self._weights / "config.json").read_text(encoding="utf-8"))
        return int(config["hidden_size"])

    def _load(self) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
        with self._lock:
            if self._loaded is None:
                artefacts.verify(self._artefact)
                self._loaded = _open(self._weights)
            return self._loaded

    def tokens(self, text: str) -> int:
        """Word pieces of a text, the two marks at its ends included."""
        return len(self._load()[0](text, truncation=False, verbose=False)["input_ids"])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions), float32, each row of length 1.

        What stands behind `MAX_TOKENS` of a text is not read.
        """
        tokenizer, model = self._load()
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        out = np.zeros((len(texts), model.config.hidden_size), dtype=np.float32)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            out[rows] = _encode(tokenizer, model, [texts[i] for i in rows])
        return out


def _open(folder: Path) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model: Any = AutoModel.from_pretrained(folder, local_files_only=True)
    model.pooler = None  # of the pre-training head; mean pooling reads the tokens themselves
    return tokenizer, model.eval()


def _encode(tokenizer: Any, model: Any, texts: list[str]) -> Vectors:
    import torch

    batch = tokenizer(
        texts, padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt"
    )
    with torch.inference_mode():
        tokens = model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1)
        mean = (tokens * mask).sum(1) / mask.sum(1)
        unit = torch.nn.functional.normalize(mean, dim=1)
    return np.asarray(unit.numpy(), dtype=np.float32)
