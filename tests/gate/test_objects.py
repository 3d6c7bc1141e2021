"""Objects: sentences from the fixtures, and what stands against a name."""

# ruff: noqa: RUF001  (letters that look like others are what is tested)

from __future__ import annotations

import time
from typing import Any

import pytest

from gate.catalog import Catalog, ObjectType
from gate.clauses import split, unmasked
from gate.findings import find
from gate.language import LanguagePack
from gate.lexicon import compile_lexicon, scan
from gate.normalise import normalise
from gate.objects import Mention, Status, claims, mentions, mixes_scripts, shapes
from gate.records import Entry
from gate.registry import index_names
from gate.resolution import resolve
from tests.gate.texts import INSTITUTIONS, cases, request, situation

OBJECTS = {tag: cases("objects", tag) for tag in INSTITUTIONS}


@pytest.mark.parametrize(
    ("tag", "case"),
    [(tag, case) for tag, found in OBJECTS.items() for case in found],
    ids=lambda value: value if isinstance(value, str) else value["text"],
)
def test_sentence(tag: str, case: dict[str, Any]) -> None:
    configuration = INSTITUTIONS[tag]()
    asked = request(
        case["text"],
        history=case.get("history", ()),
        session=case.get("session"),
        candidates=case.get("candidates"),
    )
    found = resolve(
        configuration.catalog.actions[case["action"]],
        find(configuration, asked),
        situation(asked),
        configuration.registry.entries,
    )
    assert (found.object_id, found.reason, list(found.options)) == (
        case["object"],
        case.get("reason", ""),
        case.get("options", []),
    ), case["why"]


def test_fixtures_are_many_and_different() -> None:
    for tag, found in OBJECTS.items():
        assert len(found) >= 60, tag
        keys = [repr({k: v for k, v in c.items() if k != "why"}) for c in found]
        assert len(set(keys)) == len(keys), tag
    reasons = {c.get("reason") for found in OBJECTS.values() for c in found}
    assert {s.value for s in Status} - {
        "OK",
        "AMOUNT_DATE_OR_PHONE",
        "OVERLAPPING_NAMES",
    } <= reasons


# Names without an institution.

PACK = LanguagePack(
    "en",
    "latin",
    clause_marks=(".", ","),
    sentence_ends=(".",),
    negations=("not",),
    contrasts=("except",),
    topics=("as for",),
    name_prefixes=("global",),
    name_suffixes=("plus",),
    amount_units=("dollars", "kg"),
    amount_prefixes=("$", "usd"),
    calendar=("march", "mar"),
    street_words=("street",),
)
HAN = LanguagePack(
    "zh",
    "han",
    clause_marks=(",",),
    context_words=("的", "买入", "和"),
    measure_words=("只", "份"),
    numerals=("一", "百"),
    write_cues=("冻结",),
)
BARE = LanguagePack("xx", "latin")
CATALOG = Catalog("1", {}, {"FUND": ObjectType("FUND", {"en": ("fund",)})})
LEXICON = compile_lexicon((PACK, HAN), CATALOG)


def read(
    text: str, *names: str, own: tuple[str, ...] = ()
) -> list[tuple[str, tuple[str, ...], str]]:
    """The mentions of a text: the original piece, the ids (a name is its own id), the status."""
    indexes = [index_names(Entry(n, "FUND", n) for n in names)]
    if own:
        indexes.append(index_names(Entry(f"own-{n}", "FUND", n, own=True) for n in own))
    folded = normalise(text)
    parts = split(LEXICON, folded.folded, unmasked(scan(LEXICON, folded.folded)))
    found = mentions(LEXICON, indexes, folded, parts, claims(LEXICON, folded.folded))
    pieces = [text[slice(*folded.span(m.start, m.end))] for m in found]
    return [(p, m.owners, m.status.value) for p, m in zip(pieces, found, strict=True)]


