"""Masking: of a long number only its end is shown, however it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.masking import APART, DOTS, KEPT, Number, masked, masked_where, numbers

SEPARATORS = [" ", "-", ".", "/", "\u00a0", "\u2013", "\u200b", "\u0301", "_", "\u00b7", "\uff0e"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("Debit", "Debit"),
        ("1234", "1234"),
        ("12345", "••••2345"),
        ("a12345b", "a••••2345b"),
        ("1234a5678", "1234a5678"),
        ("12345, 67890", "••••2345, ••••7890"),
        ("1 2 3 4", "1 2 3 4"),
        ("1 2 3 4 5", "••••2345"),
        ("12  -34   5", "••••2345"),
        ("12    345", "12    345"),  # four separators are no number any more
        ("-12345-", "-••••2345-"),
        ("１２３４５", "••••2345"),  # noqa: RUF001
        ("①②③④⑤", "••••2345"),
        ("12⁵45", "••••2545"),
        ("½12345", "½••••2345"),
        ("••••2345", "••••2345"),
    ],
)
def test_a_long_number_is_cut_to_its_end(text: str, shown: str) -> None:
    assert masked(text) == shown


@pytest.mark.parametrize("separator", SEPARATORS, ids=ascii)
def test_separators_hide_no_number(separator: str) -> None:
    assert masked(f"53{separator}16{separator * APART}9") == f"{DOTS}3169"
    assert masked(f"53{separator}16") == f"53{separator}16"
    assert masked(f"53{separator * (APART + 1)}169") == f"53{separator * (APART + 1)}169"


def test_numbers_stand_where_they_are() -> None:
    assert numbers("a 1 2b34 5") == [Number(2, 5, "12"), Number(6, 10, "345")]
    assert numbers("٣") == [Number(0, 1, "3")]
    assert numbers("- . /") == []


def test_only_secret_numbers_are_masked() -> None:
    asked: list[str] = []

    def secret(digits: str) -> bool:
        asked.append(digits)
        return digits == "12345"

    assert masked_where("1234-5 and 67890 and 123", secret) == f"{DOTS}2345 and 67890 and 123"
    assert sorted(asked) == ["12345", "67890"]  # a short number is no secret


@given(st.text(st.sampled_from("0123456789 -a./")))
def test_nothing_but_numbers_changes(text: str) -> None:
    shown = masked(text)
    assert masked(shown) == shown
    assert all(len(number.digits) <= KEPT for number in numbers(shown))
    if all(len(number.digits) <= KEPT for number in numbers(text)):
        assert shown == text
    ends = [n.digits[-KEPT:] for n in numbers(text)]
    assert [n.digits for n in numbers(shown)] == ends
