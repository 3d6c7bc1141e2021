"""The sentence encoder: a BERT-like model with mean pooling and unit length, in one of two runtimes.

    <folder>/config.json, tokenizer.json   read by both
    <folder>/model.safetensors             torch, through transformers
    <folder>/model.int8.onnx               ONNX with 8-bit weights and activations, through onnxruntime

Pooling as in the model's own modules.json (Transformer, mean Pooling, Normalize); a test compares
it with sentence-transformers. A runtime is imported at the first text, not before, and the ONNX one
never imports torch.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from inference import artefacts
from inference.artefacts import Artefact

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Loaded = TypeVar("Loaded")
Vectors = NDArray[np.float32]
MAX_TOKENS = 256
"""Word pieces that all-MiniLM-L6-v2 was trained to read; longer texts are cut there."""
BATCH = 32

TORCH: Final = "torch"
ONNX_INT8: Final = "onnx-int8"
RUNTIMES: Final = (TORCH, ONNX_INT8)
GRAPH: Final = "model.int8.onnx"
"""From word pieces (1, n), int64, to the unit vector (1, dimensions), float32."""


class Encoder(Protocol):
    """Texts to unit vectors; safe for several threads."""

    @property
    def digest(self) -> str:
        """SHA-256 of the artefact's manifest."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of one vector."""
        ...

    def tokens(self, text: str) -> int:
        """Word pieces of a text, the two marks at its ends included."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions), float32, each row of length 1.

        What stands behind `MAX_TOKENS` of a text is not read.
        """
        ...


class _Lazy(Generic[Loaded]):
    """Weights that are verified and opened once, at the first call.

    `weights` is the folder with config, tokenizer and weights where that is not the artefact's own.
    """

    def __init__(self, artefact: Artefact, weights: Path | None = None) -> None:
        self._artefact = artefact
        self._weights = weights or artefact.folder
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None

    @property
    def digest(self) -> str:
        """See `Encoder`."""
        return self._artefact.digest

    @property
    def dimensions(self) -> int:
        """See `Encoder`; from the model's config.json."""
        return _dimensions(self._weights)

    def _open(self) -> Loaded:
        raise NotImplementedError

    def _load(self) -> Loaded:
        with self._lock:
            if self._loaded is None:
                artefacts.verify(self._artefact)
                self._loaded = self._open()
            return self._loaded


class TorchEncoder(_Lazy["tuple[PreTrainedTokenizerBase, PreTrainedModel]"]):
    """The weights through transformers; loaded once, at the first call."""

    def _open(self) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
        return _open(self._weights)

    def tokens(self, text: str) -> int:
        """See `Encoder`."""
        return len(self._load()[0](text, truncation=False, verbose=False)["input_ids"])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `Encoder`."""
        tokenizer, model = self._load()
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        out = np.zeros((len(texts), model.config.hidden_size), dtype=np.float32)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            out[rows] = _encode(tokenizer, model, [texts[i] for i in rows])
        return out


class OnnxEncoder(_Lazy[tuple[Any, Any]]):
    """The 8-bit graph through onnxruntime; loaded once, at the first call, without torch.

    Texts run one at a time: the scale of 8-bit activations depends on everything in a batch, and a
    text must not change another's vector. Each runs on one thread, so that several texts at once
    share the cores.
    """

    def _open(self) -> tuple[Any, Any]:
        return _open_graph(self._weights)

    def tokens(self, text: str) -> int:
        """See `Encoder`."""
        return len(self._load()[0].encode(text).ids)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `Encoder`."""
        tokenizer, session = self._load()
        rows = [np.zeros((0, self.dimensions), dtype=np.float32)] if not texts else []
        for text in texts:
            pieces = tokenizer.encode(text).ids
            if len(pieces) > MAX_TOKENS:
                pieces = [*pieces[: MAX_TOKENS - 1], pieces[-1]]  # the mark of the end stays
            rows += session.run(None, {"pieces": np.array([pieces], dtype=np.int64)})
        return np.concatenate(rows)


def open_encoder(artefact: Artefact, folder: Path, runtime: str) -> Encoder:
    """The encoder in `folder`, part of `artefact`, in one of `RUNTIMES`."""
    if runtime == ONNX_INT8:
        return OnnxEncoder(artefact, folder)
    return TorchEncoder(artefact, folder)


def _dimensions(folder: Path) -> int:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return int(config["hidden_size"])


def _open_graph(folder: Path) -> tuple[Any, Any]:
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    graph = str(folder / GRAPH)
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    return tokenizer, session


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
