"""One escaping function per sink; whatever people, models and documents wrote passes it on the way out.

| sink | function | what it promises |
|---|---|---|
| terminal | `terminal`; `lines` for several | one line; nothing that moves, colours, reorders or hides |
| log, JSON | `json_text` | valid JSON that parses back to the same value; one line unless indented |
| CSV | `csv_text` | no cell is a formula; a reader gets every text back, behind its guard |
| HTML, SVG | `html` | text or a quoted attribute, never markup; reorders nothing |
| Markdown | `markdown` | one line of text, never markup, HTML or a table's bar |
| prompt | `prompt` | one quoted line without a control token of any model |

*Hidden* characters are control, format, unassigned, private and surrogate code points, line and
paragraph separators, and every default-ignorable one. No sink shortens a text.
"""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import lru_cache
from html import escape
from io import StringIO

from gate.normalise import is_ignorable

MARKS = 8
"""Combining marks in a row that a sink shows; those behind them are written as escapes."""

_PLAIN, _MARK, _HIDDEN = range(3)
_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_JOINING = "\u200c\u200d" + "".join(map(chr, range(0xFE00, 0xFE10)))
"""What scripts and emoji need in running text: joiners and variation selectors."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_SIGNS = "=+-@\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20"
"""What opens a formula: the ASCII signs, their small and full-width forms, the minus sign."""

_QUOTES = "'\"`\u2018\u2019\u201c\u201d\uff02\uff07"

_MARKDOWN = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_MARKDOWN_START = re.compile(r"\d*(?=[#+=.)-])")
"""What stands before a mark that opens a heading, a list or an underline."""

OPENERS = "<[\u226e\ufe47\ufe64\uff1c\uff3b"
"""Angle and square brackets, and every character that a tokenizer's normalisation turns into one."""

_OPENER = re.compile(f"[{re.escape(OPENERS)}](?! )")


_ignorable = lru_cache(maxsize=65536)(is_ignorable)


@lru_cache(maxsize=65536)
def _kind(char: str) -> int:
    category = unicodedata.category(char)
    if category in _CATEGORIES or _ignorable(char):
        return _HIDDEN
    return _MARK if category[0] == "M" else _PLAIN


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _visible(text: str, kept: str = "", write: Callable[[str], str] = _escaped) -> str:
    """`text` with hidden characters, and the marks of a flood, as escapes; those `kept` stay."""
    if text.isascii() and text.isprintable():
        return text
    shown, marks = [], 0
    for char in text:
        kind = _kind(char)
        marks = 0 if kind == _PLAIN else marks + (kind == _MARK)
        hidden = kind == _HIDDEN and char not in kept
        shown.append(write(char) if hidden or marks > MARKS else char)
    return "".join(shown)


def terminal(text: object) -> str:
    """One line for a terminal: a line feed is a space, everything hidden an escape such as `\\u001b`."""
    return _visible(str(text).replace("\n", " "))


def lines(text: str) -> str:
    """Several lines for a terminal, each of them through `terminal`."""
    return "\n".join(map(terminal, text.splitlines()))


def json_text(value: object, indent: int | None = None) -> str:
    """JSON for logs, pipes and files, safe on a terminal; ValueError for NaN and infinities.

    Everything hidden is a JSON escape, so that the value parses back the same (two surrogate halves
    side by side come back as the character that they spell).
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return "\n".join(_visible(line, write=_json_escaped) for line in text.split("\n"))


def _json_escaped(char: str) -> str:
    return json.dumps(char)[1:-1]


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """A CSV file of these rows (RFC 4180, line feeds between them), every text guarded.

    A text that a spreadsheet may take for a formula gets an apostrophe in front; numbers stay.
    Half a surrogate pair, which no file can hold, becomes U+FFFD.
    """
    return "".join(f"{_csv_row(row)}\n" for row in rows)


def _csv_row(row: Iterable[object]) -> str:
    line = StringIO()
    csv.writer(line, lineterminator="\r\n").writerow([_csv_cell(value) for value in row])
    return line.getvalue().removesuffix("\r\n")


def _csv_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float | Decimal):
        return str(value)
    text = _SURROGATE.sub("\ufffd", str(value))
    return f"'{text}" if _formula(text) else text


def _formula(text: str) -> bool:
    """True for a sign, tab or line break behind nothing but spaces, quotes and hidden characters."""
    for char in text:
        if char in _SIGNS or char in "\t\r\n":
            return True
        if not (char.isspace() or char in _QUOTES or _kind(char) == _HIDDEN):
            return False
    return False


def html(text: object) -> str:
    """Text for an HTML or SVG element, or a quoted attribute; not for an address or a script.

    Line breaks, tabs, joiners and variation selectors stay, everything else hidden is an escape.
    """
    return escape(_visible(str(text), kept=f"\n\t{_JOINING}"), quote=True)


def markdown(text: object) -> str:
    """One line of Markdown that reads as `text`: white space collapsed, all of its syntax escaped."""
    line = escape(_visible(" ".join(str(text).split()), kept=_JOINING), quote=False)
    line = _MARKDOWN.sub(r"\\\g<0>", line)
    start = _MARKDOWN_START.match(line)
    return line if start is None else f"{start[0]}\\{line[start.end() :]}"


def prompt(text: str) -> str:
    """A person's text as one quoted line: default-ignorables removed, control tokens broken."""
    kept = text if text.isascii() else "".join(c for c in text if not _ignorable(c))
    return json_text(broken(kept))


def broken(text: str, specials: Iterable[str] = ()) -> str:
    """`text` without a control token: a space behind every opening bracket and into `specials`.

    A backend calls it with its own model's tokens over everything that people wrote; they are found
    in any case, in full width, and with default-ignorables inside. Single characters stay.
    """
    cores = {_folded(special)[0].strip() for special in specials}
    longest_first = sorted((c for c in cores if len(c) > 1), key=len, reverse=True)
    one_of = "|".join(map(re.escape, longest_first))
    found = _OPENER.sub(r"\g<0> ", text)
    if not one_of:
        return found
    # A space may complete another token, so again until none is left; gaps only grow, so this ends.
    while (split := _split(found, re.compile(f"(?=({one_of}))"))) != found:
        found = split
    return found


def _split(text: str, tokens: re.Pattern[str]) -> str:
    """A space behind the first character of every token; one inside a single character stays."""
    folded, places = _folded(text)
    spans = ((places[m.start(1)], places[m.end(1) - 1]) for m in tokens.finditer(folded))
    starts = {first for first, last in spans if first != last}
    return "".join(f"{c} " if i in starts else c for i, c in enumerate(text)) if starts else text


def _folded(text: str) -> tuple[str, list[int]]:
    """NFKC and case-folded without default-ignorables; for each character, where it came from."""
    parts = [(i, _fold(c)) for i, c in enumerate(text)]
    return "".join(p for _, p in parts), [i for i, p in parts for _ in p]


@lru_cache(maxsize=65536)
def _fold(char: str) -> str:
    return "" if _ignorable(char) else unicodedata.normalize("NFKC", char).casefold()
