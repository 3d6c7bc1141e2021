"""Strict JSON and JSONL: every malformed line is one clear error, and reading goes on."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import RequestError
from gate.load.strictjson import parse, read_jsonl

LIMIT = 65_536


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('{"a": [1, 2.5, "x", null, true]}', {"a": [1, 2.5, "x", None, True]}),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ("-0", 0),
        (" 7 ", 7),
        (b'{"\xe5\x90\x8d": 1}', {"\u540d": 1}),
    ],
)
def test_json_is_read_as_it_is(line: str | bytes, value: Any) -> None:
    assert parse(line, LIMIT, "line 1") == value


@pytest.mark.parametrize(
    ("line", "problem", "fix"),
    [
        ("", "not valid JSON at character 1", "one JSON object"),
        ("{", "not valid JSON at character 2", "one JSON object"),
        ("{'a': 1}", "not valid JSON", "one JSON object"),
        ("{} {}", "not valid JSON at character 4: extra data", "one JSON object"),
        ("\ufeff{}", "not valid JSON", "one JSON object"),
        ('{"a": 1, "b": 2, "a": 1}', "field `a` is given twice", "once"),
        ('{"x": {"a": 1, "a": 2}}', "field `a` is given twice", "once"),
        ('{"a": NaN}', "`NaN` is no JSON value", "null"),
        ('{"a": -Infinity}', "`-Infinity` is no JSON value", "null"),
        ('{"a": 1e999}', "number `1e999` is too large", "smaller"),
        ("1" * 41, "number of 41 digits", "at most 40"),
        ('{"a": "\\ud800"}', "half a surrogate pair", "whole characters"),
        ('{"\\udfff": 1}', "half a surrogate pair", "whole characters"),
        ('["\ud800"]', "half a surrogate pair", "whole characters"),
        ("[" * 30 + "]" * 30, "nested too deeply", "at most 24"),
        ("[" * 30_000, "nested too deeply", "at most 24"),
        (b'{"a": "\xff"}', "byte 8 is not UTF-8", "send UTF-8"),
        (b"x" * 65_537, "request has 65537 bytes", "at most 65536"),
        ("\u540d" * 22_000, "request has 66000 bytes", "at most 65536"),
    ],
)
def test_malformed_json_says_where_and_what_to_do(
    line: str | bytes, problem: str, fix: str
) -> None:
    with pytest.raises(RequestError) as caught:
        parse(line, LIMIT, "line 3")
    assert caught.value.where == "line 3"
    assert problem in caught.value.problem
    assert fix in caught.value.fix


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_any_line_is_a_value_or_a_request_error(line: str | bytes) -> None:
    try:
        parse(line, LIMIT, "line 1")
    except RequestError as error:
        assert error.where and error.fix


def test_lines_are_numbered_and_blank_ones_passed_over() -> None:
    stream = io.BytesIO(b'{"a":1}\r\n\n  \n{"b":2}')
    assert list(read_jsonl(stream, 100)) == [(1, b'{"a":1}'), (4, b'{"b":2}')]


@pytest.mark.parametrize("length", [99, 100, 101, 200])
def test_limit_counts_the_line_without_its_end(length: int) -> None:
    for end in (b"\n", b""):
        ((number, line),) = read_jsonl(io.BytesIO(b"x" * length + end), 100)
        assert number == 1
        assert isinstance(line, RequestError) == (length > 100)


def test_ten_megabyte_line_is_one_error_and_the_next_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"a":1}\n' + b"x" * 10_000_000 + b'\n{"b":2}\n')
    with path.open("rb") as stream:
        tracemalloc.start()
        lines = list(read_jsonl(stream, LIMIT))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert [number for number, _ in lines] == [1, 2, 3]
    error = lines[1][1]
    assert isinstance(error, RequestError)
    assert (error.where, error.problem) == ("line 2", "line has 10000001 bytes")
    assert error.fix == "send at most 65536 bytes per line"
    assert lines[2][1] == b'{"b":2}'
    assert peak < 1_000_000
