"""Numbers: digits of several countries, English words and Chinese numerals, or why there is none."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.load import language
from gate.numbers import (
    APPROXIMATE,
    DIGIT_TOKEN,
    MALFORMED,
    SHARE,
    TWO_READINGS,
    Number,
    digits,
    han,
    words,
)
from gate.slotwords import compile_words

KNOWN = compile_words(language.load(None, tag)[0] for tag in ("en", "zh"))
FAULTS = {"?": TWO_READINGS, "!": MALFORMED, "~": APPROXIMATE, "/": SHARE}


def wanted(text: str) -> Number:
    return FAULTS[text] if text in FAULTS else Number(Decimal(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("500", "500"), ("0", "0"), ("0.5", "0.5"), ("1,000", "1000"), ("1,000,000", "1000000"),
        ("1.000.000", "1000000"), ("1,000.50", "1000.50"), ("1.000,50", "1000.50"), ("12,5", "12.5"),
        ("12,50", "12.50"), ("1 000", "1000"), ("1 000,50", "1000.50"), ("1'000.50", "1000.50"),
        ("12.5678", "12.5678"), ("1.000", "?"), ("999.999", "?"), ("1,00,000", "!"), ("10,0000", "!"),
        ("0500", "!"), ("0,500", "!"), ("1,000.500", "!"), ("1.000,500", "!"), ("1,000,50", "!"),
        ("1.00.00", "!"), ("1'00", "!"), ("1.0'0,0", "!"), ("1234567890123456", "!"),
    ],
)  # fmt: skip
def test_digits(text: str, value: str) -> None:
    assert digits(text) == wanted(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("five", "5"), ("twenty five", "25"), ("five hundred", "500"), ("a hundred and five", "105"),
        ("fifteen hundred", "1500"), ("two thousand five hundred", "2500"), ("a million", "1000000"),
        ("two hundred thousand and one", "200001"), ("two and a half thousand", "2500"),
        ("two fifty", "?"), ("twenty twelve", "?"), ("two thousand five", "?"), ("five a half", "?"),
        ("thousand", "!"), ("hundred five", "!"), ("two million thousand million", "!"),
        ("five and", "!"), ("five and twenty", "!"), ("five a", "!"), ("half", "/"), ("a half", "/"),
        ("two hundred hundred", "!"), ("five hundred and", "!"),
    ],
)  # fmt: skip
def test_words(text: str, value: str) -> None:
    assert words(text.split(), KNOWN.latin) == wanted(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("五", "5"), ("十五", "15"), ("二十", "20"), ("二十五", "25"), ("一百一十", "110"), ("五百", "500"),
        ("两千零三", "2003"), ("两千三", "2300"), ("三百五", "350"), ("一万五", "15000"),
        ("十二万五", "125000"), ("一亿两千万", "120000000"), ("五〇〇", "500"), ("壹仟贰佰", "1200"),
        ("1.5万", "15000"), ("3千", "3000"), ("2百万", "2000000"), ("1万5千", "15000"), ("1万5", "15000"),
        ("一百万五", "?"), ("两百半", "?"), ("五六百", "~"), ("三五", "~"), ("几百", "~"), ("五百多", "~"),
        ("百", "!"), ("千万", "!"), ("零五", "!"), ("五零", "~"), ("一百十五", "!"), ("十五百", "!"),
        ("1万20", "!"), ("3千五", "!"), ("五1", "!"), ("1千2万", "!"), ("1.000万", "?"),
    ],
)  # fmt: skip
def test_numerals(text: str, value: str) -> None:
    assert han(text, KNOWN.han) == wanted(value)


@given(st.text("0123456789.,' ", max_size=20))
def test_any_token_of_digits_has_a_value_or_a_fault(text: str) -> None:
    for token in DIGIT_TOKEN.finditer(text):
        found = digits(token.group())
        assert (found.value is None) == bool(found.fault)


@given(st.lists(st.sampled_from([*KNOWN.latin, "a", "and", "half"]), min_size=1, max_size=7))
def test_any_run_of_words_has_a_value_or_a_fault(run: list[str]) -> None:
    found = words(run, KNOWN.latin)
    assert (found.value is None) == bool(found.fault)


@given(st.text([*KNOWN.han, *"0123456789.,几多半来"], min_size=1, max_size=10))
def test_any_run_of_numerals_has_a_value_or_a_fault(run: str) -> None:
    found = han(run, KNOWN.han)
    assert (found.value is None) == bool(found.fault)
