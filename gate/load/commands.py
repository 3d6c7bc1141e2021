"""Command grammars: one line that stands for every wording that it can take.

    [please] (show | tell) me the price of {object:FUND}

Square brackets hold what may be left out, round ones alternatives (white space at the edges of
either does not count), `{object}` a name of a type that
the action permits, `{object:TYPE}` one of that type. There is no repetition, so a command is a
closed list of forms, made here once; a name is looked for where the gate found one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final, NamedTuple

from gate.errors import ConfigError

MOST: Final = 1000
"""Forms that one command may have."""
DEEPEST: Final = 8
"""Brackets inside brackets."""

_TOKEN = re.compile(r"\{([^{}]*)\}|([][()|{}])|([^][(){}|]+)")
_CAPTURE = re.compile(r"object(?::([A-Za-z0-9_-]+))?")
_CLOSING: Final = {"[": "]", "(": ")"}


class Capture(NamedTuple):
    """A place for a name; `object_type` is None for any type that the action permits."""

    object_type: str | None


Part = str | Capture
Sequence_ = tuple[Part, ...]


class Form(NamedTuple):
    """One wording: the words before and behind the name, as written; no name where `name` is None."""

    before: str
    name: Capture | None
    after: str


def forms(command: str) -> tuple[Form, ...]:
    """Every form of a command, in order; ConfigError with problem and fix for what is none."""
    tokens = [_token(m) for m in _TOKEN.finditer(command)]
    found, rest = _alternatives(tokens, 0, 0)
    if rest < len(tokens):
        raise ConfigError(f"`{tokens[rest]}` closes nothing", fix="remove it or open the bracket")
    return tuple(dict.fromkeys(map(_form, found)))


def _token(found: re.Match[str]) -> Part:
    if found[1] is None:
        return found[0]
    capture = _CAPTURE.fullmatch(found[1].strip())
    if capture is None:
        raise ConfigError(
            f"`{found[0]}` is no place for a name", fix="write `{object}` or `{object:TYPE}`"
        )
    return Capture(capture[1])


def _alternatives(tokens: Sequence[Part], at: int, depth: int) -> tuple[tuple[Sequence_, ...], int]:
    """The sequences up to a closing bracket or the end, and where that stands."""
    found: list[Sequence_] = []
    while True:
        more, at = _sequences(tokens, at, depth)
        found += map(_stripped, more) if depth else more
        if at == len(tokens) or tokens[at] != "|":
            return _few(found), at
        at += 1


def _sequences(tokens: Sequence[Part], at: int, depth: int) -> tuple[tuple[Sequence_, ...], int]:
    """The sequences of one alternative, and where it ends."""
    found: tuple[Sequence_, ...] = ((),)
    while at < len(tokens) and tokens[at] not in ("|", "]", ")"):
        token = tokens[at]
        choices: tuple[Sequence_, ...] = ((token,),)
        if token in ("[", "("):
            choices, at = _bracket(tokens, at, depth + 1)
        elif token in ("{", "}"):
            raise ConfigError(f"`{token}` stands alone", fix="write `{object}` or `{object:TYPE}`")
        found = _few((*a, *b) for a, b in product(found, choices))
        at += 1
    return found, at


def _stripped(parts: Sequence_) -> Sequence_:
    """Without white space at the edges, which only sets the brackets apart."""
    first, last = (parts[0], parts[-1]) if parts else ("", "")
    if isinstance(first, str) and len(parts) == 1:
        return (first.strip(),)
    lead = (first.lstrip(),) if isinstance(first, str) else (first,)
    tail = (last.rstrip(),) if isinstance(last, str) else (last,)
    return (*lead, *parts[1:-1], *tail) if parts else ()


def _bracket(tokens: Sequence[Part], at: int, depth: int) -> tuple[tuple[Sequence_, ...], int]:
    """What the bracket at `at` stands for, and where it is closed."""
    opening = str(tokens[at])
    if depth > DEEPEST:
        raise ConfigError(f"more than {DEEPEST} brackets inside each other", fix="write it flatter")
    found, end = _alternatives(tokens, at + 1, depth)
    if end == len(tokens) or tokens[end] != _CLOSING[opening]:
        raise ConfigError(f"`{opening}` is not closed", fix=f"add `{_CLOSING[opening]}`")
    return (((), *found) if opening == "[" else found), end


def _few(found: Iterable[Sequence_]) -> tuple[Sequence_, ...]:
    kept: list[Sequence_] = []
    for one in found:
        kept.append(one)
        if len(kept) > MOST:
            raise ConfigError(
                f"command with more than {MOST} forms", fix="split it into several commands"
            )
    return tuple(kept)


def _form(sequence: Sequence_) -> Form:
    places = [(i, part) for i, part in enumerate(sequence) if isinstance(part, Capture)]
    if len(places) > 1:
        fix = "leave one; an action has one object, and a text that names two is asked back"
        raise ConfigError("command with two names in one form", fix=fix)
    if not places:
        return Form("".join(map(str, sequence)), None, "")
    ((place, name),) = places
    return Form("".join(map(str, sequence[:place])), name, "".join(map(str, sequence[place + 1 :])))
