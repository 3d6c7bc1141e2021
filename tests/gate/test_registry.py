"""The registry: names, who owns them, and what stands beside them in longer names."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import ConfigError
from gate.records import Entry
from gate.registry import build, find, index_names, names_of, unit_after, unit_before


def entry(object_id: str, *names: str) -> Entry:
    return Entry(object_id, "FUND", names[0], names[1:])


def found(text: str, *entries: Entry) -> list[tuple[int, str, tuple[str, ...]]]:
    return [(o.start, o.alias, o.owners) for o in find(index_names(entries), text)]


def test_names_are_folded_and_listed_once() -> None:
    assert names_of(entry("A", "Alpha  Fund", "ALPHA FUND", "ＡＬ-1")) == (  # noqa: RUF001
        "alpha fund",
        "al-1",
    )


def test_every_name_is_found_wherever_it_starts_longest_first() -> None:
    entries = (entry("A", "alpha"), entry("B", "alpha fund"), entry("C", "fund"))
    assert found("an alpha fund", *entries) == [
        (3, "alpha fund", ("B",)),
        (3, "alpha", ("A",)),
        (9, "fund", ("C",)),
    ]


def test_a_name_cut_off_by_the_end_is_not_found() -> None:
    assert found("alph", entry("A", "alpha")) == []
    assert found("", entry("A", "alpha")) == []
    assert found("a", entry("A", "alpha")) == []


def test_a_name_of_several_owners_names_them_all() -> None:
    assert found("savings", entry("A", "Savings"), entry("B", "savings")) == [
        (0, "savings", ("A", "B"))
    ]


def test_an_index_without_names_finds_nothing() -> None:
    assert found("alpha") == []


def test_a_short_name_of_a_session_is_left_out() -> None:
    assert found("x alpha", entry("A", "alpha", "x")) == [(2, "alpha", ("A",))]


def test_neighbours_inside_longer_names_of_others() -> None:
    index = index_names((entry("A", "alpha"), entry("B", "big alpha one"), entry("C", "大alpha金")))
    assert index.before["alpha"] == {"big", "大"}
    assert index.after["alpha"] == {"one", "金"}
    assert index.tails.words == {" one", "金"}


def test_a_longer_name_of_the_same_owner_is_no_neighbour() -> None:
    index = index_names((entry("A", "alpha", "alpha fund"),))
    assert (dict(index.before), dict(index.after), index.tails.words) == ({}, {}, set())


@pytest.mark.parametrize(
    ("text", "at", "after", "before"),
    [
        ("big alpha one", 4, "alpha", "big"),
        ("big-alpha", 4, "alpha", "big"),
        ("alpha", 5, "", "alpha"),
        ("alpha", 0, "alpha", ""),
        ("大金", 1, "金", "大"),
        ("a, b", 1, ",", "a"),
    ],
)
def test_a_unit_is_a_word_or_a_character(text: str, at: int, after: str, before: str) -> None:
    assert (unit_after(text, at), unit_before(text, at)) == (after, before)


def test_registry_holds_entries_by_id() -> None:
    registry = build((entry("A", "Alpha", "AL-1"), entry("B", "Beta")))
    assert list(registry.entries) == ["A", "B"]
    assert [o.owners for o in find(registry.names, "beta al-1")] == [("B",), ("A",)]
    with pytest.raises(TypeError):
        registry.entries["C"] = entry("C", "Gamma")  # type: ignore[index]


@pytest.mark.parametrize(
    ("entries", "problem", "fix"),
    [
        ((entry("A", "Alpha"), entry("A", "Beta")), "object `A` is listed twice", "remove one"),
        (
            (entry("A", "Alpha"), entry("B", "ALPHA")),
            "name `alpha` belongs to both `A` and `B`",
            "one owner",
        ),
        ((entry("A", "Alpha", "x"),), "name `x` of `A` is shorter than 2", "longer name"),
        ((entry("A", "\u200b"),), "name `` of `A` is shorter than 2", "longer name"),
    ],
)
def test_a_registry_that_cannot_be_used_says_why(
    entries: tuple[Entry, ...], problem: str, fix: str
) -> None:
    with pytest.raises(ConfigError, match=problem) as caught:
        build(entries)
    assert fix in caught.value.fix


def test_one_owner_may_repeat_its_name() -> None:
    assert list(build((entry("A", "Alpha", "alpha", "ALPHA"),)).entries) == ["A"]


@given(st.lists(st.text("ab", min_size=2, max_size=4), max_size=6), st.text("ab", max_size=12))
def test_index_finds_what_a_scan_over_all_names_finds(names: list[str], text: str) -> None:
    entries = [entry(str(i), name) for i, name in enumerate(dict.fromkeys(names))]
    scanned = sorted(
        (start, -len(name), name)
        for name in set(names)
        for start in range(len(text))
        if text.startswith(name, start)
    )
    assert [(s, a) for s, a, _ in found(text, *entries)] == [(s, a) for s, _, a in scanned]


def test_cost_does_not_grow_with_the_number_of_names() -> None:
    def cost(size: int) -> float:
        index = index_names(entry(str(i), f"fund number {i:07}") for i in range(size))
        text = "what is the price of fund number 0000007 today? " * 20
        times = []
        for _ in range(5):
            started = time.perf_counter()
            find(index, text)
            times.append(time.perf_counter() - started)
        return min(times)

    assert cost(20_000) < 10 * cost(20)
