"""The evidence check: verbatim quotes pass, and every change of a fact is caught."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.evidence import Evidence, Statement, check
from tests.gate.texts import demo, haideng

ENGLISH, CHINESE = demo().lexicon, haideng().lexicon

WIRE = (
    "A domestic wire costs $25.00 and an international wire costs $45.50. "
    "Wires sent after 4 pm on a Friday leave on Monday. "
    "The fee is not refunded once the wire has left."
)
RATE = (
    "From March 3, 2026 the rate is 4.25% for 30 years; it changed by -0.5% on 2026-12-01. "
    "Two of three payments may be deferred between 9:00 and 17:30, within 3-5 days."
)
KNOWN = [Evidence("E1", WIRE, "fees.md"), Evidence("E2", RATE, "loans.md")]

ZH = "申购费率为1.5%，最低50元。自2026年3月1日起，周六不受理赎回。资金两个工作日到账，共1.2万元。"
ZH_KNOWN = [Evidence("E1", ZH, "费率.md"), Evidence("E2", "卡片可以冻结。", "卡.md")]


def english(text: str, *cites: str) -> tuple[str, ...]:
    return check(ENGLISH, [Statement(text, cites or ("E1",))], KNOWN)


def chinese(text: str, *cites: str) -> tuple[str, ...]:
    return check(CHINESE, [Statement(text, cites or ("E1",))], ZH_KNOWN)


@pytest.mark.parametrize(
    "text",
    [
        WIRE,
        "A domestic wire costs $25.00 and an international wire costs $45.50.",
        "a domestic wire costs $25 and an international wire costs $45.50",
        "Wires sent after 4 pm on a Friday leave on Monday",
        "The fee is not refunded once the wire has left.",
        "The fee isn\u2019t refunded once the wire has left.",
        "A domestic wire costs $25.00. The fee is not refunded.",
        "An international wire costs $45.50",
    ],
)
def test_a_quote_passes(text: str) -> None:
    assert english(text, "E1") == ()


@pytest.mark.parametrize(
    "text",
    [
        RATE,
        "the rate is 4.25% for 30 years",
        "From 3 March, 2026 the rate is 4.25%",
        "it changed by -0.5% on 2026-12-01",
        "payments may be deferred between 9:00 and 17:30, within 3-5 days",
    ],
)
def test_a_quote_of_dates_and_rates_passes(text: str) -> None:
    assert english(text, "E2") == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        # a number, its sign, its unit
        ("A domestic wire costs $26.00", "NUMBER_NOT_IN_EVIDENCE"),
        ("A domestic wire costs $25.01", "NUMBER_NOT_IN_EVIDENCE"),
        ("A domestic wire costs $2500", "NUMBER_NOT_IN_EVIDENCE"),
        ("A domestic wire costs 25.00", "NUMBER_NOT_IN_EVIDENCE"),
        ("A domestic wire costs €25.00", "NUMBER_NOT_IN_EVIDENCE"),
        ("A domestic wire costs EUR 25.00", "NUMBER_NOT_IN_EVIDENCE"),
        ("A domestic wire costs -$25.00", "NUMBER_NOT_IN_EVIDENCE"),
        ("A domestic wire costs $-25.00", "NUMBER_NOT_IN_EVIDENCE"),
        ("A domestic wire costs $25.00%", "NUMBER_NOT_IN_EVIDENCE"),
        ("A domestic wire costs $25.00 and $46.50", "NUMBER_NOT_IN_EVIDENCE"),
        ("Wires sent after 4 am on a Friday leave on Monday", "NUMBER_NOT_IN_EVIDENCE"),
        ("Wires sent after 5 pm on a Friday leave on Monday", "NUMBER_NOT_IN_EVIDENCE"),
        # a day, a numeral
        ("Wires sent after 4 pm on a Thursday leave on Monday", "WORD_NOT_IN_EVIDENCE"),
        ("Wires sent on a Friday leave on Tuesday", "WORD_NOT_IN_EVIDENCE"),
        ("Wires sent on a Friday leave on two Monday", "WORD_NOT_IN_EVIDENCE"),
        # a negation put in or left out, also in one sentence of several
        ("The fee is refunded once the wire has left.", "NEGATION"),
        ("A domestic wire never costs $25.00", "NEGATION"),
        ("A domestic wire costs $25.00. The fee is refunded once the wire has left.", "NEGATION"),
        ("Wires sent after 4 pm on a Friday never leave on Monday", "NEGATION"),
        # a number of another sentence
        ("A domestic wire sent after 4 pm costs $25.00", "NUMBER_FROM_ELSEWHERE"),
        # two sentences made into another one
        ("The fee of $25.00 is refunded once the wire has left", "NOT_SUPPORTED"),
        ("The fee of a wire on Friday is not refunded once it has left", "WORD_NOT_IN_EVIDENCE"),
        # other words
        ("A replacement card arrives in the mail", "NOT_SUPPORTED"),
        # nothing said
        ("", "EMPTY_STATEMENT"),
        (" .! ", "EMPTY_STATEMENT"),
        ("\u200b", "EMPTY_STATEMENT"),
    ],
)
def test_a_changed_statement_is_caught(text: str, reason: str) -> None:
    assert english(text) == (f"{reason}:1",)


@pytest.mark.parametrize(
    "text",
    [
        "From April 3, 2026 the rate is 4.25%",
        "From March 4, 2026 the rate is 4.25%",
        "From March 3, 2025 the rate is 4.25%",
        "the rate is 4.52% for 30 years",
        "the rate is 4.25% for 30 months",
        "the rate is 4.25 for 30 years",
        "the rate is -4.25% for 30 years",
        "it changed by 0.5% on 2026-12-01",
        "it changed by +0.5% on 2026-12-01",
        "it changed by -0.5% on 2026-01-12",
        "it changed by -0.5% on 12-01-2026",
        "payments may be deferred between 9:00 and 17:03",
        "payments may be deferred within 5-3 days",
        "payments may be deferred within 3 days",
        "One of three payments may be deferred",
        "Two of three payments may not be deferred",
    ],
)
def test_a_changed_date_or_rate_is_caught(text: str) -> None:
    assert len(english(text, "E2")) == 1


def test_a_month_belongs_to_its_day() -> None:
    known = [Evidence("E1", "from 3 March to 5 April")]
    assert check(ENGLISH, [Statement("from 3 March to 5 April", ("E1",))], known) == ()
    assert check(ENGLISH, [Statement("from March 3 to April 5", ("E1",))], known) == ()
    assert check(ENGLISH, [Statement("from 5 March to 3 April", ("E1",))], known) == (
        "NUMBER_NOT_IN_EVIDENCE:1",
    )


def test_long_numbers_are_compared_digit_by_digit() -> None:
    long = "1234567890" * 5
    known = [Evidence("E1", f"reference {long}1, total 1,000.00")]
    assert check(ENGLISH, [Statement(f"reference {long}1", ("E1",))], known) == ()
    assert check(ENGLISH, [Statement(f"reference {long}2", ("E1",))], known) != ()
    assert check(ENGLISH, [Statement("total 1000", ("E1",))], known) == ()


def test_citations_must_be_there_and_carry_the_statement() -> None:
    text = "A domestic wire costs $25.00"
    assert check(ENGLISH, [Statement(text, ())], KNOWN) == ("NOT_CITED:1",)
    assert english(text, "E9") == ("UNKNOWN_EVIDENCE:1",)
    assert english(text, "E1", "E9") == ("UNKNOWN_EVIDENCE:1",)
    assert english(text, "E2") == ("NUMBER_NOT_IN_EVIDENCE:1",)
    assert english(text, "E2", "E1") == ()
    assert check(ENGLISH, [], KNOWN) == ("NO_STATEMENT",)
    assert check(ENGLISH, [Statement(text, ("E1",))], []) == ("UNKNOWN_EVIDENCE:1",)


def test_every_sentence_needs_one_citation_that_carries_it() -> None:
    both = "A domestic wire costs $25.00. The rate is 4.25% for 30 years."
    assert english(both, "E1", "E2") == ()
    assert english(both, "E1") == ("NUMBER_NOT_IN_EVIDENCE:1",)
    mixed = "A domestic wire costs $25.00 and the rate is 4.25%"
    assert english(mixed, "E1", "E2") == ("NUMBER_NOT_IN_EVIDENCE:1",)


def test_each_statement_is_named_by_its_position() -> None:
    good = Statement("A domestic wire costs $25.00", ("E1",))
    swapped = Statement("A domestic wire costs $25.00", ("E2",))
    empty = Statement("", ("E1",))
    assert check(ENGLISH, [good, swapped, good, empty], KNOWN) == (
        "NUMBER_NOT_IN_EVIDENCE:2",
        "EMPTY_STATEMENT:4",
    )


def test_an_empty_passage_carries_nothing() -> None:
    known = [Evidence("E1", "")]
    assert check(ENGLISH, [Statement("A wire", ("E1",))], known) == ("NOT_SUPPORTED:1",)
    assert check(ENGLISH, [Statement("7", ("E1",))], known) == ("NUMBER_NOT_IN_EVIDENCE:1",)


@pytest.mark.parametrize(
    "text",
    [
        ZH,
        "申购费率为1.5%，最低50元。",
        "自2026年3月1日起，周六不受理赎回",
        "资金两个工作日到账",
        "申购费率为１．５％",  # noqa: RUF001
    ],
)
def test_a_chinese_quote_passes(text: str) -> None:
    assert chinese(text) == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("申购费率为1.6%，最低50元", "NUMBER_NOT_IN_EVIDENCE"),
        ("申购费率为1.5，最低50元", "NUMBER_NOT_IN_EVIDENCE"),
        ("申购费率为1.5%，最低50万元", "NUMBER_NOT_IN_EVIDENCE"),
        ("申购费率为1.5%，最低50美元", "NUMBER_NOT_IN_EVIDENCE"),
        ("自2026年1月3日起，周六不受理赎回", "NUMBER_NOT_IN_EVIDENCE"),
        ("自2026年3月1日起，周日不受理赎回", "WORD_NOT_IN_EVIDENCE"),
        ("自2026年3月1日起，周六受理赎回", "NEGATION"),
        ("资金三个工作日到账", "WORD_NOT_IN_EVIDENCE"),
        ("资金没有两个工作日到账", "NEGATION"),
        ("申购费率为1.5%。周六受理赎回", "NEGATION"),
        ("银行卡丢失请立即联系", "NOT_SUPPORTED"),
        ("。。", "EMPTY_STATEMENT"),
    ],
)
def test_a_changed_chinese_statement_is_caught(text: str, reason: str) -> None:
    assert chinese(text) == (f"{reason}:1",)


def test_a_swapped_chinese_citation_is_caught() -> None:
    assert chinese("卡片可以冻结", "E2") == ()
    assert chinese("卡片不可以冻结", "E2") == ("NEGATION:1",)
    assert chinese("卡片可以冻结", "E1") == ("NOT_SUPPORTED:1",)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_no_other_number_passes(said: int, held: int) -> None:
    known = [Evidence("E1", f"The fee is {held} dollars.")]
    found = check(ENGLISH, [Statement(f"The fee is {said} dollars.", ("E1",))], known)
    assert (found == ()) is (said == held)


@given(st.text(), st.text())
def test_any_text_is_carried_or_not(text: str, passage: str) -> None:
    found = check(ENGLISH, [Statement(text, ("E1",))], [Evidence("E1", passage)])
    assert len(found) <= 1


@given(st.text(st.sampled_from("abc 12.,-!。不没 not never"), min_size=1))
def test_a_passage_carries_itself(text: str) -> None:
    found = check(ENGLISH, [Statement(text, ("E1",))], [Evidence("E1", text)])
    assert found in ((), ("EMPTY_STATEMENT:1",))
