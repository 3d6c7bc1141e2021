"""Action evidence on the sealed sentences about writes: who asks is heard, who does not is not.

Every text of `eval/suites/writes/asked.*.csv` is decided with its own action proposed, and every
genuine message of one turn with the action that it wants. `python -m eval.asked` prints counts by
language and class, never a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from eval import writes
from eval.result import Share
from eval.suites.writes import labels
from gate import controller
from gate.configuration import Configuration
from gate.findings import find
from gate.load import load
from gate.records import (
    Mode,
    Proposal,
    Request,
    Reserved,
    Session,
    Situation,
    Switches,
    Terminal,
    Verdict,
)
from inference import ending, sinks

EVIDENT = (Reserved.OBJECT, Reserved.SLOT, Reserved.CONFIDENCE, Reserved.CONFIRM)
"""What can still close behind the action evidence."""
PLACED = (Reserved.SLOT, Reserved.CONFIDENCE, Reserved.CONFIRM)
"""What can still close behind the object."""
STATELESS = Switches(no_state=True)
"""No rule stands in the way, so that only the text can stop a write."""
ONE_TURN = ("direct", "polite")
"""The shapes of genuine messages that need no dialogue."""


@dataclass(frozen=True, slots=True)
class Row:
    """The texts of one class in one language, and how many of them pass.

    `suite` is `asked`, `not_asked` or `genuine`. Asking passes with action evidence, a genuine
    message with evidence and its object; a text that does not ask passes where no check up to the
    object stops it. `evident` counts those of them with action evidence, whatever their object.
    """

    suite: str
    language: str
    kind: str
    evident: int
    passed: Share


def measure(folder: Path = writes.DEMO) -> tuple[Row, ...]:
    """Decide every sealed text of one turn; rows by suite, language and class in file order."""
    configuration = load(folder)
    sessions = writes.sessions(folder)
    return (*_asked(configuration, sessions), *_genuine(configuration, sessions))


def _asked(configuration: Configuration, sessions: Mapping[str, Session]) -> Iterable[Row]:
    """The texts name no session: what any member with objects of his own gets is what counts."""
    members = [s for s in sessions.values() if s.objects]
    actions = [a.action_id for a in configuration.catalog.actions.values() if a.mode is Mode.WRITE]
    for language in labels.LANGUAGES:
        texts = labels.asked(language, actions)
        ends = [
            (t, [decide(configuration, t.text, t.action_id, member) for member in members])
            for t in texts
        ]
        for asked, why in dict.fromkeys((t.asked, t.why) for t in texts):
            mine = [v for t, v in ends if (t.asked, t.why) == (asked, why)]
            evident = sum(any(reaches(v, EVIDENT) for v in found) for found in mine)
            placed = sum(any(reaches(v, PLACED) for v in found) for found in mine)
            passed = evident if asked else placed
            suite = "asked" if asked else "not_asked"
            yield Row(suite, language, why, evident, Share(passed, len(mine)))


def _genuine(configuration: Configuration, sessions: Mapping[str, Session]) -> Iterable[Row]:
    objects = [o.object_id for s in sessions.values() for o in s.objects]
    objects += configuration.registry.entries
    found = labels.genuine(configuration.catalog.actions, objects, sessions)
    for language in labels.LANGUAGES:
        for shape in ONE_TURN:
            mine = [m for m in found if (m.language, m.shape) == (language, shape)]
            ends = [
                (m, decide(configuration, m.turns[0], m.action_id, sessions[m.session]))
                for m in mine
            ]
            evident = sum(reaches(v, EVIDENT) for _, v in ends)
            passed = sum(reaches(v, PLACED) and v.object_id == m.object_id for m, v in ends)
            yield Row("genuine", language, shape, evident, Share(passed, len(mine)))


def decide(configuration: Configuration, text: str, action_id: str, session: Session) -> Verdict:
    """The verdict on one text with one action proposed, where no rule stands against it."""
    calm = writes.clear()
    request = Request("asked", "bench", text, state=calm.of(action_id), session=session)
    situation = Situation(request.state, calm.now, session)
    proposal = Proposal(action_id, None, (action_id,), Decimal(1), writes.BACKEND)
    found = find(configuration, request)
    return controller.decide(configuration, situation, found, proposal, STATELESS)


def reaches(verdict: Verdict, steps: Sequence[Reserved]) -> bool:
    """True if the verdict is a dispatch, or one of these steps is what closed it."""
    return verdict.terminal is Terminal.DISPATCH or verdict.rule_id in {s.value for s in steps}


def heard(rows: Iterable[Row], suite: str, language: str) -> Share:
    """The classes of one suite and language together."""
    mine = [r.passed for r in rows if (r.suite, r.language) == (suite, language)]
    return Share(sum(s.count for s in mine), sum(s.of for s in mine))


def main(folder: Path = writes.DEMO) -> int:
    """Measure and print; 1 if a text that does not ask gets as far as a confirmation."""
    rows = measure(folder)
    for suite, language in dict.fromkeys((r.suite, r.language) for r in rows):
        share = heard(rows, suite, language)
        print(sinks.terminal(f"{suite:10} {language}  {share.count:4} of {share.of}"))
        for row in rows:
            if (row.suite, row.language) == (suite, language):
                passed = f"{row.passed.count:4} of {row.passed.of:3}"
                told = f"  {row.kind:22} {passed}   with evidence {row.evident}"
                print(sinks.terminal(told))
    return 1 if any(r.passed.count for r in rows if r.suite == "not_asked") else 0


if __name__ == "__main__":
    ending.run(main)
