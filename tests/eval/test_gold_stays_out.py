"""No gold column reaches a proposer or the gate: neither its text nor any effect of it."""

from __future__ import annotations

import csv
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.case import Ask, Case, Gold, ask, request
from eval.suites import routebr
from tests.eval.examples import load, write_cases

GOLD = ("gold_cues_json", "gold_action", "gold_object_difficulty", "gold_object_id",
        "gold_boundary", "gold_final_path", "gold_rule_ids_json")  # fmt: skip

texts = st.text(min_size=1, max_size=20)


def golds(mark: str) -> Gold:
    return Gold(mark, f"{mark}-object", f"{mark}-bound", f"{mark}-path", (f"{mark}-rule",), mark)


@given(utterance=texts, history=st.lists(texts, max_size=3), state=st.dictionaries(texts, texts))
def test_what_is_asked_does_not_depend_on_gold(
    utterance: str, history: list[str], state: dict[str, str]
) -> None:
    one, other = (
        Case("c", "s", utterance, golds(mark), tuple(history), state) for mark in ("GOLD1", "GOLD2")
    )
    assert ask(one) == ask(other)
    assert request(one) == request(other)
    assert "GOLD1" not in repr((ask(one), request(one)))


def test_proposer_is_given_neither_state_nor_session_nor_candidates() -> None:
    assert [f.name for f in fields(Ask)] == ["case_id", "utterance", "history"]


def test_no_gold_column_is_read_into_a_request(tmp_path: Path) -> None:
    marked = {"gold_cues_json": '"MARK"', "gold_object_difficulty": "MARK",
              "gold_rule_ids_json": '["MARK"]'}  # fmt: skip
    (plain,) = load(write_cases(tmp_path / "plain.csv", {}))
    (case,) = load(write_cases(tmp_path / "marked.csv", marked))
    bounded = {"gold_action": "A2", "gold_object_id": "UNRESOLVED", "gold_boundary": "DEFER",
               "gold_final_path": "T_DEFER", **marked}  # fmt: skip
    (other,) = load(write_cases(tmp_path / "bounded.csv", bounded))
    assert request(plain) == request(case) == request(other)
    assert ask(plain) == ask(case) == ask(other)
    assert "MARK" not in repr((request(case), ask(case)))


@pytest.mark.parametrize("file", [routebr.DEV_FILE, "routebr_select_160.csv"])
def test_public_cases_ask_the_same_without_their_gold(
    file: str, data_dir: Path, tmp_path: Path
) -> None:
    from gate.load import load as load_configuration

    folder = data_dir / "routebr"
    configuration = load_configuration(folder, bench=True)
    known = (configuration.catalog.actions, configuration.registry.entries)
    with (folder / file).open(encoding="utf-8-sig", newline="") as opened:
        rows = list(csv.DictReader(opened))
    action = next(iter(configuration.catalog.actions))
    blank = dict(zip(GOLD, ("[]", action, "", "NONE", "ALLOW", action, "[]"), strict=True))
    path = tmp_path / "blank.csv"
    with path.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, rows[0])
        writer.writeheader()
        writer.writerows({**row, **blank} for row in rows)
    real, without = (routebr.load(p, *known) for p in (folder / file, path))
    assert list(map(request, real)) == list(map(request, without))
    assert list(map(ask, real)) == list(map(ask, without))
