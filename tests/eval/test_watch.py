"""Live watch: what became of a tier's messages is read from records; a change is an alarm, none is not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval import watch
from eval.errors import SuiteError
from gate.ledger.tiers import tier_core
from gate.records import Abstain, OutOfScope, Proposal, TierAnswer
from scripts.commands import bench

TIERS = ("phrases", "fast", "proposer")
ROUTED = Proposal("FEE_INFO", None, ("FEE_INFO",), Decimal("0.91"), "fast")


def record(answer: TierAnswer | None, at: str = "2026-12-01T10:00:00+00:00") -> dict[str, object]:
    body = None if answer is None else tier_core(answer, lambda name: name != "STRANGE")
    return {"decided_at": at, "tier_result": body}


def written(path: Path, answers: Sequence[TierAnswer]) -> Path:
    lines = [json.dumps({"sequence": 1, "digest": "d", "record": record(a)}) for a in answers]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("answer", "became"),
    [
        (ROUTED, ["routed"]),
        (OutOfScope("fast"), ["out_of_scope"]),
        (Abstain("clarify", "fast"), ["clarify"]),
        (Abstain("no_text", "fast"), ["abstention"]),
        (Proposal("FEE_INFO", None, ("FEE_INFO",), Decimal(1), "phrases"), []),
        (Abstain("low_confidence", "proposer"), ["escalation"]),
        (Proposal("FEE_INFO", None, ("FEE_INFO",), Decimal(1), "proposer"), ["escalation"]),
        (None, []),
    ],
)
def test_a_record_is_counted_for_the_tier_that_it_reached(
    answer: TierAnswer | None, became: list[str]
) -> None:
    found = watch.of_tier(iter([record(answer)]), TIERS, "fast")
    assert [one.became for one in found] == became


def test_a_hidden_action_is_no_route() -> None:
    core = {**tier_core(ROUTED, lambda _: True), "action_id": "hmac:0"}
    hidden = {**record(ROUTED), "tier_result": core}
    assert watch.of_tier(iter([hidden]), TIERS, "fast")[0].became == "abstention"


def test_one_file_is_parted_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    times = ["2026-12-01T10:00:00+00:00", "2026-12-02T10:00:00+00:00"]
    path.write_text("\n".join(json.dumps(record(ROUTED, at)) for at in times), encoding="utf-8")
    before, now = watch.since(path, datetime(2026, 12, 2, tzinfo=UTC))
    assert [len(list(before)), len(list(now))] == [1, 1]


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("[1]\n", encoding="utf-8")
    with pytest.raises(SuiteError, match="no decision record"):
        list(watch.records(path))


@pytest.mark.parametrize(("today", "code"), [(40, 0), (4, 1)])
def test_command_ends_with_an_alarm_where_a_share_has_moved(
    tmp_path: Path, today: int, code: int
) -> None:
    passed_on = Abstain("low_confidence", "proposer")
    reference = written(tmp_path / "a.jsonl", [ROUTED] * 40 + [passed_on] * 10)
    now = written(tmp_path / "b.jsonl", [ROUTED] * today + [passed_on] * (50 - today))
    given = ["watch", "--config", "configs/demo", "--tier", "fast"]
    done = CliRunner().invoke(
        bench.app, [*given, "--reference", str(reference), "--today", str(now)]
    )
    assert done.exit_code == code
    found = json.loads(done.stdout)
    assert found["messages"] == {"reference": 50, "today": 50}
    assert found["shares"]["escalation"]["today"] == pytest.approx(1 - today / 50)
    assert bool(found["alarms"]) is (code == 1)


def test_command_without_two_periods_is_refused() -> None:
    done = CliRunner().invoke(bench.app, ["watch", "--config", "configs/demo", "--tier", "fast"])
    assert done.exit_code == 2
