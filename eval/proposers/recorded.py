"""Replays published predictions of a backend: `predictions.csv` in one folder per split."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eval import table
from eval.case import Ask
from eval.errors import ProposerError, SuiteError
from eval.proposers.answer import Answer, Backing
from eval.table import Row
from gate.records import NONE, Proposal, Switches, TierAnswer, Unparsed

TIER = "recorded"
COLUMNS = (
    "case_id",
    "pred_action",
    "pred_object_id",
    "pred_final_path",
    "topk_json",
    "valid_json",
    "retry_count",
    "fallback_used",
    "input_tokens",
    "output_tokens",
    "latency_ms",
    "estimated_cost_usd",
)
# Recorded proposals are replayed as published: they chose the object themselves, their catalog has
# no modes, and they carry no confidence.
SWITCHES = Switches(no_object_evidence=True, no_direction=True, ignore_confidence=True)


@dataclass(frozen=True, slots=True)
class Recorded:
    """Answers by case id, read from the files whose digests `backing` holds."""

    name: str
    folder: str
    backing: Backing
    answers: Mapping[str, Answer]
    switches: Switches = SWITCHES

    def propose(self, ask: Ask) -> Answer:
        """The recorded answer for a case; SuiteError if the folder has none."""
        if ask.case_id not in self.answers:
            raise SuiteError(
                f"case `{ask.case_id}` has no recorded prediction",
                file=self.folder,
                fix="record it, or leave the case out of the cases file",
            )
        return self.answers[ask.case_id]


def load(folder: Path) -> Recorded:
    """Every `predictions.csv` in `folder` and its direct subfolders; ProposerError if none."""
    files = sorted(p for p in (*folder.glob("predictions.csv"), *folder.glob("*/predictions.csv")))
    if not files:
        raise ProposerError(
            f"no predictions.csv in `{folder}` or its subfolders;"
            " give the folder of one recorded backend"
        )
    rows = [row for file in files for row in table.read(file, COLUMNS)]
    table.unique(rows, "case_id")
    name = folder.resolve().name
    digests = {f"recorded/{f.relative_to(folder).as_posix()}": table.digest(f) for f in files}
    answers = {row["case_id"]: _answer(row, name) for row in rows}
    return Recorded(f"recorded:{name}", str(folder), Backing(digests), answers)


def _answer(row: Row, backend: str) -> Answer:
    retries = _count(row, "retry_count") or 0
    valid = row.one_of("valid_json", ("true", "false")) == "true"
    return Answer(
        given=_given(row, backend),
        valid_first_pass=valid and not retries,
        repairs=retries,
        fallback=row.one_of("fallback_used", ("true", "false")) == "true",
        calls=1 + retries,
        tokens_in=_count(row, "input_tokens"),
        tokens_out=_count(row, "output_tokens"),
        latency_ms=_number(row, "latency_ms"),
        cost_usd=_number(row, "estimated_cost_usd"),
        published_path=row["pred_final_path"] or None,
    )


def _given(row: Row, backend: str) -> TierAnswer:
    """A proposal; without an action or an object, the bare text, which the contract refuses."""
    action, object_id, topk = row["pred_action"], row["pred_object_id"], row.json("topk_json")
    whole = action not in ("", NONE) and object_id != ""
    if whole and isinstance(topk, list) and all(isinstance(t, str) for t in topk):
        return Proposal(action, object_id, tuple(topk), None, TIER, backend)
    fields = {"action_id": action or None, "object_id": object_id or None, "topk": topk}
    return Unparsed(json.dumps(fields, ensure_ascii=False), TIER, backend=backend)


def _count(row: Row, column: str) -> int | None:
    text = row[column]
    if text and not (text.isascii() and text.isdigit()):
        raise row.wrong(f"column `{column}` holds `{text}`", "write a whole number or nothing")
    return int(text) if text else None


def _number(row: Row, column: str) -> float | None:
    try:
        value = float(row[column]) if row[column] else None
    except ValueError as error:
        raise row.wrong(
            f"column `{column}` holds `{row[column]}`", "write a number or nothing"
        ) from error
    if value is not None and not 0 <= value < float("inf"):
        raise row.wrong(f"column `{column}` holds `{row[column]}`", "write a number from 0 up")
    return value
