"""Command grammars: every form, once, and one clear error for what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import ConfigError
from gate.load.commands import MOST, Capture, Form, forms

ANY, FUND = Capture(None), Capture("FUND")


def told(command: str) -> list[str]:
    """The forms as texts, spaces collapsed, a name as its type."""
    return [
        " ".join(f"{f.before} {f.name.object_type if f.name else ''} {f.after}".split())
        for f in forms(command)
    ]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("show fees", ["show fees"]),
        ("[please] show fees", ["show fees", "please show fees"]),
        ("( show|tell ) fees", ["show fees", "tell fees"]),
        ("[a [b] | c] d", ["d", "a d", "a b d", "c d"]),
        ("(a|) b", ["a b", "b"]),
        ("price of {object:FUND} now", ["price of FUND now"]),
        ("({object:FUND} price | price of {object:FUND})", ["FUND price", "price of FUND"]),
        ("(a|a) b", ["a b"]),
        ("请(查|看)余额", ["请查余额", "请看余额"]),
    ],
)
def test_forms_of_a_command(command: str, expected: list[str]) -> None:
    assert told(command) == expected


def test_a_name_stands_where_it_is_written() -> None:
    assert forms("of {object:FUND}'s") == (Form("of ", FUND, "'s"),)
    assert forms("of { object } ") == (Form("of ", ANY, " "),)


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("[a", "`[` is not closed"),
        ("(a]", "`(` is not closed"),
        ("a)", "`)` closes nothing"),
        ("]", "`]` closes nothing"),
        ("a {", "`{` stands alone"),
        ("a }", "`}` stands alone"),
        ("a {fund}", "`{fund}` is no place for a name"),
        ("a {}", "`{}` is no place for a name"),
        ("a {object:}", "is no place for a name"),
        ("a {object:FUND} b {object}", "two names"),
        ("[" * 9 + "a" + "]" * 9, "inside each other"),
        ("[a]" * 10 + "b", f"more than {MOST} forms"),
        ("(" + "|".join(map(str, range(MOST + 1))) + ")", f"more than {MOST} forms"),
    ],
)
def test_what_is_no_command_is_one_error(command: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        forms(command)
    assert problem in caught.value.problem
    assert caught.value.fix


@given(st.text(alphabet="ab |[](){}:object", max_size=30))
def test_any_text_is_a_command_or_one_error(command: str) -> None:
    try:
        found = forms(command)
    except ConfigError as error:
        assert error.fix
        return
    assert 1 <= len(found) <= MOST
    assert len(set(found)) == len(found)
    assert not any(c in f.before + f.after for f in found for c in "[](){}|")


def test_the_most_forms_are_made_in_a_moment_whatever_their_order() -> None:
    assert len(forms("x" + "[a]" * 9)) == 10
    assert (
        len({f.before for f in forms(" ".join("[" + c + "]" for c in "abcdefghi") + " x")}) == 512
    )
