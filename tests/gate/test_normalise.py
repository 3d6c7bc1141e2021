"""The normaliser: what is folded, and the way back to the original."""

# ruff: noqa: RUF001  (characters that look like others are what is tested)

from __future__ import annotations

import itertools
import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gate.normalise import fold, is_ignorable, normalise

MARKS = "\u0301\u0308\u0327\u0345\u05b4\u064b\u093f\u09be\u0bd7\u3099\uff9e\U0001d165"
JAMO = "\u1100\u1161\u11a8\u1112\u1175\u11ab\u3131\u314f\uffa1\uffc2\u115f\u1160\u3164"
STRANGE = (
    "\u200b\u200d\u202e\u2066\ufe0f\u00ad\u180e\U000e0041\ufeff\uffff\x00\x1c\u2028\u00a0\u3000"
)
FOLDED = "‘’´`“”«»″‐–—−'\"-ﬁﬃ㎏½ⅣßİıſΐΣςǅ𝒜Ａ０①ŉ"
WIDE = "汉字かなガｶ한글שלוםالعربية😀👨‍👩‍👧🇩🇪"

ANY = st.text(
    st.one_of(
        st.characters(exclude_categories=("Cs",)),
        st.sampled_from(MARKS + JAMO + STRANGE + FOLDED + WIDE + " \t\n abAB"),
    ),
    max_size=24,
)
WITH_SURROGATES = st.text(st.characters(), max_size=8)


@pytest.mark.parametrize(
    ("original", "folded"),
    [
        ("Freeze My CARD", "freeze my card"),
        ("STRASSE straße", "strasse strasse"),
        ("ＦＲＥＥＺＥ　１２３", "freeze 123"),
        ("ﬁne ㎏ ½ Ⅳ ①", "fine kg 1⁄2 iv 1"),
        ("don’t don‘t don‛t donʼt don´t don`t don′t don＇t", " ".join(["don't"] * 8)),
        ("don\u1ffdt don\u0384t don\u1fbdt don\u1fbft", " ".join(["don't"] * 4)),
        ("“a” „b‟ «c» ″d″ ＂e＂ 〝f〞", '"a" "b" "c" "d" "e" "f"'),
        ("‹a›", "'a'"),
        ("e‐mail e‑mail e‒mail e–mail e—mail e−mail e﹘mail e﹣mail e－mail", " ".join(["e-mail"] * 9)),
        ("a \t\r\n\u00a0\u3000\u2028 b", "a b"),
        ("  a  ", "a"),
        (" \u00a0\n", ""),
        ("", ""),
        ("HL\u200bG\u2060R\u00adX", "hlgrx"),
        ("\ufeffcard\ufe0f", "card"),
        ("ca\u202erd", "card"),
        ("\U000e0063ard", "ard"),
        ("\u200b", ""),
        ("cafe\u0301", "café"),
        ("\u1112\u1161\u11ab", "한"),
        ("ㅎㅏ", "하"),
        ("ｶﾞ", "ガ"),
        ("\u09c7\u09be", "ো"),
        ("İ", "i̇"),
        ("基金－Ａ　类", "基金-a 类"),
        ("查询，好吗？", "查询,好吗?"),
        ("a\uffffb", "a\uffffb"),
        ("👨\u200d👩\u200d👧", "👨👩👧"),
    ],
)  # fmt: skip
def test_fold_gives_the_normal_form(original: str, folded: str) -> None:
    assert fold(original) == folded


def test_every_ignorable_character_vanishes() -> None:
    ignorable = [chr(c) for c in range(sys.maxunicode + 1) if is_ignorable(chr(c))]
    assert len(ignorable) == 4174  # DerivedCoreProperties.txt, Default_Ignorable_Code_Point
    assert {fold(f"a{c}b") for c in ignorable} == {"ab"}


def _changes(char: str) -> bool:
    """True for a character that folding may change, or that may change with its neighbours."""
    if unicodedata.category(char) in ("Cn", "Co", "Cs"):
        return False
    same = unicodedata.normalize("NFKC", char) == char == char.casefold()
    return not same or unicodedata.category(char).startswith("M") or "\u1100" <= char <= "\u11ff"


def test_folding_every_character_among_others_is_idempotent() -> None:
    for char in filter(_changes, map(chr, range(sys.maxunicode + 1))):
        once = fold(f"{char}カ{char}\u1100{char}\u09c7{char}\u1161")
        assert fold(once) == once, hex(ord(char))


@given(ANY)
@example("\u0301 \u0301")
@example("´ ´´")
@example("\u1100\u200b\u1161\u11a8")
@example(" ˜ ˜a")
def test_folding_is_idempotent(text: str) -> None:
    once = fold(text)
    assert fold(once) == once


@given(WITH_SURROGATES)
def test_a_lone_surrogate_is_kept_and_raises_nothing(text: str) -> None:
    once = fold(text)
    assert fold(once) == once


@given(ANY)
def test_normal_form_is_nfkc_folded_and_collapsed(text: str) -> None:
    folded = fold(text)
    assert unicodedata.is_normalized("NFKC", folded)
    assert folded == folded.casefold() or unicodedata.normalize("NFKC", folded.casefold()) == folded
    assert not any(map(is_ignorable, folded))
    assert not any(c.isspace() and c != " " for c in folded)
    assert "  " not in folded
    assert folded == folded.strip(" ")


@given(ANY)
def test_spans_are_monotone_and_inside_the_original(text: str) -> None:
    found = normalise(text)
    assert len(found.starts) == len(found.ends) == len(found.folded)
    spans = list(zip(found.starts, found.ends, strict=True))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert spans == sorted(spans)
    assert all(a[1] <= b[0] or a == b for a, b in itertools.pairwise(spans))


@given(ANY)
def test_every_folded_character_comes_from_its_span(text: str) -> None:
    found = normalise(text)
    for position, char in enumerate(found.folded):
        start, end = found.span(position, position + 1)
        origin = fold("x" + text[start:end] + "x")
        assert char in origin, (char, text[start:end])


@given(ANY)
def test_a_plain_text_is_its_own_map(text: str) -> None:
    found = normalise(text)
    if found.plain:
        assert len(found.folded) == len(text)
        assert all(found.span(i, i + 1) == (i, i + 1) for i in range(len(text)))


@pytest.mark.parametrize(
    ("original", "word", "piece"),
    [
        ("  Tell   me", "tell me", "Tell   me"),
        ("HL\u200bGRX now", "hlgrx", "HL\u200bGRX"),
        ("see ﬁnd", "find", "ﬁnd"),
        ("cafe\u0301 ok", "café", "cafe\u0301"),
        ("２０２６年", "2026", "２０２６"),
        ("the ½ share", "1⁄2", "½"),
    ],
)
def test_span_leads_back(original: str, word: str, piece: str) -> None:
    found = normalise(original)
    at = found.folded.index(word)
    start, end = found.span(at, at + len(word))
    assert original[start:end] == piece


def test_an_empty_span_is_nothing() -> None:
    assert normalise("abc").span(1, 1) == (0, 0)
