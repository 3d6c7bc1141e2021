"""The share of questions that direction alone would send back."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval import direction
from eval.errors import SuiteError

ASKING = "Freeze my card."
QUESTION = "How do I freeze my card?"


def folder(tmp_path: Path, texts: list[str]) -> Path:
    rows = "".join(f'"{text}",any\n' for text in texts)
    (tmp_path / "train.csv").write_text(f"text,category\n{rows}", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("asking", "code"), [(0, 0), (1, 0), (2, 1)])
def test_more_than_a_twentieth_sent_back_fails(
    asking: int, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [ASKING] * asking + [f"{QUESTION} {n}" for n in range(20 - asking)]
    assert direction.main(["--data", str(folder(tmp_path, texts))]) == code
    out = capsys.readouterr().out
    assert f"sent back   {asking:6} of 20" in out
    assert f"READ        {20 - asking:6} of 20" in out
    assert "card" not in out


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"train\.csv"):
        direction.main(["--data", str(tmp_path)])
