"""Clauses: where they begin and end, what they ask for, and what only talks."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.clauses import Clause, quoted_spans, skip, split, unmasked
from gate.government import governed
from gate.lexicon import CONDITIONAL, NEGATION, QUESTION, READ, REPORTED, WRITE, scan
from gate.normalise import fold
from tests.gate.texts import demo, haideng

ENGLISH, CHINESE = demo().lexicon, haideng().lexicon


def clauses(text: str, lexicon: object = ENGLISH) -> tuple[Clause, ...]:
    folded = fold(text)
    return split(lexicon, folded, unmasked(scan(lexicon, folded)))  # type: ignore[arg-type]


def pieces(text: str, lexicon: object = ENGLISH) -> list[str]:
    folded = fold(text)
    return [folded[c.start : c.end].strip() for c in clauses(text, lexicon)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("hello", ["hello"]),
        ("hello, you", ["hello,", "you"]),
        ("one. two! three? four; five: six", ["one.", "two!", "three?", "four;", "five:", "six"]),
        ("$1,250.50 or so", ["$1,250.50 or so"]),
        ("cards and loans", ["cards and loans"]),
        ("freeze it and close it", ["freeze it", "and close it"]),
        ("freeze it and please close it", ["freeze it", "and please close it"]),
        ("freeze it and now close it", ["freeze it", "and now close it"]),
        ("freeze it but tell me", ["freeze it", "but tell me"]),
        ("my balance and what is yours", ["my balance", "and what is yours"]),
        ('he wrote "freeze it" there', ['he wrote "', 'freeze it"', "there"]),
        ("wait... freeze it", ["wait...", "freeze it"]),
        ("，，", [",", ","]),
    ],
)
def test_clauses_are_cut_at_marks_and_words(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_han_clauses_are_cut_at_marks_and_words() -> None:
    assert pieces("冻结卡，并注销账户。谢谢", CHINESE) == ["冻结卡,", "并注销账户。", "谢谢"]
    assert pieces("别。。。冻结", CHINESE) == ["别。。。", "冻结"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("a, b. c", [0, 0, 1]),
        ("a: b; c", [0, 0, 1]),
        ("a... b", [0, 0]),
        ("a? b", [0, 1]),
    ],
)
def test_sentences_end_at_their_marks(text: str, sentences: list[int]) -> None:
    assert [c.sentence for c in clauses(text)] == sentences


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("nothing", []),
        ('say "this" now', ['"this"']),
        ("say “this” and «that»", ['"this"', '"that"']),
        ('say "this', ['"this']),
        ('say "', ['"']),
        ("say 'this' now", ["'this'"]),
        ("say `this` now", ["'this'"]),
        ("it's my wife's card", []),
        ("my parents' card, it's 'this'", ["'this'"]),
        ("'tis so", []),
        ("'this", []),
        ("say 'it's so' now", ["'it's so'"]),
    ],
)
def test_quotations(text: str, quoted: list[str]) -> None:
    folded = fold(text)
    assert [folded[a : b + 1] for a, b in quoted_spans(ENGLISH, folded)] == quoted


def test_han_quotations() -> None:
    folded = fold("页面写着「冻结」和『销户』，还有“买入”")
    spans = quoted_spans(CHINESE, folded)
    assert sorted(folded[a : b + 1] for a, b in spans) == ['"买入"', "「冻结」", "『销户』"]


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        ("freeze my card", ["freeze"]),
        ("please freeze my card", ["freeze"]),
        ("please, can you please freeze my card", ["freeze"]),
        ("i want to freeze and close it", ["freeze"]),
        ("need to freeze it", ["freeze"]),
        ("they need to freeze it", []),
        ("can you tell me and freeze it", []),
        ("can you show me what to freeze", []),
        ("purchase history", []),
        ("freeze fees", []),
        ("i said nothing", []),
        ("hello", []),
    ],
)
def test_what_a_request_governs(text: str, verbs: list[str]) -> None:
    folded = fold(text)
    first = clauses(text)[-1] if text.startswith("please,") else clauses(text)[0]
    assert [h.phrase for h in governed(ENGLISH, first, folded)] == verbs


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        ("请冻结卡", ["冻结"]),
        ("请把卡冻结", ["冻结"]),
        ("请把冻结", []),
        ("请提交买入", ["提交", "买入"]),
        ("请提交我买入", ["提交", "买入"]),
        ("请取消买入", ["取消", "买入"]),
        ("请把卡冻结买入", ["冻结", "买入"]),
        ("请冻结了", []),
        ("请打印冻结", []),
        ("卡冻结", []),
        ("冻结卡买入", ["冻结"]),
    ],
)
def test_what_a_han_request_governs(text: str, verbs: list[str]) -> None:
    assert [h.phrase for h in governed(CHINESE, clauses(text, CHINESE)[0], fold(text))] == verbs


def flags(text: str) -> list[str]:
    """Per clause: request, question, quoted, aside, talk, by their first letters."""
    names = ("request", "question", "quoted", "aside", "talk")
    return ["".join(n[0] for n in names if getattr(c, n)) for c in clauses(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("freeze it", ["r"]),
        ("freeze it?", ["qat"]),
        ("please freeze it?", ["r"]),
        ("do not freeze it", ["at"]),
        ("do not freeze it, close it", ["at", "at"]),
        ("do not freeze it, please close it", ["at", "r"]),
        ("do not freeze it. close it", ["at", "r"]),
        ("do not, please, freeze it", ["at", "at", "at"]),
        ("do not, please, freeze it. close it", ["at", "at", "at", "r"]),
        ("this is not mine, freeze it", ["at", "r"]),
        ("how do i freeze it, close it", ["qat", "qat"[1:]]),
        ("if it rings, freeze it", ["t", "t"]),
        ("freeze it, if it rings", ["t", "t"]),
        ("if it rings. freeze it", ["t", "r"]),
        ("he said freeze it", ["at"]),
        ("he said it is lost, please freeze it", ["at", "r"]),
        ("freeze it, he said", ["t", "at"]),
        ("he said: please freeze it", ["at", "at"]),
        ("tell me this: freeze it", ["r", "at"]),
        ("freeze it, never", ["t", "at"]),
        ("buy or sell it?", ["t", "qat"]),
        ('"freeze it"', ["", "qt"]),
        ("i tried to freeze it", ["t"]),
        ("please freeze what was lost", ["qat"]),
        ("please freeze it, lost yesterday", ["r", "t"]),
        ("please freeze the lost one of yesterday", ["r"]),
        ("yesterday please freeze it", ["t"]),
        ("we had a chat yesterday", ["t"]),
    ],
)
def test_flags(text: str, expected: list[str]) -> None:
    assert flags(text) == expected


def test_a_clause_knows_its_negators_and_what_it_carries() -> None:
    (plain,) = clauses("freeze it")
    (negated,) = clauses("do not freeze it")
    (complete,) = clauses("this is not mine")
    (question,) = clauses("how is it")
    assert (plain.negated, plain.carries) == (False, False)
    assert (negated.negated, negated.carries) == (True, True)
    assert (complete.negated, complete.carries) == (True, False)
    assert (question.negated, question.carries) == (False, True)


def left(text: str, lexicon: object = ENGLISH) -> dict[str, int]:
    """The bits that each phrase keeps."""
    return {h.phrase: h.tags for h in unmasked(scan(lexicon, fold(text)))}  # type: ignore[arg-type]


def test_an_exception_takes_the_cues_that_it_touches() -> None:
    assert not left("if possible")["if possible"] & CONDITIONAL
    assert "if" not in left("if possible")
    assert left("if it is free")["if"] & CONDITIONAL
    assert "not" not in left("not only")
    assert left("not now")["not"] & NEGATION
    assert "find" not in left("i can't find it")
    assert left("find it")["find"] & READ


def test_an_exception_keeps_its_own_bits_unless_a_longer_one_holds_it() -> None:
    assert left("what's up")["what's"] & QUESTION
    assert left("是不是", CHINESE)["是不是"] & QUESTION
    assert "do not" not in left("do not know")


def test_a_request_form_takes_the_question_inside_it() -> None:
    assert not left("能不能帮我", CHINESE).get("能不能", 0) & QUESTION
    assert left("能不能", CHINESE)["能不能"] & QUESTION
    assert left("我想了解", CHINESE)["了解"] & READ


def test_unmasked_leaves_hits_without_exceptions_alone() -> None:
    hits = scan(ENGLISH, "do not freeze")
    assert unmasked(hits) == hits
    assert [h.tags & WRITE for h in hits if h.phrase == "freeze"] == [WRITE]


def test_skip_goes_over_space_punctuation_and_jumps() -> None:
    assert skip("  , x", 0, {}) == 4
    assert skip("please x", 0, {0: 6}) == 7
    assert skip("'x", 0, {}) == 0
    assert skip("ok ok", 0, {0: 2, 3: 5}) == 5
    assert skip("", 0, {}) == 0


def test_reports_and_conditions_are_bits_of_their_clause() -> None:
    (reported,) = clauses("she said so")
    assert reported.tags & REPORTED
    assert clauses("other")[0].tags == 0


PARTS = [*"ab .,?!\"':", "not ", "freeze ", "please ", "and ", "if ", "he said "]


@given(st.lists(st.sampled_from(PARTS), max_size=24).map("".join))
def test_clauses_cover_their_hits_in_order(text: str) -> None:
    folded = fold(text)
    found = clauses(text)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    assert all(0 <= c.start < c.end <= len(folded) for c in found)
    assert all(c.start <= h.start and h.end <= c.end for c in found for h in c.hits)
    assert all(not (c.request and c.talk) for c in found)
