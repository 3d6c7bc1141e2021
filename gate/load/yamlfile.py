"""YAML with line numbers: a small, strict subset that says where every value stands.

Strings, whole numbers, decimals, `true`/`false`, `null`, lists and mappings; nothing else. Words
such as `yes`, `no` and `on`, and dates, are text. Decimals keep their written digits. Duplicate
keys, anchors, tags, several documents and deep nesting are errors. Parsing is PyYAML's
(https://pyyaml.org/wiki/PyYAMLDocumentation); only the tree is built here, event by event, so that
no file can make it run out of stack or memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import yaml
from yaml import events as ev

from gate.errors import ConfigError
from gate.load.digests import Source
from gate.load.fixes import shown

Loc = tuple[str | int, ...]

DEPTH: Final = 24
"""Deepest nesting that is accepted."""

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,39})")
_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]{0,39})\.[0-9]{1,40}")
_CONTROL = re.compile(
    r"[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
    r"|\r(?!\n)"
)
"""Characters that YAML forbids, and line ends that editors count differently than the parser."""

_WORDS: Final = {"null": None, "~": None, "": None, "true": True, "false": False}

_FIXES: Final = (
    ("tab", "indent with spaces, not with tabs"),
    ("mapping values are not allowed", "put a text that holds `: ` in quotes, or indent it"),
    ("cannot start any token", "put a text that begins with a special character in quotes"),
    ("end of stream", "close the quotation mark"),
    ("expected ',' or", "close the bracket and separate the items by commas"),
    ("could not find expected ':'", "write `key: value`, or indent the line"),
    ("escape", "use single quotes, or write the backslash twice"),
    ("nesting", "write the value flatter"),
    ("alias", "put a text that begins with `*` or `&` in quotes"),
    ("expected <document start>", "check the indentation and the colons of this line"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Document:
    """The content of one YAML file, and the line of every key and list item by its path."""

    path: str
    data: dict[str, Any]
    lines: Mapping[Loc, int]

    def line(self, loc: Loc) -> int:
        """The line of the value at `loc`, or of the nearest one around it that is there."""
        while loc not in self.lines:
            loc = loc[:-1]
        return self.lines[loc]

    def find(self, loc: Loc, words: Sequence[str]) -> Loc:
        """The path below `loc` of the first of `words` that stands there as a value, else `loc`."""
        below = [path for path in self.lines if path[: len(loc)] == loc]
        return next((p for word in words for p in below if self.value(p) == word), loc)

    def value(self, loc: Loc) -> Any:
        """The value at a path that is in `lines`."""
        value: Any = self.data
        for step in loc:
            value = value[step]
        return value

    def error(self, problem: str, loc: Loc, fix: str) -> ConfigError:
        """A ConfigError about the value at `loc`."""
        return ConfigError(problem, file=self.path, line=self.line(loc), fix=fix)

    def lines_of(self, key: str, ids: Sequence[str]) -> dict[str, list[int]]:
        """The lines of the list `key`'s items by their ids, which are given in file order."""
        lines: dict[str, list[int]] = {}
        for index, name in enumerate(ids):
            lines.setdefault(name, []).append(self.line((key, index)))
        return lines


def parse(source: Source) -> Document:
    """The one mapping of a YAML file; ConfigError with file, line and fix for anything else."""
    text = source.text
    _refuse_control(text, source.path)
    tree = _Tree(source.path, {(): 1})
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        data = tree.document(yaml.parse(text, Loader=loader))
    except yaml.YAMLError as error:
        raise _syntax(error, text, source.path) from error
    if not isinstance(data, dict):
        raise ConfigError(
            "file holds no keys", file=source.path, line=1, fix="start it with `schema_version: 1`"
        )
    return Document(source.path, data, tree.lines)


def _refuse_control(text: str, path: str) -> None:
    found = _CONTROL.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise ConfigError(
            f"control character `U+{ord(found.group()):04X}`",
            file=path,
            line=line,
            fix="remove the character",
        )


