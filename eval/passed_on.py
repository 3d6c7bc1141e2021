"""The proposer alone on the held-out texts that the tiers before it pass on.

    python -m eval.passed_on --config configs/demo --out var/bench/passed-on-embedded
    python -m eval.passed_on --through vllm:http://127.0.0.1:8000#proposer --out var/bench/passed-on-vllm \\
        --against var/bench/passed-on-embedded

Coverage is the share of the texts in scope for which the proposer commits to an action, whatever the
gate makes of it; what it is worth depends on how often that action is right, which stands beside the
same figure of the tier before. Only totals are printed; `decisions.csv` holds ids and answers.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from eval import demo_suite, output, vllm, writes
from eval.ended import Ended
from eval.errors import SuiteError
from eval.result import Share
from eval.suites.demo.labels import OUT_OF_SCOPE, Label
from gate.load import Institution, load_institution
from gate.load.appliance import Tier as Settings
from gate.records import Abstain, Mode, OutOfScope, Proposal, TierAnswer
from inference import artefacts, ending, sinks
from inference.appliance import open_tier
from inference.tiers import Tier, scores
from inference.tiers.proposer import ProposerTier

LEAST_COVERAGE: Final = 0.40
EMBEDDED: Final = "embedded"
FILE: Final = "decisions.csv"


@dataclass(frozen=True, slots=True)
class Result:
    """Every figure of one run.

    `right_before` is the share of right actions among those that the tiers before commit to, of all
    texts; the other figures are of the proposer on the `texts` passed on to it, of which `in_scope`
    ask for an action. `wrong_routes` is over what dispatches or asks for a confirmation;
    `different` counts other answers than those of the run compared with, None without one.
    """

    through: str
    texts: int
    in_scope: int
    right_before: Share
    coverage: Share
    right_of_covered: Share
    wrong_routes: Share
    wrong_writes: int
    out_of_scope: Share
    different: int | None

    @property
    def missed(self) -> tuple[str, ...]:
        """The required figures that are missed."""
        found = []
        if (self.coverage.rate or 0) < LEAST_COVERAGE:
            found.append(f"coverage is below {LEAST_COVERAGE:.0%}")
        if (self.right_of_covered.rate or 0) < (self.right_before.rate or 0):
            found.append("fewer of its actions are right than of the tier's before it")
        if self.different:
            found.append(f"{self.different} answers differ")
        return tuple(found)


def run(
    folder: Path,
    root: Path,
    through: str,
    watch: Callable[[Iterable[Label]], Iterable[Label]] = demo_suite.as_they_come,
) -> tuple[tuple[Ended, ...], tuple[Ended, ...]]:
    """Every text as the tiers before the proposer end it, and the texts passed on as it ends them."""
    institution = load_institution(folder)
    *before, last = institution.appliance.tiers
    opened = [open_tier(institution, settings, root) for settings in before]
    first = demo_suite.through(institution, opened)
    passed = {e.label.label_id for e in first if _passed_on(e.answer)}

    def those(texts: Iterable[Label]) -> Iterable[Label]:
        return watch([text for text in texts if text.label_id in passed])

    proposer = opened_proposer(institution, last, root, through)
    return first, demo_suite.through(institution, [proposer], those)


def opened_proposer(institution: Institution, settings: Settings, root: Path, through: str) -> Tier:
    """The last tier as declared, or its prompt and policy through another backend."""
    if through == EMBEDDED:
        return open_tier(institution, settings, root)
    kind, _, place = through.partition(":")
    if kind != "vllm" or not place or settings.model is None:
        raise SuiteError(
            f"`{through}` is no backend", file=str(institution.folder), fix="use vllm:URL#MODEL"
        )
    artefact = artefacts.read(root / settings.model)
    catalog = institution.configuration.catalog
    server = vllm.open_server(place)
    return ProposerTier(settings.name, server, catalog, settings.threshold, artefact)


def _passed_on(answer: TierAnswer) -> bool:
    return isinstance(answer, Abstain) and answer.reason != scores.CLARIFY


def measure(
    first: Sequence[Ended], mine: Sequence[Ended], through: str, different: int | None = None
) -> Result:
    """The figures of a run."""
    scope = [e for e in mine if e.label.action != OUT_OF_SCOPE]
    outside = [e for e in mine if e.label.action == OUT_OF_SCOPE]
    committed = [e for e in scope if isinstance(e.answer, Proposal)]
    routed = [e for e in mine if e.routed]
    wrong = [e for e in routed if not e.right]
    return Result(
        through=through,
        texts=len(mine),
        in_scope=len(scope),
        right_before=_right([e for e in first if isinstance(e.answer, Proposal)]),
        coverage=Share(len(committed), len(scope)),
        right_of_covered=_right([e for e in mine if isinstance(e.answer, Proposal)]),
        wrong_routes=Share(len(wrong), len(routed)),
        wrong_writes=sum(e.mode is Mode.WRITE for e in wrong),
        out_of_scope=Share(sum(isinstance(e.answer, OutOfScope) for e in outside), len(outside)),
        different=different,
    )


def _right(committed: Sequence[Ended]) -> Share:
    named = [
        isinstance(e.answer, Proposal) and e.answer.action_id == e.label.action for e in committed
    ]
    return Share(sum(named), len(named))


def decisions(mine: Sequence[Ended]) -> str:
    """Id and answer of every text passed on, as CSV."""
    return sinks.csv_text([("id", "answer"), *((e.label.label_id, _told(e.answer)) for e in mine)])


def _told(answer: TierAnswer) -> str:
    match answer:
        case Proposal(action_id=action_id):
            return action_id
        case OutOfScope():
            return OUT_OF_SCOPE
        case Abstain(reason=reason):
            return f"asks: {reason}"
        case _:
            return "unparsed"


def differing(mine: str, other: Path) -> int:
    """How many lines are not in both; SuiteError where the other run left none."""
    try:
        theirs = (other / FILE).read_text(encoding="utf-8")
    except OSError as error:
        raise SuiteError(
            f"no {FILE} there: {error}", file=str(other), fix="run it first"
        ) from error
    return len({*mine.splitlines()} ^ {*theirs.splitlines()}) // 2


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exit code 1 where a required figure is missed."""
    parser = argparse.ArgumentParser(description="The proposer on what is passed on to it.")
    parser.add_argument("--config", type=Path, default=writes.DEMO, help="the institution")
    parser.add_argument("--through", default=EMBEDDED, help="embedded, or vllm:URL#MODEL")
    parser.add_argument("--against", type=Path, help="folder of another run to compare with")
    parser.add_argument("--out", type=Path, required=True, help="folder for the result")
    given = parser.parse_args(arguments)
    first, mine = run(given.config, Path(), given.through)
    table = decisions(mine)
    different = None if given.against is None else differing(table, given.against)
    result = measure(first, mine, given.through, different)
    text = sinks.json_text(asdict(result), indent=1) + "\n"
    output.write(given.out, {"metrics.json": text, FILE: table})
    print(sinks.lines(text))
    for missed in result.missed:
        print(sinks.terminal(missed), file=sys.stderr)
    return 1 if result.missed else 0


if __name__ == "__main__":
    ending.run(main)
