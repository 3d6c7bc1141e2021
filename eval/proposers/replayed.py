"""Answers of an earlier run, kept as `answers.jsonl` in its folder and given again without a call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

from eval import table
from eval.case import Ask
from eval.errors import ProposerError, SuiteError
from eval.proposers.answer import Answer, Backing
from gate.records import Abstain, OutOfScope, Proposal, Switches, TierAnswer, Unparsed
from inference import sinks

FILE: Final = "answers.jsonl"
KINDS: Final[Mapping[str, type]] = {
    "proposal": Proposal,
    "out_of_scope": OutOfScope,
    "abstain": Abstain,
    "unparsed": Unparsed,
}
LISTS: Final = ("topk", "top2")


@dataclass(frozen=True, slots=True)
class Replayed:
    """Answers by case id under the backend's own name."""

    name: str
    file: str
    backing: Backing
    answers: Mapping[str, Answer]
    switches: Switches

    def propose(self, ask: Ask) -> Answer:
        """The kept answer for a case; SuiteError if there is none."""
        if ask.case_id not in self.answers:
            raise SuiteError(
                f"case `{ask.case_id}` has no kept answer",
                file=self.file,
                fix="run the backend on these cases first",
            )
        return self.answers[ask.case_id]


def lines(answers: Mapping[str, Answer]) -> str:
    """Answers by case id as JSON lines, in their order."""
    return "".join(sinks.json_text(_line(k, a)) + "\n" for k, a in answers.items())


def _line(case_id: str, answer: Answer) -> dict[str, Any]:
    kind = next(name for name, made in KINDS.items() if isinstance(answer.given, made))
    given = asdict(answer.given)
    if given.get("confidence") is not None:
        given["confidence"] = str(given["confidence"])
    rest = {f.name: getattr(answer, f.name) for f in fields(answer) if f.name != "given"}
    return {"case_id": case_id, "kind": kind, "given": given, **rest}


def load(folder: Path) -> Replayed:
    """The answers that a run left in `folder`; ProposerError if it left none."""
    file, figures = folder / FILE, folder / "metrics.json"
    if not (file.is_file() and figures.is_file()):
        raise ProposerError(f"`{folder}` holds no run; give the folder of `routelock bench run`")
    run = json.loads(table.read_text(figures))["run"]
    answers: dict[str, Answer] = {}
    for number, text in enumerate(table.read_text(file).splitlines(), 1):
        case_id, answer = _read(file, number, text)
        if case_id in answers:
            raise SuiteError(
                f"`{case_id}` stands twice", file=str(file), line=number, fix="keep one of them"
            )
        answers[case_id] = answer
    switches = Switches(**{name.replace("-", "_"): True for name in run["switches"]})
    backing = Backing({"answers": table.digest(file)}, dict(run["seeds"]))
    return Replayed(run["backend"], str(file), backing, answers, switches)


def _read(file: Path, number: int, text: str) -> tuple[str, Answer]:
    try:
        raw = json.loads(text)
        case_id, kind, given = raw.pop("case_id"), raw.pop("kind"), raw.pop("given")
        return case_id, Answer(_given(kind, given), **raw)
    except (ValueError, KeyError, TypeError, InvalidOperation) as error:
        raise SuiteError(
            f"line is no kept answer: {error}", file=str(file), line=number, fix="run again"
        ) from error


def _given(kind: str, given: dict[str, Any]) -> TierAnswer:
    if given.get("confidence") is not None:
        given["confidence"] = Decimal(given["confidence"])
    for name in LISTS:
        if name in given:
            given[name] = tuple(given[name])
    made: TierAnswer = KINDS[kind](**given)
    return made
