"""A grammar of SELECTs over the described tables, without recursion: whatever decodes it, it ends.

Rules refer only to rules of a lower level, so the longest sentence is finite and known. A model that
writes under this grammar, whatever its weights, names described tables, columns, values, functions
and joins, and nothing else. `Grammar.ebnf` is the notation of xgrammar and llama.cpp; `sample` draws
a sentence at random, as a model without any knowledge would.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Final

from sqlpath.schema import Column, Schema, Table, fold
from sqlpath.scope import quoted

ROOT: Final = "root"
MOST_ITEMS: Final = 3
"""Most columns or aggregates of one SELECT."""
MOST_ROWS: Final = ("1", "5", "10", "20", "50")
OPERATORS: Final = ("=", "<>", "<", "<=", ">", ">=")
NUMBERS: Final = re.compile(
    r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL.*|NUMERIC.*|DOUBLE|FLOAT|REAL)"
)
DATES: Final = re.compile(r"(DATE|TIMESTAMP.*|DATETIME)")


@dataclass(frozen=True, slots=True)
class Word:
    """Fixed text."""

    text: str


@dataclass(frozen=True, slots=True)
class Rule:
    """Another rule, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Chars:
    """`least` to `most` characters of a class, which is written as in a regular expression."""

    listed: str
    least: int
    most: int


