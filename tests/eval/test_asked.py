"""Action evidence on the sealed sentences: no text that does not ask gets through, the others mostly do."""

from __future__ import annotations

import pytest

from eval import asked, writes
from eval.asked import Row
from eval.result import Share
from gate.load import load
from gate.records import NONE, Boundary, Reserved, Terminal, Verdict

LEAST = {"asked": {"en": 190, "zh": 180}, "genuine": {"en": 98, "zh": 69}}
"""How many texts have their evidence, or reach their confirmation, at least; it may only rise."""


@pytest.fixture(scope="module")
def rows() -> tuple[Row, ...]:
    return asked.measure()


def test_no_text_that_does_not_ask_gets_through(rows: tuple[Row, ...]) -> None:
    silent = [row for row in rows if row.suite == "not_asked"]
    assert sum(row.passed.of for row in silent) == 460
    assert [row for row in silent if row.passed.count] == []


@pytest.mark.parametrize("suite", LEAST)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_who_asks_is_heard(rows: tuple[Row, ...], suite: str, language: str) -> None:
    assert asked.heard(rows, suite, language).count >= LEAST[suite][language]


def verdict(rule_id: str, terminal: Terminal = Terminal.CLARIFY) -> Verdict:
    return Verdict(terminal, Boundary.ALLOW, rule_id, (), "CLOSE_ACCOUNT", NONE)


@pytest.mark.parametrize(
    ("found", "evident", "placed"),
    [
        (verdict("R-999", Terminal.DISPATCH), True, True),
        (verdict("G-CONFIRM"), True, True),
        (verdict("G-SLOT"), True, True),
        (verdict("G-OBJECT"), True, False),
        (verdict("G-ACTION"), False, False),
        (verdict("G-DIRECTION"), False, False),
        (verdict("R-010"), False, False),
    ],
)
def test_a_verdict_reaches_what_stands_before_its_step(
    found: Verdict, evident: bool, placed: bool
) -> None:
    assert asked.reaches(found, asked.EVIDENT) is evident
    assert asked.reaches(found, asked.PLACED) is placed


def test_one_text_is_decided_with_its_own_action() -> None:
    member = writes.sessions(writes.DEMO)["marcus"]
    found = asked.decide(load(writes.DEMO), "请冻结我的卡", "FREEZE_CARD", member)
    assert (found.rule_id, found.object_id) == (Reserved.CONFIRM, "CARD-1002-1")
    assert (
        asked.decide(load(writes.DEMO), "别冻结我的卡", "FREEZE_CARD", member).rule_id
        == Reserved.DIRECTION
    )


def row(suite: str, count: int) -> Row:
    return Row(suite, "en", "polite", count, Share(count, 9))


@pytest.mark.parametrize(("through", "code"), [(0, 0), (1, 1)])
def test_exit_code_tells_whether_a_silent_text_got_through(
    through: int, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        asked, "measure", lambda folder: (row("asked", 7), row("not_asked", through))
    )
    assert asked.main() == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["asked", "en", "7", "of", "9"]
    assert lines[1].split()[:4] == ["polite", "7", "of", "9"]
