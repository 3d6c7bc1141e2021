"""Direction and action evidence: what the text itself asks for, whatever a model proposes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gate.clauses import Clause, governed
from gate.lexicon import Hit, Lexicon, Tag
from gate.records import Direction


@dataclass(frozen=True, slots=True)
class Cue:
    """A verb or phrase at folded [start, end) that points one way."""

    start: int
    end: int
    direction: Direction


@dataclass(frozen=True, slots=True)
class Asked:
    """A declared verb inside a request clause: the write actions that declare it.

    `actions` are those for which it is evidence: the only one that declares the verb, or those
    of which a declared noun stands in the same clause.
    """

    start: int
    end: int
    actions: tuple[str, ...]


def cues(text: str, clauses: Sequence[Clause]) -> tuple[Cue, ...]:
    """Read and write cues of a text, in order.

    A write verb is a WRITE cue only where a request governs it; in negated, conditional, quoted,
    reported, past and asking clauses it is a READ cue; elsewhere (a noun, a title) it is none.
    """
    found: list[Cue] = []
    for clause in clauses:
        ruling = governed(clause, text) if clause.request else ()
        found.extend(Cue(h.start, h.end, Direction.WRITE) for h in ruling)
        found.extend(_reads(clause, ruling))
    return tuple(found)


def _reads(clause: Clause, ruling: Sequence[Hit]) -> list[Cue]:
    aside = _set_aside(clause)
    reads: list[Cue] = []
    for hit in clause.hits:
        declared = Tag.READ in hit.tags and not clause.negated
        mentioned = Tag.WRITE in hit.tags and aside and hit not in ruling
        asking = Tag.QUESTION in hit.tags and not clause.quoted
        if declared or mentioned or asking:
            reads.append(Cue(hit.start, hit.end, Direction.READ))
    return reads


def _set_aside(clause: Clause) -> bool:
    talk = clause.negated or clause.conditional or clause.quoted or clause.reported
    return talk or clause.past or clause.question or clause.inherited


def direction(found: Sequence[Cue]) -> Direction:
    """READ, WRITE, both (MIXED) or neither (UNDECLARED)."""
    kinds = {c.direction for c in found}
    if len(kinds) == 2:
        return Direction.MIXED
    return kinds.pop() if kinds else Direction.UNDECLARED


def asked(lexicon: Lexicon, text: str, clauses: Sequence[Clause]) -> tuple[Asked, ...]:
    """Action evidence: declared verbs that a request governs, with the actions they are evidence of."""
    found: list[Asked] = []
    for clause in clauses:
        if not clause.request:
            continue
        nouns = {a for h in clause.hits for a in lexicon.nouns.get(h.phrase, ())}
        for hit in governed(clause, text):
            owners = lexicon.verbs.get(hit.phrase, frozenset())
            actions = owners if len(owners) == 1 else owners & nouns
            if actions:
                found.append(Asked(hit.start, hit.end, tuple(sorted(actions))))
    return tuple(found)


def several_requests(clauses: Sequence[Clause]) -> bool:
    """True if a declared conjunction joins two clauses that each ask for something."""
    joints = [i for i, c in enumerate(clauses) if any(Tag.CONJUNCTION in h.tags for h in c.hits)]
    return any(_asks_any(clauses[:i]) and _asks_any(clauses[i:]) for i in joints)


def _asks_any(clauses: Sequence[Clause]) -> bool:
    return any(c.request or (c.question and not c.quoted) or _read_cue(c) for c in clauses)


def _read_cue(clause: Clause) -> bool:
    return not (clause.negated or clause.quoted) and any(Tag.READ in h.tags for h in clause.hits)