Symbol = Word | Rule | Chars
Choice = tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules by name, each a list of choices; `ROOT` is the statement."""

    rules: Mapping[str, tuple[Choice, ...]]

    def ebnf(self) -> str:
        """The grammar as text, one rule a line."""
        lines = (
            f"{name} ::= {' | '.join(' '.join(map(_shown, choice)) or _QUOTED_NOTHING for choice in choices)}"
            for name, choices in self.rules.items()
        )
        return "\n".join(lines) + "\n"

    def sample(self, rng: Random, name: str = ROOT) -> str:
        """One sentence, every choice equally likely."""
        return "".join(self._drawn(rng, symbol) for symbol in rng.choice(self.rules[name]))

    def _drawn(self, rng: Random, symbol: Symbol) -> str:
        match symbol:
            case Word(text=text):
                return text
            case Rule(name=name):
                return self.sample(rng, name)
            case Chars(listed=listed, least=least, most=most):
                size = rng.randint(least, most)
                return "".join(rng.choice(_members(listed)) for _ in range(size))

    def longest(self, name: str = ROOT) -> int:
        """Characters of the longest sentence; finite for every grammar without recursion."""
        return _longest(self.rules, name, {})


_QUOTED_NOTHING: Final = '""'


def _shown(symbol: Symbol) -> str:
    match symbol:
        case Word(text=text):
            escaped = text.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{escaped}"'
        case Rule(name=name):
            return name
        case Chars(listed=listed, least=least, most=most):
            return f"[{listed}]{{{least},{most}}}"


def _members(listed: str) -> list[str]:
    """The characters of a class of single characters and ranges."""
    found: list[str] = []
    for first, last in re.findall(r"(.)(?:-(.))?", listed):
        found += map(chr, range(ord(first), ord(last or first) + 1))
    return found


def _longest(
    rules: Mapping[str, tuple[Choice, ...]], name: str, known: dict[str, int], above: int = 0
) -> int:
    if name not in known:
        if above > len(rules):
            raise RecursionError(f"rule `{name}` leads back to itself")
        known[name] = max(
            sum(_size(rules, symbol, known, above) for symbol in choice) for choice in rules[name]
        )
    return known[name]


def _size(
    rules: Mapping[str, tuple[Choice, ...]], symbol: Symbol, known: dict[str, int], above: int
) -> int:
    match symbol:
        case Word(text=text):
            return len(text)
        case Chars(most=most):
            return most
        case Rule(name=name):
            return _longest(rules, name, known, above + 1)


# ---- from a schema --------------------------------------------------------------------------------
def grammar(schema: Schema) -> Grammar:
    """The grammar of everything that may be asked of the described tables."""
    rules: dict[str, tuple[Choice, ...]] = {
        "number": ((Chars("1-9", 1, 1), Chars("0-9", 0, 8)), (Word("0"),)),
        "text": ((Word("'"), Chars("A-Za-z0-9 ._", 0, 24), Word("'")),),
        "date": (
            (
                *(Word("DATE '20"), Chars("0-9", 2, 2), Word("-0"), Chars("1-9", 1, 1)),
                *(Word("-"), Rule("day"), Word("'")),
            ),
        ),
        "day": ((Chars("0-1", 1, 1), Chars("1-9", 1, 1)), (Word("2"), Chars("0-8", 1, 1))),
        "operator": tuple((Word(f" {operator} "),) for operator in OPERATORS),
        "direction": ((Word(" ASC"),), (Word(" DESC"),)),
        "rows": tuple((Word(rows),) for rows in MOST_ROWS),
    }
    sources = [_Source.of((table,)) for table in schema.tables.values()]
    sources += [
        _Source.of((table, other), join.using)
        for table in schema.tables.values()
        for join in table.joins
        if (other := schema.find(join.table)) is not None
    ]
    for source in sources:
        rules.update(_inner(source))
    for source in sources:
        rules.update(_statement(source, sources))
    rules[ROOT] = tuple((Rule(f"{source.name}-select"),) for source in sources)
    return Grammar(MappingProxyType(rules))


@dataclass(frozen=True, slots=True)
class _Source:
    """What one SELECT reads: its name in rules, its FROM, and its columns as they are written."""

    name: str
    text: str
    columns: tuple[tuple[str, Column], ...]
    tables: tuple[Table, ...]

    @classmethod
    def of(cls, tables: tuple[Table, ...], using: Sequence[str] = ()) -> _Source:
        """One table, or two that are joined."""
        text = " JOIN ".join(quoted(table.name) for table in tables)
        if using:
            text += f" USING ({', '.join(map(quoted, using))})"
        columns = tuple(
            (f"{quoted(table.name)}.{quoted(column.name)}", column)
            for table in tables
            for column in table.columns
        )
        name = "-".join(fold(table.name).replace("_", "-") for table in tables)
        return cls(name, text, columns, tables)

    def of_kind(self, kind: str) -> list[tuple[str, Column]]:
        """The columns that are numbers, dates or text."""
        return [(text, column) for text, column in self.columns if kind_of(column) == kind]


def kind_of(column: Column) -> str:
    """`number`, `date` or `text`; a type of none of these is compared with nothing (`other`)."""
    if NUMBERS.fullmatch(column.kind):
        return "number"
    if DATES.fullmatch(column.kind):
        return "date"
    return "text" if column.kind.startswith(("VARCHAR", "TEXT")) else "other"


def _inner(source: _Source) -> dict[str, tuple[Choice, ...]]:
    """Columns, aggregates and plain conditions of a source, which hold no SELECT."""
    name = source.name
    rules: dict[str, tuple[Choice, ...]] = {
        f"{name}-column": tuple((Word(text),) for text, _ in source.columns),
        f"{name}-plain": tuple(_conditions(source)),
        f"{name}-aggregate": tuple(_aggregates(source)),
    }
    if len(source.tables) == 1:
        rules[f"{name}-where0"] = ((), (Word(" WHERE "), Rule(f"{name}-plain")))
    return rules


def _conditions(source: _Source) -> Iterable[Choice]:
    for text, column in source.columns:
        kind = kind_of(column)
        yield (Word(f"{text} IS NOT NULL"),)
        if column.values:
            for value in column.values:
                escaped = value.replace("'", "''")
                yield (Word(f"{text} = '{escaped}'"),)
        elif kind in ("number", "date"):
            yield Word(text), Rule("operator"), Rule(kind)
        elif kind == "text":
            yield Word(f"{text} = "), Rule("text")
            yield Word(f"{text} ILIKE "), Rule("text")


def _aggregates(source: _Source) -> Iterable[Choice]:
    yield (Word("count(*)"),)
    for text, column in source.columns:
        yield (Word(f"count(DISTINCT {text})"),)
        if kind_of(column) == "number":
            for function in ("sum", "avg", "min", "max"):
                yield (Word(f"{function}({text})"),)
        elif kind_of(column) == "date":
            for function in ("min", "max"):
                yield (Word(f"{function}({text})"),)


def _statement(source: _Source, sources: Sequence[_Source]) -> dict[str, tuple[Choice, ...]]:
    """Whole SELECTs of a source; their conditions may hold one SELECT of another's lower level."""
    name = source.name
    column, aggregate = Rule(f"{name}-column"), Rule(f"{name}-aggregate")
    plain, condition, where = (Rule(f"{name}-{part}") for part in ("plain", "condition", "where1"))
    items = [(column, *(Word(", "), column) * n) for n in range(MOST_ITEMS)]
    start, end = Word("SELECT "), (Word(" LIMIT "), Rule("rows"))
    source_text = Word(f" FROM {source.text}")
    order = Rule(f"{name}-order")
    grouped: list[Choice] = [
        (
            *(start, Word(text), Word(", "), aggregate, source_text, where),
            *(Word(f" GROUP BY {text} ORDER BY 2"), Rule("direction"), *end),
        )
        for text, _ in source.columns
    ]
    return {
        f"{name}-condition": ((plain,), *_memberships(source, sources)),
        f"{name}-where1": (
            (),
            (Word(" WHERE "), condition),
            (Word(" WHERE "), plain, Word(" AND "), condition),
            (Word(" WHERE ("), plain, Word(" OR "), plain, Word(")")),
        ),
        f"{name}-order": ((), (Word(" ORDER BY "), column, Rule("direction"))),
        f"{name}-select": (
            *((start, *item, source_text, where, order, *end) for item in items),
            (start, aggregate, source_text, where, *end),
            *grouped,
        ),
    }


def _memberships(source: _Source, sources: Sequence[_Source]) -> Iterable[Choice]:
    """`a.x IN (SELECT b.x FROM b ...)` for columns of one name and kind in two tables."""
    for text, column in source.columns:
        for other in sources:
            if len(other.tables) > 1 or other.tables[0] in source.tables:
                continue
            found = other.tables[0].column(column.name)
            if found is not None and found.kind == column.kind:
                inner = f"{quoted(other.tables[0].name)}.{quoted(found.name)}"
                for word in ("IN", "NOT IN"):
                    before = f"{text} {word} (SELECT {inner} FROM {other.text}"  # noqa: S608
                    yield Word(before), Rule(f"{other.name}-where0"), Word(")")
