"""Proposer backends: each chooses among legal codes for a prompt and can produce nothing else.

The protocol is asynchronous; `loop.call` runs it for the synchronous way through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from inference.prompts import Prompt

Form = Literal["names", "codes", "json"]
"""What a backend chooses among: the labels' names, single-token codes that the prompt shows before
the names, or a JSON proposal of the action ids."""


def form_of(text: str) -> Form:
    """The form of that name; `names` for any other text."""
    match text:
        case "codes":
            return "codes"
        case "json":
            return "json"
        case _:
            return "names"


@dataclass(frozen=True, slots=True)
class Usage:
    """What one choice took: calls to the model, and tokens where the backend counts them."""

    calls: int = 1
    tokens_in: int | None = None
    tokens_out: int | None = None


ONE_CALL = Usage()


@dataclass(frozen=True, slots=True)
class Choice:
    """Probability of each legal code in the order given, summing to 1, and what the model said.

    The JSON form gives no probabilities but the `text` that has to pass the contract. `sent` and
    `raw` are kept beside the ledger as the receipt and may hold the user's text; `model` is the
    identity that the backend reports.
    """

    probabilities: tuple[float, ...]
    raw: str = ""
    text: str | None = None
    sent: str = ""
    model: str = ""
    usage: Usage = ONE_CALL


class Backend(Protocol):
    """One way to run a proposer model."""

    @property
    def name(self) -> str:
        """Its name in decisions."""
        ...

    @property
    def digest(self) -> str:
        """SHA-256 that names the model."""
        ...

    @property
    def form(self) -> Form:
        """What it chooses among."""
        ...

    async def choose(self, prompt: Prompt, codes: Sequence[str]) -> Choice:
        """Weigh the legal codes; raises BackendError with a reason code where it cannot."""
        ...
