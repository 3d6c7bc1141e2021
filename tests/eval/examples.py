"""Small made-up cases and outcomes that the evaluation's tests count by hand."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from eval.case import Case, Gold
from eval.outcome import Outcome
from eval.proposers.answer import Answer
from eval.suites import routebr
from gate.records import UNRESOLVED, Boundary, Proposal, Terminal, Verdict

ACTIONS = ("A1", "A2", "A3")
OBJECTS = ("O:1", "O:2")

ROW: Mapping[str, str] = {
    "case_id": "T-1",
    "split": "MAIN",
    "pair_id": "",
    "scenario_cell": "cell",
    "utterance": "what is O1 worth",
    "history_json": '["about O1"]',
    "runtime_context_json": '{"identity_verified": true}',
    "candidate_entities_json": '[{"object_id": "O:1"}]',
    "gold_cues_json": "[]",
    "gold_action": "A1",
    "gold_object_difficulty": "EXPLICIT_NAME",
    "gold_object_id": "O:1",
    "gold_boundary": "ALLOW",
    "gold_final_path": "A1",
    "gold_rule_ids_json": '["R999"]',
}


def write_cases(path: Path, *rows: Mapping[str, str], columns: tuple[str, ...] = ()) -> Path:
    """A cases file with the given rows, each a change of `ROW`."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns or tuple(ROW), extrasaction="ignore")
    writer.writeheader()
    writer.writerows({**ROW, **row} for row in rows)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def load(path: Path) -> tuple[Case, ...]:
    return routebr.load(path, ACTIONS, OBJECTS)


def gold(action: str = "A1", object_id: str = "O:1", boundary: str = "ALLOW") -> Gold:
    path = action if boundary == "ALLOW" else f"T_{boundary}"
    return Gold(action, object_id, boundary, path)


def verdict(path: str, action: str | None = "A1", object_id: str = "O:1") -> Verdict:
    """A verdict with that final path: an action id, or `T_` and a terminal."""
    dispatched = not path.startswith("T_")
    terminal = Terminal.DISPATCH if dispatched else Terminal(path[2:])
    boundary = Boundary.ALLOW if dispatched else Boundary(path[2:])
    return Verdict(
        terminal, boundary, "R-1", (), path if dispatched else action, object_id=object_id
    )


def answer(action: str = "A1", object_id: str | None = "O:1", **more: object) -> Answer:
    proposal = Proposal(action, object_id, (action,), Decimal("0.9"), "tier", "backend")
    return Answer(proposal, **more)  # type: ignore[arg-type]


def outcome(
    right: Gold,
    given: Verdict,
    *,
    case_id: str = "T-1",
    split: str = "MAIN",
    pair: str = "",
    with_gold: str | None = None,
    true_rules: tuple[str, ...] = (),
    answered: Answer | None = None,
) -> Outcome:
    """An outcome; the rules decide the gold proposal rightly unless `with_gold` says otherwise."""
    case = Case(case_id, split, "text", right, pair_id=pair)
    by_gold = verdict(with_gold or right.final_path, right.action, right.object_id)
    return Outcome(case, answered or answer(), given, by_gold, true_rules)


NO_ACTION = Verdict(
    Terminal.CLARIFY,
    Boundary.CLARIFY,
    "G-CONTRACT",
    ("C-CLOSED:action_id",),
    None,
    UNRESOLVED,
    first_failed_contract="C-CLOSED:action_id",
)
