"""Labels: what is read, what is refused, and what is held back."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.errors import TrainingError
from training.labels import Example, read, split


def write(folder: Path, text: str) -> Path:
    path = folder / "labels.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_are_read_and_repeats_kept_once(tmp_path: Path) -> None:
    path = write(tmp_path, 'text,label,source\n"a, b",X,s\n"a, b",X,s\n c ,Y,s\n')
    assert read(path) == (Example("a, b", "X"), Example("c", "Y"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "columns"),
        ("text,other\na,b\n", "columns"),
        ("text,label\n", "columns"),
        ("text,label\na,\n", "row 2"),
        ("text,label\na,X\n ,X\n", "row 3"),
        ("text,label\na,X\na,Y\n", "two labels"),
    ],
)
def test_unusable_file_is_refused_with_its_row(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(TrainingError, match=problem):
        read(write(tmp_path, text))


def test_missing_or_foreign_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="cannot be read"):
        read(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes(b"text,label\ncaf\xe9,X\n")
    with pytest.raises(TrainingError, match="cannot be read"):
        read(tmp_path / "latin.csv")


SIZES = st.dictionaries(st.sampled_from("ABCD"), st.integers(3, 40), min_size=1)


@given(SIZES, st.floats(0.05, 0.5), st.integers(0, 5))
def test_split_holds_back_a_share_of_every_label(
    sizes: dict[str, int], share: float, seed: int
) -> None:
    examples = [
        Example(f"{label} {n}", label) for label, size in sizes.items() for n in range(size)
    ]
    kept, held = split(examples, share, seed)
    assert sorted(kept + held, key=str) == sorted(examples, key=str)
    counts = Counter(example.label for example in held)
    assert all(counts[label] == max(1, round(size * share)) for label, size in sizes.items())
    assert split(examples[::-1], share, seed) == (kept, held)


def test_label_with_two_texts_is_refused() -> None:
    examples = [Example("a", "X"), Example("b", "X"), *(Example(str(n), "Y") for n in range(5))]
    with pytest.raises(TrainingError, match="`X` has 2 texts"):
        split(examples, 0.1, 0)
