"""What to do about an error: the nearest known word, and the line an offending id stands on."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

from gate.errors import ConfigError
from gate.normalise import is_ignorable

SHOWN = 60
"""Most characters of an offending value that a message repeats."""

LISTED = 12
"""Most known words that a message lists."""

_QUOTED = re.compile(r"`([^`]*)`")


def shown(value: object) -> str:
    """`value` as a message repeats it: one line, printable, at most SHOWN characters."""
    text = value if isinstance(value, str) else _plain(value)
    text = "".join(c if _plainly(c) else "?" for c in text[: SHOWN + 1])
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def _plainly(char: str) -> bool:
    """True for what a message may repeat: nothing hidden, and no quotation mark of its own."""
    return char.isprintable() and not is_ignorable(char) and char != "`"


def _plain(value: object) -> str:
    """A value as a configuration file spells it; containers by their kind alone."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        return "{...}"
    return "[...]" if isinstance(value, list | tuple) else str(value)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` may have been meant for, whatever its case; None if none is near."""
    lower = {w.lower(): w for w in sorted(set(known), reverse=True)}
    near = difflib.get_close_matches(word.lower(), list(lower), n=1, cutoff=0.6)
    return lower[near[0]] if near else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A fix for an unknown word: the nearest known one, else the known ones themselves."""
    words = sorted(set(known))
    near = nearest(word, words)
    if near is not None:
        return f"did you mean `{near}`?"
    if not words:
        return "none is declared here; remove it"
    more = f" and {len(words) - LISTED} more" if len(words) > LISTED else ""
    return "use one of " + ", ".join(f"`{w}`" for w in words[:LISTED]) + more


def quoted(problem: str) -> list[str]:
    """The words that a message quotes, in order."""
    return _QUOTED.findall(problem)


def placed(error: ConfigError, file: str, lines: Mapping[str, Sequence[int]]) -> ConfigError:
    """`error` with the file and, if its message quotes an id of `lines`, the line of that id.

    An id with several lines (a duplicate) is placed at the last one, and of several quoted ids the
    one further down the file counts: that is the one that clashed with what stood above.
    """
    found = [lines[w][-1] for w in quoted(error.problem) if lines.get(w)]
    return ConfigError(error.problem, file=file, line=max(found, default=None), fix=error.fix)
