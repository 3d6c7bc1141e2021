"""The language that a text is read in: stated, recognised, or by its script."""

from __future__ import annotations

import pytest

from gate.findings import find, from_core, to_core
from gate.script import counts, main_script, primary
from tests.gate import small
from tests.gate.texts import demo, haideng, request


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("freeze my card", None, "en"),
        ("freeze my card", "en", "en"),
        ("freeze my card", "zh", "zh"),
        ("freeze my card", "de", None),
        ("冻结我的卡", None, "zh"),
        ("заморозить карту", None, None),
        ("12345 ?!", None, "en"),
        ("", None, "en"),
        ("HLGRX 的净值", None, "zh"),
        ("price of 黄金", None, "en"),
    ],
)
def test_language_is_stated_or_read_from_the_script(
    text: str, language: str | None, expected: str | None
) -> None:
    assert find(demo(), request(text, language=language)).language == expected


def test_language_is_the_first_configured_one_of_the_script() -> None:
    configuration = small.institution(languages=("xx", "en"))
    assert find(configuration, request("hello")).language == "xx"
    assert find(haideng(), request("黄金ETF")).language == "zh"
    assert find(haideng(), request("gold fund")).language is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pay Александра Иванова 50", "en"),
        ("what is the price of HLGRX, asks Иванова Ивановна", "en"),
        ("转账给 Александра Ивановна", "zh"),
        ("给佐藤さくら转账五百元", "zh"),
        ("優の良品的余额", "zh"),
        ("我要买ソニー的股票", "zh"),
        ("凍結我的信用卡", "zh"),
        ("口座を解約したい", None),
        ("残高照会をお願いします", None),
        ("купить fund", None),
        ("أريد إغلاق حسابي", None),
        ("ฉันต้องการปิดบัญชี", None),
        ("π", "en"),
    ],
)
def test_a_name_in_another_script_is_no_other_language(text: str, expected: str | None) -> None:
    assert find(demo(), request(text)).language == expected


@pytest.mark.parametrize(
    ("recognised", "stated", "expected"),
    [
        ("", None, "en"),
        ("de", None, None),
        ("en", None, "en"),
        ("de", "zh", "zh"),
        ("", "de", None),
    ],
)
def test_recognised_language_counts_where_none_is_stated(
    recognised: str, stated: str | None, expected: str | None
) -> None:
    found = find(demo(), request("freeze my card", language=stated), recognised)
    assert (found.language, found.recognised) == (expected, recognised)
    assert from_core(to_core(found)) == found
    assert ("recognised" in to_core(found)) is bool(recognised)


def test_a_region_of_a_configured_language_is_that_language() -> None:
    assert (primary("pt-BR"), primary("en")) == ("pt", "en")


@pytest.mark.parametrize(
    ("folded", "script"),
    [
        ("", None), ("12 .", None), ("a", None), ("abc", "latin"), ("abé", "latin"), ("汉", "han"),
        ("𠀀", "han"), ("汉a", "han"), ("汉abc", "latin"), ("汉ab", "han"), ("жд", "other"),
        ("ab жд ж", "other"), ("カナ", "other"), ("tôi muốn", "latin"), ("かな", "japanese"),
        ("漢字がな", "japanese"), ("漢字漢字漢がな", "han"), ("abcd がな", "latin"), ("漢字の", "han"),
    ],
)  # fmt: skip
def test_main_script(folded: str, script: str | None) -> None:
    assert main_script(counts(folded)) == script
