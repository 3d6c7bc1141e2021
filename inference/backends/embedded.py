"""The embedded backend: a small causal model in this process, closed choice over label names.

An untuned small model is near chance with short codes, so the names of the labels are scored: the
log-probability of a name after the request, less its mean after requests that ask for nothing, and
a softmax over the legal names. The model's state after the static part of the prompt is kept; the
request and all names after it, each blind to the others, are read in one pass. Where the model's
manifest says `"codes": true` (a tuned model, or an adapter on one), the labels are single letters
and illegal tokens are masked.
"""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inference import artefacts, prompts
from inference.artefacts import Artefact
from inference.backends import Choice, Form, adapters
from inference.errors import BackendError
from inference.prompts import Prompt

if TYPE_CHECKING:
    from transformers import Cache, PreTrainedModel, PreTrainedTokenizerBase

LETTERS = prompts.CODES
MAX_DYNAMIC_TOKENS = 1024
_SPLIT = "\u2063request\u2063"
"""Stands for the dynamic part while the chat template is rendered."""


@dataclass(slots=True)
class _Prefix:
    """The model's state after the static part, and the bias of each set of names."""

    ids: list[int]
    suffix: str
    cache: Cache
    bias: dict[tuple[str, ...], list[float]]


class EmbeddedBackend:
    """SmolLM2 or any causal model of transformers, from a verified local folder.

    A folder of kind `adapter` is put on its base model, which lies under `root`. `dtype` and
    `device` are torch's names; float32 is faster than bfloat16 on most processors.
    """

    def __init__(
        self,
        name: str,
        artefact: Artefact,
        root: Path = Path(),
        dtype: str = "float32",
        device: str = "cpu",
    ) -> None:
        self.name = name
        self.digest = artefact.digest
        self._base = adapters.base_of(artefact, root)
        self._artefact = artefact
        self._dtype, self._device = dtype, device
        self._codes = bool(artefact.manifest.get("codes", False))
        self._lock = threading.RLock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._loaded: tuple[PreTrainedTokenizerBase, PreTrainedModel] | None = None
        self._prefixes: dict[str, _Prefix] = {}

    @property
    def form(self) -> Form:
        """A tuned model chooses codes, an untuned one names."""
        return "codes" if self._codes else "names"

    async def choose(self, prompt: Prompt, codes: Sequence[str]) -> Choice:
        """As `weigh`, on this backend's own thread; who leaves while waiting is not served."""
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, self.weigh, prompt, codes
        )

    def weigh(self, prompt: Prompt, codes: Sequence[str]) -> Choice:
        """Probability of each code given the prompt; raises BackendError for a prompt too long."""
        with self._lock:
            prefix = self._prefix(prompt.static)
            if self._codes:
                scores = self._code_scores(prefix, prompt, len(codes))
            else:
                names = tuple(codes)
                scores = self._name_scores(prefix, prompt, names)
                bias = self._bias(prefix, prompt.static, names)
                scores = [score - usual for score, usual in zip(scores, bias, strict=True)]
        raw = {"codes": list(codes), "scores": [f"{score:.6f}" for score in scores]}
        return Choice(_softmax(scores), json.dumps(raw, ensure_ascii=False))

    def _load(self) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
        if self._loaded is None:
            artefacts.verify(self._artefact)
            if self._base is not self._artefact:
                artefacts.verify(self._base)
            tokenizer, model = load(self._base.folder, self._dtype, self._device)
            if self._base is not self._artefact:
                model = adapters.merged(model, self._artefact)
            self._loaded = (tokenizer, model)
        return self._loaded

    def _prefix(self, static: str) -> _Prefix:
        if static not in self._prefixes:
            tokenizer, model = self._load()
            head, suffix = framing(tokenizer, static)
            ids = tokenizer.encode(head, add_special_tokens=False)
            cache = _read(model, ids)
            self._prefixes[static] = _Prefix(ids, suffix, cache, {})
        return self._prefixes[static]

    def _bias(self, prefix: _Prefix, static: str, names: tuple[str, ...]) -> list[float]:
        if names not in prefix.bias:
            empty = [self._name_scores(prefix, p, names) for p in prompts.content_free(static)]
            prefix.bias[names] = [sum(values) / len(empty) for values in zip(*empty, strict=True)]
        return prefix.bias[names]

    def _tail(self, prefix: _Prefix, prompt: Prompt) -> list[int]:
        tokenizer, _ = self._load()
        own = prompts.with_specials_broken(prompt, control_tokens(tokenizer))
        ids = tokenizer.encode(own.dynamic + prefix.suffix, add_special_tokens=False)
        if len(ids) > MAX_DYNAMIC_TOKENS:
            raise BackendError("prompt_too_long", f"{len(ids)} tokens after the static part")
        return list(ids)

    def _code_scores(self, prefix: _Prefix, prompt: Prompt, codes: int) -> list[float]:
        tokenizer, model = self._load()
        if codes > len(LETTERS):
            raise BackendError("no_codes", f"{codes} labels have no single-token codes here")
        legal = single_tokens(tokenizer, LETTERS[:codes])
        last = _branches(model, prefix, self._tail(prefix, prompt), [], rows=1)[-1]
        return [float(last[token]) for token in legal]

    def _name_scores(self, prefix: _Prefix, prompt: Prompt, names: Sequence[str]) -> list[float]:
        tokenizer, model = self._load()
        tail = self._tail(prefix, prompt)
        tokens = [tokenizer.encode(name, add_special_tokens=False) for name in names]
        rows = _branches(model, prefix, tail, [ids[:-1] for ids in tokens])
        scores, at = [], len(tail)
        for ids in tokens:
            read = [rows[len(tail) - 1], *rows[at : at + len(ids) - 1]]
            scores.append(sum(float(row[t]) for row, t in zip(read, ids, strict=True)))
            at += len(ids) - 1
        return scores


