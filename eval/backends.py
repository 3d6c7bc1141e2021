"""The axis of backends: from a name on the command line to what answers.

| name | what answers |
|---|---|
| `lexical` | character n-grams, learnt from the suite's examples |
| `embedded`, `embedded:DIR` | the proposer tier over a local model folder, in this process |
| `vllm:URL`, `vllm:URL#MODEL` | the proposer tier over a vLLM server on this machine |
| `cascade` | the institution's own tiers; on RouteBR `lexical`, then `embedded` |
| `recorded:DIR` | published predictions of a hosted backend |
| `cassette:FILE` | the proposer tier over a hosted backend's cassette (`bench record`), without a key |
| `run:DIR` | the answers that an earlier run left in its folder, without a call |

A system that reads a prompt of its own (`b1`, `b2`) takes `embedded` or `vllm:URL` as a `Backend`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from eval import vllm
from eval.case import Ask
from eval.counted import Counted
from eval.errors import ProposerError
from eval.proposers import recorded, replayed
from eval.proposers.answer import Proposer
from eval.proposers.tiers import Tiers
from eval.suite import Suite
from inference import artefacts
from inference.appliance import open_tiers
from inference.backends import Backend
from inference.backends import recorded as cassettes
from inference.backends.embedded import EmbeddedBackend
from inference.question import Question
from inference.tiers import Reply, Tier
from inference.tiers.proposer import ProposerTier

NAMES: Final = (
    "lexical",
    "embedded",
    "vllm:URL",
    "cascade",
    "recorded:DIR",
    "cassette:FILE",
    "run:DIR",
)
MODEL: Final = Path("var/models/smollm2-135m-instruct")
THRESHOLD: Final = Decimal("0.80")
"""Below it an untuned model abstains: the same as in the demo's appliance.yaml."""


def open_proposer(spec: str, suite: Suite) -> Proposer:
    """What proposes actions under a name; ProposerError for an unknown one."""
    kind, _, rest = spec.partition(":")
    if kind == "recorded" and rest:
        return recorded.load(Path(rest))
    if kind == "run" and rest:
        return replayed.load(Path(rest))
    if spec == "lexical":
        return _lexical(suite)
    if spec == "cascade":
        return Tiers("cascade", suite.configuration, _cascade(suite))
    if kind in ("embedded", "vllm", "cassette"):
        backend = open_backend(spec, suite.root)
        return Tiers(backend.name, suite.configuration, (_proposer(backend, suite),))
    raise _unknown(spec)


def open_backend(spec: str, root: Path = Path()) -> Backend:
    """What reads a prompt and chooses; ProposerError for a name that cannot."""
    kind, _, rest = spec.partition(":")
    if kind == "embedded":
        folder = Path(rest) if rest else root / MODEL
        return Counted(EmbeddedBackend(spec, artefacts.read(folder)))
    if kind == "vllm" and rest:
        return Counted(vllm.open_server(rest))
    if kind == "cassette" and rest:
        return Counted(cassettes.load(spec, Path(rest)))
    if kind in ("lexical", "cascade", "recorded", "run"):
        raise ProposerError(
            f"`{spec}` reads no prompt, which b1 and b2 need; use embedded or vllm:URL"
        )
    raise _unknown(spec)


def _unknown(spec: str) -> ProposerError:
    near = get_close_matches(spec, NAMES, n=1, cutoff=0.4)
    hint = f"did you mean `{near[0]}`?" if near else f"use one of {', '.join(NAMES)}"
    return ProposerError(f"no backend is called `{spec}`; {hint}")


def _lexical(suite: Suite) -> Proposer:
    """A classifier of the suite's examples; ProposerError where they are the cases themselves."""
    if suite.audit.overlap:
        raise ProposerError(
            f"`lexical` would learn from `{suite.examples.file.name}`, which are the cases; "
            "give other cases"
        )
    # scikit-learn takes a second to import; a replay does not need it.
    from eval.proposers import lexical

    return lexical.of_examples(suite.examples)


def _proposer(backend: Backend, suite: Suite) -> Tier:
    return ProposerTier("proposer", backend, suite.configuration.catalog, THRESHOLD)


def _cascade(suite: Suite) -> Sequence[Tier]:
    if suite.institution is not None:
        return open_tiers(suite.institution, suite.root)
    return (Learnt(_lexical(suite)), _proposer(open_backend("embedded", suite.root), suite))


@dataclass(frozen=True, slots=True)
class Learnt:
    """A proposer that looks at the text alone, as a tier."""

    proposer: Proposer

    @property
    def name(self) -> str:
        """The proposer's own name."""
        return self.proposer.name

    @property
    def versions(self) -> dict[str, str]:
        """The digests behind it."""
        return dict(self.proposer.backing.digests)

    def propose(self, question: Question) -> Reply:
        """The proposer's answer to a text."""
        return Reply(self.proposer.propose(Ask("", question.utterance, ())).given)