def _syntax(error: yaml.YAMLError, text: str, path: str) -> ConfigError:
    """A parser's error in our words."""
    problem = str(getattr(error, "problem", None) or error).splitlines()[0]
    unended_key = problem.startswith("could not find expected ':'")
    mark = getattr(error, "context_mark" if unended_key else "problem_mark", None)
    lines = text.split("\n")
    line = min(mark.line + 1, len(lines)) if mark else None
    if line and _tabbed(lines[line - 1]):
        problem = "tab in the indentation"
    fix = next((f for word, f in _FIXES if word in problem), "check the indentation and the quotes")
    return ConfigError(f"not valid YAML: {problem}", file=path, line=line, fix=fix)


def _tabbed(line: str) -> bool:
    return "\t" in line[: len(line) - len(line.lstrip())]


def _line(event: ev.Event) -> int:
    """The line, from 1, on which an event starts."""
    return event.start_mark.line + 1 if event.start_mark else 1


@dataclass(frozen=True, slots=True)
class _Tree:
    """Builds values from parser events and notes the line of each."""

    path: str
    lines: dict[Loc, int]

    def document(self, stream: Iterator[ev.Event]) -> Any:
        """The single document of the stream; None for an empty file."""
        data = None
        documents = 0
        for event in stream:
            if isinstance(event, ev.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self.error("second document", event, "remove the `---` in the middle")
            elif isinstance(event, ev.NodeEvent):
                data = self.node(event, stream, ())
        return data

    def error(self, problem: str, event: ev.Event, fix: str) -> ConfigError:
        return ConfigError(problem, file=self.path, line=_line(event), fix=fix)

    def node(self, event: ev.Event, stream: Iterator[ev.Event], loc: Loc) -> Any:
        """The value that starts with `event`."""
        self.refuse_extras(event)
        if len(loc) > DEPTH:
            raise self.error(f"nested more than {DEPTH} deep", event, "write the value flatter")
        if isinstance(event, ev.MappingStartEvent):
            return self.mapping(stream, loc)
        if isinstance(event, ev.ScalarEvent):
            return event.value if event.style else self.plain(event)
        return self.sequence(stream, loc)

    def refuse_extras(self, event: ev.Event) -> None:
        """Refuse anchors, aliases and tags."""
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if anchor:
            raise self.error(f"anchor `{shown(anchor)}`", event, "write the value out")
        if tag:
            raise self.error(f"tag `{shown(tag)}`", event, "remove the tag")

    def sequence(self, stream: Iterator[ev.Event], loc: Loc) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(stream), ev.SequenceEndEvent):
            here = (*loc, len(items))
            self.lines[here] = _line(event)
            items.append(self.node(event, stream, here))
        return items

    def mapping(self, stream: Iterator[ev.Event], loc: Loc) -> dict[str, Any]:
        items: dict[str, Any] = {}
        while not isinstance(event := next(stream), ev.MappingEndEvent):
            key = self.key(event, items, loc)
            here = (*loc, key)
            self.lines[here] = _line(event)
            items[key] = self.node(next(stream), stream, here)
        return items

    def key(self, event: ev.Event, items: Mapping[str, Any], loc: Loc) -> str:
        """A key as text, whatever it looks like (`no:` is the Norwegian language)."""
        self.refuse_extras(event)
        if not isinstance(event, ev.ScalarEvent):
            raise self.error("key is not a plain word", event, "write a word before the colon")
        key = str(event.value)
        if key in items:
            first = self.lines[(*loc, key)]
            raise self.error(
                f"key `{shown(key)}` is given twice", event, f"remove it here or in line {first}"
            )
        return key

    def plain(self, event: ev.ScalarEvent) -> Any:
        """The value of an unquoted scalar."""
        text = event.value
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.fullmatch(text):
            return int(text)
        return Decimal(text) if _DECIMAL.fullmatch(text) else text
