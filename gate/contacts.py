"""E-mail addresses, postal addresses and names of who is paid: what a text gives as one, as it was written.

The value is cut from the original text (NFKC, white space collapsed), never put together. What is
to be replaced ("from a@b.example to ...") is no candidate where its successor is named too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from gate.lexicon import is_word
from gate.normalise import is_ignorable
from gate.slots import Fault
from gate.spot import Span, Spot, Spotted


def written(spot: Spot, start: int, end: int) -> str:
    """The original text behind [start, end): NFKC, ignorable characters out, white space as one space."""
    original = spot.text.original[slice(*spot.text.span(start, end))]
    kept = "".join(c for c in original if not is_ignorable(c))
    return _HAN_SPACE.sub("", " ".join(unicodedata.normalize("NFKC", kept).split()))


_HAN_SPACE: Final = re.compile("(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])")
"""Spaces between Han characters, which mean nothing."""


def _with_lead(spot: Spot, one: Spotted) -> tuple[Spotted, str]:
    """A candidate with what its lead says: `new`, `former`, or nothing."""
    start = one.start
    while start and spot.folded[start - 1] in "<\"'([ :":
        start -= 1
    for name, lead in (("new_leads", "new"), ("former_leads", "former")):
        if spot.before(name, start) >= 0 or (
            lead == "new" and spot.after("new_follows", one.end) > 0
        ):
            return one, lead
    return one, ""


def _current(spot: Spot, found: Sequence[Spotted]) -> list[Spotted]:
    """The candidates without those that another one is to replace."""
    led = [_with_lead(spot, one) for one in found]
    new = {one.value for one, lead in led if lead == "new" and not one.fault}
    kept: list[Spotted] = []
    for one, lead in led:
        if lead != "former" or one.fault:
            kept.append(one)
        elif not (len(new) == 1 and one.value not in new):
            kept.append(one._replace(value="", fault=str(Fault.FORMER)))
    return [_negated(spot, one) for one in kept]


def _negated(spot: Spot, one: Spotted) -> Spotted:
    if one.fault or not spot.is_set_aside(one.start):
        return one
    return one._replace(value="", fault=str(Fault.NEGATED))


# ---- e-mail ------------------------------------------------------------------------------------

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


def emails(spot: Spot) -> list[Spotted]:
    """Every e-mail address; MALFORMED around an @ that belongs to none."""
    found, position = [], 0
    while (at := spot.folded.find("@", position)) >= 0:
        one = _email(spot, at)
        found.append(one)
        position = max(one.end, at + 1)
    return _current(spot, found)


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
    if before and (before in _STRANGE or is_word(before) or before in ".,-"):
        return True
    if after and (after in _STRANGE_AFTER or is_word(after)):
        return True
    if text[end : end + 2] == "-" or re.match(r"[.-]? [.@]| \. ?[a-z]|\.[.@]", text[end : end + 4]):
        return True
    return before == " " and not _known_before(spot, start)


def _known_before(spot: Spot, start: int) -> bool:
    """True if the word before is a known one, or none of this script: no part of an address."""
    word = re.search(r"([^\W_]+) $", spot.folded[max(0, start - 40) : start])
    if word is None:
        return True
    return not is_word(word[1][-1]) or word[1] in spot.words.known


# ---- postal addresses --------------------------------------------------------------------------

_HOUSE: Final = re.compile(r"(?<![\w.,/-])[0-9]{1,5}[a-z]?(?:[-/][0-9]{1,4}[a-z]?)?(?= )")
_BOX: Final = re.compile(r"(?<![\w])p\.? ?o\.? ?box [0-9]{1,6}(?![0-9a-z])")
_WORD: Final = re.compile(r"[^\W_]+(?:['.-][^\W_]+)*\.?")
_UNIT: Final = re.compile(
    r"(?:apt|apartment|unit|suite|ste|flat|room|floor|fl|bldg|building)\.? ?#?[0-9a-z-]{1,6}|#[0-9a-z-]{1,6}"
)
_POSTCODE: Final = re.compile(r"[0-9]{3,6}(?:-[0-9]{4})?|[a-z]{1,2}[0-9][0-9a-z]? ?[0-9][a-z]{2}")
_SEGMENT: Final = re.compile(r",? ?([^,.;:!?()\n\"]+)")
_MOST_WORDS: Final = 4
"""Words between a house number and the word for a street, and in a part behind a comma."""


def addresses(spot: Spot, *, alone: bool = False) -> list[Spotted]:
    """Every postal address; UNCLEAR where nothing leads to it or its end is in doubt."""
    found = [*_streets(spot, alone), *_han_addresses(spot, alone)]
    return _current(spot, [f for f in found if not any(_inside(f, o) for o in found)])


def _inside(one: Spotted, other: Spotted) -> bool:
    return one != other and other.start <= one.start and one.end <= other.end


def _streets(spot: Spot, alone: bool) -> Iterator[Spotted]:
    position = 0
    text = spot.folded
    while match := (_BOX.search(text, position) or _HOUSE.search(text, position)):
        box = _BOX.match(text, match.start()) is not None
        stop = match.end() if box else _street(spot, match.end())
        position = match.end()
        if stop < 0:
            continue
        start = _unit_before(spot, match.start())
        end, clear = _places(spot, stop)
        position = end
        led = _is_led(spot, start) or (alone and not text[:start].strip())
        clean = clear and led and spot.is_decimal(start, end)
        value = written(spot, start, end) if clean else ""
        yield Spotted(start, end, value, "" if clean else str(Fault.UNCLEAR))


def _is_led(spot: Spot, start: int) -> bool:
    return _with_lead(spot, Spotted(start, start, "", ""))[1] != "" or spot.folded[
        :start
    ].rstrip().endswith(":")


def _street(spot: Spot, position: int) -> int:
    """Where the street behind a house number ends, or -1."""
    text, streets = spot.folded, spot.words.sets["street_words"].words
    end = -1
    for _ in range(_MOST_WORDS + 2):
        word = _WORD.match(text, position + 1) if text[position : position + 1] == " " else None
        if word is None:
            break
        bare = word.group().rstrip(".")
        position = word.end()
        if bare in streets and end != position:
            dotted = word.group().endswith(".") and text[position : position + 1] in (",", "")
            end = position if dotted else word.start() + len(bare)
        elif end > 0:
            break
        if word.group().endswith("."):
            if bare not in streets and len(bare) > 2:
                break
            position = word.end()
    return end


def _unit_before(spot: Spot, start: int) -> int:
    """Where a unit before a house number starts (Apt 4, 12 Gull Street), or the number itself."""
    head = spot.folded[:start]
    for match in _UNIT.finditer(head):
        if head[match.end() :].strip() in (",", "") and not is_word(
            head[max(0, match.start() - 1) : match.start()] or " "
        ):
            return match.start()
    return start


def _places(spot: Spot, position: int) -> tuple[int, bool]:
    """The end of an address behind its street, and whether that end is certain."""
    text = spot.folded
    while position < len(text):
        unit = _UNIT.match(text, position + len(re.match(r",? ?", text[position:]).group()))  # type: ignore[union-attr]
        if unit and not is_word(text[unit.end() : unit.end() + 1] or " "):
            position = unit.end()
            continue
        if text[position] != "," and not spot.is_line_end(position):
            return position, _ends(spot, position)
        segment = _SEGMENT.match(text, position)
        if segment is None:
            return position, True
        stop = _place(spot, segment.start(1), segment.end(1))
        if stop is None:
            return position, False
        if stop == 0:
            return position, True
        position = stop
    return position, True


def _ends(spot: Spot, position: int) -> bool:
    """True if what follows an address without a comma is certainly no part of it."""
    rest = spot.folded[position:].lstrip()
    if not rest or not rest[0].isalnum():
        return rest[:1] not in ("#", "-", "/", "&")
    word = _WORD.match(rest)
    return word is not None and (not is_word(rest[0]) or word.group() in spot.words.known)


def _place(spot: Spot, start: int, end: int) -> int | None:
    """Where a place between commas ends; 0 if the part is none, None if that is in doubt."""
    words = list(_WORD.finditer(spot.folded, start, end))
    if not words:
        return 0
    taken = 0
    for word in words:
        original = spot.text.original[slice(*spot.text.span(*word.span()))]
        code = _POSTCODE.fullmatch(word.group()) is not None
        if not (code or original[:1].isupper()):
            break
        taken += 1
    known = sum(w.group() in spot.words.known for w in words[:taken])
    if taken == len(words) and taken <= _MOST_WORDS + 1 and known < taken:
        return words[-1].end()
    if taken and known < taken and taken <= _MOST_WORDS + 1:
        rest = words[taken].group()
        return words[taken - 1].end() if rest in spot.words.known else None
    if any(_POSTCODE.fullmatch(w.group()) for w in words):
        return _lower_place(spot, words)
    return 0 if words[0].group() in spot.words.known else None


def _lower_place(spot: Spot, words: Sequence[re.Match[str]]) -> int | None:
    """A place in lower case that its postcode ends."""
    last = words[-1]
    plain = all(w.group() not in spot.words.known for w in words[:-1])
    fits = plain and len(words) <= _MOST_WORDS and _POSTCODE.fullmatch(last.group())
    return last.end() if fits else None


_HAN_RUN: Final = re.compile(r"[\u3400-\u9fff0-9a-z#-]+(?: ?[\u3400-\u9fff0-9a-z#-]+)*")


def _han_addresses(spot: Spot, alone: bool) -> Iterator[Spotted]:
    """What stands behind a word such as 改成, up to a mark, if it ends as an address does."""
    ends = spot.words.sets["address_ends"]
    if not ends.words or spot.folded.isascii():
        return
    starts = {end for _, end in spot.all_of("new_leads")} | ({0} if alone else set())
    for place in sorted(starts):
        start = place
        while spot.folded[start : start + 1] in (" ", ":") and start < len(spot.folded):
            start += 1
        run = _HAN_RUN.match(spot.folded, start)
        if run is None or not re.search("[\u3400-\u9fff]", run.group()):
            continue
        stop = max((e for w in ends.words for e in _all_ends(run.group(), w)), default=0)
        head = run.group()[:stop]
        if not stop or not any(c.isdigit() or spot.is_numeral(c) for c in head) or len(head) < 4:
            continue
        rest = run.group()[stop:].strip()
        clear = (not rest or spot.is_phrase("value_closers", rest)) and spot.is_decimal(
            start, start + stop
        )
        value = written(spot, start, start + stop) if clear else ""
        yield Spotted(start, start + stop, value, "" if clear else str(Fault.UNCLEAR))


def _all_ends(text: str, word: str) -> Iterator[int]:
    position = text.find(word)
    while position >= 0:
        yield position + len(word)
        position = text.find(word, position + 1)


# ---- names of who is paid ----------------------------------------------------------------------

_NAME_WORD: Final = re.compile(r"[^\W\d_]+(?:['.&-][^\W\d_]+)*\.?")
_MOST_NAMES: Final = 5


def payees(spot: Spot, taken: Sequence[Span]) -> list[Spotted]:
    """The names behind words such as `to` and 转给; `taken` are stretches that are something else."""
    found = [one for lead in spot.all_of("payee_leads") for one in _payee(spot, lead, taken)]
    strong = [one for one, first in found if first]
    spotted = strong or [one for one, _ in found]
    spotted += _set_apart(spot, taken) if spotted else ()
    return [_negated(spot, one) for one in dict.fromkeys(spotted)]


def _set_apart(spot: Spot, taken: Sequence[Span]) -> Iterator[Spotted]:
    """Names right behind a negator or a contrast (not Bob, instead of Bob): candidates all the same."""
    for lead in (*spot.all_of("negations"), *spot.all_of("contrasts")):
        start = lead[1] + (spot.folded[lead[1] : lead[1] + 1] == " ")
        if not any(a <= start < b for a, b in taken):
            end = _han_name(spot, start) if _is_han(spot, start) else _latin_name(spot, start)
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
        end = _han_name(spot, start) if _is_han(spot, start) else _latin_name(spot, start)
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
        if known and not named:
            break
        dotted = word.group().endswith(".")
        initial = len(bare) <= 2 or title
        end = word.end() if not dotted or initial else word.end() - 1
        if text[end : end + 1] != " ":
            break
        position = end + 1
    if text[start:end].endswith("'s"):
        end -= 2
    return end


def _name_fault(spot: Spot, start: int, end: int) -> str:
    name = spot.folded[start:end]
    if len(name) < 2:
        return str(Fault.UNCLEAR)
    nobody = spot.is_phrase("no_names", name) or (
        _is_han(spot, start) and _says_nobody(spot, start)
    )
    return str(Fault.NO_NAME) if nobody else ""


_HAN_NAME: Final = re.compile("[\u3400-\u9fff·]+(?: [\u3400-\u9fff](?![\u3400-\u9fff]))?")


def _han_name(spot: Spot, start: int) -> int:
    """Where a Chinese name ends: before a verb of paying, a number, a mark or the end."""
    run = _HAN_NAME.match(spot.folded, start)
    if run is None:
        return start
    end = run.end()
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
        spot.words.sets[name].starting_at(text, position) > 0
        for name in ("payee_verbs", "choice_words", "negations")
    )
