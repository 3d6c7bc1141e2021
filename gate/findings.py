"""Findings: everything that code reads from the text, before anything is decided.

Pure functions of the request's text, the registry, the session's own objects and the language
packs. Rules and checks read findings; none of them reads text (P-07).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar

from gate import clauses as clause_reading
from gate import direction as direction_reading
from gate import values
from gate.alerts import Alerted
from gate.alerts import find as find_alerts
from gate.catalog import SlotSpec
from gate.clauses import Clause
from gate.configuration import Configuration
from gate.direction import Asked, Cue
from gate.lexicon import ACTION_NOUN, ANAPHOR, CONTRAST, KIND, NEGATION, THIRD, TYPE_NOUN, Hit, scan
from gate.normalise import Text, normalise
from gate.objects import Mention, Status, claims, mentions, set_aside, shapes
from gate.records import Direction, Entry, Request
from gate.registry import NameIndex, index_names
from gate.script import ADDRESSED
from gate.script import language as language_of
from gate.slots import SlotFound
from gate.slots import from_core as slots_from_core
from gate.slots import to_core as slots_to_core

Span = tuple[int, int]
Placed = TypeVar("Placed", Mention, Cue, Asked, Alerted)


class EarlierTurn(NamedTuple):
    """What an earlier turn names; `user` tells whether it can be evidence at all."""

    user: bool
    mentions: tuple[Mention, ...]
    unmatched: tuple[Span, ...]


class Findings(NamedTuple):
    """What the current turn and the bounded history hold; spans are [start, end) in the original text.

    `language` is a configured tag, or None for a text that no configured language reads; `recognised`
    is the tag of the language that it was found to be written in instead, where that was looked up.
    `unmatched` are identifier-shaped stretches that no closed list holds; `referring` are anaphors
    that name a type of object (that fund), `set_aside` those that are negated or contrasted,
    `anaphors` all of them. `kinds` are words for a kind of own object outside of names. `history`
    is read only where the current turn refers back. `chosen` is the object (or NONE) that the
    customer picked from the options of an earlier clarification; a text alone never sets it.
    `alerts` are the declared alerts whose words stand in the current turn, in the order of their
    declaration.
    """

    language: str | None
    direction: Direction
    cues: tuple[Cue, ...]
    asked: tuple[Asked, ...]
    request_clauses: int
    several_requests: bool
    mentions: tuple[Mention, ...]
    unmatched: tuple[Span, ...]
    anaphors: tuple[Span, ...]
    referring: tuple[Span, ...]
    set_aside: tuple[Span, ...]
    third_person: tuple[Span, ...]
    kinds: tuple[Span, ...] = ()
    history: tuple[EarlierTurn, ...] = ()
    chosen: str = ""
    slots: tuple[SlotFound, ...] = ()
    alerts: tuple[Alerted, ...] = ()
    recognised: str = ""


class _Read(NamedTuple):
    """One text with everything that was looked up in it; spans are folded offsets."""

    text: Text
    hits: list[Hit]
    clauses: tuple[Clause, ...]
    mentions: tuple[Mention, ...]
    unmatched: tuple[Span, ...]
    claimed: tuple[Span, ...]


def _read(configuration: Configuration, indexes: Sequence[NameIndex], original: str) -> _Read:
    text = normalise(original)
    hits = clause_reading.unmasked(scan(configuration.lexicon, text.folded))
    parts = clause_reading.split(configuration.lexicon, text.folded, hits)
    return _Read(text, hits, parts, *_names(configuration, indexes, text, parts))


def _names(
    configuration: Configuration,
    indexes: Sequence[NameIndex],
    text: Text,
    clauses: tuple[Clause, ...],
) -> tuple[tuple[Mention, ...], tuple[Span, ...], tuple[Span, ...]]:
    """The names of a text; in the original, what only looks like an identifier; the claimed amounts."""
    claimed = claims(configuration.lexicon, text.folded)
    named = mentions(configuration.lexicon, indexes, text, clauses, claimed)
    taken = [*claimed, *((m.start, m.end) for m in named)]
    found = shapes(configuration.shapes, text.folded, taken)
    return named, tuple(text.span(*s) for s in found), claimed


def find(configuration: Configuration, request: Request, recognised: str = "") -> Findings:
    """Read one request; the cost depends on its length, not on the size of the closed lists.

    `recognised` is the language that the text was recognised as outside of the gate, or nothing.
    """
    own = request.session.objects if request.session else ()
    indexes = (configuration.registry.names, *((own_names(own),) if own else ()))
    read = _read(configuration, indexes, request.utterance)
    folded, original = read.text.folded, read.text.span
    names = [(m.start, m.end) for m in read.mentions], read.claimed
    cues, asked = direction_reading.read(
        configuration.lexicon, folded, read.clauses, read.hits, names
    )
    tags = 0
    for hit in read.hits:
        tags |= hit.tags
    anaphors = _anaphors(read) if tags & ANAPHOR else []
    language = language_of(configuration, request.language, recognised, folded, tags)
    third_person = _third_person(configuration, read) if tags & THIRD else ()
    kinds = _kinds(read) if tags & KIND else ()
    return Findings(
        language=language,
        direction=direction_reading.direction(cues),
        cues=_placed(read.text, cues),
        asked=_placed(read.text, asked),
        request_clauses=sum(c.request for c in read.clauses),
        several_requests=direction_reading.several_requests(folded, read.clauses),
        mentions=_placed(read.text, read.mentions),
        unmatched=read.unmatched,
        anaphors=tuple(original(h.start, h.end) for h in anaphors),
        referring=tuple(original(h.start, h.end) for h in _naming_type(anaphors, read.hits)),
        set_aside=tuple(
            original(h.start, h.end) for h in anaphors if set_aside(read.clauses, h.start)
        ),
        third_person=third_person,
        kinds=kinds,
        history=_history(configuration, request, indexes) if anaphors else (),
        slots=_slots(configuration, read, language, own, bool(third_person), bool(kinds)),
        alerts=_placed(read.text, find_alerts(configuration.alerts, folded)),
        recognised=recognised,
    )


def _slots(
    configuration: Configuration,
    read: _Read,
    language: str | None,
    own: Sequence[Entry],
    third_person: bool,
    kinds: bool,
    alone: SlotSpec | None = None,
) -> tuple[SlotFound, ...]:
    """Candidates for every declared slot, or for the one that was asked for alone."""
    catalog, words = configuration.catalog, configuration.slot_words
    if not catalog.slots and alone is None:
        return ()
    known = values.Named(
        read.mentions, read.unmatched, third_person, kinds, own, catalog.object_types
    )
    if alone is not None:
        return values.read_alone(alone, words, read.text, language, read.clauses, known)
    return values.read(catalog.slots, words, read.text, language, read.clauses, known)


def find_alone(
    configuration: Configuration, request: Request, spec: SlotSpec
) -> tuple[SlotFound, ...]:
    """The candidates for `spec` in a turn that answers the question for exactly that slot."""
    own = request.session.objects if request.session else ()
    indexes = (configuration.registry.names, *((own_names(own),) if own else ()))
    read = _read(configuration, indexes, request.utterance)
    language = language_of(configuration, request.language, "", read.text.folded, ADDRESSED)
    third_person = _third_person(configuration, read)
    return _slots(configuration, read, language, own, bool(third_person), bool(_kinds(read)), spec)


def _placed(text: Text, found: tuple[Placed, ...]) -> tuple[Placed, ...]:
    """What was found, with spans in the original text."""
    if text.plain:
        return found
    spans = (text.span(f.start, f.end) for f in found)
    return tuple(f._replace(start=a, end=b) for f, (a, b) in zip(found, spans, strict=True))


@lru_cache(maxsize=1024)
def own_names(objects: tuple[Entry, ...]) -> NameIndex:
    """The index of a session's own names; kept, since a session sends the same ones again."""
    return index_names(objects)


