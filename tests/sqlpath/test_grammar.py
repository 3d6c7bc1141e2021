"""A model of any weights, even random ones, writes only what is admitted: 2,000 of 2,000."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

import pytest

from sqlpath import schema as schema_file
from sqlpath.admit import Admit, admit
from sqlpath.errors import QueryError
from sqlpath.execute import Database
from sqlpath.grammar import ROOT, Chars, Grammar, Rule, Word, grammar, kind_of
from sqlpath.pool import Limits
from sqlpath.schema import Column, Schema
from sqlpath.scope import SUBJECT, scope
from tests.models import ROOT as REPOSITORY

QUERIES = 2_000
NOW = datetime(2026, 12, 1, tzinfo=UTC)
BANK = REPOSITORY / "var/demo/bank.duckdb"


@pytest.fixture(scope="module")
def demo() -> Schema:
    return schema_file.load(REPOSITORY / "configs/demo")


@pytest.fixture(scope="module")
def bank() -> Iterator[Database]:
    with Database.open(BANK, Limits(rows=50, seconds=5, processes=1)) as opened:
        yield opened


def columns(value: Any) -> Iterator[tuple[str, ...]]:
    """Every column that a tree names."""
    if isinstance(value, dict):
        if value.get("class") == "COLUMN_REF":
            yield tuple(value["column_names"])
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from columns(item)


def test_random_sentences_are_admitted_and_touch_described_columns(
    demo: Schema, bank: Database
) -> None:
    """Chance over the grammar's choices stands for the model: what it cannot write, none can."""
    written, rng = grammar(demo), Random(20261201)  # noqa: S311 - reproducible, not secret
    ends: Counter[str] = Counter()
    texts = set()
    for _ in range(QUERIES):
        text = written.sample(rng)
        texts.add(text)
        parsed = bank.parse(text)
        assert (parsed.statements, parsed.error) == (1, ""), text
        verdict = admit(text, parsed, demo, verified_subject=True)
        assert isinstance(verdict, Admit), (text, verdict)
        assert verdict.limited
        for path in columns(json.loads(parsed.tree)):
            table = demo.find(path[0])
            assert table is not None, text
            assert len(path) == 2 and table.column(path[1]) is not None, text
        try:
            bank.run_scoped("q", scope(verdict, demo, 50, NOW), {SUBJECT: "C-1001"})
            ends["rows"] += 1
        except QueryError as error:
            ends[error.kind or error.reason] += 1
    assert ends["rows"] == QUERIES, ends
    assert len(texts) > QUERIES * 3 // 4


def test_grammar_ends(demo: Schema) -> None:
    assert 100 < grammar(demo).longest() < 2_000
    looped = {ROOT: ((Word("a"), Rule(ROOT)),)}
    with pytest.raises(RecursionError):
        Grammar(MappingProxyType(looped)).longest()


def test_every_rule_that_is_named_is_there_and_every_rule_is_named(demo: Schema) -> None:
    rules = grammar(demo).rules
    named = {
        symbol.name
        for choices in rules.values()
        for choice in choices
        for symbol in choice
        if isinstance(symbol, Rule)
    }
    assert named <= set(rules)
    assert set(rules) - named == {ROOT}


def test_notation_is_that_of_the_decoders() -> None:
    rules = {ROOT: ((Word('say "\\'), Rule("x")), ()), "x": ((Chars("a-c", 1, 3),),)}
    assert Grammar(MappingProxyType(rules)).ebnf() == (
        'root ::= "say \\"\\\\" x | ""\nx ::= [a-c]{1,3}\n'
    )


def test_characters_are_drawn_from_their_class() -> None:
    rules = {ROOT: ((Chars("a-c_", 1, 3),),)}
    drawn = {Grammar(MappingProxyType(rules)).sample(Random(n)) for n in range(300)}  # noqa: S311
    assert set("".join(drawn)) == set("abc_")
    assert {len(text) for text in drawn} == {1, 2, 3}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("BIGINT", "number"),
        ("DECIMAL(12,2)", "number"),
        ("DATE", "date"),
        ("TIMESTAMP", "date"),
        ("VARCHAR", "text"),
        ("BOOLEAN", "other"),
        ("INTERVAL", "other"),
    ],
)
def test_kind_of_a_column(kind: str, expected: str) -> None:
    assert kind_of(Column("c", kind)) == expected


def test_joins_are_the_described_ones(demo: Schema) -> None:
    joined = [
        name for name in grammar(demo).rules if name.endswith("-select") and "accounts" in name
    ]
    assert sorted(joined) == [
        "accounts-select",
        "cards-accounts-select",
        "standing-orders-accounts-select",
        "transactions-accounts-select",
    ]


def test_grammar_is_the_same_every_time(demo: Schema, tmp_path: Path) -> None:
    assert grammar(demo).ebnf() == grammar(demo).ebnf()
