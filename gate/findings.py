"""Findings: everything that code reads from the text, before anything is decided.

Pure functions of the request's text, the registry, the session's own objects and the language
packs. Rules and checks read findings; none of them reads text (P-07).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gate import clauses as clause_reading
from gate import direction as direction_reading
from gate.configuration import Configuration
from gate.direction import Asked, Cue
from gate.lexicon import Hit, Tag, is_word, scan
from gate.normalise import Text, normalise
from gate.objects import Mention, Status, claims, mentions, shapes
from gate.records import Direction, Request
from gate.registry import NameIndex, index_names

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """What an earlier turn names; `user` tells whether it can be evidence at all."""

    user: bool
    mentions: tuple[Mention, ...]
    unmatched: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """What the current turn and the bounded history hold; spans are [start, end) in the original text.

    `language` is a configured tag, or None for a text that no configured language reads.
    `unmatched` are identifier-shaped stretches that no closed list holds; `referring` are anaphors
    that name a type of object (that fund), `anaphors` all of them.
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
    third_person: tuple[Span, ...]
    history: tuple[EarlierTurn, ...] = ()


def find(configuration: Configuration, request: Request) -> Findings:
    """Read one request; the cost depends on its length, not on the size of the closed lists."""
    lexicon = configuration.lexicon
    own = request.session.objects if request.session else ()
    indexes = (configuration.registry.names, *((index_names(own),) if own else ()))
    text = normalise(request.utterance)
    hits = scan(lexicon, text.folded)
    parts = clause_reading.split(lexicon, text.folded, hits)
    named = mentions(lexicon, indexes, text, hits, parts)
    cues = direction_reading.cues(text.folded, parts)
    plain = clause_reading.unmasked(hits)
    anaphors = _anaphors(plain, named)
    return Findings(
        language=_language(configuration, request, text),
        direction=direction_reading.direction(cues),
        cues=tuple(replace(c, **_back(text, c.start, c.end)) for c in cues),
        asked=tuple(
            replace(a, **_back(text, a.start, a.end))
            for a in direction_reading.asked(lexicon, text.folded, parts)
        ),
        request_clauses=sum(c.request for c in parts),
        several_requests=direction_reading.several_requests(parts),
        mentions=_in_original(text, named),
        unmatched=_unmatched(configuration, text, hits, named),
        anaphors=tuple(text.span(h.start, h.end) for h in anaphors),
        referring=tuple(text.span(h.start, h.end) for h in anaphors if _names_type(h, plain)),
        third_person=_third_person(text, plain),
        history=_history(configuration, request, indexes),
    )


def _back(text: Text, start: int, end: int) -> dict[str, Any]:
    first, last = text.span(start, end)
    return {"start": first, "end": last}


def _in_original(text: Text, named: Sequence[Mention]) -> tuple[Mention, ...]:
    return tuple(replace(m, **_back(text, m.start, m.end)) for m in named)


def _unmatched(
    configuration: Configuration, text: Text, hits: Sequence[Hit], named: Sequence[Mention]
) -> tuple[Span, ...]:
    patterns = configuration.shapes
    if not patterns:
        return ()
    taken = [(m.start, m.end) for m in named]
    taken.extend(claims(configuration.lexicon, text.folded, hits))
    return tuple(text.span(a, b) for a, b in shapes(patterns, text.folded, taken))


def _anaphors(hits: Sequence[Hit], named: Sequence[Mention]) -> list[Hit]:
    """Anaphors, longest first where they overlap, outside of names."""
    taken = [(m.start, m.end) for m in named]
    kept: list[Hit] = []
    for hit in hits:
        if Tag.ANAPHOR in hit.tags and not any(a < hit.end and hit.start < b for a, b in taken):
            kept.append(hit)
            taken.append((hit.start, hit.end))
    return kept


def _names_type(anaphor: Hit, hits: Sequence[Hit]) -> bool:
    return any(
        Tag.TYPE_NOUN in h.tags and anaphor.start <= h.start and h.end <= anaphor.end for h in hits
    )


_REACH = 16
"""Characters between somebody else's possessive and the noun that it owns."""


def _third_person(text: Text, hits: Sequence[Hit]) -> tuple[Span, ...]:
    nouns = [h for h in hits if Tag.TYPE_NOUN in h.tags]
    spans: list[Span] = []
    for hit in hits:
        if Tag.THIRD not in hit.tags:
            continue
        owned = next((n for n in nouns if hit.end <= n.start <= hit.end + _REACH), None)
        if owned and not any(c in ".,;:!?" for c in text.folded[hit.end : owned.start]):
            spans.append(text.span(hit.start, owned.end))
    return tuple(spans)


def _history(
    configuration: Configuration, request: Request, indexes: Sequence[NameIndex]
) -> tuple[EarlierTurn, ...]:
    turns: list[EarlierTurn] = []
    for turn in (
        request.history[-configuration.history_turns :] if configuration.history_turns else ()
    ):
        text = normalise(turn.text)
        hits = scan(configuration.lexicon, text.folded)
        parts = clause_reading.split(configuration.lexicon, text.folded, hits)
        named = mentions(configuration.lexicon, indexes, text, hits, parts)
        unmatched = _unmatched(configuration, text, hits, named)
        turns.append(EarlierTurn(turn.role == "user", _in_original(text, named), unmatched))
    return tuple(turns)


def _language(configuration: Configuration, request: Request, text: Text) -> str | None:
    """The stated language if configured; else the first configured one that writes the text's main script."""
    if request.language is not None:
        return request.language if request.language in configuration.languages else None
    script = main_script(text.folded)
    if script is None:
        return configuration.languages[0]
    fitting = (t for t in configuration.languages if configuration.packs[t].script == script)
    return next(fitting, None)


def main_script(folded: str) -> str | None:
    """`han`, `latin` or `other` by the larger number of letters; None for a text without letters."""
    counts = {"han": 0, "latin": 0, "other": 0}
    for char in folded:
        if not char.isalpha():
            continue
        if not is_word(char):
            counts["han" if "\u3400" <= char <= "\u9fff" or char >= "\U00020000" else "other"] += 2
        else:
            counts["latin" if char < "\u0250" else "other"] += 1
    return max(counts, key=lambda k: counts[k]) if any(counts.values()) else None


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
        "third_person": [list(s) for s in findings.third_person],
        "history": [
            {
                "user": t.user,
                "mentions": [_mention_core(m) for m in t.mentions],
                "unmatched": [list(s) for s in t.unmatched],
            }
            for t in findings.history
        ],
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
        third_person=_spans(core["third_person"]),
        history=tuple(
            EarlierTurn(
                t["user"], tuple(_mention(m) for m in t["mentions"]), _spans(t["unmatched"])
            )
            for t in core["history"]
        ),
    )


def _mention(item: Sequence[Any]) -> Mention:
    return Mention(item[0], item[1], tuple(item[2]), Status(item[3]))


def _spans(items: Sequence[Sequence[int]]) -> tuple[Span, ...]:
    return tuple((a, b) for a, b in items)