def load(folder: Path, dtype: str = "float32", device: str = "cpu") -> tuple[Any, Any]:
    """Tokenizer and model of a folder, ready to be asked."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model: Any = AutoModelForCausalLM.from_pretrained(
        folder, local_files_only=True, dtype=getattr(torch, dtype), attn_implementation="sdpa"
    )
    return tokenizer, model.to(device).eval()


def single_tokens(tokenizer: Any, codes: Sequence[str]) -> tuple[int, ...]:
    """The token of each code; BackendError where one is not exactly one token, or two are the same."""
    ids = [tokenizer.encode(code, add_special_tokens=False) for code in codes]
    if any(len(one) != 1 for one in ids) or len({one[0] for one in ids}) != len(ids):
        raise BackendError("no_codes", f"{len(codes)} labels have no single-token codes here")
    return tuple(one[0] for one in ids)


def control_tokens(tokenizer: Any) -> set[str]:
    """The tokens that this tokenizer reads as one: its special ones, and added ones with a mark."""
    added = {token for token in tokenizer.get_added_vocab() if not token.isalnum()}
    return {*tokenizer.all_special_tokens, *added}


def framing(tokenizer: Any, static: str) -> tuple[str, str]:
    """The chat template's text before and after the dynamic part."""
    messages = [{"role": "system", "content": static}, {"role": "user", "content": _SPLIT}]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    head, _, suffix = text.partition(_SPLIT)
    return head, suffix


def _read(model: Any, ids: list[int]) -> Any:
    """The model's state after `ids`."""
    import torch
    from transformers import DynamicCache

    cache = DynamicCache(config=model.config)
    with torch.inference_mode():
        model(
            torch.tensor([ids], device=model.device), cache=cache, use_cache=True, logits_to_keep=1
        )
    return cache


def _copied(cache: Any) -> Any:
    """A cache that can grow without changing the one kept."""
    from transformers import DynamicCache

    return DynamicCache([(layer.keys, layer.values) for layer in cache.layers])


def _branches(
    model: Any, prefix: _Prefix, tail: list[int], branches: list[list[int]], rows: int = 0
) -> Any:
    """Log-probabilities after every token of `tail` and of the branches that follow it.

    Shape (tokens, vocabulary), or the last `rows` of them. A branch sees prefix, tail and itself, at
    the tail's next positions.
    """
    import torch

    kept, size = len(prefix.ids), len(tail) + sum(map(len, branches))
    sees = torch.ones(size, size).tril().bool()
    positions, at = list(range(len(tail))), len(tail)
    for branch in branches:
        sees[at + len(branch) :, at : at + len(branch)] = False
        positions += range(len(tail), len(tail) + len(branch))
        at += len(branch)
    mask = torch.cat([torch.ones(size, kept, dtype=torch.bool), sees], dim=1)[None, None]
    tokens = [*tail, *(token for branch in branches for token in branch)]
    with torch.inference_mode():
        out = model(
            torch.tensor([tokens], device=model.device),
            attention_mask=mask.to(model.device),
            position_ids=torch.tensor([positions], device=model.device) + kept,
            cache=_copied(prefix.cache),
            use_cache=True,
            logits_to_keep=rows,
        )
    return out.logits[0].float().log_softmax(-1)


def _softmax(scores: Sequence[float]) -> tuple[float, ...]:
    best = max(scores)
    powers = [math.exp(score - best) for score in scores]
    return tuple(power / sum(powers) for power in powers)
