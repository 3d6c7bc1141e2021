"""The demo, as the README's first command runs it: real parts, every request ending as it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gate.records import Reserved, Terminal

ROOT = Path(__file__).resolve().parents[1]
SHOWCASE = yaml.safe_load((ROOT / "eval/suites/demo/showcase.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    ledger = tmp_path_factory.mktemp("demo") / "ledger"
    code = "from scripts.cli import main; main()"
    return subprocess.run(  # noqa: S603  (our own command, fixed arguments)
        [sys.executable, "-c", code, "demo", "--ledger-dir", str(ledger)],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip


def test_every_request_ends_as_the_showcase_says(shown: subprocess.CompletedProcess[str]) -> None:
    assert shown.returncode == 0, shown.stderr
    lines = [json.loads(line) for line in shown.stdout.splitlines()]
    assert len(lines) == len(SHOWCASE["requests"]) >= 18
    for line, case in zip(lines, SHOWCASE["requests"], strict=True):
        assert line["ended"]["terminal"] == case["expect"]["terminal"], case["shows"]
        assert line["ended"]["rule_id"] == case["expect"].get("by", line["ended"]["rule_id"])
        assert line["status"] == case["expect"].get("status", line["status"])


def test_a_write_has_its_one_effect_after_its_confirmation_alone(
    shown: subprocess.CompletedProcess[str],
) -> None:
    lines = [json.loads(line) for line in shown.stdout.splitlines()]
    done = [line for line in lines if line["bank"]]
    assert [line["status"] for line in done] == ["COMPLETED", "COMPLETED"]
    assert all("1 effect(s) in the bank's journal" in line["bank"] for line in done)
    assert all(line["ended"]["rule_id"] == "R-999" for line in done)
    asked = [line for line in lines if line["confirm"]]
    assert {line["action_id"] for line in done} < {line["action_id"] for line in asked}


def test_what_a_crash_left_is_settled(shown: subprocess.CompletedProcess[str]) -> None:
    lines = [json.loads(line) for line in shown.stdout.splitlines()]
    settled = [line for line in lines if line["settled"]]
    assert [line["utterance"] for line in settled] == ["yes"]
    assert "COMPLETED" in settled[0]["settled"]
    assert settled[0]["replayed"] is True


def test_answers_cite_documents_and_records(shown: subprocess.CompletedProcess[str]) -> None:
    lines = [json.loads(line) for line in shown.stdout.splitlines()]
    answered = [line for line in lines if line["status"] == "ANSWERED"]
    assert {line["action_id"] for line in answered} >= {"FEE_INFO", "FUND_PRICE", "ACCOUNT_BALANCE"}
    for line in answered:
        assert line["citations"], line["utterance"]
        assert all(c["source"] and len(c["sha256"]) == 64 for c in line["citations"])


def test_ledger_is_sound_and_replays(shown: subprocess.CompletedProcess[str]) -> None:
    count = len(SHOWCASE["requests"])
    assert "chain sound" in shown.stderr
    assert f"{count} of {count} decisions are the same bytes again" in shown.stderr


def test_all_tiers_and_every_terminal_are_seen(shown: subprocess.CompletedProcess[str]) -> None:
    lines = [json.loads(line) for line in shown.stdout.splitlines()]
    assert {line["tier"] for line in lines} >= {"phrases", "fast", "proposer", "dialogue"}
    assert {line["ended"]["terminal"] for line in lines} == {t.value for t in Terminal}
    reserved = {line["ended"]["rule_id"] for line in lines} & {r.value for r in Reserved}
    assert {"G-OBJECT", "G-SCOPE", "G-ABSTAIN", "G-MULTI", "G-SLOT", "G-CONFIRM"} <= reserved
    assert "G-DIALOGUE" in reserved
