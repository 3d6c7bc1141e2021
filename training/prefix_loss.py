"""The proposer's training loss: cross-entropy over the legal codes, with as little read as possible.

The prompt's static part is some hundred tokens and the same for every text; a request is about
twenty. So requests are read behind a state of the static part that is kept. The layers below the
adapter never change: what they make of the static part and of every request is computed once, which
gives the same numbers as reading every prompt whole. What the upper layers make of the static part
changes with the adapter; it is read anew every `REFRESH` steps, and no gradient flows through it:
that is an approximation of training, not of serving.

The loss is on one token, the code that the served choice reads, and over the legal codes alone, as
they are masked when serving.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inference import prompts
from inference.backends.embedded import control_tokens, framing, single_tokens
from inference.question import Question

Ids = Sequence[int]

REFRESH = 3
"""Steps for which what the upper layers make of the static part is kept."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """The prompt's fixed tokens before and text after a request, and the tokens of the legal codes."""

    static: str
    ids: tuple[int, ...]
    suffix: str
    codes: tuple[int, ...]
    specials: frozenset[str]

    @staticmethod
    def of(tokenizer: Any, static: str, codes: Sequence[str]) -> Prefix:
        """As the backend reads it; BackendError for a code that is not one token."""
        head, suffix = framing(tokenizer, static)
        ids = tuple(tokenizer.encode(head, add_special_tokens=False))
        specials = frozenset(control_tokens(tokenizer))
        return Prefix(static, ids, suffix, single_tokens(tokenizer, codes), specials)

    def request(self, tokenizer: Any, text: str) -> list[int]:
        """The tokens behind the prefix of a request without history, as the backend reads them."""
        asked = prompts.prompt(self.static, Question(text))
        own = prompts.with_specials_broken(asked, self.specials)
        return list(tokenizer.encode(own.dynamic + self.suffix, add_special_tokens=False))


class Halves:
    """A model cut below its adapter. It reads requests through the lower layers once, without a
    gradient, and through the upper ones at every step; use nothing else of the model meanwhile."""

    def __init__(self, model: Any, prefix: Prefix, below: int) -> None:
        import torch

        self._model, self._inner = model, model.base_model
        self._all, self._norm = self._inner.layers, self._inner.norm
        self._below, self._calls = below, 0
        self._upper_kept: Any = None
        head = model.get_output_embeddings().weight
        self._codes = head[list(prefix.codes)].detach().float()
        self._lower()
        with torch.no_grad():
            ids = torch.tensor([prefix.ids], device=head.device)
            self._start, self._kept = self._read(input_ids=ids)
        self._upper()

    def lower(self, requests: Sequence[Ids]) -> list[Any]:
        """What the lower layers make of each request: its states, shape (tokens, width)."""
        import torch

        longest = max(map(len, requests))
        # A request is padded behind its end, where nothing that counts can see it.
        padded = [[*ids, *[0] * (longest - len(ids))] for ids in requests]
        self._lower()
        with torch.no_grad():
            shared = _shared(self._kept, len(requests))
            ids = torch.tensor(padded, device=self._start.device)
            found, _ = self._read(shared, input_ids=ids)
        self._upper()
        return [row[: len(ids)].clone() for row, ids in zip(found, requests, strict=True)]

    def logits(self, states: Sequence[Any]) -> Any:
        """Logits of the legal codes after each request, shape (requests, codes), with their gradient."""
        import torch

        batch = torch.nn.utils.rnn.pad_sequence(list(states), batch_first=True)
        ends = torch.tensor([len(row) - 1 for row in states], device=batch.device)
        if self._calls % REFRESH == 0:
            with torch.no_grad():
                _, self._upper_kept = self._read(inputs_embeds=self._start)
        self._calls += 1
        shared = _shared(self._upper_kept, len(states))
        found, _ = self._read(shared, inputs_embeds=batch)
        last = found[torch.arange(len(states), device=batch.device), ends]
        return last.float() @ self._codes.T

    def loss(self, states: Sequence[Any], gold: Sequence[int]) -> Any:
        """Mean cross-entropy of the gold codes, given by their place among the legal ones."""
        import torch

        logits = self.logits(states)
        return torch.nn.functional.cross_entropy(logits, torch.tensor(gold, device=logits.device))

    def whole(self) -> Any:
        """The model put together again."""
        self._place(0, self._all, self._norm)
        return self._model

    def _lower(self) -> None:
        import torch

        self._place(0, self._all[: self._below], torch.nn.Identity())

    def _upper(self) -> None:
        self._place(self._below, self._all[self._below :], self._norm)

    def _place(self, first: int, layers: Any, norm: Any) -> None:
        """Layers number themselves in the cache; the first of those in place is 0."""
        for place, layer in enumerate(layers):
            layer.self_attn.layer_idx = place
        self._inner.layers, self._inner.norm = layers, norm

    def _read(self, cache: Any = None, **tokens: Any) -> tuple[Any, Any]:
        from transformers import DynamicCache

        used: Any = DynamicCache() if cache is None else cache
        return self._inner(**tokens, cache=used, use_cache=True).last_hidden_state, used


def _shared(cache: Any, count: int) -> Any:
    """One text's cache for `count` texts that go on from it."""
    from transformers import DynamicCache

    layers = [(kept.keys, kept.values) for kept in cache.layers]
    return DynamicCache(
        [(k.expand(count, -1, -1, -1), v.expand(count, -1, -1, -1)) for k, v in layers]
    )
