"""Strict JSON: one value, no repeated keys, no NaN, no lone surrogates, bounded depth and size."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, NoReturn

from gate.errors import RequestError
from gate.load.fixes import shown

DEPTH: Final = 24
"""Deepest nesting that is accepted."""

DIGITS: Final = 40
"""Longest whole number that is accepted."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_CHUNK: Final = 65_536


def parse(line: str | bytes, limit: int, where: str) -> Any:
    """The JSON value of a line of at most `limit` bytes; RequestError says where and what to do."""
    text = _text(line, limit, where)

    def refuse(problem: str, fix: str) -> NoReturn:
        raise RequestError(problem, where=where, fix=fix)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(n for n in names if names.count(n) > 1)
            refuse(f"field `{shown(twice)}` is given twice", "give every field once")
        return value

    def whole(digits: str) -> int:
        if len(digits) > DIGITS:
            refuse(f"number of {len(digits)} digits", f"write at most {DIGITS} digits")
        return int(digits)

    def decimal(digits: str) -> float:
        value = float(digits)
        if not math.isfinite(value):
            refuse(f"number `{shown(digits)}` is too large", "write a smaller number")
        return value

    def constant(word: str) -> NoReturn:
        refuse(f"`{word}` is no JSON value", "write a number, or null")

    try:
        value = json.loads(
            text,
            object_pairs_hook=unique,
            parse_int=whole,
            parse_float=decimal,
            parse_constant=constant,
        )
    except RecursionError:
        refuse("nested too deeply", f"nest at most {DEPTH} levels")
    except json.JSONDecodeError as error:
        refuse(
            f"not valid JSON at character {error.pos + 1}: {error.msg.lower()}",
            "write one JSON object per line",
        )
    _check_values(value, refuse)
    return value


def _text(line: str | bytes, limit: int, where: str) -> str:
    size = len(line) if isinstance(line, bytes) else len(line.encode("utf-8", "surrogatepass"))
    if size > limit:
        raise RequestError(
            f"request has {size} bytes", where=where, fix=f"send at most {limit} bytes"
        )
    if isinstance(line, str):
        return line
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RequestError(
            f"byte {error.start + 1} is not UTF-8", where=where, fix="send UTF-8"
        ) from error


def _check_values(value: Any, refuse: Any) -> None:
    """Refuse lone surrogates in any text or key, and nesting beyond DEPTH; without recursion."""
    waiting = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth > DEPTH:
            refuse("nested too deeply", f"nest at most {DEPTH} levels")
        if isinstance(item, str) and _SURROGATE.search(item):
            refuse("text holds half a surrogate pair", "send whole characters")
        if isinstance(item, dict):
            waiting.extend((part, depth + 1) for pair in item.items() for part in pair)
        elif isinstance(item, list):
            waiting.extend((part, depth + 1) for part in item)


def read_jsonl(stream: BinaryIO, limit: int) -> Iterator[tuple[int, bytes | RequestError]]:
    """Every line that is not blank, with its number; a RequestError for one above `limit` bytes.

    A long line is skipped in pieces of 64 KiB and reading goes on behind it, so that no line costs
    more memory than `limit`.
    """
    number = 0
    while True:
        line = stream.readline(limit + 1)
        if not line:
            return
        number += 1
        if len(line) > limit and not line.endswith(b"\n"):
            size = len(line) + _skip(stream)
            yield (
                number,
                RequestError(
                    f"line has {size} bytes",
                    where=f"line {number}",
                    fix=f"send at most {limit} bytes per line",
                ),
            )
        elif line.strip():
            yield number, line.rstrip(b"\r\n")


def _skip(stream: BinaryIO) -> int:
    """Read up to the end of the line; the number of bytes that were passed over."""
    passed = 0
    while piece := stream.readline(_CHUNK):
        passed += len(piece)
        if piece.endswith(b"\n"):
            break
    return passed
