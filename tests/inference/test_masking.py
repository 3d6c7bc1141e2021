"""Masking: of an own object's number, four digits are all that anybody is shown."""

from __future__ import annotations

import ast
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.load.requests import request_of
from gate.masking import KEPT, masked
from gate.records import Entry
from inference.appliance import Appliance
from inference.masking import masked_in, shown_name
from inference.way import answer
from tests.gate.demo import demo_state
from tests.inference.asking import proposing
from tests.models import ROOT

DIGITS = ["0123456789", "".join(chr(0xFF10 + n) for n in range(10)), "٠١٢٣٤٥٦٧٨٩", "⁰¹²³⁴⁵⁶⁷⁸⁹"]
GAPS = ["", "", "", " ", "-", ".", " - ", "\u00a0", "\u2011", "\u200b", "/", "\u3000"]
NUMBERS = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from(DIGITS), st.sampled_from(GAPS)),
    min_size=5,
    max_size=24,
).map(lambda parts: "".join(f"{alphabet[n]}{gap}" for n, alphabet, gap in parts).rstrip(" -./"))
WORDS = st.sampled_from(["Card ", "Everyday Checking ", "IBAN DE", "ending ", "", " (joint)", " x"])


def longest(text: str) -> int:
    """Digits in the longest number, in a reading of its own."""
    plain = unicodedata.normalize("NFKC", text).replace("\u200b", "")
    bare = re.sub(r"[\s./\u2010-\u2015-]+", "", plain)
    return max((len(run) for run in re.findall(r"\d+", bare)), default=0)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Debit card 5316220499814411", "Debit card ••••4411"),
        ("Debit card 5316 2204 9981 4411", "Debit card ••••4411"),
        ("Debit card 5316-2204.9981 - 4411 (blue)", "Debit card ••••4411 (blue)"),
        ("Card \uff15\uff13\uff11\uff16\uff12\uff12\uff10\uff14\uff14", "Card ••••2044"),
        ("Card 5\u200b3\u200b1\u200b6\u200b2", "Card ••••3162"),
        ("DE89 3704 0044 0532 0130 00", "DE••••3000"),
        ("GB29 NWBK 6016 1331 9268 19", "GB29 NWBK ••••6819"),
        ("Everyday Checking ending 4411", "Everyday Checking ending 4411"),
        ("12345 and 678901", "••••2345 and ••••8901"),
        ("••••4411", "••••4411"),
        ("", ""),
    ],
)
def test_last_four_digits_stay(text: str, shown: str) -> None:
    assert masked(text) == shown


@given(WORDS, NUMBERS, WORDS, NUMBERS, WORDS)
def test_no_number_is_longer_than_four(a: str, first: str, b: str, second: str, c: str) -> None:
    shown = masked(f"{a}{first}{b}{second}{c}")
    assert longest(re.sub("•+", "x", shown)) <= KEPT
    assert masked(shown) == shown


@given(st.text(st.characters(exclude_categories=["Nd", "No"])))
def test_text_without_digits_stays(text: str) -> None:
    assert masked(text) == text


def test_public_names_keep_their_numbers() -> None:
    fund = Entry("F", "FUND", "Target Fund 202655")
    assert shown_name(fund) == "Target Fund 202655"
    assert shown_name(Entry("A", "ACCOUNT", "Savings 202655", own=True)) == "Savings ••••2655"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("freeze 5316 2204 9981 4411 now", "freeze ••••4411 now"),
        ("freeze 5316 2204 9981", "freeze ••••9981"),
        ("move 250000 to 4411", "move 250000 to 4411"),
        ("the card of 9999 8888 7777 6666", "the card of 9999 8888 7777 6666"),
    ],
)
def test_in_a_text_only_own_numbers_are_masked(text: str, shown: str) -> None:
    card = Entry("C", "CARD", "Debit card", ("5316220499814411",), own=True)
    assert masked_in(text, [card]) == shown
    assert masked_in(text, [Entry("F", "FUND", "5316220499814411")]) == text


def numbered(numbers: list[str]) -> dict[str, Any]:
    """A session whose cards have these names."""
    objects = [
        {"object_id": f"CARD-{i}", "object_type": "CARD", "display_name": f"Card {n} blue"}
        for i, n in enumerate(numbers)
    ]
    return {"subject": "C-1001", "entitlements": ["member"], "objects": objects}


@pytest.mark.parametrize(
    "numbers",
    [
        ["5316220499814411", "5316220499819024"],
        ["5316 2204 9981 4411", "5316-2204-9981-9024"],
        ["\uff15\uff13\uff11\uff16\uff12\uff12\uff10\uff14", "5316.2204"],
        ["5316220499814411"],
    ],
)
@pytest.mark.parametrize("utterance", ["Freeze my card.", "Freeze my card, please."])
def test_no_message_shows_more(appliance: Appliance, numbers: list[str], utterance: str) -> None:
    value = {
        "request_id": "1",
        "channel": "web",
        "utterance": utterance,
        "state": demo_state("FREEZE_CARD", {}),
        "session": numbered(numbers),
    }
    request = request_of(value, appliance.configuration, "test")
    said = answer(proposing(appliance, "FREEZE_CARD"), request)
    named = said.rule_id == "G-OBJECT" or "Card" in said.message
    assert named == ("••••" in said.message)
    assert longest(said.message.replace("•", "x")) <= KEPT


def test_messages_read_no_display_name_themselves() -> None:
    for name in ("messages", "speaking", "turns", "writes", "routing", "execution"):
        path = ROOT / f"inference/{name}.py"
        if not path.exists():
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        reads = [n for n in ast.walk(tree) if getattr(n, "attr", "") == "display_name"]
        assert not reads, f"{name}: show it with `masking.shown_name`"
