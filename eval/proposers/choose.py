"""From a proposer's name on the command line to the proposer."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from eval.errors import ProposerError
from eval.proposers import recorded
from eval.proposers.answer import Proposer

NAMES = ("lexical", "recorded:DIR")


def choose(spec: str, dev_file: Path) -> Proposer:
    """`lexical` (learns from `dev_file`) or `recorded:DIR`; ProposerError on any other name."""
    kind, _, rest = spec.partition(":")
    if kind == "recorded" and rest:
        return recorded.load(Path(rest))
    if spec == "lexical":
        # scikit-learn takes a second to import; a replay does not need it.
        from eval.proposers import lexical

        return lexical.load(dev_file)
    near = get_close_matches(spec, NAMES, n=1, cutoff=0.4)
    hint = f"did you mean `{near[0]}`?" if near else f"use one of {', '.join(NAMES)}"
    raise ProposerError(f"no proposer is called `{spec}`; {hint}")
