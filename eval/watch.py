"""Live watch: one tier's answers of today against those of a reference period, from decision records.

    routelock bench watch --config configs/demo --tier fast --reference may.jsonl --today june.sqlite

A period is a ledger, or JSON lines of decision records (`routelock ledger export`). Shares of what the
tier did with its messages and the confidences of each action are compared (inference/calibration/live.py);
no text is read. A record that an earlier tier ended says nothing about this one; one that a later tier
ended was passed on by it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from eval.errors import SuiteError
from gate.errors import ReplayError
from gate.ledger.store import Ledger
from gate.ledger.tiers import tier_answer_from_core
from inference.calibration.live import Answered, Compared, answered, compare

Records = Iterator[Mapping[str, Any]]
SQLITE = b"SQLite format 3\x00"


def records(path: Path) -> Records:
    """The decision records of a ledger or of a file of JSON lines, in order; SuiteError for others."""
    with path.open("rb") as file:
        is_ledger = file.read(len(SQLITE)) == SQLITE
    yield from _of_ledger(path) if is_ledger else _of_lines(path)


def _of_ledger(path: Path) -> Records:
    with Ledger.read(path) as opened:
        for stored in opened.iterate():
            if "tier_result" in stored.record:
                yield stored.record


def _of_lines(path: Path) -> Records:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            found = json.loads(line)
            record = found.get("record", found)
            if "tier_result" in record:
                yield record
        except (ValueError, AttributeError, TypeError) as error:
            raise SuiteError(
                f"line is no decision record: {error}",
                file=str(path),
                line=number,
                fix="write one with `routelock ledger export`",
            ) from error


def of_tier(found: Records, tiers: Sequence[str], tier: str) -> list[Answered]:
    """What became of each message that reached `tier`; `tiers` are all of them in order."""
    after = tiers[tiers.index(tier) + 1 :]
    return [one for record in found if (one := _answered(record, tier, after)) is not None]


def _answered(record: Mapping[str, Any], tier: str, after: Sequence[str]) -> Answered | None:
    body = record["tier_result"]
    ended_by = None if body is None else body.get("tier")
    if ended_by in after:
        return Answered("escalation")
    if ended_by != tier:
        return None
    try:
        answer = tier_answer_from_core(record)
    except ReplayError:  # an id outside the closed lists is hidden: no answer of this catalog
        return Answered("abstention")
    return None if answer is None else answered(answer)


def since(path: Path, start: datetime) -> tuple[Records, Records]:
    """The records of one file before a time, and from it on."""
    found = list(records(path))
    new = [datetime.fromisoformat(record["decided_at"]) >= start for record in found]
    pairs = list(zip(found, new, strict=True))
    return iter([r for r, is_new in pairs if not is_new]), iter(
        [r for r, is_new in pairs if is_new]
    )


def watched(
    reference: Records, today: Records, tiers: Sequence[str], tier: str
) -> tuple[Compared, dict[str, Any]]:
    """The comparison of both periods of a tier, and its JSON form."""
    before, now = (of_tier(period, tiers, tier) for period in (reference, today))
    found = compare(before, now)
    return found, {
        "tier": tier,
        "messages": {"reference": len(before), "today": len(now)},
        "shares": {s.name: _pair(s._asdict(), "name") for s in found.shares},
        "confidence": {d.action_id: _pair(d._asdict(), "action_id") for d in found.drifts},
        "alarms": list(asdict(found)["alarms"]),
    }


def _pair(fields: dict[str, Any], name: str) -> dict[str, float]:
    return {key: round(float(value), 6) for key, value in fields.items() if key != name}