def _kinds(read: _Read) -> tuple[Span, ...]:
    """Words for a kind of own object (credit card) that no name of the text holds."""
    found = (h for h in read.hits if h.tags & KIND)
    return tuple(
        read.text.span(h.start, h.end)
        for h in found
        if not any(m.start < h.end and h.start < m.end for m in read.mentions)
    )


def _anaphors(read: _Read) -> list[Hit]:
    """Anaphors, longest first where they overlap, outside of names."""
    kept: list[Hit] = []
    for hit in read.hits:
        if not hit.tags & ANAPHOR or (kept and hit.start < kept[-1].end):
            continue
        if not any(m.start < hit.end and hit.start < m.end for m in read.mentions):
            kept.append(hit)
    return kept


def _naming_type(anaphors: Sequence[Hit], hits: Sequence[Hit]) -> list[Hit]:
    """Those that hold a noun of an object type."""
    nouns = [h for h in hits if h.tags & TYPE_NOUN] if anaphors else []
    return [a for a in anaphors if any(a.start <= n.start and n.end <= a.end for n in nouns)]


NOUNS: Final = TYPE_NOUN | ACTION_NOUN
_REACH = 16
"""Characters between somebody else's possessive and the noun that it owns."""


def _third_person(configuration: Configuration, read: _Read) -> tuple[Span, ...]:
    """Somebody else's possessives with the noun that they own, no mark between."""
    spans: list[Span] = []
    marks = configuration.lexicon.marks
    for hit in read.hits:
        if not hit.tags & THIRD:
            continue
        nouns = (n for n in read.hits if n.tags & NOUNS and n.end > hit.start)
        owned = next((n for n in nouns if hit.start <= n.start <= hit.end + _REACH), None)
        if owned and not marks.search(read.text.folded, hit.end, owned.start):
            spans.append(read.text.span(hit.start, max(hit.end, owned.end)))
    return tuple(spans)


