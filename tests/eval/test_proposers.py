"""The proposers under test: recorded predictions, the lexical classifier, and their choice."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from eval.case import Ask
from eval.errors import ProposerError, SuiteError
from eval.proposers import lexical, recorded
from eval.proposers.answer import Backing
from eval.proposers.choose import choose
from gate.records import Abstain, Proposal, Unparsed

ROW = {
    "case_id": "T-1",
    "system_id": "routebr",
    "pred_action": "A1",
    "pred_object_id": "O:1",
    "pred_boundary": "ALLOW",
    "pred_final_path": "A1",
    "topk_json": '["A1", "A2"]',
    "valid_json": "true",
    "retry_count": "0",
    "fallback_used": "false",
    "input_tokens": "700",
    "output_tokens": "40",
    "latency_ms": "12.5",
    "estimated_cost_usd": "",
}


def write(folder: Path, *rows: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "predictions.csv").open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, ROW)
        writer.writeheader()
        writer.writerows({**ROW, **row} for row in rows)
    return folder


def ask(case_id: str = "T-1", text: str = "") -> Ask:
    return Ask(case_id, text, ())


def test_recorded_row_becomes_a_proposal(tmp_path: Path) -> None:
    write(tmp_path / "backend" / "main", {})
    proposer = recorded.load(tmp_path / "backend")
    found = proposer.propose(ask())
    assert proposer.name == "recorded:backend"
    assert found.given == Proposal("A1", "O:1", ("A1", "A2"), None, "recorded", "backend")
    assert (found.tokens_in, found.tokens_out, found.latency_ms) == (700, 40, 12.5)
    assert (found.cost_usd, found.published_path, found.calls) == (None, "A1", 1)
    assert found.valid_first_pass


def test_recorded_splits_are_read_together(tmp_path: Path) -> None:
    write(tmp_path / "main", {})
    write(tmp_path / "flip", {"case_id": "T-2"})
    proposer = recorded.load(tmp_path)
    assert set(proposer.answers) == {"T-1", "T-2"}
    assert set(proposer.backing.digests) == {
        "recorded/main/predictions.csv", "recorded/flip/predictions.csv",
    }  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [{"pred_action": "NONE"}, {"pred_action": ""}, {"pred_object_id": ""}, {"topk_json": "[1]"}],
)
def test_row_without_action_or_object_is_left_to_the_contract(
    change: Mapping[str, str], tmp_path: Path
) -> None:
    found = recorded.load(write(tmp_path, change)).propose(ask()).given
    assert isinstance(found, Unparsed)
    assert set(json.loads(found.text)) == {"action_id", "object_id", "topk"}


def test_object_none_of_an_action_is_a_proposal(tmp_path: Path) -> None:
    found = recorded.load(write(tmp_path, {"pred_object_id": "NONE"})).propose(ask()).given
    assert isinstance(found, Proposal)
    assert found.object_id == "NONE"


def test_retry_is_a_repair_and_a_call(tmp_path: Path) -> None:
    found = recorded.load(write(tmp_path, {"retry_count": "1"})).propose(ask())
    assert (found.repairs, found.calls, found.valid_first_pass) == (1, 2, False)


def test_case_without_a_recording_is_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="`T-9` has no recorded prediction"):
        recorded.load(write(tmp_path, {})).propose(ask("T-9"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"topk_json": "["}, "`topk_json` is not JSON"),
        ({"retry_count": "-1"}, "`retry_count` holds `-1`"),
        ({"input_tokens": "many"}, "`input_tokens` holds `many`"),
        ({"latency_ms": "fast"}, "`latency_ms` holds `fast`"),
        ({"latency_ms": "nan"}, "`latency_ms` holds `nan`"),
        ({"valid_json": "yes"}, "`valid_json` holds `yes`"),
    ],
)
def test_bad_recording_is_refused_with_its_line(
    change: Mapping[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(SuiteError) as caught:
        recorded.load(write(tmp_path, {}, {"case_id": "T-2", **change}))
    assert "predictions.csv:3: " in str(caught.value)
    assert message in str(caught.value)


def test_case_recorded_twice_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "main", {})
    write(tmp_path / "flip", {})
    with pytest.raises(SuiteError, match="`T-1` stands already on"):
        recorded.load(tmp_path)


def test_folder_without_recordings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProposerError, match=r"no predictions\.csv"):
        recorded.load(tmp_path)


def dev_file(folder: Path) -> Path:
    path = folder / "dev.csv"
    lines = ["utterance,gold_action"]
    lines += [f"please look up number {n},LOOKUP" for n in range(8)]
    lines += [f"kindly cancel order {n},CANCEL" for n in range(8)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_lexical_proposes_an_action_and_no_object(tmp_path: Path) -> None:
    proposer = lexical.load(dev_file(tmp_path))
    found = proposer.propose(ask(text="please look up number 99")).given
    assert isinstance(found, Proposal)
    assert (found.action_id, found.object_id) == ("LOOKUP", None)
    assert found.topk == ("LOOKUP", "CANCEL")
    assert found.confidence is not None
    assert found.confidence >= lexical.THRESHOLD


def test_lexical_abstains_below_even_odds() -> None:
    names = ("A", "B", "C", "D")
    texts = [f"{name.lower() * 6} {n}" for name in names for n in range(4)]
    model = lexical.fit(texts, [name for name in names for _ in range(4)], "dev.csv")
    proposer = lexical.Lexical(model, Backing())
    found = proposer.propose(ask(text="zzzz")).given
    assert isinstance(found, Abstain)
    assert found.reason == "low_confidence"


def test_lexical_learns_the_same_twice(tmp_path: Path) -> None:
    path = dev_file(tmp_path)
    first, second = lexical.load(path), lexical.load(path)
    question = ask(text="look up my order")
    assert first.propose(question) == second.propose(question)


def test_lexical_confidence_has_six_places(tmp_path: Path) -> None:
    found = lexical.load(dev_file(tmp_path)).propose(ask(text="cancel order")).given
    assert isinstance(found, Proposal)
    assert found.confidence == found.confidence.quantize(Decimal("0.000001"))  # type: ignore[union-attr]


def test_lexical_needs_two_actions(tmp_path: Path) -> None:
    path = tmp_path / "dev.csv"
    path.write_text("utterance,gold_action\nhello,A\n", encoding="utf-8")
    with pytest.raises(SuiteError, match="all rows have one action"):
        lexical.load(path)


def test_choose_opens_by_name(tmp_path: Path) -> None:
    assert choose(f"recorded:{write(tmp_path / 'b', {})}", tmp_path).name == "recorded:b"
    assert choose("lexical", dev_file(tmp_path)).name == "lexical"


@pytest.mark.parametrize(
    ("name", "hint"),
    [("lexcal", "did you mean `lexical`"), ("recorded", "did you mean `recorded:DIR`"),
     ("gpt", "use one of lexical, recorded:DIR")],
)  # fmt: skip
def test_unknown_proposer_gets_a_hint(name: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(ProposerError, match=hint):
        choose(name, tmp_path)
