"""What changes between question, confirmation and execution stops the write."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inference.appliance import open_appliance
from inference.sources import Unread
from inference.way import answer
from tests.inference.asking import proposing
from tests.inference.branch import (
    CARD,
    COMPLETED,
    CONFIRM,
    DEMO,
    FROZEN,
    SESSIONS,
    USED,
    VISA,
    Branch,
    ended,
    placed,
)
from tests.models import ROOT


def edited(folder: Path, file: str, old: str, new: str) -> Path:
    """The demo's folder with one change."""
    shutil.copytree(DEMO, folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("rules.yaml", 'version: "1"', 'version: "2"'),
        ("catalog.yaml", "Freeze {object} now?", "Freeze {object} today?"),
        ("appliance.yaml", "Harbor Light Credit Union", "Harbour Light"),
    ],
)
def test_reload_of_a_changed_file_voids_the_token(
    branch: Branch, tmp_path: Path, file: str, old: str, new: str
) -> None:
    first = branch.freeze()
    branch.restarted(edited(tmp_path / "demo", file, old, new))
    assert ended(branch.yes(first)) == "CLARIFY G-CONFIRM CONFIGURATION_CHANGED"
    assert branch.effects == []
    assert ended(branch.yes(branch.freeze())) == COMPLETED
    assert branch.effects == [FROZEN]


def test_reload_without_a_change_keeps_the_token(branch: Branch) -> None:
    first = branch.freeze()
    branch.restarted()
    assert ended(branch.yes(first)) == COMPLETED


def test_dispatch_of_before_a_reload_is_told_how_it_stands_and_not_sent_again(
    branch: Branch, tmp_path: Path
) -> None:
    first = branch.buy()
    call = branch.request("yes", token=first.routed.token)
    branch.office.fail_next("error-before")
    said = answer(proposing(branch.appliance, "FUND_ORDER"), call)
    assert said.status == "IN_DOUBT"
    old, new = "order_limit, lt: {predicate: fund_minimum}", "order_limit, lt: 100000"
    branch.restarted(edited(tmp_path / "demo", "rules.yaml", old, new))
    again = answer(proposing(branch.appliance, "FUND_ORDER"), call)
    assert again.status == "IN_DOUBT"
    assert again.routed.replayed
    assert branch.effects == []


def test_pinned_fact_that_changed_between_the_calls_stops_the_write(branch: Branch) -> None:
    first = branch.buy()
    state = branch.state(fund_minimum="300.00")
    assert ended(branch.yes(first, state=state)) == "DEFER G-STATE PIN_CHANGED:fund_minimum"
    assert ended(branch.yes(first)) == USED
    assert branch.effects == []


def test_fact_that_now_forbids_stops_the_confirmed_write(branch: Branch) -> None:
    first = branch.freeze()
    state = branch.state(card_control_permitted=False)
    assert ended(branch.yes(first, state=state)) == "REJECT R-210"
    assert ended(branch.yes(first)) == USED
    assert branch.effects == []


def test_broken_fact_stops_the_confirmed_write(branch: Branch) -> None:
    first = branch.freeze()
    assert ended(branch.yes(first, state={})).startswith("HANDOFF R-010")
    assert branch.effects == []


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"fund_minimum": "300.00"}, "DEFER G-STATE FAILED STATE_CHANGED:G-STATE"),
        ({"fund_order_permitted": False}, "DEFER G-STATE FAILED STATE_CHANGED:R-230"),
        ({"available_balance": None}, "DEFER G-STATE FAILED STATE_CHANGED:R-450"),
        ({"session": None}, "DEFER G-STATE FAILED STATE_CHANGED:G-CONFIRM"),
        ({"reason": Unread.UNREACHABLE}, "DEFER G-STATE FAILED STATE_UNREACHABLE"),
        ({"reason": Unread.ANSWER_UNSIGNED}, "DEFER G-STATE FAILED STATE_ANSWER_UNSIGNED"),
    ],
)
def test_fact_that_changed_between_dispatch_and_execution_stops_the_write(
    branch: Branch, changes: dict[str, Any], wanted: str
) -> None:
    first = branch.buy()
    assert ended(branch.yes(first, by=branch.telling(**changes))) == wanted
    assert branch.effects == []
    assert ended(branch.yes(branch.buy())) == COMPLETED, "it may be asked for again"


def test_state_source_that_is_down_stops_the_write(branch: Branch) -> None:
    at = placed("http://127.0.0.1:9", str(branch.office.secret_file))
    away = open_appliance(DEMO, ROOT, branch.clock, branch.folder, at)
    try:
        first = branch.freeze()
        served = replace(branch.appliance, source=away.source)
        said = branch.yes(first, by=served)
    finally:
        away.close()
    assert ended(said) == "DEFER G-STATE FAILED STATE_UNREACHABLE"
    assert branch.effects == []


def test_card_that_is_gone_from_the_session_is_not_frozen(branch: Branch) -> None:
    first = branch.freeze()
    objects = [o for o in SESSIONS["dana"]["objects"] if o["object_id"] != CARD]
    said = branch.yes(first, session={**SESSIONS["dana"], "objects": objects})
    assert (said.terminal.value, said.rule_id) == ("CLARIFY", "G-OBJECT")
    assert branch.effects == []


def test_my_card_is_ambiguous_once_there_is_a_second_one(branch: Branch) -> None:
    first = branch.freeze("Freeze my card.", who="marcus")
    assert ended(first) == CONFIRM
    second = {
        "object_id": "CARD-1002-2",
        "object_type": "CARD",
        "display_name": "Visa credit card ending 1111",
        "aliases": ["visa"],
    }
    objects = [*SESSIONS["marcus"]["objects"], second]
    said = branch.yes(first, who="marcus", session={**SESSIONS["marcus"], "objects": objects})
    assert ended(said) == "CLARIFY G-OBJECT SEVERAL_OWN_OBJECTS"
    assert branch.effects == []


def test_my_card_that_is_another_one_now_is_asked_for_again(branch: Branch) -> None:
    first = branch.freeze("Freeze my card.", who="marcus")
    card = {**SESSIONS["marcus"]["objects"][1], "object_id": "CARD-1002-9"}
    objects = [SESSIONS["marcus"]["objects"][0], card]
    said = branch.yes(first, who="marcus", session={**SESSIONS["marcus"], "objects": objects})
    assert ended(said) == "CLARIFY G-CONFIRM WRITE_CHANGED"
    assert branch.effects == []


def test_candidates_of_the_second_call_count(branch: Branch) -> None:
    first = branch.freeze()
    said = branch.yes(first, candidates=[VISA])
    assert (said.terminal.value, said.rule_id) == ("CLARIFY", "G-OBJECT")
    assert branch.effects == []


def test_order_that_is_not_valid_any_more_is_not_carried_out(branch: Branch) -> None:
    first = branch.freeze()
    late = branch.telling(first=lambda: branch.clock.move(31))
    assert ended(branch.yes(first, by=late)) == "DEFER G-STATE FAILED STATE_EXPIRED"
    assert branch.effects == []