def status(text: str, *names: str) -> str:
    """The status of the only mention, or `none`."""
    found = read(text, *names)
    return found[0][2] if found else "none"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("alpha beta", "OK"),
        ("ALPHA  BETA", "OK"),
        ("xalpha beta", "none"),
        ("alpha beta9", "none"),
        ("alpha betaж", "MIXED_SCRIPTS"),
        ("global alpha beta", "NAME_AFFIX"),
        ("xglobal alpha beta", "OK"),
        ("alpha beta plus", "NAME_AFFIX"),
        ("alpha beta-plus", "PART_OF_LONGER_NAME"),
        ("alpha beta·plus", "PART_OF_LONGER_NAME"),
        ("alpha beta (plus)", "NAME_AFFIX"),
        ("alpha beta surplus", "OK"),
        ("the Big alpha beta", "NAME_AFFIX"),
        ("alpha beta Big, they say", "NAME_AFFIX"),
        ("see. Big alpha beta", "OK"),
        ("see.\nBig alpha beta", "OK"),
        ("see\nBig alpha beta", "OK"),
        ('see "Big alpha beta"', "NAME_AFFIX"),
        ("BIG ALPHA BETA", "OK"),
        ("am I alpha beta", "OK"),
        ("not alpha beta", "NEGATED_OR_CONTRASTED"),
        ("all except alpha beta", "NEGATED_OR_CONTRASTED"),
        ("alpha beta except it", "OK"),
        ("not me, alpha beta", "OK"),
        ("as for alpha beta, not now", "NEGATED_OR_CONTRASTED"),
        ("as for alpha beta, yes", "OK"),
        ("as for alpha beta. not now", "OK"),
        ("v.alpha beta", "PART_OF_LONGER_NAME"),
        ("alpha beta.v", "PART_OF_LONGER_NAME"),
        ("alpha beta.", "OK"),
        ("alpha beta@example.org", "AMOUNT_DATE_OR_PHONE"),
    ],
)
def test_status_of_a_latin_name(text: str, expected: str) -> None:
    assert status(text, "alpha beta") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("黄金", "OK"),
        ("买入黄金", "OK"),
        ("冻结黄金", "OK"),
        ("买入一百份黄金", "OK"),
        ("买入2份黄金", "OK"),
        ("买入x份黄金", "PART_OF_LONGER_NAME"),
        ("买入一百黄金", "PART_OF_LONGER_NAME"),
        ("新的黄金", "PART_OF_LONGER_NAME"),
        ("买入的黄金", "OK"),
        ("新黄金", "PART_OF_LONGER_NAME"),
        ("x黄金", "PART_OF_LONGER_NAME"),
        ("黄金x", "PART_OF_LONGER_NAME"),
        ("黄金 x", "OK"),
        ("黄金9", "PART_OF_LONGER_NAME"),
        ("黄金9kg", "OK"),
        ("黄金，x", "OK"),
    ],
)
def test_status_of_a_han_name(text: str, expected: str) -> None:
    assert status(text, "黄金") == expected


def test_names_of_two_scripts_stand_beside_each_other() -> None:
    assert read("黄金和alpha", "黄金", "alpha") == [
        ("黄金", ("黄金",), "OK"),
        ("alpha", ("alpha",), "OK"),
    ]
    assert read("黄金白银", "黄金", "白银") == [
        ("黄金", ("黄金",), "OK"),
        ("白银", ("白银",), "OK"),
    ]


def test_the_longest_name_wins() -> None:
    assert read("alpha beta gamma", "alpha beta", "alpha beta gamma", "beta gamma") == [
        ("alpha beta gamma", ("alpha beta gamma",), "OK")
    ]


def test_overlapping_names_of_different_objects_are_ambiguous() -> None:
    assert [s for _, _, s in read("alpha beta gamma", "alpha beta", "beta gamma")] == [
        "OVERLAPPING_NAMES",
        "OVERLAPPING_NAMES",
    ]


def test_overlapping_names_of_one_object_are_not() -> None:
    index = index_names([Entry("A", "FUND", "alpha beta", ("beta gamma",))])
    folded = normalise("alpha beta gamma")
    found = mentions(LEXICON, [index], folded, (), ())
    assert [m.status for m in found] == [Status.OK, Status.OK]


def test_a_name_extended_into_a_part_of_another_is_ambiguous() -> None:
    names = ("alpha", "big alpha one fund")
    assert status("big alpha", *names) == "EXTENDED_INTO_ANOTHER_NAME"
    assert status("alpha one", *names) == "EXTENDED_INTO_ANOTHER_NAME"
    assert status("alpha-one", *names) == "EXTENDED_INTO_ANOTHER_NAME"
    assert status("alpha two", *names) == "OK"
    assert status("alpha", *names) == "OK"


def test_what_makes_one_name_longer_makes_any_name_longer() -> None:
    """A rest of one name (an issuer, a series) behind another: another product."""
    names = ("alpha", "alpha fund two", "gamma")
    assert status("gamma fund two", *names) == "NAME_AFFIX"
    assert status("gamma fund", *names) == "OK"


def test_one_name_of_registry_and_session_has_two_owners() -> None:
    assert read("alpha", "alpha", own=("alpha",)) == [
        ("alpha", ("alpha", "own-alpha"), "SEVERAL_OWNERS")
    ]