def _history(
    configuration: Configuration, request: Request, indexes: Sequence[NameIndex]
) -> tuple[EarlierTurn, ...]:
    """The last `history_turns` user turns, with what others said from the first of them on."""
    users = [i for i, turn in enumerate(request.history) if turn.role == "user"]
    most = configuration.history_turns
    first = len(request.history) if not most else 0 if len(users) <= most else users[-most]
    turns: list[EarlierTurn] = []
    for turn in request.history[first:]:
        text = normalise(turn.text)
        hits = clause_reading.unmasked(scan(configuration.lexicon, text.folded))
        aside = any(h.tags & (NEGATION | CONTRAST) for h in hits)
        parts = clause_reading.split(configuration.lexicon, text.folded, hits) if aside else ()
        named, unmatched, _ = _names(configuration, indexes, text, parts)
        turns.append(EarlierTurn(turn.role == "user", _placed(text, named), unmatched))
    return tuple(turns)


def to_core(findings: Findings) -> Mapping[str, Any]:
    """The findings as ids and offsets, without text, for the decision record."""
    return {
        "language": findings.language,
        "direction": findings.direction.value,
        "cues": [[c.start, c.end, c.direction.value] for c in findings.cues],
        "asked": [[a.start, a.end, list(a.actions)] for a in findings.asked],
        "request_clauses": findings.request_clauses,
        "several_requests": findings.several_requests,
        "mentions": [_mention_core(m) for m in findings.mentions],
        "unmatched": [list(s) for s in findings.unmatched],
        "anaphors": [list(s) for s in findings.anaphors],
        "referring": [list(s) for s in findings.referring],
        "set_aside": [list(s) for s in findings.set_aside],
        "third_person": [list(s) for s in findings.third_person],
        "kinds": [list(s) for s in findings.kinds],
        "history": [
            {
                "user": t.user,
                "mentions": [_mention_core(m) for m in t.mentions],
                "unmatched": [list(s) for s in t.unmatched],
            }
            for t in findings.history
        ],
        "chosen": findings.chosen,
        **({"slots": slots_to_core(findings.slots)} if findings.slots else {}),
        **({"recognised": findings.recognised} if findings.recognised else {}),
        **({"alerts": [list(a) for a in findings.alerts]} if findings.alerts else {}),
    }


def _mention_core(mention: Mention) -> list[Any]:
    return [mention.start, mention.end, list(mention.owners), mention.status.value]


def from_core(core: Mapping[str, Any]) -> Findings:
    """The findings back from a decision record."""
    return Findings(
        language=core["language"],
        direction=Direction(core["direction"]),
        cues=tuple(Cue(a, b, Direction(d)) for a, b, d in core["cues"]),
        asked=tuple(Asked(a, b, tuple(ids)) for a, b, ids in core["asked"]),
        request_clauses=core["request_clauses"],
        several_requests=core["several_requests"],
        mentions=tuple(_mention(m) for m in core["mentions"]),
        unmatched=_spans(core["unmatched"]),
        anaphors=_spans(core["anaphors"]),
        referring=_spans(core["referring"]),
        set_aside=_spans(core["set_aside"]),
        third_person=_spans(core["third_person"]),
        kinds=_spans(core["kinds"]),
        history=tuple(
            EarlierTurn(
                t["user"], tuple(_mention(m) for m in t["mentions"]), _spans(t["unmatched"])
            )
            for t in core["history"]
        ),
        chosen=core["chosen"],
        slots=slots_from_core(core.get("slots", ())),
        recognised=core.get("recognised", ""),
        alerts=tuple(Alerted(*a) for a in core.get("alerts", ())),
    )


def _mention(item: Sequence[Any]) -> Mention:
    return Mention(item[0], item[1], tuple(item[2]), Status(item[3]))


def _spans(items: Sequence[Sequence[int]]) -> tuple[Span, ...]:
    return tuple((a, b) for a, b in items)
