"""Mutated statements by the thousand: `python -m tests.sqlpath.fuzz [COUNT] [SEED]`.

Each is parsed, judged, and, where admitted, scoped and run for C1; every tenth is also run as if it
had been admitted. This process never fails, no file changes, nothing of anybody else's comes back.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from random import Random
from typing import Final

from sqlpath.admit import Admit, admit
from sqlpath.errors import QueryError
from sqlpath.schema import Schema
from sqlpath.scope import SUBJECT, scope
from tests.sqlpath.blocks import FIXTURES, blocks
from tests.sqlpath.hostile import CANARY, LIMITS, NOW, World, hostile, small_schema, world
from tests.sqlpath.random_sql import Maker

COUNT: Final = 100_000
TOKEN: Final = re.compile(r"\w+|\s+|'[^']*'|.", re.DOTALL)
ODD: Final = (
    "\x00",
    "'",
    '"',
    ";",
    "--",
    "/*",
    "*/",
    "$1",
    "(",
    ")",
    "\u212a",
    "\u200b",
    "::",
    "{}",
    "\\",
)


def corpus(here: World) -> list[str]:
    """What mutation starts from: hostile statements, admitted ones, random ones."""
    columns = {"account_id": "text", "name": "text", "balance": "number", "as_of": "date"}
    tables = {"accounts": columns, "days": {"day": "number"}}
    maker = Maker(Random(3), tables)  # noqa: S311 - reproducible, not secret
    texts = [here.text(block) for block in hostile() if block.place.partition(".")[0] != "bombs"]
    texts += [block.text for block in blocks(FIXTURES / "admission.sql")]
    return texts + [maker.statement() for _ in range(1500)]


def mutated(rng: Random, texts: list[str]) -> str:
    """One text with some tokens dropped, doubled, swapped, replaced or taken from another."""
    tokens = TOKEN.findall(rng.choice(texts)) or [" "]
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
        place = rng.randrange(len(tokens))
        match rng.randrange(6):
            case 0:
                del tokens[place]
            case 1:
                tokens.insert(place, rng.choice(tokens))
            case 2:
                other = TOKEN.findall(rng.choice(texts)) or [" "]
                start = rng.randrange(len(other))
                tokens[place:place] = other[start : start + rng.randrange(1, 12)]
            case 3:
                tokens[place] = rng.choice(ODD)
            case 4:
                tokens[place] = tokens[place].swapcase()
            case _:
                tokens[place] = chr(rng.choice((rng.randrange(128), rng.randrange(0xD800))))
        tokens = tokens or [" "]
    return "".join(tokens)


def fuzz(count: int, seed: int, here: World) -> Counter[str]:
    """Ends of so many mutated statements; AssertionError for the first that is not contained."""
    rng = Random(seed)  # noqa: S311 - reproducible, not secret
    texts, described, before = corpus(here), small_schema(), here.files()
    ends: Counter[str] = Counter()
    for number in range(count):
        text = mutated(rng, texts)
        ends[_one(text, here, described)] += 1
        if number % 10 == 0:
            ends[_unadmitted(text, here)] += 1
        if number % 5000 == 0:
            assert here.files() == before, text
    assert here.files() == before
    return ends


def _one(text: str, here: World, described: Schema) -> str:
    try:
        verdict = admit(text, here.full.parse(text), described, verified_subject=True)
        if not isinstance(verdict, Admit):
            return type(verdict).__name__
        found = here.full.run_scoped(
            "q", scope(verdict, described, LIMITS.rows + 1, NOW), {SUBJECT: "C1"}
        )
    except QueryError as error:
        return error.reason
    assert CANARY not in repr(found.rows) or CANARY in text, text
    assert not any(f"C{n}" in row for row in found.rows for n in range(2, 42)) or "'C" in text, text
    return "rows"


def _unadmitted(text: str, here: World) -> str:
    """The statement run without admission: it must find nothing outside the database."""
    try:
        found = here.full.run("q", text, {})
    except QueryError as error:
        return f"unadmitted {error.reason}"
    assert f"{CANARY}\\n1" not in repr(found.rows), text
    return "unadmitted rows"


def main() -> int:
    """Fuzz and print how the statements ended."""
    given = [int(argument) for argument in sys.argv[1:]]
    count, seed = given[0] if given else COUNT, given[1] if len(given) > 1 else 1
    with world() as here:
        ends = fuzz(count, seed, here)
    print(count, "statements,", dict(ends.most_common()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