def test_a_run_of_mixed_scripts_is_reported_without_an_owner() -> None:
    assert read("аlpha or alpha", "alpha") == [
        ("аlpha", (), "MIXED_SCRIPTS"),
        ("alpha", ("alpha",), "OK"),
    ]
    assert read("Москва и Ωμέγα and x", "alpha") == []


@pytest.mark.parametrize(
    ("run", "mixed"),
    [
        ("abc", False),
        ("абв", False),
        ("αβγ", False),
        ("aб", True),
        ("aα", True),
        ("аα", True),
        ("a黄", False),
        ("aカ", False),
        ("a한", False),
        ("é1", False),
    ],
)
def test_mixture_is_of_latin_greek_and_cyrillic(run: str, mixed: bool) -> None:
    assert mixes_scripts(run) is mixed


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("nothing", []),
        ("12", []),
        ("12 dollars", ["12 dollars"]),
        ("12dollars", ["12dollars"]),
        ("12 dollarsx", []),
        ("$12", ["$12"]),
        ("$ 1,250.50", ["$ 1,250.50"]),
        ("usd 12", ["usd 12"]),
        ("xusd 12", []),
        ("2026-12-01", ["2026-12-01"]),
        ("1/12/2026", ["1/12/2026"]),
        ("2026年12月1日", ["2026年12月1日"]),
        ("2026年", ["2026年"]),
        ("12月1号", ["12月1号"]),
        ("in 2026", ["in 2026"]),
        ("in 20261", []),
        ("march 2026", ["march 2026"]),
        ("3 march 2026", ["3 march", "march 2026"]),
        ("march 3, 2026", ["march 3,", "2026"]),
        ("march 3, 4411", ["march 3,"]),
        ("kumar 2026", []),
        ("2026 alone", []),
        ("(555) 123-4567", ["(555) 123-4567"]),
        ("13912345678", ["13912345678"]),
        ("+4915112345678", ["+4915112345678"]),
        ("12 main street", ["12 main street"]),
        ("12 a b c street", ["12 a b c street"]),
        ("12 a b c d street", []),
        ("12 main streets", []),
        ("pat.12@example.org", ["pat.12@example.org"]),
        ("pat@example.org", ["pat@example.org"]),
    ],
)
def test_claims(text: str, claimed: list[str]) -> None:
    assert sorted({text[a:b] for a, b in claims(LEXICON, text)}) == sorted(claimed)


def test_packs_without_words_claim_numbers_by_their_form_alone() -> None:
    lexicon = compile_lexicon((BARE,), Catalog("1", {}))
    assert claims(lexicon, "12 main street $5 2026-12-01") == ((18, 28),)


def test_a_quantity_inside_a_name_is_part_of_it() -> None:
    assert status("a 30 kg bar", "30 kg bar") == "OK"
    assert status("a 30 kg bar", "kg bar") == "AMOUNT_DATE_OR_PHONE"


def test_shapes_are_what_no_list_holds() -> None:
    patterns = ("999999", "AB-99")
    text = "880001 and 990001, ab-12, xy-12, 1990001, ab-123"
    assert [text[a:b] for a, b in shapes(patterns, text, [(0, 6)])] == ["990001", "ab-12"]
    assert shapes((), text, []) == ()


def test_shapes_that_overlap_count_once() -> None:
    assert shapes(("9999-9", "9999"), "1234-5", []) == ((0, 6),)


def test_mentions_are_in_order() -> None:
    found = [m for _, (m, *_), _ in read("beta then alpha", "alpha", "beta")]
    assert found == ["beta", "alpha"]
    assert Mention(0, 1, (), Status.OK) < Mention(1, 2, (), Status.OK)


@pytest.mark.parametrize(
    ("tag", "unit"),
    [
        *(
            ("en", u)
            for u in ("and ", "please ", "HLGRX ", "it ", "'", '"', "that fund ", "1,", "a@")
        ),
        *(
            ("zh", u)
            for u in ("只", "的", "请", "再", "它", "那只", "是不是", "黄金ETF", "一只", "并且")
        ),
    ],
)
def test_reading_time_is_bounded(tag: str, unit: str) -> None:
    """Words that may be skipped, stand before a name or refer back, as often as fits."""
    configuration = INSTITUTIONS[tag]()
    limit = configuration.limits.utterance_chars
    text = (unit * limit)[: limit - 6] + ("HLGRX." if tag == "en" else "黄金ETF")
    started = time.thread_time()
    find(configuration, request(text, session="dana", history=[text[:1000]] * 4))
    assert time.thread_time() - started < 2
