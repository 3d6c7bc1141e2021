"""Values: what a text holds for each declared slot, with spans; neither action nor clock has a part in it.

`read` looks at every text, `read_alone` at the answer to the question for one slot, which may be the
value and nothing else ("500"). A text without digits, numerals, @ and the words that open a value
costs one look at its words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gate import addresses, amounts, dates, emails, payees
from gate.catalog import ObjectType, SlotSpec
from gate.clauses import Clause
from gate.lexicon import touches
from gate.normalise import Text
from gate.objects import Mention, Status
from gate.records import Entry
from gate.slots import Fault, SlotFound
from gate.slotwords import SlotWords
from gate.spot import Span, Spot, Spotted

_WORDS: Final = re.compile(r"[^\W\d_]+")
_ASCII: Final = re.compile(r"[a-z]+")


class Named(NamedTuple):
    """What is known of the objects of a text: `mentions` at folded offsets, `unmatched` at original ones.

    `own` are the session's objects; `types` those of the catalog by name, `nouns` their nouns.
    """

    mentions: Sequence[Mention] = ()
    unmatched: Sequence[Span] = ()
    third_person: bool = False
    kinds: bool = False
    own: Sequence[Entry] = ()
    types: Mapping[str, ObjectType] = {}


NOTHING_NAMED: Final = Named()


def read(
    specs: Mapping[str, SlotSpec],
    words: SlotWords,
    text: Text,
    language: str | None,
    clauses: Sequence[Clause] = (),
    named: Named = NOTHING_NAMED,
) -> tuple[SlotFound, ...]:
    """Every candidate for every slot, by slot and position; spans are those of the original text."""
    live = _live(words, {spec.type for spec in specs.values()}, text.folded, bool(named.own))
    if not live:
        return ()
    specs = {name: spec for name, spec in specs.items() if spec.type in live}
    spot = Spot(text, words, language, clauses)
    return _found(spot, specs.values(), _readings(spot, specs, named, alone=False))


def read_alone(
    spec: SlotSpec,
    words: SlotWords,
    text: Text,
    language: str | None,
    clauses: Sequence[Clause] = (),
    named: Named = NOTHING_NAMED,
) -> tuple[SlotFound, ...]:
    """The candidates for one slot in the answer to the question for exactly that slot."""
    spot = Spot(text, words, language, clauses)
    return _found(spot, (spec,), _readings(spot, {spec.name: spec}, named, alone=True))


def _live(words: SlotWords, kinds: Iterable[str], folded: str, own: bool) -> set[str]:
    """The types of slots that the text may hold a value of."""
    found: list[str] | None = None
    live = set()
    for kind in kinds:
        if (own and kind == "object") or words.characters[kind].search(folded):
            live.add(kind)
        elif words.triggers[kind]:
            if found is None:
                found = (_ASCII if folded.isascii() else _WORDS).findall(folded)
            if not words.triggers[kind].isdisjoint(found):
                live.add(kind)
    return live


def _readings(
    spot: Spot, specs: Mapping[str, SlotSpec], named: Named, *, alone: bool
) -> dict[str, list[Spotted]]:
    """Candidates by slot; each type is read once."""
    names = [(m.start, m.end) for m in named.mentions if m.status is not Status.AMOUNT]
    kinds = {spec.type for spec in specs.values()}
    read: dict[str, list[Spotted]] = {}
    mail = emails.emails(spot, alone=alone) if "@" in spot.folded else []
    days = dates.read(spot, names) if "date" in kinds else dates.written(spot)
    taken = [*names, *((s.start, s.end) for s in (*mail, *days))]
    if kinds & {"address", "amount"}:
        read["address"] = addresses.addresses(spot, names, alone=alone)
        taken += ((s.start, s.end) for s in read["address"])
    if "amount" in kinds:
        read["amount"] = amounts.read(spot, taken, alone=alone)
    if "counterparty" in kinds:
        read["counterparty"] = payees.payees(spot, taken)
    read["email"], read["date"] = mail, days
    by_slot = {s.name: read[s.type] for s in specs.values() if s.type in read}
    objects = {s.name: _objects(spot, s, named) for s in specs.values() if s.type == "object"}
    return {**by_slot, **objects}


def _found(
    spot: Spot, specs: Iterable[SlotSpec], read: Mapping[str, Sequence[Spotted]]
) -> tuple[SlotFound, ...]:
    return tuple(
        SlotFound(spec.name, *spot.text.span(one.start, one.end), one.value, str(one.fault))
        for spec in specs
        for one in sorted(read.get(spec.name, ()))
    )


# ---- own objects -------------------------------------------------------------------------------


def _objects(spot: Spot, spec: SlotSpec, named: Named) -> list[Spotted]:
    """The session's objects of the slot's types that the text names, or the sole one it speaks of."""
    own = {e.object_id: e for e in named.own if e.object_type in spec.object_types}
    mine = [m for m in named.mentions if any(o in own for o in m.owners)]
    found = [_mentioned(spot, m, own) for m in mine if m.status is not Status.AMOUNT]
    found = [_of_its_type(spot, one, spec, named, own) for one in found]
    found += [Spotted(*_folded(spot, s), "", Fault.UNKNOWN) for s in named.unmatched]
    found += _numerals(spot, own)
    if named.third_person:
        return [*found, Spotted(0, len(spot.folded), "", Fault.SOMEBODY_ELSES)]
    if found:
        return found
    number = _NUMBER.search(spot.folded)
    if number is not None:
        return [Spotted(*number.span(), "", Fault.UNKNOWN)]
    return list(_by_type(spot, spec, named, own))


_NUMBER: Final = re.compile(r"[0-9]{3,}")


def _of_its_type(
    spot: Spot, one: Spotted, spec: SlotSpec, named: Named, own: Mapping[str, Entry]
) -> Spotted:
    """UNKNOWN where the noun beside a number is that of another type (card 4411, an account)."""
    if one.fault or not spot.folded[one.start : one.end].isdigit():
        return one
    kinds = {kind for _, _, kind in _nouns(spot, tuple(named.types), named.types)}
    if not kinds or own[one.value].object_type in kinds:
        return one
    return one._replace(value="", fault=str(Fault.UNKNOWN))


def _numerals(spot: Spot, own: Mapping[str, Entry]) -> Iterator[Spotted]:
    """Digits written as numerals (五三一六) that are a name of an own object, or of none."""
    if spot.folded.isascii():
        return
    digits = "".join(c for c, value in spot.words.han.items() if value < 10)
    for match in re.finditer(f"[{re.escape(digits)}]{{3,}}" if digits else "(?!)", spot.folded):
        text = "".join(str(spot.words.han[c]) for c in match.group())
        ids = [i for i, e in own.items() if text in e.aliases]
        fault = "" if len(ids) == 1 else Fault.SEVERAL if ids else Fault.UNKNOWN
        yield Spotted(*match.span(), "" if fault else ids[0], str(fault))


def _folded(spot: Spot, span: Span) -> Span:
    starts = spot.text.starts
    return bisect_left(starts, span[0]), bisect_left(starts, span[1])


def _mentioned(spot: Spot, mention: Mention, own: Mapping[str, Entry]) -> Spotted:
    ids = [o for o in mention.owners if o in own]
    fault = "" if mention.status is Status.OK else Fault.NEGATED
    led = spot.before("identifier_words", mention.start) >= 0
    free = mention.status is Status.LONGER and led and not touches(spot.folded, *mention[:2])
    if mention.status not in (Status.OK, Status.NEGATED):
        fault = "" if free and spot.folded[slice(*mention[:2])].isdigit() else Fault.UNCLEAR
    if len(mention.owners) > 1:
        fault = Fault.SEVERAL
    return Spotted(mention.start, mention.end, "" if fault else ids[0], str(fault))


def _by_type(
    spot: Spot, spec: SlotSpec, named: Named, own: Mapping[str, Entry]
) -> Iterator[Spotted]:
    """`my card` where there is one card; SEVERAL where there are more, UNKNOWN where there is none."""
    for start, end, kind in _nouns(spot, spec.object_types, named.types):
        if spot.before("own_leads", start) < 0:
            continue
        ids = [i for i, e in own.items() if e.object_type == kind]
        fault = "" if len(ids) == 1 and not named.kinds else Fault.SEVERAL if ids else Fault.UNKNOWN
        yield Spotted(start, end, "" if fault else ids[0], str(fault))


def _nouns(
    spot: Spot, kinds: Sequence[str], types: Mapping[str, ObjectType]
) -> Iterator[tuple[int, int, str]]:
    for kind in kinds:
        nouns = (
            {n for words in types[kind].nouns.values() for n in words} if kind in types else set()
        )
        for noun in nouns:
            pattern = (
                rf"(?<![a-z0-9]){re.escape(noun)}(?![a-z0-9])"
                if noun.isascii()
                else re.escape(noun)
            )
            yield from ((*m.span(), kind) for m in re.finditer(pattern, spot.folded))
