"""Chunks: nothing lost, nothing too long, every part with its own place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.chunk import MOST_WORDS, chunk, sentences
from retrieval.document import Block, Document
from tests.retrieval.samples import source

MARKS = st.text("ab .!?\"')([\u201c\u201d\u3002", max_size=30)
WORDS = st.lists(
    st.sampled_from(["wire", "costs", "$20.00", "Fee.", "e.g.", "No", "card."]), min_size=1
)
TEXTS = st.lists(
    st.tuples(WORDS.map(" ".join), st.sampled_from([(), ("A",), ("A", "B"), ("C",)])), min_size=1
)


def document(parts: list[tuple[str, tuple[str, ...]]]) -> Document:
    blocks = [Block(text, headings, n) for n, (text, headings) in enumerate(parts, start=1)]
    return Document(source("a.md", "Title"), "0" * 64, tuple(blocks))


@given(TEXTS, st.integers(1, 30), st.integers(5, 40))
def test_no_word_is_lost_or_moved(
    parts: list[tuple[str, tuple[str, ...]]], least: int, most: int
) -> None:
    found = chunk(document(parts), least, most)
    words = [word for item in found for block in item.blocks for word in block.text.split()]
    assert words == [word for text, _ in parts for word in text.split()]


@given(TEXTS, st.integers(1, 30), st.integers(5, 40))
def test_no_chunk_is_longer_than_most(
    parts: list[tuple[str, tuple[str, ...]]], least: int, most: int
) -> None:
    for item in chunk(document(parts), least, most):
        assert sum(block.words for block in item.blocks) <= most


@given(TEXTS, st.integers(1, 30))
def test_ids_are_unique_and_name_file_and_paragraph(
    parts: list[tuple[str, tuple[str, ...]]], least: int
) -> None:
    found = chunk(document(parts), least, 20)
    ids = [item.chunk_id for item in found]
    assert len(set(ids)) == len(ids)
    assert all(
        i.startswith(f"a.md#{c.blocks[0].paragraph}") for i, c in zip(ids, found, strict=True)
    )


def test_short_sections_share_a_chunk_and_keep_their_headings() -> None:
    found = chunk(document([("one", ("A",)), ("two", ("B",))]))
    assert [[b.headings for b in item.blocks] for item in found] == [[("A",), ("B",)]]


def test_new_heading_ends_a_chunk_that_is_long_enough() -> None:
    found = chunk(document([("word " * 90, ("A",)), ("two", ("B",))]))
    assert [len(item.blocks) for item in found] == [1, 1]


def test_long_block_is_cut_between_sentences() -> None:
    text = " ".join(f"Sentence number {n} ends here." for n in range(60))
    found = chunk(document([(text, ("A",))]))
    assert len(found) > 1
    assert all(block.text.endswith("here.") for item in found for block in item.blocks)
    assert {block.paragraph for item in found for block in item.blocks} == {1}
    assert [item.chunk_id for item in found[:2]] == ["a.md#1", "a.md#1.2"]


def test_endless_sentence_is_cut_between_words() -> None:
    found = chunk(document([("word " * 1000, ())]))
    assert max(sum(b.words for b in item.blocks) for item in found) <= MOST_WORDS


def test_indexed_text_holds_title_and_each_heading_once() -> None:
    (item,) = chunk(document([("one", ("Title", "A")), ("two", ("Title", "A")), ("three", ("B",))]))
    assert item.indexed_text == "Title\nA\nB\none\ntwo\nthree"


@given(MARKS)
def test_splitting_loses_no_character(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two.", ("One.", "Two.")),
        ("It costs $2.50 today. Call us.", ("It costs $2.50 today.", "Call us.")),
        ("See No. 5 there. Then go.", ("See No. 5 there.", "Then go.")),
        ("Mail, e.g. Monday. Or not?", ("Mail, e.g. Monday.", "Or not?")),
        ("He said \u201cno.\u201d She left.", ("He said \u201cno.\u201d", "She left.")),
        ('He said "no." She left.', ('He said "no."', "She left.")),
        ("Really?! Yes.", ("Really?!", "Yes.")),
        ("费用是20元。请致电。", ("费用是20元。", "请致电。")),
        ("no end", ("no end",)),
        ("", ()),
    ],
)
def test_sentences(text: str, expected: tuple[str, ...]) -> None:
    assert sentences(text) == expected
