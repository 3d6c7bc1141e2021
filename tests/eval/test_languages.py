"""The bench of recognised languages: what it counts, and when it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval import languages
from tests.gate.demo import demo


def test_english_and_chinese_texts_are_read(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert languages.main(["--data", str(data_dir)]) == 0
    told = capsys.readouterr().out
    assert "Banking77, train: 0 of 10003 refused" in told
    assert "RouteBR, DEV: 0 of 120 refused" in told
    assert "de: " in told


def test_counts_what_is_refused() -> None:
    reader = languages.Reader(demo())
    assert languages.refused(reader, ["freeze my card", "заморозить карту", "余额"]) == (1, 3)
    assert len(reader.milliseconds) == 3


def test_fails_where_too_many_are_refused(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "files", lambda _: {"few": ["заморозить карту"]})
    assert languages.main(["--data", str(data_dir)]) == 1
