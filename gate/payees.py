"""Payees: names of who is paid, behind words such as `to` and 转给."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gate.leads import negated, written
from gate.slots import Fault
from gate.spot import Span, Spot, Spotted

_NAME_WORD: Final = re.compile(r"[^\W\d_]+(?:['.&-][^\W\d_]+)*\.?")
_MOST_NAMES: Final = 5


def payees(spot: Spot, taken: Sequence[Span]) -> list[Spotted]:
    """The names behind words such as `to` and 转给; `taken` are stretches that are something else."""
    found = [one for lead in spot.all_of("payee_leads") for one in _payee(spot, lead, taken)]
    strong = [one for one, first in found if first]
    spotted = strong or [one for one, _ in found]
    spotted += _set_apart(spot, taken) if spotted else ()
    return [negated(spot, one) for one in dict.fromkeys(spotted)]


def _set_apart(spot: Spot, taken: Sequence[Span]) -> Iterator[Spotted]:
    """Names right behind a negator or a contrast (not Bob, instead of Bob): candidates all the same."""
    for lead in (*spot.all_of("negations"), *spot.all_of("contrasts")):
        start = lead[1] + (spot.folded[lead[1] : lead[1] + 1] == " ")
        if not any(a <= start < b for a, b in taken):
            end = _name(spot, start)
            if end > start:
                yield Spotted(start, end, "", str(Fault.NEGATED))


def _payee(spot: Spot, lead: Span, taken: Sequence[Span]) -> Iterator[tuple[Spotted, bool]]:
    """The name behind one lead, and those that a choice adds; whether the lead is the usual one."""
    usual = spot.folded[slice(*lead)] not in ("for", "pay", "paying", "send")
    start = lead[1]
    while True:
        while spot.folded[start : start + 1] in (" ", ":"):
            start += 1
        if any(a <= start < b for a, b in taken):
            return
        end = _name(spot, start)
        if end <= start:
            if _says_nobody(spot, start):
                yield Spotted(start, start + 1, "", str(Fault.NO_NAME)), usual
            return
        fault = _name_fault(spot, start, end)
        yield Spotted(start, end, "" if fault else written(spot, start, end), fault), usual
        others = (spot.after(n, end) for n in ("choice_words", "contrasts", "negations"))
        more = max(others)
        comma = re.match(r", (?:or |and )?(?:not |no,? )?", spot.folded[end:])
        if more < 0 and comma is None:
            return
        start = more if more > 0 else end + comma.end()  # type: ignore[union-attr]
        if _latin_name(
            spot, start + (spot.folded[start : start + 1] == " ")
        ) <= start and not _is_han(spot, start):
            return


def _is_han(spot: Spot, position: int) -> bool:
    char = spot.folded[position : position + 1]
    return bool(char) and "\u3400" <= char <= "\u9fff"


def _says_nobody(spot: Spot, start: int) -> bool:
    return spot.after("no_names", start) > 0


def _name(spot: Spot, start: int) -> int:
    """Where a name ends that starts here; at `start` if none does."""
    run = _HAN_NAME.match(spot.folded, start)
    return _latin_name(spot, start) if run is None else _han_name(spot, run)


def _latin_name(spot: Spot, start: int) -> int:
    """Where a name ends that starts here: capitalised words, or unknown ones in lower case."""
    text, end, position = spot.folded, start, start
    for _ in range(_MOST_NAMES):
        if text[position : position + 2] == "& " and end > start:
            position += 2
        word = _NAME_WORD.match(text, position)
        if word is None:
            break
        original = spot.text.original[slice(*spot.text.span(*word.span()))]
        bare = word.group().rstrip(".")
        known = bare in spot.words.known or spot.is_phrase("no_names", bare)
        title = end == start and word.group().endswith(".") and len(bare) <= 4
        if spot.is_phrase("name_parts", bare) and end > start:
            position = word.end() + 1
            continue
        named = original[:1].isupper() and (end > start or title) and not spot.is_lower()
        if known and not (named or _opens_name(spot, word)):
            break
        dotted = word.group().endswith(".")
        initial = len(bare) <= 2 or title
        end = word.end() if not dotted or initial else word.end() - 1
        if text[end : end + 1] != " ":
            break
        position = end + 1
    else:
        return start  # longer than any name: nothing is cut off
    if text[start:end].endswith("'s"):
        end -= 2
    return end


def _opens_name(spot: Spot, word: re.Match[str]) -> bool:
    """True for a first name that is a word, too (Jan Weiss): both capitalised, and no pronoun."""
    follows = _NAME_WORD.match(spot.folded, word.end() + 1)
    if follows is None or spot.is_lower() or spot.is_phrase("no_names", word.group()):
        return False
    family = spot.is_capital(follows.start()) and follows.group() not in spot.words.known
    return spot.is_capital(word.start()) and (
        family or spot.is_phrase("name_parts", follows.group())
    )


def _name_fault(spot: Spot, start: int, end: int) -> str:
    name = spot.folded[start:end]
    if len(name) < 2:
        return str(Fault.UNCLEAR)
    nobody = spot.is_phrase("no_names", name) or (
        _is_han(spot, start) and _says_nobody(spot, start)
    )
    return str(Fault.NO_NAME) if nobody else ""


_HAN_NAME: Final = re.compile("[\u3400-\u9fff·]+(?: [\u3400-\u9fff](?![\u3400-\u9fff]))?")


def _han_name(spot: Spot, run: re.Match[str]) -> int:
    """Where a Chinese name ends: before a verb of paying, a number, a mark or the end."""
    start, end = run.span()
    for position in range(start + 1, run.end()):
        if _cuts(spot, position):
            end = position
            break
    return end if end - start >= 2 else start


def _cuts(spot: Spot, position: int) -> bool:
    text = spot.folded
    if text[position] in spot.words.han and text[position] not in "万":
        return True
    return any(
        spot.after(name, position) > 0 for name in ("payee_verbs", "choice_words", "negations")
    )
