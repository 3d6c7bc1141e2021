"""Disagreement between documents: seen where words are alike and a number or a negation is not."""

from __future__ import annotations

import pytest

from retrieval.disagree import disagreement
from retrieval.document import Block
from retrieval.evidence import About, Passage
from tests.retrieval.samples import source


def passage(file: str, text: str, score: float = 0.8, number: int = 1) -> Passage:
    block = Block(text, ("A",), 1)
    return Passage(
        f"E{number}", source(file), "0" * 64, ("A",), (block,), About.NONE, 0.8, 0.03,
        ((block, text, score),),
    )  # fmt: skip


FEE = "The fee for an outgoing domestic wire is $20 per transfer."


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        ("The fee for an outgoing domestic wire is $25 per transfer.", "NUMBER"),
        ("The fee for outgoing domestic wires is $20.00 per transfer.", None),
        ("The fee for an outgoing domestic wire is not $20 per transfer.", "NEGATION"),
        ("The fee for an outgoing domestic wire is $20 per transfer.", None),
        ("The fee for an outgoing domestic wire is $1,000 for each company per year.", None),
        ("The fee for an incoming international wire is $10 per transfer.", None),
        ("A wire takes 5 days.", None),
        ("Expense ratio: 0.58 percent a year.", None),
    ],
)
def test_alike_sentences_of_two_documents_are_compared(other: str, kind: str | None) -> None:
    found = disagreement([passage("a.md", FEE), passage("b.md", other, number=2)])
    assert (found.kind if found else None) == kind
    if found:
        assert (found.first.source.file, found.second.source.file) == ("a.md", "b.md")
        assert found.sentences == (FEE, other)


def test_short_sentences_are_not_compared() -> None:
    texts = [f"Expense ratio: {ratio} percent a year." for ratio in ("0.58", "0.89")]
    assert disagreement([passage("a.md", texts[0]), passage("b.md", texts[1])]) is None


def test_dates_are_compared_by_month_too() -> None:
    texts = [f"The new overdraft terms take effect on 1 {m} 2026." for m in ("May", "June")]
    found = disagreement([passage("a.md", texts[0]), passage("b.md", texts[1])])
    assert found is not None
    assert found.kind == "NUMBER"


def test_one_document_does_not_disagree_with_itself() -> None:
    other = FEE.replace("20", "25")
    assert disagreement([passage("a.md", FEE), passage("a.md", other)]) is None


def test_sentence_that_fits_the_request_less_is_not_compared() -> None:
    other = FEE.replace("20", "25")
    assert disagreement([passage("a.md", FEE), passage("b.md", other, score=0.5)]) is None


def test_sentence_about_another_object_is_not_compared() -> None:
    other = FEE.replace("20", "25")

    def names(text: str) -> About:
        return About.OTHER if "25" in text else About.THIS

    assert disagreement([passage("a.md", FEE), passage("b.md", other)], names) is None


def test_chinese_negation_is_seen() -> None:
    texts = "提前还款需要支付额外手续费用。", "提前还款不需要支付额外手续费用。"
    found = disagreement([passage("a.md", texts[0]), passage("b.md", texts[1])])
    assert found is not None
    assert found.kind == "NEGATION"


def test_nothing_disagrees_with_nothing() -> None:
    assert disagreement([]) is None
