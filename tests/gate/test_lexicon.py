"""The lexicon: packs and catalog compiled, and every phrase found in one scan."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.catalog import Action, Catalog, ObjectType
from gate.language import LanguagePack
from gate.lexicon import (
    ACTION_NOUN,
    ANAPHOR,
    KIND,
    LISTS,
    NEGATION,
    QUESTION,
    READ,
    TYPE_NOUN,
    WRITE,
    compile_lexicon,
    ends_word,
    is_word,
    scan,
    touches,
    word_set,
)
from gate.records import Mode

PACK = LanguagePack(
    "en",
    "latin",
    clause_marks=(".", ",", "-"),
    sentence_ends=(".",),
    negations=("not", "no", "do not"),
    questions=("no",),
    read_cues=("show", "show me"),
    anaphors=("that {noun}", "it"),
    quotes=('""', '""'),
    context_words=("of",),
    numerals=("one",),
    calendar=("march",),
)
HAN = LanguagePack("zh", "han", read_cues=("查",), negations=("不",), context_words=("的",))


def write(
    action_id: str, *verbs: str, nouns: tuple[str, ...] = (), mode: Mode | None = Mode.WRITE
) -> Action:
    return Action(action_id, "", "", mode, "none", (), verbs={"en": verbs}, nouns={"en": nouns})


CATALOG = Catalog(
    "1",
    {
        a.action_id: a
        for a in (
            write("BUY", "Buy", "Place an order", nouns=("Fund", "shares")),
            write("ORDER", "place an order"),
            write("READ", "look", mode=Mode.READ),
            write("BENCH", "bench", mode=None),
        )
    },
    {
        "FUND": ObjectType("FUND", {"en": ("fund", "funds")}),
        "CARD": ObjectType("CARD", {"en": ("card",)}, own=True, kinds={"en": ("credit card",)}),
    },
)
LEXICON = compile_lexicon((PACK, HAN), CATALOG)


def hits(text: str) -> list[tuple[int, str]]:
    return [(h.start, h.phrase) for h in scan(LEXICON, text)]


def test_phrases_carry_the_bits_of_all_their_lists() -> None:
    tags = LEXICON.tags
    assert tags["not"] == NEGATION
    assert tags["no"] == NEGATION | QUESTION
    assert tags["fund"] == TYPE_NOUN | ACTION_NOUN
    assert tags["shares"] == ACTION_NOUN
    assert tags["credit card"] == KIND
    assert tags["buy"] == WRITE
    assert tags["查"] == READ
    assert {tags["that fund"], tags["that card"], tags["it"]} == {ANAPHOR}
    assert "that {noun}" not in tags
    assert len(set(LISTS)) == len(LISTS)


def test_only_write_actions_declare_verbs_and_nouns() -> None:
    assert LEXICON.verbs == {"buy": {"BUY"}, "place an order": {"BUY", "ORDER"}}
    assert LEXICON.nouns == {"fund": {"BUY"}, "shares": {"BUY"}}
    assert "look" not in LEXICON.tags and "bench" not in LEXICON.tags


def test_han_verbs_may_stand_before_a_name() -> None:
    assert {"of", "的", "查", "buy"} <= LEXICON.context.words
    assert "show" not in LEXICON.context.words
    assert compile_lexicon((PACK,), CATALOG).context.words == {"of"}


def test_a_scan_finds_whole_words_longest_first() -> None:
    assert hits("do not show me it") == [
        (0, "do not"),
        (3, "not"),
        (7, "show me"),
        (7, "show"),
        (15, "it"),
    ]
    assert hits("nothing, knot it's") == [(14, "it")]
    assert hits("不查it查") == [(0, "不"), (1, "查"), (2, "it"), (4, "查")]
    assert hits("") == []
    assert hits("no") == [(0, "no")]


@given(st.text("nodit sh查不", max_size=16))
def test_a_scan_finds_what_every_phrase_tried_everywhere_finds(text: str) -> None:
    expected = [
        (start, phrase)
        for start in range(len(text))
        for phrase in sorted(LEXICON.tags, key=len, reverse=True)
        if text.startswith(phrase, start) and not touches(text, start, start + len(phrase))
    ]
    assert hits(text) == expected


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("a, b.", [",", "."]),
        ("1,000.50", []),
        ("1, 2.", [",", "."]),
        (".5 5.", [".", "."]),
        ("a...b", ["..."]),
        ("别。。买", ["。。"]),
        ("a-b", ["-"]),
    ],
)
def test_marks_stand_outside_of_numbers(text: str, marks: list[str]) -> None:
    assert [m.group() for m in LEXICON.marks.finditer(text)] == marks


def test_a_pack_without_marks_has_but_rows_of_stops() -> None:
    lexicon = compile_lexicon((LanguagePack("xx", "latin"),), Catalog("1", {}))
    assert [m.group() for m in lexicon.marks.finditer("a, b. c... d")] == ["..."]
    assert scan(lexicon, "anything at all") == []
    assert lexicon.addresses.search("12 main street") is None


def test_quotes_are_listed_once() -> None:
    assert LEXICON.quotes == ('""',)


@pytest.mark.parametrize(
    ("char", "word"), [("a", True), ("é", True), ("9", True), ("ж", True), ("汉", False),
                       ("カ", False), ("한", False), (" ", False), ("-", False), ("'", False)],
)  # fmt: skip
def test_letters_of_spaced_scripts_make_words(char: str, word: bool) -> None:
    assert is_word(char) is word


def test_words_end_where_no_letter_follows() -> None:
    assert ends_word("ab", 2) and ends_word("ab c", 2) and ends_word("a汉", 1)
    assert not ends_word("abc", 2)
    assert touches("xab", 1, 3) and touches("abx", 0, 2) and not touches("x ab汉", 2, 4)


def test_a_word_set_looks_beside_a_place() -> None:
    words = word_set(("kg", "k", "km h"))
    assert words.starting_at("5 kg.", 2) == 4
    assert words.starting_at("5 kgs", 2) == -1
    assert words.starting_at("5 km h", 2) == 6
    assert words.starting_at("5 ", 2) == -1
    assert words.starting_at("x", 0) == -1
    assert words.ending_at("5 kg", 4) == (2,)
    assert words.ending_at("k", 1) == (0,)
    assert words.ending_at("k", 0) == ()
    assert word_set(()).starting_at("a", 0) == -1
