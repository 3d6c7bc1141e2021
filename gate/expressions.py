"""Number expressions in a text: digits, words and numerals with the currencies and units around them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from gate import numbers
from gate.lexicon import is_word
from gate.numbers import MALFORMED, Number
from gate.slots import Fault
from gate.spot import Span, Spot


class Expression(NamedTuple):
    """A number at folded [start, end), its currencies, and what is known of it besides.

    `kind` is `digits`, `latin` or `han`. `codes` are the currencies that its signs and words leave
    open, None without any; `minor` the part of a unit that it counts (cents). `use` says what it is
    certain to be: `quantity`, `other`, or nothing.
    """

    start: int
    end: int
    number: Number
    kind: str
    codes: frozenset[str] | None = None
    minor: Decimal | None = None
    use: str = ""
    fault: str = ""

    @property
    def money(self) -> bool:
        """True with a currency."""
        return self.codes is not None or self.minor is not None


def overlaps(one: Expression, spans: Sequence[Span]) -> bool:
    """True if one of the spans holds a part of the expression."""
    return any(a < one.end and one.start < b for a, b in spans)


def _distinct(found: list[Expression]) -> list[Expression]:
    """By position; what lies inside a longer one is a part of it."""
    kept: list[Expression] = []
    for one in sorted(found, key=lambda e: (e.start, -e.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def expressions(spot: Spot, taken: Sequence[Span]) -> list[Expression]:
    """Every number of the text, by position, outside of `taken`."""
    priced: list[Expression] = []
    for one in _distinct([*_han(spot), *_digits(spot), *_latin(spot)]):
        if not overlaps(one, taken):
            priced.append(_priced(spot, one, priced[-1].end if priced else 0))
    return priced


# ---- numbers in the text -----------------------------------------------------------------------

_RUN: Final = re.compile(r"[^\W_]+")
_COMPOSITE: Final = frozenset("/\u2044^*\u00d7=")
_GLUE: Final = frozenset("_#@\\&")
_ORDINALS: Final = frozenset({"st", "nd", "rd", "th"})


def _digits(spot: Spot) -> Iterator[Expression]:
    text, position = spot.folded, 0
    while token := numbers.DIGIT_TOKEN.search(text, position):
        start, end = token.span()
        position = end
        number = numbers.digits(token.group()) if spot.is_decimal(start, end) else MALFORMED
        use, fault = _neighbours(spot, start, end)
        scaled = end
        while number.value is not None and (stop := spot.after_scale(scaled)) > 0:
            number = Number(number.value * spot.scale(scaled, stop))
            scaled = position = stop
        if scaled == end:
            glued, position = _tail(spot, end)
            use, fault = (
                (glued if glued[0] or glued[1] else (use, fault)) if not use else (use, fault)
            )
        yield Expression(start, scaled, number, "digits", use=use, fault=fault)


def _neighbours(spot: Spot, start: int, end: int) -> tuple[str, str]:
    """What the characters against a number say: its use, and a fault."""
    text = spot.folded
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    inner = text[max(0, start - 2) : start - 1] if start > 1 else ""
    timed = before == ":" and inner.isdigit()
    if timed or (after == ":" and text[end + 1 : end + 2].isdigit()):
        return "other", ""
    if before in _GLUE or after in _GLUE:
        return ("other" if before else ""), "" if before else Fault.MALFORMED
    if before in _COMPOSITE or after in _COMPOSITE:
        return "", Fault.MALFORMED
    if after in (".", ",") and spot.is_numeral(text[end + 1 : end + 2]):
        return "", Fault.MALFORMED
    if before in {"~", "≈"}:
        return "", Fault.APPROXIMATE
    if before in {"<", ">", "≤", "≥", "+"} or after == "+":
        return "", Fault.BOUND
    if before and before in ".,'" and inner and (inner.isdigit() or inner in ".,'"):
        return "", Fault.MALFORMED
    if before == "." or (before and is_word(before) and spot.currency_before(start) < 0):
        return ("other" if before != "." else ""), Fault.MALFORMED
    if before == "-" and inner and is_word(inner) and not inner.isdigit():
        return "other", ""
    if after == "-" and text[end + 1 : end + 2].isalpha() and is_word(text[end + 1]):
        return "", Fault.UNCLEAR
    if before and (before.isdecimal() or before.isnumeric()) and not spot.is_numeral(before):
        return "", Fault.MALFORMED
    return "", ""


def _tail(spot: Spot, end: int) -> tuple[tuple[str, str], int]:
    """What letters right behind a number make of it, and where they end."""
    text = spot.folded
    if not (end < len(text) and is_word(text[end])) or spot.money_after(end) > 0:
        return ("", ""), end
    run = _RUN.match(text, end)
    stop = run.end() if run else end
    if text[end:stop] in _ORDINALS or spot.after("units", end) > 0:
        return ("other", Fault.TWO_READINGS), stop
    return ("other", Fault.MALFORMED), stop


_LATIN_WORD: Final = re.compile(r"[a-z]+")


def _latin(spot: Spot) -> Iterator[Expression]:
    """Runs of number words, joined by a space, a hyphen or `and`."""
    text, values = spot.folded, spot.words.latin
    if values.keys().isdisjoint(word for _, word in spot.letters()):
        return
    tokens = [(m.group(), m.start(), m.end()) for m in _LATIN_WORD.finditer(text)]
    index = 0
    while index < len(tokens):
        run = _run(text, tokens, index, values.keys())
        if not run:
            index += 1
            continue
        index += len(run)
        (_, start, _), (_, _, end) = run[0], run[-1]
        left = text[max(0, start - 1) : start]
        if (left and is_word(left)) or (end < len(text) and is_word(text[end])):
            continue
        number = numbers.words([t for t, _, _ in run], values)
        yield Expression(start, end, number, "latin")


def _run(
    text: str, words: Sequence[tuple[str, int, int]], index: int, known: Collection[str]
) -> list[tuple[str, int, int]]:
    """The longest run of number words from one on; `a`, `and` and `half` only before and between."""
    run: list[tuple[str, int, int]] = []
    size = 0
    for word, start, end in words[index:]:
        if run and text[run[-1][2] : start] not in (" ", "-"):
            break
        article = word in ("a", "an") and (not run or run[-1][0] == "and")
        if word in known:
            size = len(run) + 1
        elif not article and not (run and word in ("and", "half")):
            break
        run.append(("a" if word == "an" else word, start, end))
    return run[:size]


def _han(spot: Spot) -> Iterator[Expression]:
    if not spot.words.han or spot.folded.isascii():
        return
    for match in _han_pattern(spot.numerals).finditer(spot.folded):
        start, end = match.span()
        head = spot.folded[max(0, start - 1) : start]
        glued = head and is_word(head) and is_word(match.group()[0])
        whole = spot.is_decimal(start, end) and not glued
        number = numbers.han(match.group(), spot.words.han) if whole else MALFORMED
        use = "other" if head == "第" else ""
        yield Expression(start, end, number, "han", use=use)


@lru_cache(maxsize=16)
def _han_pattern(numerals: str) -> re.Pattern[str]:
    one = f"[{re.escape(numerals)}]"
    digits = r"[0-9]+(?:[.,][0-9]+)*"
    return re.compile(rf"[几幾数數]?(?:{digits})?{one}+(?:{digits}{one}*)*[多余餘来來几幾半]?")


# ---- currencies and units ----------------------------------------------------------------------


def _priced(spot: Spot, found: Expression, floor: int) -> Expression:
    """The expression with the signs and words of currency around it, and what else it counts.

    What stands before `floor` belongs to the expression before.
    """
    start, end, codes, fault = found.start, found.end, None, found.fault
    sign = start - 1 if spot.folded[max(0, start - 1) : start] == "-" else start
    before = spot.currency_before(sign)
    before = before if before >= floor else -1
    if before >= 0:
        codes, start = spot.codes(before, sign), before
        fault = fault or (Fault.NOT_POSITIVE if sign < found.start else "")
        strange = spot.folded[max(0, before - 1) : before]
        if strange and is_word(strange) and not is_word(spot.folded[before]):
            fault = fault or Fault.TWO_READINGS
    minor = spot.after_table("minor_units", end)
    if minor > max(0, spot.after("units", end) - 1, spot.after("shares", end)) and before < 0:
        part = Decimal(spot.table_value("minor_units", end, minor))
        return found._replace(end=minor, minor=part)
    while (stop := spot.money_after(end)) > 0:
        codes, fault = _narrowed(spot, codes, (before, sign), (end, stop), fault)
        end = stop
    if codes is not None:
        clear = not may_group(spot, found) or _is_code(spot, start, found, end)
        fault = fault or ("" if clear else Fault.TWO_READINGS)
        return found._replace(start=start, end=end, codes=codes, fault=fault, use="")
    return found._replace(use=found.use or _counted(spot, found))


def may_group(spot: Spot, found: Expression) -> bool:
    """True for `12,50` and `1 000`: the comma may be a decimal mark, the space part two numbers."""
    text = spot.folded[found.start : found.end]
    return found.kind == "digits" and _SHORT_COMMA.match(text) is not None


_SHORT_COMMA: Final = re.compile(r"[0-9]{1,3},[0-9]{1,2}(?![0-9,])|[0-9]{1,3} [0-9]{3}")


def _is_code(spot: Spot, start: int, found: Expression, end: int) -> bool:
    """True if the currency is one whose countries write a decimal comma, or a code of three letters."""
    named = (spot.folded[start : found.start] + spot.folded[found.end : end]).strip()
    return named.isascii() != (named in _COMMA_SIGNS) and not spot.is_phrase("shared_signs", named)


_COMMA_SIGNS: Final = frozenset({"€"})


def _narrowed(
    spot: Spot, codes: frozenset[str] | None, before: Span, after: Span, fault: str
) -> tuple[frozenset[str], str]:
    """The currencies that fit both a sign and a further word; a shared sign gives way to a word for
    one of those that share it ($500 cad, not £500 dollars)."""
    named = spot.codes(*after)
    if codes is None:
        return named, fault
    if codes & named:
        return codes & named, fault
    fitting = named & spot.family(*before) if spot.is_in("shared_signs", *before) else frozenset()
    if fitting:
        return fitting, fault
    return codes | named, fault or Fault.TWO_READINGS


def _counted(spot: Spot, found: Expression) -> str:
    """`quantity` before a unit of pieces, `other` before any other unit or behind a thing's name."""
    if spot.after("quantities", found.end) > 0:
        return "quantity"
    if spot.before("identifier_words", found.start) >= 0:
        return "other"
    counted = max(spot.after("units", found.end), spot.after("shares", found.end))
    return "other" if counted > 0 else ""


_AND: Final = re.compile(r"(?:,? and |, ?| )?|零")


def merged(spot: Spot, found: list[Expression]) -> list[Expression]:
    """Units and their parts together: five dollars and fifty cents, 五块五, 三元二角."""
    merged: list[Expression] = []
    for one in found:
        last = merged[-1] if merged else None
        if last is not None and last.codes is not None:
            part = _part(spot, last, one)
            if part is not None:
                merged[-1] = part
                continue
        merged.append(one)
    return merged


def _part(spot: Spot, whole: Expression, one: Expression) -> Expression | None:
    """`whole` with `one` added as its part, or None."""
    gap = spot.folded[whole.end : one.start]
    if whole.number.value is None or one.number.value is None or one.codes is not None:
        return None
    minor = one.minor
    if (
        minor is None
        and gap == ""
        and 0 < one.number.value < 10
        and not is_word(spot.folded[whole.end - 1])
    ):
        minor = Decimal("0.1") if whole.minor is None else whole.minor / 10
    if minor is None or not _AND.fullmatch(gap):
        return None
    added = one.number.value * minor
    if added >= (whole.minor or 1):
        return None
    return whole._replace(end=one.end, number=Number(whole.number.value + added), minor=minor)
