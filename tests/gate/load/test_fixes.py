"""What a message repeats and what it suggests."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gate.errors import ConfigError
from gate.load.fixes import did_you_mean, nearest, placed, shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ("two\nlines`x`", "two?lines?x?"),
        ("x" * 61, "x" * 60 + "..."),
        ("x" * 60, "x" * 60),
        (None, "null"),
        (True, "true"),
        (Decimal("1.50"), "1.50"),
        ({"a": 1}, "{...}"),
        ([1], "[...]"),
        ("\u202ereversed", "?reversed"),
    ],
)
def test_shown_is_one_short_printable_line(value: object, text: str) -> None:
    assert shown(value) == text


def test_nearest_ignores_case_and_far_words() -> None:
    assert nearest("HandOf", ["HANDOFF", "REJECT"]) == "HANDOFF"
    assert nearest("zzz", ["HANDOFF", "REJECT"]) is None


def test_fix_lists_the_known_words_if_none_is_near() -> None:
    assert did_you_mean("zzz", ["b", "a"]) == "use one of `a`, `b`"
    assert did_you_mean("zzz", []) == "none is declared here; remove it"
    many = did_you_mean("zzz", [f"w{n:02}" for n in range(15)])
    assert many.endswith("`w11` and 3 more")


def test_error_is_placed_at_the_last_line_of_the_ids_it_quotes() -> None:
    error = ConfigError("`A` and `B` clash over `x`", fix="change one")
    found = placed(error, "f.csv", {"A": [2, 9], "B": [5], "C": [99], "x": []})
    assert str(found) == "f.csv:9: `A` and `B` clash over `x`; change one"
    assert placed(error, "f.csv", {}).line is None
