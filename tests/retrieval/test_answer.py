"""Evidence and the extractive answer: quoted word for word, from the right section."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.answer import MOST_WORDS, extract
from retrieval.chunk import Chunk, sentences
from retrieval.document import Block
from retrieval.evidence import MOST_PASSAGES, About, Passage, closed_list
from retrieval.search import Hit
from tests.retrieval.samples import source


def hit(parts: Sequence[tuple[str, str, float]], file: str = "a.md", title: str = "Title") -> Hit:
    """A hit of one chunk: `(heading, sentence, score)` per sentence, a block per sentence."""
    blocks = tuple(
        Block(text, (heading,), n) for n, (heading, text, _) in enumerate(parts, start=1)
    )
    chunk = Chunk(f"{file}#1", source(file, title), "0" * 64, blocks)
    assert [text for _, text in chunk.sentences] == [text for _, text, _ in parts]
    return Hit(chunk, {}, 0.03, 0.5, 0.5, 0.0, tuple(score for _, _, score in parts))


def names(text: str) -> About:
    """Fund A is the one asked about, fund B another one."""
    folded = text.casefold()
    if "fund a" in folded:
        return About.THIS
    return About.OTHER if "fund b" in folded else About.NONE


def texts(passages: Sequence[Passage]) -> list[tuple[str, str]]:
    return [(p.evidence_id, p.text) for p in passages]


def test_each_section_is_its_own_entry() -> None:
    found = closed_list([hit([("A", "One.", 0.1), ("A", "Two.", 0.2), ("B", "Three.", 0.3)])])
    assert texts(found) == [("E1", "One.\nTwo."), ("E2", "Three.")]
    assert [p.headings for p in found] == [("A",), ("B",)]
    assert [[score for _, _, score in p.sentences] for p in found] == [[0.1, 0.2], [0.3]]


def test_list_is_bounded() -> None:
    many = [hit([(f"H{n}", f"Text {n}.", 0.1)], f"{n}.md") for n in range(20)]
    assert len(closed_list(many)) == MOST_PASSAGES


def test_section_about_another_object_is_no_evidence() -> None:
    found = closed_list(
        [hit([("Fund B", "It is risky.", 0.9), ("Fund A", "It is calm.", 0.5)])], names
    )
    assert texts(found) == [("E1", "It is calm.")]


def test_innermost_heading_speaks_before_title_and_text() -> None:
    parts = [("Fund A", "Unlike fund B it is calm.", 0.5)]
    assert closed_list([hit(parts, title="Fund B")], names)[0].about is About.THIS
    general = [("General", "Costs differ.", 0.5)]
    assert closed_list([hit(general, title="Fund B")], names) == ()


def test_entries_that_name_the_object_come_first() -> None:
    general, own = hit([("Costs", "All cost.", 0.9)]), hit([("Fund A", "It costs.", 0.1)], "b.md")
    assert [p.source.file for p in closed_list([general, own], names)] == ["b.md", "a.md"]
    assert [p.source.file for p in closed_list([general, own], names, About.THIS)] == ["b.md"]


def test_best_sentence_is_quoted_with_its_place() -> None:
    passages = closed_list([hit([("A", "One.", 0.1), ("B", "Two.", 0.6), ("B", "Three.", 0.2)])])
    (quote,) = extract(passages)
    assert (quote.text, quote.passage.evidence_id, quote.block.paragraph) == ("Two.", "E2", 2)
    assert quote.score == 0.6


def test_like_neighbours_of_the_same_section_are_quoted_too() -> None:
    parts = [("A", "One.", 0.5), ("A", "Two.", 0.6), ("A", "Three.", 0.5), ("B", "Four.", 0.6)]
    assert [q.text for q in extract(closed_list([hit(parts)]))] == ["One.", "Two.", "Three."]


def test_sentences_of_one_block_are_one_quote() -> None:
    block = Block("It is free. It takes a day.", ("A",), 4)
    chunk = Chunk("a.md#4", source("a.md"), "0" * 64, (block,))
    found = extract(closed_list([Hit(chunk, {}, 0.03, 0.5, 0.5, 0.0, (0.6, 0.6))]))
    assert [(q.text, q.block.paragraph) for q in found] == [("It is free. It takes a day.", 4)]


def test_answer_is_short() -> None:
    parts = [("A", "word " * 20 + f"number {n}.", 0.6) for n in range(10)]
    quotes = extract(closed_list([hit(parts)]))
    assert 20 <= sum(len(q.text.split()) for q in quotes) <= MOST_WORDS


def test_sentence_about_another_object_is_never_quoted() -> None:
    parts = [("Choosing", "Fund B is risky.", 0.9), ("Choosing", "Fund A is calm.", 0.5)]
    assert [q.text for q in extract(closed_list([hit(parts)], names), names)] == ["Fund A is calm."]


def test_nothing_to_quote_gives_nothing() -> None:
    assert extract(()) == ()
    assert extract(closed_list([hit([("X", "Fund B is risky.", 0.9)])]), names) == ()


def test_quotes_are_word_for_word() -> None:
    parts = [("A", "Pay $2.50, e.g. on Monday.", 0.6), ("A", "Not before.", 0.55)]
    for quote in extract(closed_list([hit(parts)])):
        assert quote.text in quote.block.text
        assert all(text in quote.passage.text for text in sentences(quote.text))
