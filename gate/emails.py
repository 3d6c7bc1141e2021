"""E-mail addresses in a text: cut out as they were written, or malformed where that is in doubt."""

from __future__ import annotations

import re
from typing import Final

from gate.leads import current, written
from gate.lexicon import is_word
from gate.slots import Fault
from gate.spot import Spot, Spotted

_LOCAL: Final = re.compile(r"[a-z0-9._%+'-]+$")
_DOMAIN: Final = re.compile(r"[a-z0-9.-]+")
_ADDRESS: Final = re.compile(
    r"[a-z0-9](?:[a-z0-9_%+'-]|\.(?=[a-z0-9_]))*"
    r"@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}"
)
_LONGEST: Final = 254
"""Characters of an e-mail address (RFC 5321, 4.5.3.1.3)."""
_STRANGE: Final = frozenset("@#=/!$&*^~`|\\{}")
"""What may not stand before an address; it may be a part of it, or of something else."""
_STRANGE_AFTER: Final = _STRANGE - {"!", "$"}


def emails(spot: Spot, *, alone: bool = False) -> list[Spotted]:
    """Every e-mail address; MALFORMED around an @ that belongs to none."""
    found, position = [], 0
    while (at := spot.folded.find("@", position)) >= 0:
        one = _email(spot, at)
        found.append(one)
        position = max(one.end, at + 1)
    return current(spot, found, alone=alone)


def _email(spot: Spot, at: int) -> Spotted:
    text = spot.folded
    local = _LOCAL.search(text, max(0, at - 80), at)
    domain = _DOMAIN.match(text, at + 1)
    start = local.start() if local else at
    while text[start : start + 1] == "'":
        start += 1
    end = len(text[at:].split(" ")[0]) + at if domain is None else domain.end()
    while end > at + 1 and text[end - 1] in ".-":
        end -= 1
    value = written(spot, start, end)
    whole = _ADDRESS.fullmatch(text[start:end]) and value.isascii() and len(value) <= _LONGEST
    if not whole or _touched(spot, start, end):
        return Spotted(start, max(end, at + 1), "", str(Fault.MALFORMED))
    return Spotted(start, end, value, "")


def _touched(spot: Spot, start: int, end: int) -> bool:
    """True if something against an address, or an unknown word before it, may be a part of it."""
    text = spot.folded
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    inner = text[max(0, start - 2) : start - 1]
    joined = before in (".", ",", "-") and (before != "," or is_word(inner or " "))
    if joined or (before and (before in _STRANGE or is_word(before))):
        return True
    if after and (after in _STRANGE_AFTER or is_word(after)):
        return True
    if text[end : end + 2] == "-" or re.match(
        r"[.-]? [.@]| \. ?[a-z]|\.+[@a-z0-9]", text[end : end + 6]
    ):
        return True
    return before == " " and not _known_before(spot, start)


def _known_before(spot: Spot, start: int) -> bool:
    """True if the word before is a known one, or none of this script: no part of an address."""
    word = re.search(r"([^\W_]+) $", spot.folded[max(0, start - 40) : start])
    if word is None:
        return True
    return not is_word(word[1][-1]) or word[1] in spot.words.known
